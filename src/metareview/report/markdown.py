"""The report as Markdown: the answer and the slices in tables, for a pull request, a wiki or a build's summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metareview.report.numbers import (
    count,
    duration,
    hit_names,
    plural,
    pull_request_name,
    ranked,
    ranked_routers,
    rate,
    span,
)
from metareview.report.page.markup import clean
from metareview.report.page.slices import MOST_COLUMNS, sliced
from metareview.report.source import Run

MOST_ROWS = 200
"""Pull requests, warnings or skipped files that are listed."""
_LONGEST = 300
_SPECIAL = re.compile(r"[\\`*_\[\]|~$]|^(?:[#+-]|\d+[.)](?=\s))")
# What a site turns into a link or a notice to somebody: addresses, @name, owner/repo#5.
_LIVE = re.compile(r"://|www\.|@|#(?=\d)", re.IGNORECASE)


def as_markdown(run: Run) -> str:
    """Text from data is escaped, so that a name or a warning cannot be markup, a link or a table's cell."""
    lines = _routing(run) if run.kind == "routing" else _comments(run)
    return "\n".join(lines).rstrip() + "\n"


def safe(text: object) -> str:
    """
    >>> safe("a|b <img>")
    'a\\\\|b &lt;img&gt;'
    """
    line = " ".join(clean(str(text)).split())
    line = line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
    line = _SPECIAL.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", line)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LIVE.sub(lambda found: found[0][0] + "&#8203;" + found[0][1:], line)


def _table(heads: Sequence[object], rows: Iterable[Sequence[object]], numbers: int = 1) -> list[str]:
    """The columns from `numbers` on are set to the right."""
    rule = ["---" if k < numbers else "---:" for k in range(len(heads))]
    shown = [heads, rule]
    return ["| " + " | ".join(str(cell) for cell in row) + " |" for row in [*shown, *rows]] + [""]


def _comments(run: Run) -> list[str]:
    summary = run.summary
    blocks, judge = summary["reviewers"], summary["judge"]
    names = ranked(blocks)
    lines = ["# Code review comments", ""]
    if names:
        best = blocks[names[0]]
        told = f"F1 {rate(best['metrics']['f1'])} (95 %: {span(best['intervals']['f1'])})"
        lines += [f"**{safe(names[0])}**{' leads with' if len(names) > 1 else ':'} {told}.", ""]
    heads = ["Reviewer", "F1", "95 %", "Precision", "Recall", "Noise", "Rejected", "Line F1", "Comments"]
    heads += ["Pull requests", "Undecided", "F1 bounds"]
    rows = []
    for n in names:
        block, m = blocks[n], blocks[n]["metrics"]
        rates = (
            "positive_match_rate",
            "positive_recall_rate",
            "unmatched_rate",
            "false_positive_rate",
            "line_f1",
        )
        row = [safe(n), rate(m["f1"]), span(block["intervals"]["f1"]), *(rate(m[key]) for key in rates)]
        row += [count(block[key]) for key in ("total_generated_nums", "prs", "judge_error_nums")]
        rows.append([*row, span(block["bounds"]["f1"])])
    lines += _table(heads, rows)
    asked = f"{plural(judge['pairs'], 'pair')}, {plural(judge['llm_calls'], 'model call')}"
    lines += [f"Judged by {safe(judge['name'])}: {asked}, {plural(judge['errors'], 'pair')} undecided.", ""]
    lines += _slices(summary) + _left_out(summary) + _pull_requests(run)
    return lines


def _slices(summary: Mapping[str, Any]) -> list[str]:
    lines = []
    for found in sliced(summary):
        lone = len(summary["reviewers"]) == 1
        measure = "" if lone else (": F1" if found.dimension.size == "prs" else ": recall")
        lines += [f"## {found.dimension.title}{measure}", ""]
        heads = [
            found.dimension.title,
            found.dimension.of.capitalize(),
            *(safe(head) for head in found.heads),
        ]
        lines += _table(heads, ([safe(v), count(n), *map(rate, values)] for v, n, values in found.rows))
        if found.left_out:
            lines += [f"{found.left_out:,} smaller ones are left out.", ""]
    if lines and len(summary["reviewers"]) > MOST_COLUMNS:
        lines += [f"The {MOST_COLUMNS} best of {len(summary['reviewers'])} reviewers are shown.", ""]
    return lines


def _left_out(summary: Mapping[str, Any]) -> list[str]:
    items = [safe(warning) for warning in summary.get("warnings", [])]
    items += [f"skipped {safe(item['file'])}: {safe(item['reason'])}" for item in summary.get("skipped", [])]
    if not items:
        return []
    more = (
        [f"- … and {len(items) - MOST_ROWS:,} more; the run has them all"] if len(items) > MOST_ROWS else []
    )
    return ["## Warnings and skipped files", "", *(f"- {item}" for item in items[:MOST_ROWS]), *more, ""]


def _pull_requests(run: Run) -> list[str]:
    heads = ["Pull request", "Reviewer", "Comments", "Matched", "References", "Raised", "Undecided"]
    keys = ("total_generated_nums", "positive_match_nums", "positive_expected_nums", "positive_covered_nums")
    rows: list[list[str]] = []
    total = 0
    for record in run.records():
        if record["skipped"]:
            continue
        total += 1
        if total <= MOST_ROWS:
            start = [safe(pull_request_name(record["github_pr_url"])), safe(record["reviewer"])]
            rows.append([*start, *(count(record[key]) for key in (*keys, "judge_error_nums"))])
    more = [f"… and {total - MOST_ROWS:,} more rows; the run has them all.", ""] if total > MOST_ROWS else []
    return ["## Pull requests", "", *_table(heads, rows, numbers=2), *more]


def _routing(run: Run) -> list[str]:
    summary = run.summary
    routers, names = summary["routers"], ranked_routers(summary)
    metrics = ["mrr", *hit_names(summary)]
    truth = summary["truth"]
    lines = ["# Reviewer routing", ""]
    states = ", ".join(f"{count(truth[key])} {key.replace('_', ' ')}" for key in truth)
    lines += [f"{plural(summary['prs'], 'pull request')}: {states}.", ""]
    titles = ["MRR" if m == "mrr" else m for m in metrics]
    heads = [
        "Router",
        *(head for title in titles for head in (title, "95 %")),
        "MRR where observed",
        "Gini",
        "Top share",
    ]
    rows = []
    for n in names:
        block = routers[n]
        figures = [cell for m in metrics for cell in (rate(block[m]), span(block["intervals"].get(m)))]
        load = [rate(block["load"][key]) for key in ("gini", "top1_share")]
        rows.append([safe(n), *figures, rate(block["observed_only"]["mrr"]), *load])
    lines += _table(heads, rows)
    return lines + _queue(summary, names) + _gates(summary) + _left_out(summary)


def _queue(summary: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    times = ["ttfr_seconds_median", "ttfr_seconds_mean"]
    heads = ["Router", "Risk", "Pull requests", "Median time to first review", "Mean"]
    if summary["config"].get("ttfc"):
        times += ["ttfc_seconds_median", "ttfc_seconds_mean"]
        heads += ["Median time to first comment", "Mean"]
    rows = [
        [safe(n), risk, count(b["n"]), *(duration(b.get(time)) for time in times)]
        for n in names
        for risk, b in summary["routers"][n]["queue"].items()
        if b["n"]
    ]
    return ["## Queue by risk", "", *_table(heads, rows, numbers=2)] if rows else []


def _gates(summary: Mapping[str, Any]) -> list[str]:
    blocks = {gate: block for gate, block in summary["gates"].items() if block}
    heads = ["Gate", "Pull requests", "Missing", "Merged, declared", "Merged, missing"]
    within = any("merged_within" in block for block in blocks.values())
    if within:
        by_then = f"Merged within {safe(summary['config'].get('merged_within'))}"
        heads += [f"{by_then}, declared", f"{by_then}, missing"]
    rows = []
    for gate, block in blocks.items():
        rates = [block["missing_rate"], *(block[key] for key in _MERGED)]
        rates += [block["merged_within"][key] for key in _MERGED] if within else []
        rows.append([safe(gate), count(block["n"]), *map(rate, rates)])
    return ["## Gates", "", *_table(heads, rows)] if rows else []


_MERGED = ("merged_rate_present", "merged_rate_missing")
