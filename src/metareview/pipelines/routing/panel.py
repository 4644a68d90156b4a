"""The routers of a run before one repository: its events are shown to them, and they are asked, stretch by stretch."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial

from metareview.model.event import Event, fold
from metareview.pipelines.routing.course import Course
from metareview.pipelines.routing.plan import Plan
from metareview.pipelines.routing.tally import Tally
from metareview.routing.answers import KEPT, AnswerReader, Worth, places_worth
from metareview.routing.expertise import first_expert
from metareview.routing.knowledge import Knowledge, find_experts
from metareview.routing.list_measures import Places, measures_of
from metareview.routing.protocol import Ranking, Router
from metareview.routing.records import RouterAnswer, RoutingRecord, Truth
from metareview.routing.replay import Visible, replay
from metareview.routing.responses import Request
from metareview.routing.sums import Outcomes

Ticking = Callable[[Iterable[Ranking]], Iterable[Ranking]]


@lru_cache(maxsize=8)
def _worth(ks: tuple[int, ...], truth: str) -> Worth:
    return places_worth(measures_of(ks, truth), ks)


class Panel:
    """Every router of the plan, each fresh, and whoever knows which files.

    `has_files`: whether any of the repository's scored pull requests has; else nothing is learned of files.
    """

    def __init__(self, plan: Plan, *, has_files: bool, ticking: Ticking = iter) -> None:
        options, history = plan.options, plan.inputs.history
        self._plan, self._has_files, self._ticking = plan, has_files, ticking
        self._worth = _worth(tuple(sorted(set(options.k))), options.truth)
        kept = max(KEPT, *options.k)
        self._new_reader = partial(AnswerReader, plan.eligible, history.names, worth=self._worth, kept=kept)
        self._routers: dict[str, Router] = {}
        self._readers = {name: self._new_reader() for name in plan.names}
        self._spelled = {each.router: history.names for each in plan.inputs.predictions}
        self._knowledge = Knowledge()
        self._tally = Tally(plan, has_files)

    def answer(self, visible: Visible, courses: Sequence[Course], *, is_last: bool) -> list[RoutingRecord]:
        """The records of some pull requests, which come by cutoff, and after those of earlier calls.

        `visible` are the events since then; all of them are observed. After the last call routers are let go.
        """
        pulls = [course.pull for course in courses]
        lists = {**self._rank(visible, courses, is_last), **self._predictions(courses)}
        self._tally.answers(courses, lists)
        experts = find_experts(self._knowledge, visible, pulls) if self._has_files else iter([None] * len(pulls))
        return [
            self._record(course, dict(zip(lists, row, strict=True)), known)
            for course, known, *row in zip(courses, experts, *lists.values(), strict=True)
        ]

    def learn(self, events: Iterable[Event]) -> None:
        """What is shown after the last cutoff, which is no router's business, but tells who knows files by then."""
        if self._has_files:
            for event in events:
                self._knowledge.observe(event)

    def outcomes(self, people: Iterable[str], requests: Counter[Request], cutoffs: Collection[int]) -> Outcomes:
        """What only the replay can count. `people`: who was active of late when it ended."""
        return self._tally.outcomes(self._knowledge, people, requests, cutoffs)

    def _rank(self, visible: Visible, courses: Sequence[Course], is_last: bool) -> dict[str, list[RouterAnswer]]:
        pulls, truths = [course.pull for course in courses], [course.truth for course in courses]
        asked = bisect_right(visible.known_from, pulls[-1].cutoff) if pulls else 0
        lists = {}
        for named in self._plan.routers:
            router = self._routers.pop(named.name, None) or named.fresh()
            rankings = self._ticking(replay(router, visible, pulls))
            lists[named.name] = list(self._readers[named.name].read_all(rankings, pulls, truths))
            if router.learns:
                for event in visible.events[asked:]:
                    router.observe(event)
            self._tally.router(named.name, router, courses)
            if is_last:
                self._tally.finished(named.name, router)
            else:
                self._routers[named.name] = router
        return lists

    def _predictions(self, courses: Sequence[Course]) -> dict[str, list[RouterAnswer]]:
        return {
            each.router: [
                self._readers[each.router].read_prediction(
                    each.answers.get((course.pull.repo, course.pull.pr)), course.truth.targets
                )
                for course in courses
            ]
            for each in self._plan.inputs.predictions
        }

    def _record(self, course: Course, answers: Mapping[str, RouterAnswer], experts: set[str] | None) -> RoutingRecord:
        pull, truth = course.pull, course.truth
        if experts is not None:
            most = max(self._plan.options.k)
            answers = {
                name: _with_expertise(each, truth, _expert(each, experts, most, self._spelled.get(name)), self._worth)
                for name, each in answers.items()
            }
        return RoutingRecord(
            repo=pull.repo,
            pr=pull.pr,
            author=pull.author,
            created_at=pull.created_at,
            cutoff=pull.cutoff,
            truth=truth,
            ttfr_seconds=course.ttfr_seconds,
            ttfc_seconds=course.ttfc_seconds,
            declarations=course.declarations,
            merged=course.merged,
            merged_within=course.merged_within,
            answers=answers,
            files=len(pull.files),
            truth_expertise=None if experts is None or not truth.targets else not experts.isdisjoint(truth.targets),
        )


def _expert(answer: RouterAnswer, experts: Collection[str], most: int, names: Mapping[str, str] | None) -> int:
    """Where the first expert is among the most that any k asks for. `names`: predictions may spell people otherwise."""
    listed = answer.candidates[:most]
    return first_expert(listed if names is None else [names.get(fold(each), each) for each in listed], experts)


def _with_expertise(answer: RouterAnswer, truth: Truth, expert: int, worth: Worth) -> RouterAnswer:
    ranks = answer.ranks or ((answer.rank,) if answer.rank else ())
    return answer.with_figures(worth(Places(ranks, len(truth.targets)), expert))
