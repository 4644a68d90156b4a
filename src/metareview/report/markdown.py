"""Markdown: the report of a run, for a pull request or a wiki, and the sections that a build's page gets.

Names and notes are other people's text. They are written so that nothing in them acts as Markdown or HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from metareview.comments.summary import CommentsSummary
from metareview.comparison.standings import Leaderboard
from metareview.formats.read_warnings import stands_for
from metareview.model.build_gates import GateResult
from metareview.model.comment import Skipped
from metareview.model.words import plural
from metareview.report.build_gates import gates_table
from metareview.report.costs import WORDS, amount
from metareview.report.evidence_markdown import evidence_section
from metareview.report.headline import board_of, headline, order
from metareview.report.labels_markdown import labels_sections
from metareview.report.markdown_text import safe as safe
from metareview.report.names import capital, in_words, pull_request_name
from metareview.report.numbers import count, rate
from metareview.report.outcome_markdown import outcome_section
from metareview.report.outcomes import (
    headline_of,
    judged_sentence,
    left_out_of,
    outcome_costs,
    outcomes_table,
    reasons_table,
    slice_tables,
)
from metareview.report.repeats import REMARK, repeats_table, summary_interval_lines
from metareview.report.routing_outcomes import (
    EXPERTISE_REMARK,
    REQUESTS_REMARK,
    actual_lines,
    expertise_table,
    lists_table,
    load_table,
    requests_line,
    requests_table,
)
from metareview.report.run_labels import RunLabels, read_labels
from metareview.report.slices import FOOTNOTE, MOST_COLUMNS, Figure, Size, sliced
from metareview.report.tables import (
    FIRST_WARNINGS,
    QUEUE_REMARK,
    Column,
    Table,
    cohort,
    costs_of_reviewers,
    costs_table,
    judged_by,
    merged_rates,
    queue_table,
    reviewers_table,
    routers_table,
    rows,
)
from metareview.report.trust import trust_of
from metareview.routing.summary import RoutingSummary
from metareview.runs.run import AnyRun, CommentsRun, OutcomesRun, RoutingRun, is_comments, is_outcomes

_BY_LABELS = "The headline goes by the corrected figures; all others in this table are as judged."
MOST_ROWS = 200
"""Pull requests, warnings or skipped files that are listed."""


def as_lines(table: Table) -> list[str]:
    """The table, and an empty line after it."""
    heads = [safe(column.head) if column.from_data else column.head for column in table]
    rule = ["---" if column.text else "---:" for column in table]
    lines = [heads, rule, *(map(safe, row) for row in rows(table))]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def run_section(run: AnyRun, board: Leaderboard | None = None) -> str:
    """A run's answer, warnings, main table and gates, for the page of a build."""
    if is_outcomes(run):
        return document(
            [
                "### What became of review comments",
                "",
                *_outcomes_answer(run),
                *_gates(run.result.build_gates, "**Gates**"),
            ]
        )
    title = "### Review comments" if is_comments(run) else "### Reviewer routing"
    labels = read_labels(run) if is_comments(run) else None
    return document([title, "", *_answer(run, board, labels), *_gates(run.result.build_gates, "**Gates**")])


def _answer(run: AnyRun, board: Leaderboard | None = None, labels: RunLabels | None = None) -> list[str]:
    """The headline, the warnings that a reader must have seen before the figures, and the main table."""
    board = board or board_of(run)
    lines = [f"**{safe(headline(run, board), longest=1_000)}**", ""]
    lines += [labels.sentence(), ""] if labels and labels.sentence() else []
    lines += _first_warnings(run.result.warnings)
    if is_comments(run):
        summary = run.result
        return [
            *lines,
            *as_lines(reviewers_table(summary, board)),
            *(as_lines(costs) if (costs := costs_table(costs_of_reviewers(summary))) else []),
            *([_BY_LABELS, ""] if board and board.labelled else []),
            judged_by(summary, safe(summary.judge.name)),
            "",
            safe(trust_of(run, labels or read_labels(run)).line(), longest=1_000),
            "",
            *_repeats(summary),
        ]
    return [*lines, *as_lines(routers_table(run.result, all_intervals=True)), cohort(run.result), ""]


def _repeats(summary: CommentsSummary) -> list[str]:
    names = order(summary).names
    table, intervals = repeats_table(summary, names), summary_interval_lines(summary, names)
    of_all = ["**Between runs**", "", *as_lines(table), REMARK, ""] if table else []
    return [*of_all, *(f"- {safe(line, longest=1_000)}" for line in intervals), *([""] if intervals else [])]


def _first_warnings(warnings: Sequence[str]) -> list[str]:
    more = sum(map(stands_for, warnings[FIRST_WARNINGS:]))
    shown = [f"- Warning: {safe(warning)}" for warning in warnings[:FIRST_WARNINGS]]
    rest = [f"- … and {plural(more, 'more warning')}"] if more else []
    return [*shown, *rest, ""] if shown else []


def as_markdown(run: AnyRun) -> str:
    if is_outcomes(run):
        return document(_comment_outcomes(run))
    return document(_comments(run) if is_comments(run) else _routing(run))


def document(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _comments(run: CommentsRun) -> list[str]:
    summary = run.result
    labels = read_labels(run)
    lines = ["# Code review comments", "", *_answer(run, labels=labels)]
    lines += labels_sections(labels, safe, as_lines) + _gates(summary.build_gates)
    lines += _slices(summary) + evidence_section(run, safe)
    return lines + _left_out(summary.warnings, summary.skipped) + _pull_requests(run)


def _gates(results: Sequence[GateResult], title: str = "## Gates") -> list[str]:
    return [title, "", *as_lines(gates_table(results))] if results else []


def _slices(summary: CommentsSummary) -> list[str]:
    lines = []
    reviewers = len(summary.reviewers)
    for table in sliced(summary):
        title = table.dimension.title
        lines += [f"## {title}" + (f": {table.dimension.main.label}" if reviewers > 1 else ""), ""]
        sizes = list(table.sizes.values())
        columns = [Column(title, list(table.sizes), text=True)]
        columns += [Column("Pull requests", [count(size.prs) for size in sizes])]
        columns += [Column("References", [count(size.references) for size in sizes])]
        for head, figures in table.columns:
            cells = [_slice_cell(figure, size) for figure, size in zip(figures, sizes, strict=True)]
            columns.append(Column(head, cells, from_data=True))
        lines += as_lines(columns)
        if table.has_few:
            lines += [f"\\{FOOTNOTE}", ""]
        if table.left_out:
            lines += [f"{count(table.left_out)} smaller ones are left out.", ""]
    if lines and reviewers > MOST_COLUMNS:
        lines += [f"The {MOST_COLUMNS} best of {reviewers} reviewers are shown.", ""]
    return lines


def _slice_cell(figure: Figure, size: Size) -> str:
    about = figure.about(size)
    return f"{rate(figure.value)}{figure.sign}" + (f" ({', '.join(about)})" if about else "")


def _left_out(warnings: Sequence[str], skipped: Sequence[Skipped] = ()) -> list[str]:
    """All of them, where the first warnings above are not all."""
    if len(warnings) <= FIRST_WARNINGS and not skipped:
        return []
    items = [*map(safe, warnings), *(f"skipped {safe(item.file)}: {safe(item.reason)}" for item in skipped)]
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
        *(
            Column(capital(word), [amount(kind, getattr(record.spent, kind)) for record in shown])
            for kind, word in WORDS.items()
            if any(getattr(record.spent, kind) is not None for record in shown)
        ),
    ]
    more = sum(1 for _ in scored)
    rest = [f"… and {plural(more, 'more row')}; the run has them all.", ""] if more else []
    return ["## Pull requests", "", *as_lines(table), *rest]


def _routing(run: RoutingRun) -> list[str]:
    summary = run.result
    lines = ["# Reviewer routing", "", *_answer(run), *_gates(summary.build_gates)]
    return lines + _outcomes(summary) + _queue(summary) + _declarations(summary) + _left_out(summary.warnings)


def _outcomes(summary: RoutingSummary) -> list[str]:
    """What comes of recommendations besides finding the right person."""
    lines: list[str] = []
    if whole := lists_table(summary, all_intervals=True):
        lines += ["## All right people", "", *as_lines(whole)]
    if expertise := expertise_table(summary, all_intervals=True):
        lines += ["## Expertise and files at risk", "", *as_lines(expertise), EXPERTISE_REMARK, ""]
        lines += [line for sentence in actual_lines(summary) for line in (safe(sentence), "")]
    if load := load_table(summary):
        lines += ["## Load per person", "", *as_lines(load)]
    if asked := requests_table(summary):
        sentences = [safe(line) for line in requests_line(summary)]
        lines += ["## Who was asked, and responded", "", *sentences, "", *as_lines(asked), REQUESTS_REMARK, ""]
    return lines


def _queue(summary: RoutingSummary) -> list[str]:
    table = queue_table(summary)
    return ["## Queue by risk", "", *as_lines(table), QUEUE_REMARK, ""] if table else []


def _declarations(summary: RoutingSummary) -> list[str]:
    blocks = summary.declarations
    table = [
        Column("Declaration", [in_words(name) for name in blocks], text=True),
        Column("Pull requests", [count(block.n) for block in blocks.values()]),
        Column("Missing", [rate(block.missing_rate) for block in blocks.values()]),
    ]
    table += [Column(head, [rate(value) for value in rates]) for head, rates in merged_rates(summary).items()]
    return ["## What pull requests declare", "", *as_lines(table)] if blocks else []


def _outcomes_answer(run: OutcomesRun) -> list[str]:
    summary = run.result
    lines = [f"**{safe(headline_of(summary), longest=1_000)}**", "", *_first_warnings(summary.warnings)]
    lines += as_lines(outcomes_table(summary, all_intervals=True))
    if costs := outcome_costs(summary):
        lines += as_lines(costs)
    return [
        *lines,
        *map(safe, left_out_of(summary)),
        *(safe(each, longest=1_000) for each in judged_sentence(summary)),
        "",
    ]


def _comment_outcomes(run: OutcomesRun) -> list[str]:
    summary = run.result
    lines = ["# What became of review comments", "", *_outcomes_answer(run), *_gates(summary.build_gates)]
    for title, table in slice_tables(summary).items():
        lines += [f"## {title}", "", *as_lines(table)]
    lines += outcome_section(run, safe)
    if reasons := reasons_table(summary):
        lines += ["## What the data cannot tell", "", *as_lines(reasons)]
    return lines + _left_out(summary.warnings, summary.skipped)
