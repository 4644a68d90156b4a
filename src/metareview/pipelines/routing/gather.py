"""The second of two passes over a large history: the events of a few repositories from disk, replayed, summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from metareview.collector import garbage_collection_paused
from metareview.model.event import Event, EventFilter, FilterCounts, filter_events, in_order
from metareview.pipelines.routing.answer import Answers, Ticker, answer_part
from metareview.pipelines.routing.count import configured
from metareview.pipelines.routing.packed import unpack
from metareview.pipelines.routing.plan import Part, Plan, choose_of_one
from metareview.pipelines.routing.scatter import Slice, packed_file
from metareview.pipelines.routing.stream import HELD, Streamed, filtered_stream
from metareview.routing.load import active_people
from metareview.routing.records import RoutingRecord
from metareview.routing.sum_up import sum_up
from metareview.routing.sums import Outcomes, RoutingSums, merged
from metareview.runs.routing_parts import PartStore, Replayed


class Repository(NamedTuple):
    """One repository on disk."""

    name: str
    slices: tuple[Slice, ...]
    is_scored: bool
    """Whether it has pull requests in the cohort; else it is only looked through for what must be said of it."""
    chosen: Mapping[int, int] | None = None
    """Cutoffs by pull request, where the cohort was chosen among all repositories; None: by this one alone."""
    events: int = 0
    """How many it has."""


class Batch(NamedTuple):
    """Repositories that are replayed one after the other. Their records go into a part of this number."""

    number: int
    repositories: tuple[Repository, ...]


@dataclass(frozen=True, slots=True)
class Replaying:
    """What the replay of any repository needs."""

    plan: Plan
    """Without events, and without parts."""
    shown: Mapping[str, str]
    """By login as written, the login as shown, of those for whom the two differ."""
    packed: Path
    """The folder of the packed events."""
    parts: PartStore
    """Where records and sums go."""
    since: int
    until: int | None
    """Who responds in this time is active."""
    held: int = HELD
    """How many events of a repository are held; one with more is streamed."""


def replay_batch(replaying: Replaying, batch: Batch) -> Replayed:
    """Replay these repositories, write their records, and say what they add up to."""
    work = _Work(replaying)
    # A router of the user's may well make reference cycles, which must be collected.
    with garbage_collection_paused(all(router.built_in for router in replaying.plan.routers)):
        records = (record for each in batch.repositories for record in work.records(each))
        names = tuple(each.name for each in batch.repositories)
        return replaying.parts.write(batch.number, records, lambda: work.replayed(names))


class _Work:
    """The replay of some repositories, one after the other, and what comes of them."""

    def __init__(self, replaying: Replaying) -> None:
        self._replaying, self._plan = replaying, replaying.plan
        self._answers = Answers()
        """Of repositories that are held; all that are small add up together."""
        self._streamed: list[RoutingSums] = []
        self._records = 0
        self._filter_counts, self._unready = FilterCounts(), 0
        self._predicted: Counter[str] = Counter()
        self._cutoffs: list[int] = []

    def records(self, repository: Repository) -> Iterator[RoutingRecord]:
        """Those of one repository, which are counted on the way."""
        if repository.events > self._replaying.held:
            return self._of_streamed(repository)
        return iter(self._of_held(repository))

    def replayed(self, names: tuple[str, ...]) -> Replayed:
        """What all came to."""
        sums = sum_up(self._answers.records, configured(self._plan), self._answers.outcomes)
        if self._streamed:
            sums = merged([sums, *self._streamed])
        ends = (min(self._cutoffs), max(self._cutoffs)) if self._cutoffs else None
        return Replayed(names, self._records, sums, self._filter_counts, self._unready, ends, self._predicted)

    def _of_held(self, repository: Repository) -> Sequence[RoutingRecord]:
        replaying, plan, answers = self._replaying, self._plan, self._answers
        events, filter_counts = read_events(repository, replaying.packed, replaying.shown)
        opened = {event.pr for event in events if event.kind == "opened"}
        self._note(repository, filter_counts, opened)
        chosen = self._choose(repository, *choose_of_one(events, plan.options)) if repository.is_scored else {}
        if not chosen:
            return ()
        before = len(answers.records)
        answer_part(Part(repository.name, events, chosen), plan, answers, Ticker(0, None))
        active = active_people(events, replaying.since, replaying.until, plan.eligible)
        answers.outcomes += Outcomes(active=Counter(active))
        self._records += len(answers.records) - before
        return answers.records[before:]

    def _of_streamed(self, repository: Repository) -> Iterator[RoutingRecord]:
        replaying, plan = self._replaying, self._plan
        events = merged_events(repository, replaying.packed)
        with Streamed(repository.name, events, replaying.shown, plan.options, replaying.packed) as streamed:
            self._note(repository, streamed.filter_counts, streamed.opened)
            chosen = self._choose(repository, streamed.chosen, streamed.unready) if repository.is_scored else {}
            if not chosen:
                return
            for record in streamed.replay(plan, chosen, replaying.since, replaying.until, self._streamed):
                self._records += 1
                yield record

    def _note(self, repository: Repository, filter_counts: FilterCounts, opened: Collection[int]) -> None:
        self._filter_counts += filter_counts
        for each in self._plan.inputs.predictions:
            self._predicted[each.router] += sum((repository.name, pr) in each.answers for pr in opened)

    def _choose(self, repository: Repository, chosen: Mapping[int, int], unready: int) -> Mapping[int, int]:
        if repository.chosen is None:
            self._unready += unready
        else:
            chosen = repository.chosen
        if chosen:
            self._cutoffs += (min(chosen.values()), max(chosen.values()))
        return chosen


class Cohort(NamedTuple):
    """The pull requests of one repository that could be scored."""

    repo: str
    cutoffs: Mapping[int, int]
    unready: int


def cohorts_of(replaying: Replaying, batch: Batch) -> list[Cohort]:
    """For a cohort that is chosen among all repositories: what each has to offer."""
    found = []
    for repository in batch.repositories:
        events = _filter_counts(repository, replaying)
        found.append(Cohort(repository.name, *choose_of_one(events, replaying.plan.options)))
    return found


def active_in(replaying: Replaying, batch: Batch) -> set[str]:
    """Who was active in these repositories."""
    active: set[str] = set()
    for repository in batch.repositories:
        events = _filter_counts(repository, replaying)
        active |= active_people(events, replaying.since, replaying.until, replaying.plan.eligible)
    return active


def _filter_counts(repository: Repository, replaying: Replaying) -> Iterable[Event]:
    """What can be used of a repository's events, in order, once."""
    if repository.events > replaying.held:
        return filtered_stream(merged_events(repository, replaying.packed), EventFilter(replaying.shown))
    return read_events(repository, replaying.packed, replaying.shown)[0]


def read_events(repository: Repository, folder: Path, shown: Mapping[str, str]) -> tuple[list[Event], FilterCounts]:
    """All that can be used of a repository's events, in order."""
    return filter_events(in_order(_unpacked(repository.name, repository.slices, folder)), shown)


def merged_events(repository: Repository, folder: Path) -> Iterator[Event]:
    """All of a repository's events, in order; a block at a time is held of those pieces that tell of the same days."""
    pieces = [list(slices) for _, slices in groupby(repository.slices, key=attrgetter("piece"))]
    waiting = sorted(enumerate(pieces), key=lambda each: (each[1][0].first, each[0]), reverse=True)
    heap: list[tuple[int, bool, str, int, Event, Iterator[Event]]] = []
    while heap or waiting:
        while waiting and (not heap or waiting[-1][1][0].first <= heap[0][0]):
            number, slices = waiting.pop()
            events = _unpacked(repository.name, slices, folder)
            first = next(events)
            heappush(heap, (first.at, first.kind != "opened", first.id, number, first, events))
        _, _, _, number, event, events = heap[0]
        yield event
        following = next(events, None)
        if following is None:
            heappop(heap)
        else:
            entry = (following.at, following.kind != "opened", following.id, number, following, events)
            heapreplace(heap, entry)


def _unpacked(repo: str, slices: Iterable[Slice], folder: Path) -> Iterator[Event]:
    for piece, offset, length, _ in slices:
        with packed_file(folder, piece).open("rb") as file:
            file.seek(offset)
            packed = file.read(length)
        yield from unpack(repo, packed)
