"""A repository that is too large to hold: its events are put on disk in order, and replayed from there.

Three passes, each over all of its events, and the same records, sums and counts as those of `answer_part`, in the same
order. First they are filtered, written in blocks, and the cohort is chosen. Then the events of each scored pull request
are brought together, in buckets of some ten thousand, and its course is read from them. At last the events in order and
the courses by cutoff go past the routers together, a stretch of both at a time. What is held is what routers know, some
numbers for each pull request, and blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from metareview.model.event import Event, EventFilter
from metareview.model.time import DAY
from metareview.pipelines.routing.count import configured
from metareview.pipelines.routing.course import Course, CourseReader, pack_courses, unpack_courses
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.panel import Panel
from metareview.pipelines.routing.plan import Plan, choose_of_one
from metareview.pipelines.routing.scratch import Buckets, EventBlocks, Place, Scratch, in_blocks
from metareview.pipelines.routing.seen import without_repeated
from metareview.routing.load import active_people
from metareview.routing.records import RoutingRecord
from metareview.routing.replay import Visible, by_pull_request, is_moved
from metareview.routing.responses import Request
from metareview.routing.sum_up import sum_up
from metareview.routing.sums import Outcomes, RoutingSums, merged
from metareview.routing.turnover import ACTIVE_DAYS, last_instant

HELD = 200_000
"""Events of a repository that are held; with more it is streamed."""
BLOCK = 2_000
"""Events that are written and read together."""
BUCKET, MOST_BUCKETS = 20_000, 256
"""Events of pull requests that are brought together, and into how many files at the most."""
COURSES = 32
"""Those that are read together, of each bucket."""
STRETCH_EVENTS, STRETCH_COURSES = 20_000, 2_000
RUN = 20_000
"""Reviews that are sorted together."""
_SUMS = 32


def filtered_stream(events: Iterable[Event], event_filter: EventFilter) -> Iterator[Event]:
    """Of a repository's events in order, those that can be used, without holding them; like `filter_events`."""
    return event_filter.kept(without_repeated(events, event_filter), without_repeated=True)


class Streamed:
    """One repository, whose events are read once, in order, and put on disk."""

    def __init__(
        self,
        repo: str,
        events: Iterable[Event],
        shown: Mapping[str, str],
        options: RoutingOptions,
        folder: Path | None = None,
    ) -> None:
        """`folder`: where the disk has space; None: where temporary files go."""
        self._repo, self._options = repo, options
        self._scratch = Scratch(folder)
        self._events = EventBlocks(self._scratch, repo)
        event_filter = EventFilter(shown)
        self.chosen, self.unready = choose_of_one(self._written(filtered_stream(events, event_filter)), options)
        """The cohort of this repository alone: cutoffs in order of opening, and how many have none."""
        self.filter_counts = event_filter.counts()
        self.opened = {pr: at for (_, pr), at in event_filter.opened.items()}
        """When each pull request was opened."""

    def close(self) -> None:
        """Let go of the disk."""
        self._scratch.close()

    def __enter__(self) -> Streamed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _written(self, events: Iterable[Event]) -> Iterator[Event]:
        for block in in_blocks(events, BLOCK):
            self._events.add(block)
            yield from block

    def replay(
        self, plan: Plan, chosen: Mapping[int, int], since: int, until: int | None, sums: list[RoutingSums]
    ) -> Iterator[RoutingRecord]:
        """The records by cutoff; when all have been taken, what they add up to is added to `sums`.

        `chosen` are the cutoffs of the pull requests to score, in order of opening; who responds from `since` to
        `until` is active.
        """
        end = last_instant(chosen.values(), plan.options.truth_span, plan.inputs.history.end)
        spread = _Spread(self._scratch, self._repo, self._events.number, chosen, end)
        moved = _Moved(self._scratch, self._repo, {} if plan.options.reviews_visible_at == "event" else self.opened)
        active = active_people(moved.noted(spread.noted(self._events)), since, until, plan.eligible)
        courses = _Courses(self._scratch, CourseReader(plan, self._repo, end))
        courses.read(spread, chosen)
        panel = Panel(plan, has_files=courses.has_files)
        shown = _Shown(moved.merged(self._events))
        config = configured(plan)
        summed: list[RoutingSums] = []
        for stretch in _stretches(shown, courses):
            records = panel.answer(stretch.visible, stretch.courses, is_last=stretch.is_last)
            summed.append(sum_up(records, config))
            if len(summed) == _SUMS:
                summed = [merged(summed)]
            yield from records
        panel.learn(event for _, event in shown.until(end))
        outcomes = panel.outcomes(spread.people, courses.requests, chosen.values())
        summed.append(RoutingSums(outcomes=outcomes + Outcomes(active=Counter(active))))
        sums.append(merged(summed))


class _Spread:
    """The events of each scored pull request brought together, with as many others as a bucket holds."""

    def __init__(self, scratch: Scratch, repo: str, events: int, chosen: Mapping[int, int], end: int) -> None:
        self.number = min(events // BUCKET + 1, MOST_BUCKETS)
        self.people: set[str] = set()
        """Who did anything of late, at the end of the replayed period."""
        self._chosen, self._end = chosen, end
        self._buckets = Buckets(scratch, repo, self.number, lambda event: event.pr % self.number)

    def noted(self, events: Iterable[Event]) -> Iterator[Event]:
        """The same events, each of which is put where it belongs."""
        recent, end = self._end - ACTIVE_DAYS * DAY, self._end
        for event in events:
            if recent < event.at <= end and event.actor is not None:
                self.people.add(event.actor)
            if event.pr in self._chosen:
                self._buckets.add(event)
            yield event

    def read(self) -> Iterator[Iterable[Event]]:
        return self._buckets.read()


class _Moved:
    """Reviews that routers learn of at another time than when they happened, by that time: sorted runs on disk.

    `opened`: when each pull request was opened; empty where nothing is moved.
    """

    def __init__(self, scratch: Scratch, repo: str, opened: Mapping[int, int]) -> None:
        self._scratch, self._repo, self._opened = scratch, repo, opened
        self._runs: list[EventBlocks] = []

    def noted(self, events: Iterable[Event]) -> Iterator[Event]:
        """The same events, of which reviews are kept for later."""
        if not self._opened:
            yield from events
            return
        held: list[Event] = []
        for event in events:
            if is_moved(event, self._opened):
                held.append(event._replace(at=self._opened[event.pr]))
                if len(held) == RUN:
                    self._write(held)
                    held = []
            yield event
        self._write(held)

    def _write(self, events: list[Event]) -> None:
        run = EventBlocks(self._scratch, self._repo)
        for block in in_blocks(sorted(events, key=itemgetter(2)), BLOCK // 4):
            run.add(block)
        self._runs.append(run)

    def merged(self, events: Iterable[Event]) -> Iterator[tuple[int, Event]]:
        """As `visible_events`: all events, each with the first cutoff to which it is known, in that order."""
        if not self._opened:
            return ((event.at, event) for event in events)
        # Of runs that are alike, the first has the reviews that came first.
        runs = [(((event.at + 1, 0), event) for event in run) for run in self._runs]
        others = (((event.at, 1), event) for event in events if not is_moved(event, self._opened))
        return ((known_from, event) for (known_from, _), event in merge(*runs, others, key=itemgetter(0)))


class _Courses:
    """The courses of all scored pull requests by cutoff, and then in order of opening: sorted runs on disk."""

    def __init__(self, scratch: Scratch, reader: CourseReader) -> None:
        self._scratch, self._reader = scratch, reader
        self._runs: list[list[Place]] = []
        self.requests: Counter[Request] = Counter()
        self.has_files = False

    def read(self, spread: _Spread, chosen: Mapping[int, int]) -> None:
        """Those of the pull requests of each bucket make a run."""
        cutoffs: list[dict[int, int]] = [{} for _ in range(spread.number)]
        for pr, cutoff in chosen.items():
            cutoffs[pr % spread.number][pr] = cutoff
        numbers = {pr: number for number, pr in enumerate(chosen)}
        for events, of_bucket in zip(spread.read(), cutoffs, strict=True):
            courses, requests = self._reader.read(by_pull_request(events, of_bucket), of_bucket)
            self.requests.update(requests)
            self.has_files |= any(course.pull.files for course in courses)
            numbered = [(numbers[course.pull.pr], course) for course in courses]
            self._runs.append([self._scratch.write(pack_courses(block)) for block in in_blocks(numbered, COURSES)])

    def __iter__(self) -> Iterator[Course]:
        runs = [self._run(places) for places in self._runs]
        return (course for _, course in merge(*runs, key=lambda each: (each[1].pull.cutoff, each[0])))

    def _run(self, places: Iterable[Place]) -> Iterator[tuple[int, Course]]:
        for place in places:
            yield from unpack_courses(self._scratch.read(place))


class _Shown:
    """Events in the order in which routers learn of them, each of which is taken once."""

    def __init__(self, events: Iterator[tuple[int, Event]]) -> None:
        self._events = events
        self._next = next(events, None)

    def until(self, instant: int) -> Iterator[tuple[int, Event]]:
        """Those that are known then and have not been taken, each with the instant from which it is."""
        while self._next is not None and self._next[0] <= instant:
            found, self._next = self._next, next(self._events, None)
            yield found


class _Stretch(NamedTuple):
    """Events, and the courses of pull requests whose cutoffs are between them."""

    visible: Visible
    courses: list[Course]
    is_last: bool


def _stretches(shown: _Shown, courses: Iterable[Course]) -> Iterator[_Stretch]:
    """Up to the last cutoff; however many events are between two of them, or cutoffs between two events."""
    events: list[Event] = []
    known_from: list[int] = []
    asked: list[Course] = []
    for course in courses:
        for at, event in shown.until(course.pull.cutoff):
            events.append(event)
            known_from.append(at)
            if len(events) == STRETCH_EVENTS:
                yield _Stretch(Visible(events, known_from), asked, is_last=False)
                events, known_from, asked = [], [], []
        asked.append(course)
        if len(asked) == STRETCH_COURSES:
            yield _Stretch(Visible(events, known_from), asked, is_last=False)
            events, known_from, asked = [], [], []
    yield _Stretch(Visible(events, known_from), asked, is_last=True)
