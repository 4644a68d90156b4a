"""Markdown: the report of a run, for a pull request or a wiki, and the sections that a build's page gets.

Names and notes are other people's text. They are written so that nothing in them acts as Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from metareview.comments.measures import f1
from metareview.comments.summary import CommentsSummary
from metareview.model.comment import Skipped
from metareview.model.words import plural
from metareview.report.names import capital, clean, in_words, pull_request_name
from metareview.report.numbers import count, duration, interval, ranked, rate
from metareview.report.sentences import cohort, judged_by
from metareview.report.slices import MOST_COLUMNS, sliced
from metareview.report.tables import Column, Table, reviewers_table, routers_table
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
    """Text that shows as itself, on one line, shortened where it is very long.

    >>> safe("a|b <i>")
    'a&#124;b &#60;i&#62;'
    """
    line = " ".join(clean(str(text)).split())
    line = line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
    return _ACTIVE.sub(lambda found: f"&#{ord(found[0])};", _LIVE.sub(_BREAK, line)).replace(_BREAK, "&#8203;")


def as_lines(table: Table) -> list[str]:
    """The table, and an empty line after it."""
    heads = [safe(column.head) if column.from_data else column.head for column in table.columns]
    rule = ["---" if column.text else "---:" for column in table.columns]
    rows = [heads, rule, *([safe(cell) for cell in row] for row in table.rows)]
    return [f"| {' | '.join(row)} |" for row in rows] + [""]


def comments_section(summary: CommentsSummary) -> str:
    """A run's reviewers, for the page of a build."""
    return document(
        [
            "### Review comments",
            "",
            *as_lines(reviewers_table(summary)),
            judged_by(summary.judge, safe(summary.judge.name)),
        ]
    )


def routing_section(summary: RoutingSummary) -> str:
    """A run's routers, for the page of a build."""
    return document(["### Reviewer routing", "", *as_lines(routers_table(summary)), cohort(summary)])


def as_markdown(run: AnyRun) -> str:
    """The report: the answer and the slices in tables."""
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
    return lines + _slices(summary) + _left_out(summary.warnings, summary.skipped) + _pull_requests(run)


def _slices(summary: CommentsSummary) -> list[str]:
    lines = []
    reviewers = len(summary.reviewers)
    for table in sliced(summary):
        title = table.dimension.title
        lines += [f"## {title}" + (f": {table.dimension.main.label}" if reviewers > 1 else ""), ""]
        columns = [Column(title, text=True), Column(capital(table.dimension.of))]
        columns += [Column(head, from_data=True) for head in table.heads]
        rows = [[row.value, count(row.size), *map(rate, row.figures)] for row in table.rows]
        lines += as_lines(Table(columns, rows))
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
    columns = [Column("Pull request", text=True), Column("Reviewer", text=True)]
    columns += map(Column, ("Comments", "Matched", "References", "Raised", "Undecided"))
    rows: list[list[str]] = []
    total = 0
    for record in run.read_records():
        if record.skipped:
            continue
        total += 1
        if total <= MOST_ROWS:
            counts = record.counts
            figures = (counts.generated, counts.matched, counts.expected, counts.covered, counts.undecided)
            rows.append([pull_request_name(record.pr), record.reviewer, *map(count, figures)])
    more = total - MOST_ROWS
    rest = [f"… and {count(more)} more rows; the run has them all.", ""] if more > 0 else []
    return ["## Pull requests", "", *as_lines(Table(columns, rows)), *rest]


def _routing(run: RoutingRun) -> list[str]:
    summary = run.result
    states = {"observed": summary.truth.observed, "no_response": summary.truth.no_response}
    states["unknown"] = summary.truth.unknown
    listed = ", ".join(f"{count(number)} {in_words(state)}" for state, number in states.items())
    lines = ["# Reviewer routing", "", f"{plural(summary.prs, 'pull request')}: {listed}.", ""]
    lines += as_lines(routers_table(summary, all_intervals=True))
    return lines + _queue(summary) + _declarations(summary) + _left_out(summary.warnings)


def _queue(summary: RoutingSummary) -> list[str]:
    columns = [Column("Router", text=True), Column("Risk", text=True), Column("Pull requests")]
    columns += [Column("Median time to first review"), Column("Mean")]
    columns += [Column("Median time to first comment"), Column("Mean")] if summary.config.ttfc else []
    rows = []
    for name in ranked(summary.metrics, "mrr"):
        for risk, bucket in summary.routers[name].queue.items():
            times = [bucket.ttfr_seconds_median, bucket.ttfr_seconds_mean]
            times += [bucket.ttfc_seconds_median, bucket.ttfc_seconds_mean] if summary.config.ttfc else []
            if bucket.n:
                rows.append([name, risk, count(bucket.n), *map(duration, times)])
    return ["## Queue by risk", "", *as_lines(Table(columns, rows))] if rows else []


def _declarations(summary: RoutingSummary) -> list[str]:
    columns = [Column("Declaration", text=True), Column("Pull requests"), Column("Missing")]
    columns += [Column("Merged, declared"), Column("Merged, missing")]
    within = summary.config.merged_within
    if within is not None:
        columns += [Column(f"Merged within {within}, declared"), Column(f"Merged within {within}, missing")]
    rows = []
    for name, block in summary.declarations.items():
        figures = [block.missing_rate]
        for merged in (block.merged, block.merged_within):
            figures += [merged.merged_rate_present, merged.merged_rate_missing] if merged else []
        rows.append([in_words(name), count(block.n), *map(rate, figures)])
    return ["## What pull requests declare", "", *as_lines(Table(columns, rows))] if rows else []
