"""From the answers of all repositories to the summary, and what a reader of its figures should know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from metareview.model.words import plural
from metareview.pipelines.routing.answer import Answers
from metareview.pipelines.routing.plan import Plan
from metareview.routing.records import RoutingRecord
from metareview.routing.summary import RoutingSummary, summarise


@dataclass(frozen=True, slots=True)
class RoutingResult:
    """One record per pull request, by cutoff within each repository, and what they add up to."""

    records: list[RoutingRecord]
    summary: RoutingSummary


def count(answers: Answers, plan: Plan) -> RoutingResult:
    warnings = [*plan.warnings, *_warnings(answers, plan)]
    config = plan.options.config(plan.names)
    return RoutingResult(answers.records, summarise(answers.records, answers.recommended, config, warnings))


def _warnings(answers: Answers, plan: Plan) -> Iterator[str]:
    """Each with its number."""
    history, within = plan.inputs.history, plan.options.merged_span
    scored = [(part.repo, pr) for part in plan.parts for pr in part.cutoffs]
    of_all = f"of {len(scored)} pull requests"
    if plan.options.reviews_visible_at == "creation":
        yield "reviews were shown to routers from their pull request's opening on: figures are not leak-free"
    if answers.need_files and answers.without_files:
        names = ", ".join(answers.need_files)
        yield f"{answers.without_files} {of_all} have no files at their cutoff, which {names} need"
    for what, number in answers.missing.items():
        if number:
            yield f"{number} {of_all} have no {what}"
    known = {(event.repo, event.pr) for event in history.events if event.kind == "opened"}
    for each in plan.inputs.predictions:
        if strange := sum(key not in known for key in each.answers):
            yield f"{each.router}: {plural(strange, 'prediction')} left out: no such pull request in the history"
        if missing := sum(key not in each.answers for key in scored):
            yield f"{each.router}: {missing} {of_all} have no prediction and count as misses"
    if within is not None:
        late = sum(at + within > history.end for part in plan.parts for at in part.cutoffs.values())
        if late:
            yield f"{late} {of_all}: --merged-within runs past the end of the history; a later merge is not seen"
