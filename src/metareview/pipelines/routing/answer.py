"""Replay each repository: every router's answer for each of its pull requests, held against the truth."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from metareview.formats.input_file import Progress
from metareview.pipelines.routing.course import CourseReader
from metareview.pipelines.routing.panel import Panel
from metareview.pipelines.routing.plan import Part, Plan
from metareview.routing.protocol import Ranking
from metareview.routing.records import RoutingRecord
from metareview.routing.replay import Visible, by_pull_request, visible_events
from metareview.routing.sums import Outcomes
from metareview.routing.turnover import recent_part

_TOLD_EVERY = 0.1
"""Seconds."""


@dataclass(slots=True)
class Answers:
    """The records of repositories, by cutoff within each, and what can only be counted on the way."""

    records: list[RoutingRecord] = field(default_factory=list)
    outcomes: Outcomes = field(default_factory=Outcomes)


class Ticker:
    """Tells of progress now and then, however quick a step is."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress = total, progress
        self._done, self._told = 0, time.monotonic()

    def ticking(self, rankings: Iterable[Ranking]) -> Iterator[Ranking]:
        """The same, each of which is a step."""
        return iter(rankings) if self._progress is None else self._told_of(rankings, self._progress)

    def _told_of(self, rankings: Iterable[Ranking], progress: Progress) -> Iterator[Ranking]:
        for ranking in rankings:
            yield ranking
            self._done += 1
            if (now := time.monotonic()) - self._told >= _TOLD_EVERY:
                self._told = now
                progress(self._done, self._total)


def answer(plan: Plan, progress: Progress | None = None) -> Answers:
    """Every router's answer for every pull request of the plan."""
    answers = Answers()
    ticker = Ticker(len(plan.routers) * sum(len(part.cutoffs) for part in plan.parts), progress)
    for part in plan.parts:
        answer_part(part, plan, answers, ticker)
    return answers


def answer_part(part: Part, plan: Plan, answers: Answers, ticker: Ticker) -> None:
    """Add those of one repository. Of the plan, neither its other parts nor its history's events are looked at."""
    until = plan.until(part)
    visible = visible_events(part.events, plan.options.reviews_visible_at)
    stories = by_pull_request(part.events, part.cutoffs)
    courses, requests = CourseReader(plan, part.repo, until).read(stories, part.cutoffs)
    panel = Panel(plan, has_files=any(course.pull.files for course in courses), ticking=ticker.ticking)
    asked = bisect_right(visible.known_from, courses[-1].pull.cutoff)
    seen = Visible(visible.events[:asked], visible.known_from[:asked])
    answers.records += panel.answer(seen, courses, is_last=True)
    panel.learn(visible.events[asked : bisect_right(visible.known_from, until)])
    people = {event.actor for event in recent_part(part.events, until) if event.actor is not None}
    answers.outcomes += panel.outcomes(people, requests, part.cutoffs.values())
