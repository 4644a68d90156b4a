"""Markdown: the report of a run, for a pull request or a wiki, and the sections that a build's page gets.

Names and notes are other people's text. They are written so that nothing in them acts as Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice

from metareview.comments.measures import f1
from metareview.comments.summary import CommentsSummary
from metareview.model.build_gates import GateResult
from metareview.model.comment import Skipped
from metareview.model.words import plural
from metareview.report.build_gates import gates_table
from metareview.report.names import capital, clean, in_words, pull_request_name
from metareview.report.numbers import count, duration, interval, ranked, rate
from metareview.report.slices import MOST_COLUMNS, sliced
from metareview.report.tables import (
    Column,
    Table,
    cohort,
    judged_by,
    merged_rates,
    queue_times,
    reviewers_table,
    routers_table,
    rows,
)
from metareview.routing.summary import RoutingSummary
from metareview.runs.run import AnyRun, CommentsRun, RoutingRun, is_comments

MOST_ROWS = 200
"""Pull requests, warnings or skipped files that are listed."""
_LONGEST = 300
# What Markdown, its tables, links, emoji codes and lists, or HTML read as more than itself.
_ACTIVE = re.compile(r"[\\`*_{}\[\]()<>#|~&!:@$]|^[+-]|(?<=^\d)[.)](?=\s)")
# What a site turns into a link or a notice to somebody, even where it was written as an entity.
_LIVE = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)|(?<=#)(?=\d)", re.IGNORECASE)
_BREAK = "\u200b"


def safe(text: object) -> str:
    """Text that shows as itself, on one line, shortened where it is very long."""
    line = " ".join(clean(str(text)).split())
    line = line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
    return _ACTIVE.sub(lambda found: f"&#{ord(found[0])};", _LIVE.sub(_BREAK, line)).replace(_BREAK, "&#8203;")


def as_lines(table: Table) -> list[str]:
    """The table, and an empty line after it."""
    heads = [safe(column.head) if column.from_data else column.head for column in table]
    rule = ["---" if column.text else "---:" for column in table]
    lines = [heads, rule, *(map(safe, row) for row in rows(table))]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def comments_section(summary: CommentsSummary) -> str:
    """A run's reviewers, for the page of a build."""
    judged = judged_by(summary.judge, safe(summary.judge.name))
    gates = _gates(summary.build_gates, "**Gates**")
    return document(["### Review comments", "", *as_lines(reviewers_table(summary)), *gates, judged])


def routing_section(summary: RoutingSummary) -> str:
    """A run's routers, for the page of a build."""
    gates = _gates(summary.build_gates, "**Gates**")
    return document(["### Reviewer routing", "", *as_lines(routers_table(summary)), *gates, cohort(summary)])


def as_markdown(run: AnyRun) -> str:
    return document(_comments(run) if is_comments(run) else _routing(run))


def document(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _comments(run: CommentsRun) -> list[str]:
    summary = run.result
    names = ranked(summary.metrics, f1.name)
    lines = ["# Code review comments", ""]
    if names:
        best = summary.reviewers[names[0]]
        figure = f"F1 {rate(best.metrics[f1.name])} (95 %: {interval(best.intervals[f1.name])})"
        lines += [f"**{safe(names[0])}**{' leads with' if len(names) > 1 else ':'} {figure}.", ""]
    lines += [*as_lines(reviewers_table(summary)), judged_by(summary.judge, safe(summary.judge.name)), ""]
    lines += _gates(summary.build_gates)
    return lines + _slices(summary) + _left_out(summary.warnings, summary.skipped) + _pull_requests(run)


def _gates(results: Sequence[GateResult], title: str = "## Gates") -> list[str]:
    return [title, "", *as_lines(gates_table(results))] if results else []


def _slices(summary: CommentsSummary) -> list[str]:
    lines = []
    reviewers = len(summary.reviewers)
    for table in sliced(summary):
        title = table.dimension.title
        lines += [f"## {title}" + (f": {table.dimension.main.label}" if reviewers > 1 else ""), ""]
        columns = [Column(title, list(table.sizes), text=True)]
        columns += [Column(capital(table.dimension.of), [count(size) for size in table.sizes.values()])]
        columns += [Column(head, [rate(value) for value in values], from_data=True) for head, values in table.columns]
        lines += as_lines(columns)
        if table.left_out:
            lines += [f"{count(table.left_out)} smaller ones are left out.", ""]
    if lines and reviewers > MOST_COLUMNS:
        lines += [f"The {MOST_COLUMNS} best of {reviewers} reviewers are shown.", ""]
    return lines


def _left_out(warnings: Iterable[str], skipped: Iterable[Skipped] = ()) -> list[str]:
    items = [*map(safe, warnings), *(f"skipped {safe(item.file)}: {safe(item.reason)}" for item in skipped)]
    if not items:
        return []
    more = len(items) - MOST_ROWS
    rest = [f"- … and {count(more)} more; the run has them all"] if more > 0 else []
    return ["## Warnings and skipped files", "", *(f"- {item}" for item in items[:MOST_ROWS]), *rest, ""]


def _pull_requests(run: CommentsRun) -> list[str]:
    scored = (record for record in run.read_records() if not record.skipped)
    shown = list(islice(scored, MOST_ROWS))
    counts = [record.counts for record in shown]
    table = [
        Column("Pull request", [pull_request_name(record.pr) for record in shown], text=True),
        Column("Reviewer", [record.reviewer for record in shown], text=True),
        Column("Comments", [count(each.generated) for each in counts]),
        Column("Matched", [count(each.matched) for each in counts]),
        Column("References", [count(each.expected) for each in counts]),
        Column("Raised", [count(each.covered) for each in counts]),
        Column("Undecided", [count(each.undecided) for each in counts]),
    ]
    more = sum(1 for _ in scored)
    rest = [f"… and {count(more)} more rows; the run has them all.", ""] if more else []
    return ["## Pull requests", "", *as_lines(table), *rest]


def _routing(run: RoutingRun) -> list[str]:
    summary = run.result
    listed = ", ".join(f"{count(number)} {in_words(state)}" for state, number in asdict(summary.truth).items())
    lines = ["# Reviewer routing", "", f"{plural(summary.prs, 'pull request')}: {listed}.", ""]
    lines += as_lines(routers_table(summary, all_intervals=True)) + _gates(summary.build_gates)
    return lines + _queue(summary) + _declarations(summary) + _left_out(summary.warnings)


def _queue(summary: RoutingSummary) -> list[str]:
    buckets = queue_times(summary)
    times = [bucket for _, _, bucket in buckets]
    table = [
        Column("Router", [router for router, _, _ in buckets], text=True),
        Column("Risk", [risk for _, risk, _ in buckets], text=True),
        Column("Pull requests", [count(bucket.n) for bucket in times]),
        Column("Median time to first review", [duration(bucket.ttfr_seconds_median) for bucket in times]),
        Column("Mean", [duration(bucket.ttfr_seconds_mean) for bucket in times]),
    ]
    if summary.config.ttfc:
        medians = [duration(bucket.ttfc_seconds_median) for bucket in times]
        means = [duration(bucket.ttfc_seconds_mean) for bucket in times]
        table += [Column("Median time to first comment", medians), Column("Mean", means)]
    return ["## Queue by risk", "", *as_lines(table)] if buckets else []


def _declarations(summary: RoutingSummary) -> list[str]:
    blocks = summary.declarations
    table = [
        Column("Declaration", [in_words(name) for name in blocks], text=True),
        Column("Pull requests", [count(block.n) for block in blocks.values()]),
        Column("Missing", [rate(block.missing_rate) for block in blocks.values()]),
    ]
    table += [Column(head, [rate(value) for value in rates]) for head, rates in merged_rates(summary).items()]
    return ["## What pull requests declare", "", *as_lines(table)] if blocks else []
