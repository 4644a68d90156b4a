"""A run of outcomes: its figures, every comment by whatever is in the address, and the page of one pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from metareview.comparison.outcome_evidence import LISTS
from metareview.comparison.outcome_queue import fitting_outcomes
from metareview.model.label import OutcomeKey
from metareview.model.time import parse_time
from metareview.model.words import plural
from metareview.outcomes.records import OutcomeRecord
from metareview.report.names import excerpt, pull_request_name
from metareview.report.numbers import count
from metareview.report.outcome_words import NAMES
from metareview.report.page.blocks import facts, name, paragraph
from metareview.report.page.markup import Html, html, join, link
from metareview.runs.labels import LabelFile
from metareview.viewer.controls import Query, address, choice, entry, form, number, pager
from metareview.viewer.links import steps, within
from metareview.viewer.outcome_cards import Shown, outcome_card, read_shown
from metareview.viewer.outcome_index import ORDERS, CommentFilter, FoundComments, Spot, comments_of_pr, find_comments
from metareview.viewer.page import Page
from metareview.viewer.run_page import RUNS
from metareview.viewer.run_view import RunView
from metareview.viewer.runs_page import when

PER_PAGE = 25
"""Comments on one page: each may bring a change of many lines."""
_TEXTS = ("reviewer", "pr", "severity", "text")
_FIELDS = ("list", *_TEXTS, "sort")
_LONGEST_TEXT = 200
_ORDERS = {"severity": "the most severe first", "order": "as the run has them"}


def comments_page(view: RunView, query: Query) -> Page:
    """Every comment; what `query` has: `list`, `reviewer`, `pr`, `severity`, `text`, `sort`, `open` and `page`."""
    query = {name: value for name, value in query.items() if name in (*_FIELDS, "open", "page")}
    if query.get("list") not in LISTS:
        query.pop("list", None)
    texts = {field: query.get(field, "")[:_LONGEST_TEXT] or None for field in _TEXTS}
    wanted = CommentFilter(query.get("list"), **texts)
    order = query.get("sort", "") if query.get("sort", "") in ORDERS else "severity"
    page = number(query, "page", 1)
    found = _found(view, wanted, order, page)
    last = max(1, -(-found.total // PER_PAGE))
    if page > last:
        page = last
        found = _found(view, wanted, order, page)
    path, opened = f"{view.address()}/comments", bool(query.get("open"))
    shown = read_shown(view, found.spots)
    labels = _labels(view, shown)
    cards = [outcome_card(view, each, of_pr=False, opened=opened, label=labels.get(_key(each))) for each in shown]
    body = [
        _form(view, path, query),
        _tally(view, found, path, query),
        _toggle(path, query, opened) if cards else None,
        join(cards) if cards else _nothing(view, path),
        pager(path, query, page, found.total, PER_PAGE),
    ]
    return Page("Comments", join(body), [RUNS, (view.title, view.address())])


def _found(view: RunView, wanted: CommentFilter, order: str, page: int) -> FoundComments:
    return find_comments(view.index, wanted, order=order, first=(page - 1) * PER_PAGE, most=PER_PAGE)


def _form(view: RunView, path: str, query: Query) -> Html:
    def named(texts: Iterable[str]) -> list[tuple[str, str]]:
        return [(text, excerpt(text, 60)) for text in sorted(texts, key=str.casefold)]

    fields = [
        entry("text", "Words", query, hint="in a note or a path"),
        choice("list", "What became of it", query, [(each, NAMES[each].lower()) for each in LISTS], "anything"),
        choice("reviewer", "Reviewer", query, named(view.index.reviewers)),
        entry("pr", "Pull request", query, hint="owner/name#7"),
    ]
    severities = named(view.index.severities.texts)
    if severities or query.get("severity"):
        fields.append(choice("severity", "Severity", query, severities))
    fields.append(choice("sort", "Order", query, [("order", _ORDERS["order"])], _ORDERS["severity"]))
    return form(path, query, fields, _FIELDS, "Filter comments")


def _tally(view: RunView, found: FoundComments, path: str, query: Query) -> Html:
    """How many there are, and on each list, with a link that shows these alone."""
    [(total,)] = view.index.rows("SELECT COUNT(*) FROM outcomes")
    shown = plural(total, "comment") if found.total == total else f"{count(found.total)} of {plural(total, 'comment')}"
    chosen = query.get("list")
    numbers = {"": found.every, **{which: held for which, held in found.by_list.items() if held or which == chosen}}
    items = [
        html(
            '<li><a href="{}"{}>{} <b>{}</b></a></li>',
            address(path, query, list=which, page=None),
            html(' aria-current="true"') if which == (chosen or "") else None,
            NAMES[which].lower() if which else "all",
            count(held),
        )
        for which, held in numbers.items()
    ]
    chips = html('<ul class="chips" aria-label="By what became of them">{}</ul>', items)
    return html('<div class="tally"><p role="status">{}</p>{}</div>\n', shown, chips)


def _toggle(path: str, query: Query, opened: bool) -> Html:
    text = "Fold code and changes away" if opened else "Show code and changes of all"
    return paragraph(within(address(path, query, open=None if opened else 1), text), css="fine")


def _nothing(view: RunView, path: str) -> Html:
    return paragraph("No comment is like that. ", html('<a href="{}">Show all comments</a>', path))


# One pull request


def outcome_pull_request_page(view: RunView, pr: str, *, query: Query) -> Page:
    """Everybody's comments in order of time; `page`, `open`, and `at`, a comment whose page is shown."""
    spots = sorted(comments_of_pr(view.index, pr), key=_time)
    pages = max(1, -(-len(spots) // PER_PAGE))
    page = min(_page_of(spots, query.get("at", "")) or number(query, "page", 1), pages)
    opened = bool(query.get("open"))
    shown = read_shown(view, spots[(page - 1) * PER_PAGE : page * PER_PAGE])
    labels = _labels(view, shown)
    kept = {"open": "1"} if opened else {}
    cards = [outcome_card(view, each, of_pr=True, opened=opened, label=labels.get(_key(each))) for each in shown]
    reviewers = [reviewer for of_pr, reviewer in _keys_of(view, pr)]
    body = [
        steps(view, pr, kept),
        _facts(pr, shown[0].record if shown else None, len(spots), reviewers),
        _toggle(view.address(pr), kept | {"page": str(page)}, opened) if cards else None,
        join(cards) if cards else paragraph("Nobody’s comment on this pull request counts in this run."),
        pager(view.address(pr), kept, page, len(spots), PER_PAGE),
    ]
    crumbs = [RUNS, (view.title, view.address()), ("Comments", f"{view.address()}/comments")]
    return Page(pull_request_name(pr), join(body), crumbs)


def _time(spot: Spot) -> tuple[bool, int]:
    """By the time of the comment; those without one come last, in the order of the run."""
    try:
        return False, parse_time(spot.at or "")
    except ValueError:
        return True, 0


def _page_of(spots: Sequence[Spot], at: str) -> int | None:
    for place, spot in enumerate(spots):
        if f"{spot.record}-{spot.position}" == at:
            return place // PER_PAGE + 1
    return None


def _keys_of(view: RunView, pr: str) -> list[tuple[str, str]]:
    names = view.index.reviewers
    rows = view.index.rows("SELECT reviewer FROM records WHERE pr = ? ORDER BY id", [view.index.number_of(pr)])
    return [(pr, names[reviewer]) for (reviewer,) in rows]


_MOST_NAMES = 12


def _facts(pr: str, record: OutcomeRecord | None, comments: int, reviewers: Sequence[str]) -> Html:
    named = [name(excerpt(each, 60)) for each in reviewers[:_MOST_NAMES]]
    more = [f"{len(reviewers) - _MOST_NAMES} more"] if len(reviewers) > _MOST_NAMES else []
    items: list[tuple[str, object]] = [("Comments", count(comments)), ("Reviewers", join([*named, *more], ", "))]
    if record is not None:
        items.append(("Author", name(record.author or "unknown")))
        ended = ("Merged", record.merged_at) if record.merged_at else ("Closed", record.closed_at)
        items.append((ended[0], when(ended[1])) if ended[1] else ("State", "not known to be merged or closed"))
    address_of_pr = link(pr, pr) if pr.startswith("https://") else None
    return join([facts(*items), paragraph(address_of_pr, css="fine") if address_of_pr else None])


# Labels


def _key(shown: Shown) -> OutcomeKey:
    return shown.record.pr, shown.record.reviewer, shown.outcome.position


def _labels(view: RunView, shown: Sequence[Shown]) -> dict[OutcomeKey, str]:
    """What people hold of the comments of a page; a label of another note is of another comment."""
    labels = LabelFile(view.folder).read()
    if not labels.outcomes:
        return {}
    records = {each.record.key: each.record for each in shown}
    return fitting_outcomes(labels, records).labels.outcome_verdicts()
