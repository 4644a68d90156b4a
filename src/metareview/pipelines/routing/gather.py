"""The second of two passes over a large history: the events of a few repositories from disk, replayed, summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from metareview.model.event import Event, Sifted, in_order, sift
from metareview.pipelines.collector import garbage_collection_paused
from metareview.pipelines.routing.answer import Answers, Ticker, answer_part
from metareview.pipelines.routing.count import configured
from metareview.pipelines.routing.packed import unpack
from metareview.pipelines.routing.plan import Part, Plan, choose_of_one
from metareview.pipelines.routing.scatter import Slice, packed_file
from metareview.routing.load import active_people
from metareview.routing.sum_up import sum_up
from metareview.routing.sums import Outcomes
from metareview.runs.routing_parts import Replayed, RoutingParts


class Repository(NamedTuple):
    """One repository on disk."""

    name: str
    slices: tuple[Slice, ...]
    is_scored: bool
    """Whether it has pull requests in the cohort; else it is only looked through for what must be said of it."""
    chosen: Mapping[int, int] | None = None
    """Cutoffs by pull request, where the cohort was chosen among all repositories; None: by this one alone."""


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
    parts: Path
    """Where records and sums go."""
    since: int
    until: int | None
    """Who responds in this time is active."""


def replay_batch(replaying: Replaying, batch: Batch) -> Replayed:
    """Replay these repositories, write their records, and say what they add up to."""
    plan = replaying.plan
    answers, ticker = Answers(), Ticker(0, None)
    sifted, unready = Sifted(), 0
    predicted: Counter[str] = Counter()
    cutoffs: list[int] = []
    # A router of the user's may well make reference cycles, which must be collected.
    with garbage_collection_paused(all(router.built_in for router in plan.routers)):
        for repository in batch.repositories:
            events, without = read_events(repository, replaying.packed, replaying.shown)
            sifted += without
            opened = {event.pr for event in events if event.kind == "opened"}
            for each in plan.inputs.predictions:
                predicted[each.router] += sum((repository.name, pr) in each.answers for pr in opened)
            if not repository.is_scored:
                continue
            chosen, left = choose_of_one(events, plan.options)
            if repository.chosen is not None:
                chosen, left = dict(repository.chosen), 0
            unready += left
            if not chosen:
                continue
            cutoffs += (min(chosen.values()), max(chosen.values()))
            answer_part(Part(repository.name, events, chosen), plan, answers, ticker)
            active = active_people(events, replaying.since, replaying.until, plan.eligible)
            answers.outcomes += Outcomes(active=Counter(active))
        sums = sum_up(answers.records, configured(plan), answers.outcomes)
        ends = (min(cutoffs), max(cutoffs)) if cutoffs else None
        names = tuple(repository.name for repository in batch.repositories)
        replayed = Replayed(names, len(answers.records), sums, sifted, unready, ends, predicted)
        RoutingParts(replaying.parts).write(batch.number, answers.records, replayed)
    return replayed


class Cohort(NamedTuple):
    """The pull requests of one repository that could be scored."""

    repo: str
    cutoffs: Mapping[int, int]
    unready: int


def cohorts_of(replaying: Replaying, batch: Batch) -> list[Cohort]:
    """For a cohort that is chosen among all repositories: what each has to offer."""
    found = []
    for repository in batch.repositories:
        events, _ = read_events(repository, replaying.packed, replaying.shown)
        found.append(Cohort(repository.name, *choose_of_one(events, replaying.plan.options)))
    return found


def active_in(replaying: Replaying, batch: Batch) -> set[str]:
    """Who was active in these repositories."""
    active: set[str] = set()
    for repository in batch.repositories:
        events, _ = read_events(repository, replaying.packed, replaying.shown)
        active |= active_people(events, replaying.since, replaying.until, replaying.plan.eligible)
    return active


def read_events(repository: Repository, folder: Path, shown: Mapping[str, str]) -> tuple[list[Event], Sifted]:
    """All that can be used of a repository's events, in order."""
    return sift(in_order(_unpacked(repository, folder)), shown)


def _unpacked(repository: Repository, folder: Path) -> Iterator[Event]:
    for piece, offset, length in repository.slices:
        with packed_file(folder, piece).open("rb") as file:
            file.seek(offset)
            yield from unpack(repository.name, file.read(length))
