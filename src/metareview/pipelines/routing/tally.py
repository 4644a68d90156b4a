"""What becomes of the people and the files of one repository, which only its replay can count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from metareview.model.event import Event, PullRequest, fold
from metareview.pipelines.routing.plan import Part, Plan
from metareview.routing.knowledge import Knowledge
from metareview.routing.records import RouterAnswer
from metareview.routing.responses import follow_requests
from metareview.routing.sums import Missing, Outcomes
from metareview.routing.turnover import Turnover

PREDICTION = "prediction"


def outcomes_of(
    part: Part,
    plan: Plan,
    pull_requests: Sequence[PullRequest],
    stories: Mapping[int, Sequence[Event]],
    lists: Mapping[str, Sequence[RouterAnswer]],
    knowledge: Knowledge,
) -> Outcomes:
    """Of one repository: the events of its scored pull requests, the routers' answers in order, who knows what."""
    history, within, window = plan.inputs.history, plan.options.merged_span, plan.options.truth_span
    until = plan.until(part)
    follow = partial(
        follow_requests,
        until=history.end if window is None else until,
        window=window,
        end=history.end,
        eligible=plan.eligible,
        has_gaps=part.repo in history.gaps,
    )
    requests = Counter(request for each in pull_requests for request in follow(stories[each.pr], each.author))
    missing = Counter(
        {
            Missing(each.router, PREDICTION): sum((pull.repo, pull.pr) not in each.answers for pull in pull_requests)
            for each in plan.inputs.predictions
        }
    )
    late = 0 if within is None else sum(at + within > history.end for at in part.cutoffs.values())
    found = Outcomes(requests=requests, missing=missing, late=late)
    if not any(each.files for each in pull_requests):
        return found
    turnover = Turnover(knowledge, part.events, stories, pull_requests, until, plan.eligible)
    recommended = {
        router: turnover.recommended(_firsts(pull_requests, answers, history.names))
        for router, answers in lists.items()
    }
    return replace(found, files_at_risk=turnover.as_it_came(), recommended=recommended)


def _firsts(
    pull_requests: Sequence[PullRequest], answers: Sequence[RouterAnswer], names: Mapping[str, str]
) -> dict[int, str]:
    """By pull request, the first recommendation as the history writes the person."""
    return {
        each.pr: names.get(fold(answer.candidates[0]), answer.candidates[0])
        for each, answer in zip(pull_requests, answers, strict=True)
        if answer.candidates
    }
