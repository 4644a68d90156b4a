"""Runs and comparisons as small HTML tables, for notebooks."""

from __future__ import annotations

from metareview.comparison.paired import Comparison
from metareview.report.comparison import comparison_table
from metareview.report.page.markup import Html, html
from metareview.report.tables import Table, reviewers_table, routers_table
from metareview.runs.run import AnyRun, is_comments


def run_table(run: AnyRun) -> str:
    """Reviewers or routers with their figures."""
    return as_html_table(reviewers_table(run.result) if is_comments(run) else routers_table(run.result))


def comparison_html(result: Comparison) -> str:
    """The metrics side by side, and the verdict."""
    return html("{table}<p>{verdict}</p>", table=as_html_table(comparison_table(result)), verdict=result.verdict)


def as_html_table(table: Table) -> Html:
    """Everything from data is escaped."""
    head = [html("<th>{head}</th>", head=column.head) for column in table.columns]
    rows = [
        html("<tr>{cells}</tr>\n", cells=[html("<td>{cell}</td>", cell=cell) for cell in row]) for row in table.rows
    ]
    return html("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>", head=head, rows=rows)
