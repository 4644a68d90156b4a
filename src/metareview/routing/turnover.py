"""Files that too few people know, as it came and as it would be if the people first recommended had reviewed.

After Mirsaeedi and Rigby, "Mitigating turnover with code review recommendation" (ICSE 2020): a file is at risk if none
or one of those who know it is still there. They count at the end of each quarter, and put the recommendation in the
place of one of a review's reviewers; here the end is that of the replayed period, and the place that of whoever came
first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from metareview.model.event import Eligibility, Event, PullRequest
from metareview.model.time import DAY
from metareview.routing.knowledge import REVIEWED, Knowledge

ACTIVE_DAYS = 180
FEWEST_PEOPLE = 2
"""With fewer who are active and know it, a file is at risk."""


@dataclass(frozen=True, slots=True)
class FilesAtRisk:
    """Over the files of the scored pull requests; counts of repositories add up."""

    files: int
    active_people: int
    at_risk: int
    """As it came: fewer than two active people know the file."""

    @property
    def share(self) -> float | None:
        return self.at_risk / self.files if self.files else None

    def __add__(self, other: FilesAtRisk) -> FilesAtRisk:
        people = self.active_people + other.active_people
        return FilesAtRisk(self.files + other.files, people, self.at_risk + other.at_risk)


@dataclass(frozen=True, slots=True)
class RecommendedRisk:
    """The same if a router's first recommendation had reviewed in the place of whoever came first."""

    files: int
    at_risk: int
    replaced: int
    """Pull requests on which that would have been somebody else."""

    @property
    def share(self) -> float | None:
        return self.at_risk / self.files if self.files else None

    def __add__(self, other: RecommendedRisk) -> RecommendedRisk:
        return RecommendedRisk(self.files + other.files, self.at_risk + other.at_risk, self.replaced + other.replaced)


class Review(NamedTuple):
    """The first review of a scored pull request after its cutoff."""

    pr: int
    reviewer: str
    also_pushed: bool
    """Who changed the files too knows them without the review."""


def first_review(story: Sequence[Event], pull_request: PullRequest, until: int, eligible: Eligibility) -> Review | None:
    """Of a pull request's events in order; None where there is none up to `until`."""
    for event in story:
        if (
            event.at <= pull_request.cutoff
            or event.kind not in REVIEWED
            or not eligible(event.actor, pull_request.author)
        ):
            continue
        if event.at > until or event.actor is None:
            return None
        pushed = any(each.kind == "pushed" and each.actor == event.actor for each in story)
        return Review(pull_request.pr, event.actor, pushed)
    return None


def recent_part(events: Sequence[Event], until: int) -> Sequence[Event]:
    """Those of a repository's events, in order, by which people are active at that instant."""
    return events[bisect_right(events, until - ACTIVE_DAYS * DAY, key=_at) : bisect_right(events, until, key=_at)]


class Turnover:
    """Who knows the files of one repository's scored pull requests at the end of the replayed period.

    `knowledge` has observed everything up to that end; `people` are the actors of the last ACTIVE_DAYS before it,
    `paths` the files, and `reviews` the first ones of the pull requests that have one by then.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        people: Iterable[str],
        paths: AbstractSet[str],
        reviews: Sequence[Review],
        eligible: Eligibility,
    ) -> None:
        self._active = {login for login in people if eligible.include_bots or not eligible.is_bot(login)}
        self._knowledge = knowledge
        self._paths = paths
        self._at_risk = sum(self._known(path) < FEWEST_PEOPLE for path in paths)
        self._reviews = reviews

    def _known(self, path: str) -> int:
        """How many active people know the file."""
        return sum(person in self._active for person in self._knowledge.sources(path))

    def as_it_came(self) -> FilesAtRisk:
        return FilesAtRisk(len(self._paths), len(self._active), self._at_risk)

    def recommended(self, first: Mapping[int, str]) -> RecommendedRisk:
        """As it would be with the first recommendation of each pull request for which the router named anybody.

        Where it named nobody, or nobody reviewed, everything stays as it came.
        """
        changes: dict[tuple[str, str], int] = {}  # by file and person, in sources
        replaced = 0
        for pr, reviewer, also_pushed in self._reviews:
            person = first.get(pr, reviewer)
            if person == reviewer:
                continue
            replaced += 1
            files = self._knowledge.learned(pr, reviewer)
            if person in self._active:
                for path in files:
                    changes[path, person] = changes.get((path, person), 0) + 1
            if reviewer in self._active and not also_pushed:
                for path in files:
                    changes[path, reviewer] = changes.get((path, reviewer), 0) - 1
        gained: dict[str, int] = {}  # by file, in people
        for (path, person), change in changes.items():
            before = self._knowledge.sources(path).get(person, 0)
            if path in self._paths and (before > 0) != (before + change > 0):
                gained[path] = gained.get(path, 0) + (1 if change > 0 else -1)
        at_risk = self._at_risk
        for path, number in gained.items():
            known = self._known(path)
            at_risk += (known + number < FEWEST_PEOPLE) - (known < FEWEST_PEOPLE)
        return RecommendedRisk(len(self._paths), at_risk, replaced)


def _at(event: Event) -> int:
    return event.at


def last_instant(cutoffs: Collection[int], window: int | None, end: int) -> int:
    """The end of a repository's replayed period: its last cutoff and the truth window, no later than the history's.

    Without a window it is the last cutoff: a late vote, years after everybody has left, is not when the period ends.
    """
    return min(max(cutoffs) + (window or 0), end)
