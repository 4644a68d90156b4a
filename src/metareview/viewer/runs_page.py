"""The first page: every run, searched, sorted and filtered by the address, and live while one of them is running."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from metareview.model.words import plural
from metareview.report.names import excerpt
from metareview.report.numbers import count, rate
from metareview.report.page.blocks import name, paragraph, table, tag
from metareview.report.page.markup import Html, html, join
from metareview.runs.kind import KINDS
from metareview.viewer.catalogue import BROKEN, FINISHED, RUNNING, STATUSES, STOPPED, Entries, Entry
from metareview.viewer.controls import PER_PAGE, Query, Sorting, address, choice, entry, form, number, pager
from metareview.viewer.page import Page

_FIELDS = ("q", "status", "kind")
_COLUMNS: Mapping[str, bool] = {"name": False, "status": False, "kind": False, "figure": True, "started": True}
_KEYS: Mapping[str, Callable[[Entry], Any]] = {
    "name": lambda entry: entry.place.casefold(),
    "status": lambda entry: STATUSES.index(entry.status),
    "kind": lambda entry: entry.kind,
    "figure": lambda entry: -1.0 if entry.figure is None else entry.figure,
    "started": lambda entry: entry.started,
}
_STATUS = {FINISHED: "good", RUNNING: "warn", STOPPED: "", BROKEN: "bad"}
_STATUS_WORDS = {FINISHED: "finished", RUNNING: "running", STOPPED: "not finished", BROKEN: "broken"}
_NAMED = 3


def runs_page(entries: Entries, folder: str, query: Query) -> Page:
    fields = [
        entry("q", "Find", query, hint="run, reviewer, folder"),
        choice("status", "Status", query, [(each, _STATUS_WORDS[each]) for each in STATUSES]),
        choice("kind", "Kind", query, [(each, each) for each in KINDS]),
    ]
    body = [
        html('<p class="sub">In <code>{}</code></p>', folder),
        form("/", query, fields, _FIELDS, "Find runs"),
        runs_fragment(entries, query),
    ]
    return Page("Runs", join(body))


def runs_fragment(entries: Entries, query: Query) -> Html:
    """The list itself, which a page replaces by itself while something is running."""
    found = [each for each in entries.values() if _wanted(each, query)]
    sorting = Sorting.of(query, _COLUMNS, "started")
    found.sort(key=lambda each: each.place)
    found.sort(key=_KEYS[sorting.by], reverse=sorting.descending)
    page = min(number(query, "page", 1), max(1, -(-len(found) // PER_PAGE)))
    shown = found[(page - 1) * PER_PAGE : page * PER_PAGE]
    running = sum(each.status == RUNNING for each in entries.values())
    live = html(' data-live="{}"', address("/live", query)) if running else None
    return html(
        '<div id="runs"{}><p class="tally" role="status">{}</p>{}{}</div>\n',
        live,
        _tally(len(found), len(entries), running),
        _table(shown, sorting, query) if shown else _nothing(entries),
        pager("/", query, page, len(found)),
    )


def _wanted(each: Entry, query: Query) -> bool:
    for field in ("status", "kind"):
        if query.get(field) and getattr(each, field) != query[field]:
            return False
    text = "\n".join((each.id, each.place, each.kind, *each.names)).casefold()
    return all(word in text for word in query.get("q", "").casefold().split())


def _tally(found: int, total: int, running: int) -> str:
    shown = plural(total, "run") if found == total else f"{count(found)} of {plural(total, 'run')}"
    return shown + (f", {count(running)} running now" if running else "")


def _nothing(entries: Entries) -> Html:
    if entries:
        return paragraph("No run is like that. ", html('<a href="/">Show all runs</a>'))
    command = html("<code>metareview comments … --out runs/first</code>")
    return paragraph(
        "There is no run here yet. ", command, " makes one, and so does ", html("<code>metareview demo</code>"), "."
    )


def _table(shown: list[Entry], sorting: Sorting, query: Query) -> Html:
    def head(label: str, column: str) -> Html:
        return sorting.head(label, column, _COLUMNS, "/", query)

    columns = [
        (head("Run", "name"), "run"),
        (head("Status", "status"), ""),
        (head("Main figure", "figure"), "num"),
        (head("Kind", "kind"), "optional"),
        ("Reviewers or routers", "optional who"),
        ("Records", "num optional"),
        (head("Started", "started"), "when optional"),
    ]
    return table("Runs", columns, map(_row, shown), css="list")


def _row(each: Entry) -> list[object]:
    figure = (
        "–" if each.figure is None else html('<b>{}</b> <span class="muted">{}</span>', rate(each.figure), each.measure)
    )
    return [
        html('<a href="/run/{}">{}</a>', each.id, name(each.place)),
        tag(_STATUS_WORDS[each.status], _STATUS[each.status]),
        figure,
        each.kind or "–",
        _names(each),
        count(each.records),
        when(each.started),
    ]


def _names(each: Entry) -> Html:
    if each.problem:
        told = each.problem.replace(f"{each.folder}/", "")  # What is wrong comes before what is too long.
        return html('<span class="muted">{}</span>', excerpt(told, 90))
    named = [name(excerpt(text, 40)) for text in each.names[:_NAMED]]
    more = len(each.names) - _NAMED
    return join([*named, f"{more} more"] if more > 0 else named, ", ")


def when(instant: str) -> Html | str:
    """A time as people read it, to the minute."""
    if len(instant) < 16 or instant[10] != "T":
        return instant[:40] or "–"
    return html('<time datetime="{}">{} {}</time>', instant, instant[:10], instant[11:16])
