"""The HTML report of a run of outcomes: what became of comments, per reviewer, and what the data cannot tell."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.comparison.outcome_evidence import TOP, OutcomeEntry, OutcomeEvidence, outcome_evidence
from metareview.model.words import plural
from metareview.outcomes.summary import OutcomeFigures, OutcomesSummary
from metareview.report.evidence_words import about
from metareview.report.names import capital, pull_request_name
from metareview.report.numbers import NOT_DEFINED, count, interval, rate
from metareview.report.outcome_lines import OVERVIEW
from metareview.report.outcome_words import ORDERING, became, title
from metareview.report.outcomes import (
    EVIDENCE,
    headline_of,
    judged_sentence,
    left_out_of,
    main_measure,
    outcome_costs,
    reasons_table,
    rows_of,
    slice_tables,
)
from metareview.report.page import blocks
from metareview.report.page.blocks import Section, name, paragraph, table_of
from metareview.report.page.charts import headed, interval_bar
from metareview.report.page.comments import INTERVAL_TERM, meaning
from metareview.report.page.evidence import settings_table
from metareview.report.page.gates import gates_section
from metareview.report.page.markup import Html, html, join, link
from metareview.report.page.notes import note
from metareview.report.tables import Table
from metareview.runs.run import OutcomesRun

_IN_SIGHT, _REPLIES = 3, 5
"""Entries of a list before the click that shows the others; answers of an entry."""
_TERMS = (
    INTERVAL_TERM,
    ("In brackets", "The comments that a rate is over: those that the data can tell about."),
    ("Bots and people", "An account is a bot if its name ends in [bot], or its comments say that a model wrote them."),
)


def sections(run: OutcomesRun) -> list[Section | None]:
    summary = run.result
    return [
        *figures(run),
        evidence_section(run),
        cannot_tell_section(summary),
        Section("settings", "Settings", settings_table(run)),
    ]


def figures(run: OutcomesRun) -> list[Section | None]:
    """All but what became of single comments."""
    summary = run.result
    return [_answer(summary), gates_section(summary.build_gates), _slices(summary)]


def _answer(summary: OutcomesSummary) -> Section:
    rows = rows_of(summary)
    columns: list[blocks.Cells] = [
        ("Reviewer", "name", [name(each) for each in rows]),
        ("Pull requests", "num", [count(block.prs) for block in rows.values()]),
        ("Comments", "num", [count(block.comments) for block in rows.values()]),
    ]
    main = main_measure(summary)
    measures = sorted(summary.measures, key=lambda measure: measure.name != main.name)
    for measure in measures:
        if measure.name == main.name or any(block.known[measure.name] for block in rows.values()):
            cells = [_figure(f"{who}: {measure.label}", block, measure.name) for who, block in rows.items()]
            columns.append((headed(capital(measure.label)), "bar", cells))
    costs = outcome_costs(summary)
    parts: list[Html | None] = [
        paragraph(headline_of(summary), css="lead"),
        blocks.warnings(summary.warnings),
        table_of("What became of the comments, by reviewer; bars are 95 % intervals", columns),
        plain_table("What reviews took, in the units of the input", costs) if costs else None,
        *(paragraph(each, css="muted") for each in (*left_out_of(summary), *judged_sentence(summary))),
        blocks.facts(
            ("Pull requests", count(summary.prs)),
            ("Reviewers", count(len(summary.reviewers))),
            ("Comments", count(sum(block.figures.comments for block in summary.reviewers.values()))),
        ),
        blocks.terms([*map(meaning, measures), *_TERMS]),
    ]
    if undecided := sum(block.undecided for block in summary.reviewers.values()):
        parts.insert(2, blocks.remark(f"{plural(undecided, 'comment')} stayed undecided and are in no rate."))
    return Section("answer", "The answer", join(parts))


def _figure(label: str, figures: OutcomeFigures, metric: str) -> Html:
    value, ends = figures.metrics[metric], figures.intervals[metric]
    if value is None:
        return html("{}", NOT_DEFINED)
    over = f"({count(figures.known[metric])})"
    shown = interval(ends) if ends else None
    return html('{} {} <span class="muted">{}</span>{}', rate(value), over, shown, interval_bar(label, value, ends))


def _slices(summary: OutcomesSummary) -> Section | None:
    parts = [plain_table(title, table) for title, table in slice_tables(summary).items()]
    return Section("slices", "By kind of comment", join(parts)) if parts else None


def cannot_tell_section(summary: OutcomesSummary) -> Section | None:
    table = reasons_table(summary)
    if not table:
        return None
    said = "These comments are in no rate of that kind: what the data cannot tell is never counted as a no."
    parts = [paragraph(f"{said} {EVIDENCE}"), plain_table("Reasons, and how many comments each is about", table)]
    return Section("cannot-tell", "What the data cannot tell", join(parts))


def evidence_section(run: OutcomesRun) -> Section | None:
    """Ten comments of each list; None where all of them are empty."""
    found = outcome_evidence(run, OVERVIEW, top=TOP)
    parts = [_list(each, found) for each in OVERVIEW if found.lists[each]]
    return Section("evidence", "The evidence", join(parts)) if parts else None


def _list(which: str, found: OutcomeEvidence) -> Html:
    entries = found.lists[which]
    first, rest = entries[:_IN_SIGHT], entries[_IN_SIGHT:]
    left = None
    if len(entries) < found.counts[which]:
        left = html(" {} of them are shown; <code>metareview show</code> has them all.", len(entries))
    more = plural(len(rest), "more entry", "more entries")
    return join(
        [
            html("<h3>{}</h3>", title(which, found)),
            paragraph(f"{capital(ORDERING)}.", left, css="muted"),
            items(first),
            blocks.behind(more, items(rest)) if rest else None,
        ]
    )


def items(entries: Sequence[OutcomeEntry]) -> Html:
    return html('<ul class="items">{}</ul>\n', [item(entry) for entry in entries])


def item(entry: OutcomeEntry) -> Html:
    """A comment, what became of it, what was answered, and the later change behind a click."""
    outcome = entry.outcome
    known = [blocks.where(outcome.comment), *about(outcome.comment), html("by {}", name(entry.reviewer))]
    replies = [
        html('<p class="where"><b>{}</b> answered</p>{}', name(reply.author or "somebody"), note(reply.note))
        for reply in outcome.replies[:_REPLIES]
    ]
    change = outcome.later_change
    return html(
        '<li class="pair"><div><p class="where"><b>{}</b> {}</p>{}</div>{}<p class="verdict">{}</p></li>\n',
        link(entry.pr, pull_request_name(entry.pr)),
        join([part for part in known if part], " · "),
        note(outcome.comment.note),
        html(
            '<div class="other">{}{}{}</div>',
            replies,
            blocks.behind("The lines that it points at", html("<pre>{}</pre>", outcome.code)) if outcome.code else None,
            blocks.behind("The later change", html("<pre>{}</pre>", change)) if change else None,
        ),
        capital("; ".join(became(outcome))) + ".",
    )


def plain_table(caption: str, table: Table) -> Html:
    columns: list[blocks.Cells] = []
    for number, column in enumerate(table):
        cells = [name(cell) for cell in column.cells] if column.text else list(column.cells)
        head = name(column.head) if column.from_data else capital(column.head)
        columns.append((head, "name" if number == 0 else "words" if column.text else "num", cells))
    return table_of(caption, columns)
