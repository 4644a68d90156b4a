"""What the records of one repository, or of any others, add up to: whole numbers, and waits in order.

Nothing here is rounded, so that sums can be added in any order and any groups, by any number of processes or machines,
and the total is the same. `routing/summarise.py` makes the figures of the total.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from metareview.routing.list_measures import Places
from metareview.routing.queue import Waits, merged_waits
from metareview.routing.responses import Request
from metareview.routing.turnover import FilesAtRisk, RecommendedRisk
from metareview.routing.weeks import FEWEST_WEEKS, Units, span_of, units_of

Key = TypeVar("Key")
Risks = tuple[str, ...]
"""The risk that each router gave, in the order of the run's routers."""


class Pull(NamedTuple):
    """What is counted of a pull request whatever the routers say."""

    week: int
    """Of its cutoff."""
    repo: str
    """Empty where weeks are enough to measure chance over."""
    state: str
    """Of its truth."""
    has_files: bool
    truth_expertise: bool | None


class Declared(NamedTuple):
    """What a pull request declares, and whether it was merged."""

    issue: bool
    ai_disclosure: bool
    provenance: bool
    merged: bool
    merged_within: bool | None


class Ranked(NamedTuple):
    """Where a router's list has the truth of a pull request. Where one person is right, the places are of one."""

    week: int
    repo: str
    observed: bool
    """Whether there is a truth."""
    places: Places


class Expert(NamedTuple):
    """Where a router's list has the first person who had worked on the files of a pull request."""

    week: int
    repo: str
    observed: bool
    first: int
    """The least k of the run with an expert among the first k; 0: none."""


Placed = TypeVar("Placed", Pull, Ranked, Expert)


class Missing(NamedTuple):
    """What a router needs."""

    router: str
    what: str


@dataclass(frozen=True, slots=True)
class RouterSums:
    """One router's answers."""

    answered: int = 0
    """Pull requests for which it listed anybody."""
    ranked: Counter[Ranked] = field(default_factory=Counter)
    experts: Counter[Expert] = field(default_factory=Counter)
    """Over pull requests with known files."""
    firsts: Counter[str] = field(default_factory=Counter)
    """First recommendations by folded login."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What only the replay can count: who would know which files, what came of requests, what was not there."""

    files_at_risk: FilesAtRisk | None = None
    """None as long as no scored pull request has files."""
    recommended: Mapping[str, RecommendedRisk] = field(default_factory=dict)
    """By router."""
    requests: Counter[Request] = field(default_factory=Counter)
    missing: Counter[Missing] = field(default_factory=Counter)
    """On how many scored pull requests something that a router needs was not there."""
    active: Counter[str] = field(default_factory=Counter)
    """Folded logins of those who reviewed or commented while pull requests were scored, beside those of the facts."""
    late: int = 0
    """Pull requests for which --merged-within runs past the end of the history."""

    def __add__(self, other: Outcomes) -> Outcomes:
        """A new sum; of many, `merged_outcomes` copies nothing twice."""
        return merged_outcomes((self, other))


@dataclass(frozen=True, slots=True)
class RoutingSums:
    """Everything that a summary is made of, but for the facts of the history as a whole."""

    pulls: Counter[Pull] = field(default_factory=Counter)
    declared: Counter[Declared] = field(default_factory=Counter)
    targets: Counter[str] = field(default_factory=Counter)
    """How often somebody is in the truth, by folded login."""
    unknown: Counter[str] = field(default_factory=Counter)
    """By repository, pull requests whose truth is not known."""
    waits: Mapping[Risks, Waits] = field(default_factory=dict)
    routers: Mapping[str, RouterSums] = field(default_factory=dict)
    outcomes: Outcomes = field(default_factory=Outcomes)

    def __add__(self, other: RoutingSums) -> RoutingSums:
        """A new sum; of many, `merged` copies nothing twice."""
        return merged((self, other))

    @property
    def prs(self) -> int:
        return self.pulls.total()

    @property
    def units(self) -> Units:
        """What chance is measured over."""
        return units_of(counted(((pull.week, pull.repo), number) for pull, number in self.pulls.items()))

    @property
    def states(self) -> Counter[str]:
        """Pull requests by the state of their truth."""
        return counted((pull.state, number) for pull, number in self.pulls.items())

    @property
    def has_files(self) -> bool:
        """Of any pull request."""
        return any(pull.has_files for pull in self.pulls)


def counted(pairs: Iterable[tuple[Key, int]]) -> Counter[Key]:
    """The numbers added up by key."""
    total: Counter[Key] = Counter()
    for key, number in pairs:
        total[key] += number
    return total


def needs_repositories(weeks: Iterable[int]) -> bool:
    """Whether repositories have to be told apart: the weeks are too few to measure chance over."""
    return span_of(weeks) < FEWEST_WEEKS


def by_place(numbers: Counter[Placed], *, repositories: bool) -> Counter[Placed]:
    """The same, with repositories told apart or by week alone."""
    if repositories:
        return numbers
    return counted((key._replace(repo="") if key.repo else key, number) for key, number in numbers.items())


def merged(parts: Iterable[RoutingSums]) -> RoutingSums:
    """The sum of all; parts that come from an iterator are let go of one by one, but for their waits.

    Weeks become more and never fewer: once there are enough, repositories are told apart no longer.
    """
    total = RoutingSums()
    weeks: set[int] = set()
    apart = True
    waits: dict[Risks, list[Waits]] = {}
    answered: Counter[str] = Counter()
    routers: dict[str, RouterSums] = {}
    outcomes: list[Outcomes] = []
    for part in parts:
        weeks.update(pull.week for pull in part.pulls)
        apart = apart and needs_repositories(weeks)
        total.pulls.update(by_place(part.pulls, repositories=apart))
        total.declared.update(part.declared)
        total.targets.update(part.targets)
        total.unknown.update(part.unknown)
        for risks, of_risks in part.waits.items():
            waits.setdefault(risks, []).append(of_risks)
        for name, of_router in part.routers.items():
            into = routers.setdefault(name, RouterSums())
            answered[name] += of_router.answered
            into.ranked.update(by_place(of_router.ranked, repositories=apart))
            into.experts.update(by_place(of_router.experts, repositories=apart))
            into.firsts.update(of_router.firsts)
        outcomes.append(part.outcomes)
    return RoutingSums(
        by_place(total.pulls, repositories=apart),
        total.declared,
        total.targets,
        total.unknown,
        {risks: merged_waits(of_risks) for risks, of_risks in waits.items()},
        {
            name: RouterSums(
                answered[name],
                by_place(one.ranked, repositories=apart),
                by_place(one.experts, repositories=apart),
                one.firsts,
            )
            for name, one in routers.items()
        },
        merged_outcomes(outcomes),
    )


def merged_outcomes(parts: Iterable[Outcomes]) -> Outcomes:
    """The sum of all."""
    risk: FilesAtRisk | None = None
    recommended: dict[str, RecommendedRisk] = {}
    requests: Counter[Request] = Counter()
    missing: Counter[Missing] = Counter()
    active: Counter[str] = Counter()
    late = 0
    for part in parts:
        if part.files_at_risk is not None:
            risk = part.files_at_risk if risk is None else risk + part.files_at_risk
        for name, found in part.recommended.items():
            before = recommended.get(name)
            recommended[name] = found if before is None else before + found
        requests.update(part.requests)
        missing.update(part.missing)
        active.update(part.active)
        late += part.late
    return Outcomes(risk, recommended, requests, missing, active, late)
