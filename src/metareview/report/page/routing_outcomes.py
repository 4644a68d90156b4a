"""What comes of recommendations: whole lists, expertise, files at risk, and whether people who were asked responded."""

from __future__ import annotations

from metareview.report.names import capital
from metareview.report.numbers import count
from metareview.report.page.blocks import Cells, Section, name, paragraph, remark, table_of
from metareview.report.page.markup import join
from metareview.report.routing_outcomes import (
    EXPERTISE_REMARK,
    NAMED_PEOPLE,
    REQUESTS_REMARK,
    actual_lines,
    expertise_table,
    lists_table,
    requests_line,
    requests_table,
)
from metareview.report.tables import INTERVAL, Table
from metareview.routing.summary import RoutingSummary


def lists_section(summary: RoutingSummary) -> Section | None:
    """MAP, nDCG@k and recall@k, where several people are right."""
    table = lists_table(summary, all_intervals=True)
    if not table:
        return None
    text = paragraph("Everybody who reviewed is right: how many of them the lists have, and how far up.")
    shown = table_of("Whole lists, the best MRR first; with 95 % intervals", _cells(table))
    return Section("lists", "All right people", join([text, shown]))


def expertise_section(summary: RoutingSummary) -> Section | None:
    """Whether those listed had worked on the files, and how many files too few people know."""
    table = expertise_table(summary, all_intervals=True)
    if not table:
        return None
    shown = table_of("Expertise and files at risk, the best MRR first; with 95 % intervals", _cells(table))
    parts = [paragraph(EXPERTISE_REMARK), shown, *map(paragraph, actual_lines(summary))]
    return Section("expertise", "Expertise and files at risk", join(parts))


def requests_section(summary: RoutingSummary) -> Section | None:
    """Who was asked for a review, and responded."""
    table = requests_table(summary)
    if not table or summary.responses is None:
        return None
    parts = [*map(paragraph, requests_line(summary)), table_of("People who were asked most", _cells(table))]
    if (more := len(summary.responses.people) - NAMED_PEOPLE) > 0:
        parts.append(remark(f"{count(more)} more are left out. The run has them all."))
    return Section("requests", "Who was asked, and responded", join([*parts, paragraph(REQUESTS_REMARK)]))


def _cells(table: Table) -> list[Cells]:
    """Each figure with its interval behind it, muted as in the main table."""
    columns: list[Cells] = []
    for column in table:
        if column.head == INTERVAL:
            title, kind, figures = columns.pop()
            both = zip(figures, column.cells, strict=True)
            columns.append((title, kind, [f"{figure} ({ends})" for figure, ends in both]))
        elif column.text:
            columns.append((capital(column.head), "name", [name(cell) for cell in column.cells]))
        else:
            head = column.head if "@" in column.head else capital(column.head)
            columns.append((head, "num", column.cells))
    return columns
