"""Markdown for the page of a GitHub Actions job: whatever `$GITHUB_STEP_SUMMARY` names is appended to.

Names and notes are other people's text. They are written so that nothing in them is Markdown or HTML.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from metareview.cli.output import rate, say
from metareview.comparison.competitors import LOWER, word_for

# Everything that Markdown, its tables, its links and emoji codes, or HTML read as more than itself.
_ACTIVE = frozenset("\\`*_{}[]()<>#|~&!:@$")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9./-]+")
_SHOWN_NOTES = 3


def append_step_summary(markdown: str) -> None:
    """Append where `$GITHUB_STEP_SUMMARY` names a file; the result does not depend on that going well."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8", newline="\n") as page:
            page.write(markdown.rstrip("\n") + "\n\n")
    except OSError as error:
        say(f"Warning: cannot append to $GITHUB_STEP_SUMMARY ({path}): {error.strerror}")


def plain(text: str) -> str:
    """Text that shows as itself, on one line: active characters as entities, which Markdown does not interpret.

    >>> plain("a|b <i>")
    'a&#124;b &#60;i&#62;'
    """
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "" for c in text).split())
    return "".join(f"&#{ord(c)};" if c in _ACTIVE else c for c in line)


def comments_markdown(summary: Mapping[str, Any]) -> str:
    """A run's reviewers, the best F1 first."""
    blocks = sorted(summary["reviewers"].items(), key=lambda item: -(item[1]["metrics"]["f1"] or 0))
    rows = [
        [
            plain(name),
            str(block["prs"]),
            str(block["total_generated_nums"]),
            *(rate(block["metrics"][m]) for m in ("positive_match_rate", "positive_recall_rate", "f1")),
            _interval(block["intervals"]["f1"]),
            rate(block["metrics"]["unmatched_rate"]),
            str(block["judge_error_nums"]),
        ]
        for name, block in blocks
    ]
    head = ["reviewer", "PRs", "comments", "precision", "recall", "F1", "95 %", "noise", "undecided"]
    judge = summary["judge"]
    return (
        f"### Review comments\n\n{_table(head, rows)}\n"
        f"Judged by {plain(judge['name'])} over {judge['pairs']:,} pairs; 95 % intervals over pull requests."
    )


def routing_markdown(summary: Mapping[str, Any]) -> str:
    """A run's routers, the best MRR first."""
    hits = [f"hit@{k}" for k in summary["config"]["k"]]
    blocks = sorted(summary["routers"].items(), key=lambda item: -(item[1]["mrr"] or 0))
    rows = [
        [
            plain(name),
            *(rate(block[hit]) for hit in hits),
            rate(block["mrr"]),
            _interval(block["intervals"]["mrr"]),
            rate(block["observed_only"]["mrr"]),
            rate(block["load"]["gini"]),
        ]
        for name, block in blocks
    ]
    truth = summary["truth"]
    return (
        f"### Reviewer routing\n\n{_table(['router', *hits, 'MRR', '95 %', 'where observed', 'Gini'], rows)}\n"
        f"{summary['prs']:,} pull requests: {truth['observed']:,} with a truth, {truth['no_response']:,} without, "
        f"{truth['unknown']:,} unknown (misses all the same)."
    )


def compare_markdown(result: Mapping[str, Any]) -> str:
    """A comparison: the verdict, the figures, and the pull requests that made the difference."""
    a, b = plain(result["a"]["label"]), plain(result["b"]["label"])
    rows = [
        [
            word_for(name) + (" (lower is better)" if name in LOWER else ""),
            rate(figures["a"]),
            rate(figures["b"]),
            signed(figures["diff"]),
            _interval(figures["interval"], signs=True),
            p_value(figures["p"]),
            p_value(figures["p_holm"]),
        ]
        for name, figures in result["metrics"].items()
    ]
    found = result["found"]
    parts = [
        f"### {b} against {a}\n",
        f"**{plain(result['verdict'])}**\n",
        _table(["metric", a, b, "difference", "95 %", "p", "p (Holm)"], rows),
        f"Found by both {found['both']['count']}, only by {a} {found['only_a']['count']}, "
        f"only by {b} {found['only_b']['count']}, by neither {found['neither']['count']}. "
        f"{result['prs']} pull requests.\n",
    ]
    for side in ("gains", "losses"):
        listed = result["pull_requests"][side]
        if listed:
            parts.append(f"Largest {side} of {b}, by what each adds to the difference:\n")
            parts += [_entry(entry, a, b) for entry in listed]
            parts.append("")
    parts += [f"- {plain(warning)}" for warning in result["warnings"]]
    return "\n".join(parts)


def leaderboard_markdown(result: Mapping[str, Any]) -> str:
    """The leaderboard by its sort metric; whoever shares a letter is tied."""
    metric = result["sort"]
    rows = [
        [
            str(row["rank"]),
            plain(row["label"]),
            str(row["prs"]),
            rate(row["metrics"][metric]),
            _interval(row["intervals"][metric]),
            row["ties"],
        ]
        for row in result["rows"]
    ]
    table = _table(["", "name", "PRs", word_for(metric), "95 %", "ties"], rows)
    notes = "\n".join(f"- {plain(warning)}" for warning in result["warnings"])
    return f"### Leaderboard\n\n{table}\nA shared letter: this set cannot tell them apart.\n\n{notes}"


def signed(value: float | None) -> str:
    """With three decimals; a part of a long history is smaller than that, and still shown."""
    if value is None:
        return "–"
    return f"{value:+.1g}" if 0 < abs(value) < 0.0005 else f"{value:+.3f}"


def p_value(value: float | None) -> str:
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _entry(entry: Mapping[str, Any], a: str, b: str) -> str:
    pr = entry["pr"] if _ADDRESS.fullmatch(entry["pr"]) else plain(entry["pr"])
    lines = [f"- {signed(entry['effect'])} {pr}"]
    for side, name in (("only_a", a), ("only_b", b)):
        references: Sequence[Mapping[str, Any]] = entry.get(side, ())
        lines += [f"  - only {name}: {plain(reference['note'])}" for reference in references[:_SHOWN_NOTES]]
        if len(references) > _SHOWN_NOTES:
            lines.append(f"  - and {len(references) - _SHOWN_NOTES} more only by {name}")
    return "\n".join(lines)


def _interval(ends: Sequence[float] | None, *, signs: bool = False) -> str:
    if ends is None:
        return "–"
    return " to ".join(f"{end:+.3f}" if signs else f"{end:.3f}" for end in ends)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))
