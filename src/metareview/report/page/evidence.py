"""What the figures rest on: sensitivity to the settings, the judge and its cost, what was skipped and undecided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any

from metareview.report.numbers import (
    SHORT_NAMES,
    capital,
    count,
    plural,
    pull_request_name,
    ranked,
    rate,
    span,
)
from metareview.report.page.blocks import Column, Section, behind, capped, excerpt, name, paragraph, table
from metareview.report.page.charts import SERIES, Curve, curves, legend
from metareview.report.page.markup import Html, html, join, link
from metareview.report.source import Run

MOST_ITEMS = 200
"""Warnings or skipped files that are listed."""

_AXES = {
    "line_distance": (
        "line distance",
        "Line distance",
        "How many lines apart a comment and a reference may be.",
        (("f1", "F1"), ("line_f1", "line F1")),
    ),
    "threshold": (
        "threshold",
        "The judge's threshold",
        "The score from which the judge calls two notes the same.",
        (("f1", "F1"),),
    ),
}
"""Short name, title, meaning, and the metrics that hang on it."""


def stored_sensitivity(run: Run) -> Mapping[str, Any] | None:
    """The curves, worked out from the stored pairs."""
    if find_spec("metareview.comparison.sensitivity") is None:
        return None
    found: Mapping[str, Any] | None = import_module("metareview.comparison.sensitivity").sensitivity(run)
    return found


def sensitivity_section(found: Mapping[str, Any] | None, run: Run) -> Section | None:
    """F1 as a function of the line distance and of the threshold, and whether the order of reviewers survives."""
    order = ranked(run.summary["reviewers"])
    parts = [
        _curve_part(axis, found[axis], order)
        for axis in _AXES
        if found and found.get(axis) and len(found[axis]["values"]) > 1
    ]
    if not parts:
        return None
    text = paragraph(
        "The same verdicts, counted again with other settings. Where the lines keep their order, so does the "
        "leaderboard. The dotted upright line is this run's own setting."
    )
    return Section("sensitivity", "Would other settings change the answer?", join([text, *parts]))


def _curve_part(axis: str, found: Mapping[str, Any], order: Sequence[str]) -> Html:
    short, title, meaning, metrics = _AXES[axis]
    xs = found["values"]
    names = [reviewer for reviewer in order if reviewer in found["reviewers"]]
    drawn = names[:SERIES]
    figures, tables = [], []
    for metric, words in metrics:
        lines = [Curve(n, found["reviewers"][n].get(metric) or [None] * len(xs)) for n in names]
        if all(value is None for line in lines for value in line.values):
            continue
        label = f"{words} as a function of the {short}; the table has the figures"
        chart = curves(label, short, words, xs, lines[:SERIES], found.get("at"))
        figures.append(
            html("<figure><figcaption>{words}</figcaption>{chart}</figure>", words=words, chart=chart)
        )
        columns = [Column(short.capitalize()), *(Column(name(n), "num") for n in names)]
        rows = [[f"{x:g}", *(rate(line.values[k]) for line in lines)] for k, x in enumerate(xs)]
        tables.append(table(f"{words} by {short}", columns, rows))
    left = (
        f" The {SERIES} best of {len(names)} reviewers are drawn; the table has all."
        if len(names) > SERIES
        else ""
    )
    return html(
        '<h3>{title}</h3>{text}{legend}<div class="figures">{figures}</div>{data}',
        title=title,
        text=paragraph(f"{meaning} {_survival(found['ranking'], len(xs), short)}{left}"),
        legend=legend(drawn),
        figures=figures,
        data=behind("The figures of these charts", tables),
    )


def _survival(ranking: Mapping[str, Any], values: int, short: str) -> str:
    """Whether anybody overtakes anybody by F1."""
    if len(ranking["order"]) < 2:
        return ""
    changes = ranking["changes"]
    if not changes:
        return f"Nobody overtakes anybody by F1 at any {short} shown: the ranking does not hang on it."
    first = changes[0]
    lower, upper = first["overtakes"][0]
    at = ", ".join(f"{change['value']:g}" for change in changes[:8]) + (" …" if len(changes) > 8 else "")
    return (
        f"The ranking by F1 changes at {len(changes)} of {values} values ({at}): at {first['value']:g}, for example, "
        f"{lower} overtakes {upper}."
    )


def judge_section(run: Run) -> Section:
    """Who decided, what it cost, with which settings, on which inputs."""
    judge, config = run.summary["judge"], run.summary["config"]
    amounts = [
        ("Pairs judged", "pairs"),
        ("Calls of a model", "llm_calls"),
        ("Answers from the cache", "cached"),
        ("Pairs that stayed undecided", "errors"),
        ("Prompt tokens", "prompt_tokens"),
        ("Completion tokens", "completion_tokens"),
    ]
    rows: list[Sequence[object]] = [("Judge", judge["name"])]
    rows += [(title, count(judge[key])) for title, key in amounts if judge.get(key) is not None]
    cached = ": its answers were in the cache" if judge.get("cached") else ""
    called = "" if judge.get("llm_calls") else f" No model was called{cached}."
    parts = [
        paragraph(f"The verdicts of this run are by the judge “{judge['name']}”.{called}"),
        table("The judge and what it cost", [Column("What"), Column("Value", "num")], rows, css="compact"),
        settings_table(config),
    ]
    inputs = run.manifest.get("inputs")
    if inputs:
        listed = list(inputs.items())[:MOST_ITEMS]
        files = table("Input files", [Column("File"), Column("SHA-256")], listed)
        parts.append(behind(f"The input files and their hashes ({len(listed)} of {len(inputs)})", files))
    return Section("judge", "The judge and what it cost", join(parts))


def settings_table(config: Mapping[str, Any]) -> Html:
    """The run's configuration, behind a click."""
    columns = [Column("Setting"), Column("Value")]
    return behind("The settings of this run", table("Settings", columns, _settings(config), css="compact"))


def _settings(config: Mapping[str, Any]) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = []
    for key, value in config.items():
        if isinstance(value, Mapping):
            rows += [(f"{key}: {inner}", _shown(setting)) for inner, setting in value.items()]
        else:
            rows.append((key, _shown(value)))
    return rows


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def left_out_section(run: Run) -> Section:
    """Warnings, skipped files, pull requests that a filter dropped, undecided pairs with the bounds."""
    warnings, skipped = run.summary.get("warnings", []), run.summary.get("skipped", [])
    blocks = run.summary["reviewers"]
    filtered = sum(1 for record in run.records() if record["skipped"])
    undecided = [n for n in ranked(blocks) if blocks[n]["judge_error_nums"]]
    parts: list[Html] = []
    if undecided:
        parts += [html("<h3>Undecided pairs</h3>"), _bounds(blocks, undecided), _undecided_pairs(run)]
    if warnings:
        parts += [html("<h3>{title}</h3>", title=f"Warnings ({len(warnings):,})")]
        parts += [capped(warnings, MOST_ITEMS, len(warnings), "warnings")]
    if skipped:
        items = [
            html("<code>{file}</code>: {reason}", file=s["file"], reason=s["reason"])
            for s in skipped[:MOST_ITEMS]
        ]
        parts += [html("<h3>{title}</h3>", title=f"Skipped ({len(skipped):,})")]
        parts += [capped(items, MOST_ITEMS, len(skipped), "skipped files")]
    if filtered:
        kept = "pull request and reviewer was", "pull requests and reviewers were"
        parts.append(paragraph(f"{plural(filtered, *kept)} left out by the filters of this run."))
    if not parts:
        parts = [paragraph("Nothing: no warning, no file skipped, and the judge decided every pair.")]
    return Section("left-out", "What was skipped and undecided", join(parts))


def _bounds(blocks: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> Html:
    metrics = [m for m in SHORT_NAMES if any(blocks[n]["bounds"].get(m) for n in names)]
    columns = [Column("Reviewer", "name"), Column("Undecided pairs", "num")]
    columns += [Column(capital(SHORT_NAMES[m]), "num") for m in metrics]
    rows = [
        [name(n), count(blocks[n]["judge_error_nums"]), *(span(blocks[n]["bounds"].get(m)) for m in metrics)]
        for n in names
    ]
    text = paragraph(
        "The judge gave no verdict on these pairs, for example because a model did not answer. Each figure lies "
        "between these bounds: with none of them a match, and with all of them."
    )
    return join([text, table("Bounds of every figure", columns, rows)])


def _undecided_pairs(run: Run) -> Html:
    """Which pairs they are, by their positions in the input, which start at 0."""
    open_pairs = (pair for pair in run.pairs() if pair["match"] is None and pair.get("eligible", True))
    rows = [
        (
            link(pair["pr"], pull_request_name(pair["pr"])),
            name(pair["reviewer"]),
            count(pair["generated"]),
            f"{'negative' if pair['negative'] else 'reference'} {pair['reference']}",
            name(excerpt(pair["reason"] or "", 200)),
        )
        for pair in islice(open_pairs, MOST_ITEMS)
    ]
    if not rows:
        return Html()
    columns = [Column("Pull request"), Column("Reviewer", "name"), Column("Comment", "num")]
    columns += [Column("Compared with"), Column("Why there is no verdict")]
    most = f"The first {MOST_ITEMS} undecided pairs; pairs.jsonl has them all"
    return behind("The pairs", table(most if len(rows) == MOST_ITEMS else "Undecided pairs", columns, rows))
