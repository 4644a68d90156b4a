"""The judged pairs of a run: filtered by whatever is in the address, sorted by a column, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.records import Pair
from metareview.model.words import format_score, plural
from metareview.report.names import excerpt, pull_request_name
from metareview.report.numbers import count
from metareview.report.page.blocks import name, paragraph, table, tag
from metareview.report.page.charts import barred
from metareview.report.page.markup import Html, html, join
from metareview.viewer.controls import PER_PAGE, Query, Sorting, address, choice, decimal, entry, form, number, pager
from metareview.viewer.index import EXCERPT
from metareview.viewer.links import address_with, anchor
from metareview.viewer.page import Page
from metareview.viewer.pair_index import VERDICTS, Found, PairFilter, PairRow
from metareview.viewer.run_page import RUNS
from metareview.viewer.run_view import RunView

_TEXTS = ("reviewer", "verdict", "text", "category", "severity", "language", "by")
_FIELDS = (*_TEXTS, "low", "high")
_COLUMNS: Mapping[str, bool] = {"order": False, "score": True, "reviewer": False, "verdict": False}
_WORDS = {
    "aligned": "aligned",
    "same": "same, not aligned",
    "different": "different",
    "undecided": "undecided",
    "negative": "beside a rejected one",
    "elsewhere": "too far apart",
}
_TAGS = {"aligned": "good", "same": "warn", "undecided": "warn", "negative": "bad"}
_JUDGES = {"judge": "the judge", "model": "a model", "cache": "a model, from the cache", "label": "a person's label"}
_SAID = '<p class="where"><bdi>{}</bdi>{}</p><p class="said" dir="auto">{}</p>'


@dataclass(frozen=True)
class _Note:
    place: str
    beginning: str
    about: Sequence[str]


def pairs_page(view: RunView, query: Query) -> Page:
    wanted = PairFilter(
        **{field: query.get(field) or None for field in _TEXTS}, low=decimal(query, "low"), high=decimal(query, "high")
    )
    sorting = Sorting.of(query, _COLUMNS, "score")
    page = number(query, "page", 1)
    found = _found(view, wanted, sorting, page)
    last = max(1, -(-found.total // PER_PAGE))
    if page > last:
        page = last
        found = _found(view, wanted, sorting, page)
    path = f"{view.address()}/pairs"
    body = [
        _form(view, path, query),
        _tally(found, len(view.index.pairs), path, query),
        _table(view, found, sorting, path, query) if found.rows else _nothing(view, path),
        pager(path, query, page, found.total),
    ]
    return Page("Pairs", join(body), [RUNS, (view.title, view.address())])


def _found(view: RunView, wanted: PairFilter, sorting: Sorting, page: int) -> Found:
    return view.index.find_pairs(
        wanted, sort=sorting.by, descending=sorting.descending, first=(page - 1) * PER_PAGE, most=PER_PAGE
    )


def _form(view: RunView, path: str, query: Query) -> Html:
    index = view.index

    def named(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
        return ((text, excerpt(text, 60)) for text in sorted(texts, key=str.casefold))

    fields = [
        entry("text", "Words", query, hint="in a note or a path"),
        choice("verdict", "Verdict", query, [(each, _WORDS[each]) for each in VERDICTS]),
    ]
    offered = (
        ("reviewer", "Reviewer", named(index.reviewers)),
        ("category", "Category", named(index.categories.texts)),
        ("severity", "Severity", named(index.severities.texts)),
        ("language", "Language", named(index.languages.texts)),
        ("by", "Decided by", [(each, _JUDGES.get(each, each)) for each in index.pairs.by]),
    )
    for field, label, options in offered:
        listed = list(options)
        if len(listed) > 1 or query.get(field):
            fields.append(choice(field, label, query, listed))
    fields += [entry("low", "Score from", query, "score", "0"), entry("high", "to", query, "score", "1")]
    return form(path, query, fields, _FIELDS, "Filter pairs")


def _tally(found: Found, total: int, path: str, query: Query) -> Html:
    """How many there are, and of each verdict, with a link that shows these alone."""
    shown = plural(total, "pair") if found.total == total else f"{count(found.total)} of {plural(total, 'pair')}"
    chosen = query.get("verdict")
    items = [
        html(
            '<li><a href="{}"{}>{} <b>{}</b></a></li>',
            address(path, query, verdict=None if verdict == chosen else verdict, page=None),
            html(' aria-current="true"') if verdict == chosen else None,
            _WORDS[verdict],
            count(number),
        )
        for verdict, number in found.by_verdict.items()
        if number or verdict == chosen
    ]
    every = html('<ul class="chips" aria-label="By verdict">{}</ul>', items)
    return html('<div class="tally"><p role="status">{}</p>{}</div>\n', shown, every)


def _nothing(view: RunView, path: str) -> Html:
    if not len(view.index.pairs):
        return paragraph("No pair was judged in this run.")
    return paragraph("No pair is like that. ", html('<a href="{}">Show all pairs</a>', path))


def _table(view: RunView, found: Found, sorting: Sorting, path: str, query: Query) -> Html:
    def head(label: str, column: str) -> Html:
        return sorting.head(label, column, _COLUMNS, path, query)

    columns = [
        (head("Score", "score"), "num score-cell"),
        (head("Verdict", "verdict"), ""),
        ("Comment", "note-cell"),
        ("Reference", "note-cell"),
        (head("Reviewer", "reviewer"), "optional"),
        (head("Pull request", "order"), "pr-cell"),
    ]
    notes = _notes(view, found.rows)
    pairs = view.index.read_pairs([row.offset for row in found.rows])
    rows = [_row(view, row, pair, notes) for row, pair in zip(found.rows, pairs, strict=True)]
    return table("Pairs of a comment and a reference", columns, rows, css="list pairs-list")


def _notes(view: RunView, rows: Sequence[PairRow]) -> dict[int, _Note]:
    """The notes of a page's pairs, by their numbers in the index."""
    wanted = sorted({number for row in rows for number in (row.comment, row.other) if number >= 0})
    marks = ", ".join("?" * len(wanted))
    query = f"SELECT id, place, beginning, category, severity FROM notes WHERE id IN ({marks})"  # noqa: S608  marks alone
    categories, severities = view.index.categories.texts, view.index.severities.texts
    notes = {}
    for note, place, beginning, category, severity in view.index.rows(query, wanted):
        about = [texts[at] for texts, at in ((categories, category), (severities, severity)) if at is not None]
        notes[note] = _Note(place, beginning, about)
    return notes


def _row(view: RunView, row: PairRow, pair: Pair, notes: Mapping[int, _Note]) -> list[object]:
    score = "–" if row.score is None else barred(format_score(row.score), row.score)
    at = anchor(pair.generated) if pair.negative else anchor(pair.generated, pair.reference)
    to_page = address_with(view.address(pair.pr), {"reviewer": pair.reviewer, "all": pair.generated}, at)
    by = html('<span class="muted small">{}</span>', _JUDGES.get(row.by, row.by))
    return [
        score,
        html("{} {}", tag(_WORDS[row.verdict], _TAGS.get(row.verdict, "")), by),
        _said(notes.get(row.comment)),
        _said(notes.get(row.other)),
        name(excerpt(pair.reviewer, 60)),
        html('<a href="{}">{}</a>', to_page, name(excerpt(pull_request_name(pair.pr), 60))),
    ]


def _said(note: _Note | None) -> Html:
    if note is None:
        return html('<span class="muted">not in the record</span>')
    about = [html(" · {}", excerpt(each, 40)) for each in note.about]
    return html(_SAID, excerpt(note.place, 120), about, excerpt(note.beginning, EXCERPT))
