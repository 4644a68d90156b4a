"""The pages of a routing run: its figures, and a list of its pull requests that can be filtered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from metareview.model.words import plural
from metareview.report.numbers import count, ranked
from metareview.report.page import blocks
from metareview.report.page.blocks import Section, name, paragraph, tag
from metareview.report.page.markup import Html, html, join
from metareview.report.page.routing import figures
from metareview.routing.records import RoutingRecord
from metareview.runs.run import RoutingRun
from metareview.viewer.controls import PER_PAGE, choice, entry, form, number, pager
from metareview.viewer.index import Index
from metareview.viewer.links import address_with, within
from metareview.viewer.page import Page
from metareview.viewer.run_view import RunView

FILTERS = ("truth", "router", "result", "k", "text")
STATES = {"observed": "somebody responded", "no_response": "nobody responded", "unknown": "not known yet"}
_CANDIDATES = 3
_LONGEST = 200
"""Characters of the text to look for that count."""
_SHOWN: WeakKeyDictionary[Index, Html] = WeakKeyDictionary()


@dataclass(frozen=True)
class Wanted:
    """Which pull requests are listed."""

    truth: str
    router: str
    routers: Sequence[str]
    """The router, or all of them, without those that have no figures."""
    result: str
    """`hit` or `missed`: whether the right person is among the first k of any of the routers."""
    k: int
    text: str

    @classmethod
    def of(cls, run: RoutingRun, query: Mapping[str, str]) -> Wanted:
        """What the query asks for; what it cannot mean is not asked for."""
        truth, result, router = (query.get(name, "") for name in ("truth", "result", "router"))
        router = router if router in run.metrics else ""
        return cls(
            truth if truth in STATES else "",
            router,
            [each for each in ([router] if router else run.metrics) if not run.result.routers[each].not_applicable],
            result if result in ("hit", "missed") else "",
            number(query, "k", max(run.result.config.k)),
            query.get("text", "").strip().casefold()[:_LONGEST],
        )

    def __call__(self, record: RoutingRecord) -> bool:
        if self.truth and record.truth.state != self.truth:
            return False
        if self.result:
            hit = any(0 < record.answers[router].rank <= self.k for router in self.routers)
            # Without a truth, or without a router, nothing can be hit, and nothing was missed either.
            if record.truth.state != "observed" or not self.routers or hit != (self.result == "hit"):
                return False
        return not self.text or any(self.text in text.casefold() for text in _texts(record, self.router))


def _texts(record: RoutingRecord, router: str) -> Iterator[str]:
    """Where the text is looked for: the name, the author, the right people, and those on the lists."""
    yield record.name
    yield record.author or ""
    yield from record.truth.targets
    for each, answer in record.answers.items():
        if not router or each == router:
            yield from answer.candidates


def routing_page(run: RunView, *, query: Mapping[str, str]) -> Page:
    """What `query` has: the FILTERS, and `page`. The figures stand above the list as long as nothing is filtered."""
    routing: RoutingRun = run.run
    filtered = any(query.get(name) for name in (*FILTERS, "page"))
    shown = None if filtered else _figures(run, routing)
    whole = paragraph(within(run.address(), "The figures of this run")) if filtered else None
    parts = [whole, shown, _list(run, routing, query).markup()]
    return Page(run.title, join(parts), [("Runs", "/")])


def _figures(run: RunView, routing: RoutingRun) -> Html:
    """The report's sections, worked out once for as long as the run stays open and as it is."""
    if run.index not in _SHOWN:
        _SHOWN[run.index] = join(section.markup() for section in figures(routing) if section)
    return _SHOWN[run.index]


def _list(run: RunView, routing: RoutingRun, query: Mapping[str, str]) -> Section:
    wanted = Wanted.of(routing, query)
    page = number(query, "page", 1)
    first, total = (page - 1) * PER_PAGE, 0
    shown: list[RoutingRecord] = []
    for record in routing.read_records():
        if wanted(record):
            if first <= total < first + PER_PAGE:
                shown.append(record)
            total += 1
    kept = {name: query[name] for name in FILTERS if query.get(name)}
    body = [
        _form(run, routing, kept),
        paragraph(f"{plural(total, 'pull request')} of {count(routing.result.prs)}.", css="muted"),
        _table(run, routing, shown, wanted) if shown else paragraph("None is like that."),
        pager(run.address(), kept, page, total),
    ]
    return Section("pull-requests", "Every pull request", join(body))


def _form(run: RunView, routing: RoutingRun, query: Mapping[str, str]) -> Html:
    routers = [(router, router) for router in ranked(routing.metrics, "mrr")]
    ks = [(str(k), f"within {k}") for k in sorted(set(routing.result.config.k))]
    fields = [
        choice("truth", "Truth", query, STATES.items()),
        choice("router", "Router", query, routers),
        choice("result", "Right person", query, [("hit", "listed"), ("missed", "missed")], "listed or not"),
        choice("k", "Within", query, ks, f"within {max(routing.result.config.k)}"),
        entry("text", "Text", query, hint="pull request or person"),
    ]
    return form(run.address(), query, fields, FILTERS, "Pull requests")


def _table(run: RunView, routing: RoutingRun, records: list[RoutingRecord], wanted: Wanted) -> Html:
    best_first = ranked(routing.metrics, "mrr")
    # A column of routers without figures would say the same in every row; one that was asked for is shown.
    names = [wanted.router] if wanted.router else [each for each in best_first if each in wanted.routers] or best_first
    columns = [("Pull request", "name"), ("Right person", "slice"), *((name(router), "slice") for router in names)]
    rows = [_row(run, routing, record, names, wanted.k) for record in records]
    return blocks.table(f"Pull requests, and the first {_CANDIDATES} of each router's list", columns, rows)


def _row(run: RunView, routing: RoutingRun, record: RoutingRecord, names: list[str], k: int) -> Iterator[object]:
    yield within(address_with(run.address(record.name), {}), name(record.name))
    yield name(", ".join(record.truth.targets)) if record.truth.targets else html("{}", STATES[record.truth.state])
    for router in names:
        listed = ", ".join(record.answers[router].candidates[:_CANDIDATES]) or "nobody"
        yield html("{} {}", rank_tag(routing, record, router, k), name(listed))


def rank_tag(routing: RoutingRun, record: RoutingRecord, router: str, k: int) -> Html:
    """Where a router has the right person: good within k."""
    rank = record.answers[router].rank
    if routing.result.routers[router].not_applicable:
        return tag("not applicable")
    if rank:
        return tag(f"rank {rank}", "good" if rank <= k else "")
    return tag("not listed", "bad") if record.truth.targets else tag("no truth")
