"""The pull requests of a comment run with what was counted on each, the worst first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metareview.model.words import plural
from metareview.report.names import excerpt, pull_request_name
from metareview.report.numbers import count, share
from metareview.report.page.blocks import name, paragraph, table
from metareview.report.page.charts import barred
from metareview.report.page.markup import Html, html, join
from metareview.viewer.controls import PER_PAGE, Query, Sorting, choice, entry, form, number, pager
from metareview.viewer.links import address_with
from metareview.viewer.page import Page
from metareview.viewer.run_page import RUNS
from metareview.viewer.run_view import RunView

_FIELDS = ("q", "reviewer", "language")
_COLUMNS: Mapping[str, bool] = {
    "missed": True,
    "noise": True,
    "f1": False,
    "comments": True,
    "references": True,
    "undecided": True,
    "order": False,
}
_ORDER = {
    "missed": "expected - covered",
    "noise": "unmatched",
    "f1": "f1",
    "comments": "generated",
    "references": "expected",
    "undecided": "undecided",
    "order": "pr",
}
# F1 of the summed counts, as its measure defines it: 0 where one of precision and recall is 0 or not defined.
_TOTALS = """
SELECT pr, min(language) AS language, sum(generated) AS generated, sum(matched) AS matched, sum(expected) AS expected,
       sum(covered) AS covered, sum(undecided) AS undecided, sum(unmatched) AS unmatched,
       CASE WHEN sum(generated) + sum(expected) = 0 THEN NULL
            WHEN sum(matched) = 0 OR sum(covered) = 0 THEN 0.0
            ELSE 2.0 / (1.0 * sum(generated) / sum(matched) + 1.0 * sum(expected) / sum(covered)) END AS f1
FROM records WHERE NOT skipped {} GROUP BY pr
"""


def prs_page(view: RunView, query: Query) -> Page:
    path = f"{view.address()}/prs"
    sorting = Sorting.of(query, _COLUMNS, "missed")
    clauses, values = _conditions(view, query)
    totals = _TOTALS.format("".join(f" AND {clause}" for clause in clauses))
    [(total,)] = view.index.rows(f"SELECT count(*) FROM ({totals})", values)  # noqa: S608  clauses are literals of ours
    page = min(number(query, "page", 1), max(1, -(-total // PER_PAGE)))
    direction = "DESC" if sorting.descending else "ASC"
    rows = view.index.rows(
        f"SELECT * FROM ({totals}) ORDER BY {_ORDER[sorting.by]} {direction} NULLS LAST, pr LIMIT ? OFFSET ?",  # noqa: S608
        [*values, PER_PAGE, (page - 1) * PER_PAGE],
    )
    body = [
        _form(view, path, query),
        html('<p class="tally" role="status">{}</p>\n', _tally(total, view, query)),
        _table(view, rows, sorting, path, query) if rows else paragraph("No pull request is like that."),
        pager(path, query, page, total),
    ]
    return Page("Pull requests", join(body), [RUNS, (view.title, view.address())])


def _tally(total: int, view: RunView, query: Query) -> str:
    [(skipped,)] = view.index.rows("SELECT count(DISTINCT pr) FROM records WHERE skipped")
    left = f"; {count(skipped)} are left out by this run's filters" if skipped else ""
    several = not query.get("reviewer") and len(view.index.reviewers) > 1
    return f"{plural(total, 'pull request')}{', summed over all reviewers' if several else ''}{left}"


def _conditions(view: RunView, query: Query) -> tuple[list[str], list[Any]]:
    clauses: list[str] = []
    values: list[Any] = []
    names = {"reviewer": view.index.reviewer_names, "language": view.index.languages}
    for field, known in names.items():
        if query.get(field):
            clauses.append(f"{field} = ?")
            values.append(-1 if (found := known.find(query[field])) is None else found)
    if text := query.get("q", "").casefold().strip():
        called = (f"{pr}\n{pull_request_name(pr)}".casefold() for pr in view.prs)
        clauses.append("pr IN (SELECT value FROM json_each(?))")
        values.append(str([at for at, names_of in enumerate(called) if text in names_of]))
    return clauses, values


def _form(view: RunView, path: str, query: Query) -> Html:
    fields = [entry("q", "Find", query, hint="repository or number")]
    for field, label, texts in (
        ("reviewer", "Reviewer", view.index.reviewers),
        ("language", "Language", view.index.languages.texts),
    ):
        if len(texts) > 1 or query.get(field):
            options = [(text, excerpt(text, 60)) for text in sorted(texts, key=str.casefold)]
            fields.append(choice(field, label, query, options, "all together" if field == "reviewer" else "any"))
    return form(path, query, fields, _FIELDS, "Find pull requests")


def _table(view: RunView, rows: list[tuple[Any, ...]], sorting: Sorting, path: str, query: Query) -> Html:
    def head(label: str, column: str) -> Html:
        return sorting.head(label, column, _COLUMNS, path, query)

    columns = [
        (head("Pull request", "order"), "pr-cell"),
        (head("Missed", "missed"), "num"),
        (head("Noise", "noise"), "num"),
        (head("F1", "f1"), "num score-cell"),
        (head("References", "references"), "num optional"),
        ("Raised", "num optional"),
        (head("Comments", "comments"), "num optional"),
        ("Matched", "num optional"),
        (head("Undecided", "undecided"), "num optional"),
        ("Language", "optional"),
    ]
    return table(
        "Pull requests and what was counted on each", columns, [_row(view, row, query) for row in rows], css="list"
    )


def _row(view: RunView, row: tuple[Any, ...], query: Query) -> list[object]:
    pr, language, generated, matched, expected, covered, undecided, unmatched, f1 = row
    to_page = address_with(f"{view.address()}/pr/{pr}", {"reviewer": query.get("reviewer")})
    return [
        html('<a href="{}">{}</a>', to_page, name(excerpt(pull_request_name(view.prs[pr]), 90))),
        count(expected - covered),
        count(unmatched),
        "–" if f1 is None else barred(f"{f1:.3f}", f1),
        count(expected),
        html('{} <span class="muted small">{}</span>', count(covered), share(covered, expected)),
        count(generated),
        html('{} <span class="muted small">{}</span>', count(matched), share(matched, generated)),
        count(undecided),
        "–" if language is None else name(excerpt(view.index.languages.texts[language], 30)),
    ]
