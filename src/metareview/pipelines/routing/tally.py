"""What becomes of the people and the files of one repository, which only its replay can count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from metareview.model.event import fold
from metareview.pipelines.routing.course import Course
from metareview.pipelines.routing.plan import Plan
from metareview.routing.knowledge import Knowledge
from metareview.routing.protocol import CountsMissing, Router
from metareview.routing.records import RouterAnswer
from metareview.routing.responses import Request
from metareview.routing.sums import Missing, Outcomes
from metareview.routing.turnover import Review, Turnover

FILES, BODY = "files at their cutoff", "body at their cutoff"
PREDICTION = "prediction"


class Tally:
    """Counts on the way, some pull requests at a time; of each it keeps no more than who reviewed it first.

    `has_files`: whether any pull request of the repository has, without which nobody can be said to know any.
    """

    def __init__(self, plan: Plan, has_files: bool) -> None:
        self._plan, self._has_files = plan, has_files
        self._missing: Counter[Missing] = Counter()
        self._paths: set[str] = set()
        self._reviews: list[Review] = []
        self._others: dict[str, dict[int, str]] = {name: {} for name in plan.names}
        """By router and pull request, whom it would have had in the place of the first reviewer, if anybody else."""

    def router(self, name: str, router: Router, courses: Sequence[Course]) -> None:
        """Count what pull requests do not have that the router needs."""
        if router.needs_files:
            self._missing[Missing(name, FILES)] += sum(not course.pull.files for course in courses)
        if router.needs_bodies:
            self._missing[Missing(name, BODY)] += sum(not course.pull.body for course in courses)

    def finished(self, name: str, router: Router) -> None:
        """Add what the router has counted itself, if it does."""
        if isinstance(router, CountsMissing):
            self._missing.update({Missing(name, what): number for what, number in router.missing.items()})

    def answers(self, courses: Sequence[Course], lists: Mapping[str, Sequence[RouterAnswer]]) -> None:
        """Count these pull requests, with every router's answers in their order."""
        for each in self._plan.inputs.predictions:
            unanswered = sum((course.pull.repo, course.pull.pr) not in each.answers for course in courses)
            self._missing[Missing(each.router, PREDICTION)] += unanswered
        if not self._has_files:
            return
        self._paths.update(path for course in courses for path in course.pull.files)
        self._reviews += [course.review for course in courses if course.review is not None]
        names = self._plan.inputs.history.names
        for router, answers in lists.items():
            others = self._others[router]
            for course, answer in zip(courses, answers, strict=True):
                if course.review is not None and answer.candidates:
                    first = names.get(fold(answer.candidates[0]), answer.candidates[0])
                    if first != course.review.reviewer:
                        others[course.review.pr] = first

    def outcomes(
        self, knowledge: Knowledge, people: Iterable[str], requests: Counter[Request], cutoffs: Collection[int]
    ) -> Outcomes:
        """Of one repository, when all is counted: who knows what at its end, and who was active before that."""
        end, within = self._plan.inputs.history.end, self._plan.options.merged_span
        late = 0 if within is None else sum(at + within > end for at in cutoffs)
        if not self._has_files:
            return Outcomes(requests=requests, missing=self._missing, late=late)
        turnover = Turnover(knowledge, people, self._paths, self._reviews, self._plan.eligible)
        recommended = {router: turnover.recommended(others) for router, others in self._others.items()}
        return Outcomes(turnover.as_it_came(), recommended, requests, self._missing, late=late)
