"""Two runs, or two reviewers of one, side by side: the verdict, then what changed, the largest change first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from metareview.comparison import competitors
from metareview.comparison.paired import compare
from metareview.comparison.verdict import Comparison
from metareview.errors import UsageError
from metareview.model.words import plural
from metareview.report.comparison import comparison_table, found_line
from metareview.report.names import capital
from metareview.report.numbers import count
from metareview.report.page.blocks import Section, behind, capped, facts, name, paragraph, remark, table_of, warnings
from metareview.report.page.markup import Html, html, join
from metareview.runs.run import is_outcomes
from metareview.viewer.change_cards import Sides, change_card
from metareview.viewer.controls import number, pager
from metareview.viewer.differences import Change, Changes, ReviewerChange, changes_between
from metareview.viewer.links import address_with, within
from metareview.viewer.outcome_changes import how_compared, outcome_difference
from metareview.viewer.page import Page
from metareview.viewer.run_view import RunView

PAGE = 20
"""Pull requests on one page."""
_SHOWN = {
    "": "Everything that changed",
    "found": "References newly found",
    "lost": "References newly lost",
    "verdicts": "Verdicts that differ",
    "comments": "Comments that are new or gone",
}
_FORM = (
    '<form class="filters" method="get" aria-label="What is compared">{}'
    '<div class="go"><button type="submit">Compare</button>{}</div></form>\n'
)
_SELECT = '<label>{}<select name="{}">{}</select></label>'
_OPTION = '<option value="{}"{}>{}</option>'
_SELECTED = Html(" selected")
_WAYS = {
    " --common": ("common", "Compare the pull requests that both have"),
    " --mixed-examples": ("mixed", "Compare them all the same, with a warning"),
}
"""What an option that a message names is here: a name in the address, and what its link says."""


def changes_page(a: RunView, b: RunView, *, query: Mapping[str, str], choices: Sequence[tuple[str, str]] = ()) -> Page:
    """B against A, which may be one run. What `query` has: `reviewer_a`, `reviewer_b`, `common`, `mixed`,
    `show` and `page`.

    `choices`: the runs that may be chosen, each with what it is called.
    """
    names = _names(a, b, query)
    kept = {"a": a.id, "b": b.id, "reviewer_a": names[0], "reviewer_b": names[1]}
    kept |= {name: query[name] for name in ("common", "mixed", "show") if query.get(name)}
    title = f"What changed: {_called(a, b, names[0])} → {_called(b, a, names[1])}"
    crumbs = [("Runs", "/")]
    parts: list[Html | None] = [_chooser(a, b, names, kept, choices)]
    compared = _compared(a, b, names, query)
    of_outcomes = is_outcomes(a.run)
    parts.append(
        _answer(compared, kept) if isinstance(compared, Comparison) else _reason(compared, kept, listed=not of_outcomes)
    )
    if of_outcomes:
        parts.append(outcome_difference((a, b), names, compared) if isinstance(compared, Comparison) else None)
        return Page(title, join(parts), crumbs)
    try:
        changes = _changes(a, b, names, comparable=isinstance(compared, Comparison))
    except UsageError as error:
        parts.append(remark(str(error)) if isinstance(compared, Comparison) else None)
        return Page(title, join(parts), crumbs)
    if changes is not None:
        parts.append(_list(Sides((a, b), names, competitors.main_measure(a.run)), changes, kept, query))
    return Page(title, join(parts), crumbs)


def _called(run: RunView, other: RunView, chosen: str) -> str:
    return chosen if run.id == other.id and chosen else f"{chosen} ({run.title})" if chosen else run.title


def _names(a: RunView, b: RunView, query: Mapping[str, str]) -> tuple[str, str]:
    """Who is compared: those that the query names; or else a name that both runs have; or else the first of each."""
    held = list(a.run.metrics), list(b.run.metrics)
    wanted = query.get("reviewer_a", ""), query.get("reviewer_b", "")
    first = wanted[0] if wanted[0] in held[0] else next((each for each in held[0] if each in held[1]), "")
    first = first or next(iter(held[0]), "")
    if wanted[1] in held[1]:
        return first, wanted[1]
    if a.id == b.id:
        return first, next((each for each in held[1] if each != first), first)
    return first, first if first in held[1] else next(iter(held[1]), "")


def _chooser(
    a: RunView, b: RunView, names: tuple[str, str], kept: Mapping[str, str], choices: Sequence[tuple[str, str]]
) -> Html:
    fields: list[Html] = []
    for side, run, chosen in (("a", a, names[0]), ("b", b, names[1])):
        which = {"a": "before", "b": "after"}[side]
        if choices:
            fields.append(_select(f"Run {side.upper()} ({which})", side, dict(choices) or {run.id: run.title}, run.id))
        else:
            fields.append(html('<input type="hidden" name="{}" value="{}">', side, run.id))
        word = capital(competitors.word(run.run))
        fields.append(
            _select(f"{word} {side.upper()}", f"reviewer_{side}", {each: each for each in run.run.metrics}, chosen)
        )
    swapped = {**kept, "a": b.id, "b": a.id, "reviewer_a": names[1], "reviewer_b": names[0]}
    return html(_FORM, fields, within(address_with("", swapped), "Exchange A and B"))


def _select(title: str, field: str, options: Mapping[str, str], chosen: str) -> Html:
    listed = [html(_OPTION, value, _SELECTED if value == chosen else None, text) for value, text in options.items()]
    return html(_SELECT, title, field, listed)


def _compared(a: RunView, b: RunView, names: tuple[str, str], query: Mapping[str, str]) -> Comparison | str:
    """The comparison, or why there is none."""
    common, mixed = bool(query.get("common")), bool(query.get("mixed"))
    try:
        return compare(a.run, None if a.id == b.id else b.run, reviewers=names, common=common, mixed_examples=mixed)
    except UsageError as error:
        return str(error)


def _answer(result: Comparison, kept: Mapping[str, str]) -> Html:
    columns = []
    for column in comparison_table(result):
        own = column.head if column.head.startswith("p (") or column.head == "p" else capital(column.head)
        head = name(column.head) if column.from_data else own
        columns.append((head, "name" if column.text else "num", column.cells))
    parts = [
        paragraph(result.verdict, css="lead"),
        warnings(result.warnings),
        table_of("Every measure of both, and the difference; ↓ lower is better", columns),
        how_compared(result, kept) or paragraph(found_line(result)),
    ]
    return Section("answer", "The answer", join(parts)).markup()


def _reason(reason: str, kept: Mapping[str, str], *, listed: bool) -> Html:
    """Why the figures are not compared, and what can be done about it here."""
    said, way = reason, None
    for option, (field, text) in _WAYS.items():
        if option in reason:
            said, way = reason.partition(option)[0], within(address_with("", {**kept, field: 1}), text)
    parts = [
        paragraph("These two have no figures that could be compared.", css="lead"),
        remark(said),
        paragraph(way) if way else None,
        paragraph("What differs between them is listed all the same; it is no verdict on either.", css="muted")
        if listed
        else None,
    ]
    return Section("answer", "Not comparable", join(parts)).markup()


def _changes(a: RunView, b: RunView, names: tuple[str, str], *, comparable: bool) -> Changes | None:
    """None where there is nothing to set side by side: runs of two kinds."""
    if a.run.kind is not b.run.kind or not all(names):
        return None
    if a.id == b.id:
        by_name = {each.name: each for each in competitors.read(a.run, set(names), records=True)}
        return changes_between(by_name[names[0]], by_name[names[1]], comparable=comparable)
    [ours] = competitors.read(a.run, [names[0]], records=True)
    [theirs] = competitors.read(b.run, [names[1]], records=True)
    return changes_between(ours, theirs, comparable=comparable)


def _list(sides: Sides, changes: Changes, kept: Mapping[str, str], query: Mapping[str, str]) -> Html:
    of_comments = any(isinstance(change, ReviewerChange) for change in changes.changed)
    show = query.get("show", "") if query.get("show", "") in _SHOWN and of_comments else ""
    shown = [change for change in changes.changed if not show or _has(change, show)]
    pages = -(-len(shown) // PAGE) or 1
    page = number(query, "page", 1, pages)
    cards = [change_card(sides, change) for change in shown[(page - 1) * PAGE : page * PAGE]]
    body = join(
        [
            _tally(changes),
            _views(changes, kept, show) if of_comments else None,
            join(cards) if cards else paragraph("Nothing changed on the pull requests that both have.", css="muted"),
            pager("", kept, page, len(shown), PAGE),
            *_one_sided(changes),
        ]
    )
    return Section("changes", "What changed, pull request by pull request", body).markup()


def _tally(changes: Changes) -> Html:
    figures = [("Pull requests that changed", count(len(changes.changed))), ("Unchanged", count(changes.same))]
    reviewers = [change for change in changes.changed if isinstance(change, ReviewerChange)]
    if reviewers:
        figures += [
            ("Newly found", count(sum(len(change.found) for change in reviewers))),
            ("Newly lost", count(sum(len(change.lost) for change in reviewers))),
            ("Verdicts that differ", count(sum(len(change.verdicts) for change in reviewers))),
        ]
    return facts(*figures)


def _views(changes: Changes, kept: Mapping[str, str], show: str) -> Html:
    items = []
    for value, text in _SHOWN.items():
        number = sum(1 for change in changes.changed if not value or _has(change, value))
        label = html('{} <span class="small">{}</span>', text, count(number))
        address = address_with("", {**kept, "show": value}, "changes")
        items.append(html("<li>{}</li>", within(address, label, current=value == show)))
    return html(
        '<nav class="choices" aria-label="Kinds of change, with their pull requests"><ul>{}</ul></nav>\n', items
    )


def _has(change: Change, what: str) -> bool:
    if not isinstance(change, ReviewerChange):
        return False
    return bool(change.new or change.gone) if what == "comments" else bool(getattr(change, what))


def _one_sided(changes: Changes) -> Iterator[Html]:
    for side, prs in (("A", changes.only_a), ("B", changes.only_b)):
        if prs:
            listed = capped([name(pr) for pr in prs], "pull request")
            yield behind(f"{plural(len(prs), 'pull request')} that only {side} has", listed)
