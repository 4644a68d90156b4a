"""How the work is spread: over people whom a router recommends first, and over those who really responded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from metareview.model.event import RESPONSES, Eligibility, Event, fold
from metareview.routing.measures import gini, top1_share


@dataclass(frozen=True, slots=True)
class Spread:
    """How unevenly loads are spread over the population; None where nobody carries anything."""

    gini: float | None
    top1_share: float | None


@dataclass(frozen=True, slots=True)
class PersonLoad:
    """How often one person was recommended first, and how often they really responded."""

    login: str
    recommended: int
    actual: int


@dataclass(frozen=True, slots=True)
class Load:
    """The spread of a router's first recommendations, and of what really happened, over one population."""

    gini: float | None
    top1_share: float | None
    actual: Spread
    population: int
    people: tuple[PersonLoad, ...] = ()
    """Everybody of the population with either count above 0, the most recommended first."""


def active_people(events: Iterable[Event], since: int, until: int | None, eligible: Eligibility) -> set[str]:
    """Everybody eligible who reviewed or commented in the time, folded. Events are in order."""
    authors: dict[tuple[str, int], str | None] = {}
    active: set[str | None] = set()
    for event in events:
        if event.kind == "opened":
            authors[event.repo, event.pr] = event.actor
        elif event.actor in active or event.kind not in RESPONSES or event.at < since:
            continue
        elif (until is None or event.at <= until) and eligible(event.actor, authors.get((event.repo, event.pr))):
            active.add(event.actor)
    return {fold(login) for login in active if login is not None}


def spread_load(
    recommended: Counter[str], actual: Counter[str], population: Collection[str], names: Mapping[str, str]
) -> Load:
    """The load from counts by folded login; whoever is in the population and has no count carries nothing."""
    ours = _spread(recommended, population)
    carrying = {login for counts in (recommended, actual) for login, number in counts.items() if number}
    people = (PersonLoad(names.get(login, login), recommended[login], actual[login]) for login in carrying)
    return Load(
        ours.gini,
        ours.top1_share,
        _spread(actual, population),
        len(population),
        tuple(sorted(people, key=lambda each: (-each.recommended, -each.actual, each.login))),
    )


def _spread(counts: Counter[str], population: Collection[str]) -> Spread:
    loads = [counts[person] for person in population]
    return Spread(gini(loads), top1_share(loads))
