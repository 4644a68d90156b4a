"""What becomes of the people and the files, counted repository by repository as the replay goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from metareview.model.event import Event, PullRequest, fold
from metareview.pipelines.routing.plan import Part, Plan
from metareview.routing.knowledge import Knowledge
from metareview.routing.records import RouterAnswer
from metareview.routing.responses import Request, add_up, follow_requests
from metareview.routing.summary import Outcomes
from metareview.routing.turnover import FilesAtRisk, RecommendedRisk, Turnover


@dataclass(slots=True)
class Tally:
    """Files at risk and requests of the repositories so far."""

    risk: FilesAtRisk | None = None
    """None as long as no scored pull request has files."""
    recommended: dict[str, RecommendedRisk] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def add(
        self,
        part: Part,
        plan: Plan,
        pull_requests: Sequence[PullRequest],
        stories: Mapping[int, Sequence[Event]],
        lists: Mapping[str, Sequence[RouterAnswer]],
        knowledge: Knowledge,
    ) -> None:
        """One repository: the events of its scored pull requests, the routers' answers in order, who knows what."""
        history, window = plan.inputs.history, plan.options.truth_span
        until = plan.until(part)
        for each in pull_requests:
            self.requests += follow_requests(
                stories[each.pr],
                each.author,
                until=history.end if window is None else until,
                window=window,
                end=history.end,
                eligible=plan.eligible,
                has_gaps=part.repo in history.gaps,
            )
        if not any(each.files for each in pull_requests):
            return
        turnover = Turnover(knowledge, part.events, stories, pull_requests, until, plan.eligible)
        risk = turnover.as_it_came()
        self.risk = risk if self.risk is None else self.risk + risk
        for router, answers in lists.items():
            firsts = (_first(answer, history.names) for answer in answers)
            found = turnover.recommended(
                {each.pr: first for each, first in zip(pull_requests, firsts, strict=True) if first is not None}
            )
            before = self.recommended.get(router)
            self.recommended[router] = found if before is None else before + found

    def outcomes(self, names: Mapping[str, str], has_requests: bool) -> Outcomes:
        """`has_requests`: whether the history has any at all; else nothing can be said of them."""
        return Outcomes(self.risk, self.recommended, add_up(self.requests, names) if has_requests else None)


def _first(answer: RouterAnswer, names: Mapping[str, str]) -> str | None:
    """The first recommendation, as the history writes the person."""
    first = next(iter(answer.candidates), None)
    return None if first is None else names.get(fold(first), first)
