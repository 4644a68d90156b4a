"""Runs and comparisons as small HTML tables, for notebooks."""

from __future__ import annotations

from metareview.comparison.verdict import Comparison
from metareview.report.comparison import comparison_table
from metareview.report.headline import board_of
from metareview.report.outcomes import outcomes_table
from metareview.report.page.markup import Html, html
from metareview.report.tables import Table, costs_of_reviewers, costs_table, reviewers_table, routers_table, rows
from metareview.runs.run import AnyRun, is_comments, is_outcomes


def run_table(run: AnyRun) -> str:
    if is_outcomes(run):
        return as_html_table(outcomes_table(run.result))
    if not is_comments(run):
        return as_html_table(routers_table(run.result))
    costs = costs_table(costs_of_reviewers(run.result))
    below = html("\n{}", as_html_table(costs)) if costs else ""
    return html("{}{}", as_html_table(reviewers_table(run.result, board_of(run))), below)


def comparison_html(result: Comparison) -> str:
    return html("{}<p>{}</p>", as_html_table(comparison_table(result)), result.verdict)


def as_html_table(table: Table) -> Html:
    head = [html("<th>{}</th>", column.head) for column in table]
    body = [html("<tr>{}</tr>\n", [html("<td>{}</td>", cell) for cell in row]) for row in rows(table)]
    return html("<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>", head, body)
