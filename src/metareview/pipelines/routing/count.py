"""From the answers of all repositories to the summary, and what a reader of its figures should know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metareview.model.words import plural
from metareview.pipelines.routing.answer import PartAnswers
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.plan import Plan
from metareview.pipelines.routing.read import Inputs
from metareview.routing.records import RoutingRecord
from metareview.routing.summary import RoutingSummary, summarise


@dataclass(frozen=True, slots=True)
class RoutingResult:
    """One record per pull request, by cutoff within each repository, and what they add up to."""

    records: list[RoutingRecord]
    summary: RoutingSummary


def count(answers: Sequence[PartAnswers], plan: Plan, inputs: Inputs, options: RoutingOptions) -> RoutingResult:
    records = [record for part in answers for record in part.records]
    recommended: dict[str, set[str]] = {
        name: set().union(*(part.recommended[name] for part in answers)) for name in plan.names
    }
    warnings = [*plan.warnings, *_warnings(answers, plan, inputs, options)]
    return RoutingResult(records, summarise(records, recommended, options.config(plan.names), warnings))


def _warnings(answers: Sequence[PartAnswers], plan: Plan, inputs: Inputs, options: RoutingOptions) -> Iterator[str]:
    """Each with its number."""
    prs = sum(len(part.cutoffs) for part in plan.parts)
    if options.reviews_visible_at == "creation":
        yield "reviews were shown to routers from their pull request's opening on: figures are not leak-free"
    need_files = dict.fromkeys(name for part in answers for name in part.need_files)
    without_files = sum(part.without_files for part in answers)
    if need_files and without_files:
        names = ", ".join(need_files)
        yield f"{without_files} of {prs} pull requests have no files at their cutoff, which {names} need"
    missing: Counter[str] = sum((part.missing for part in answers), Counter())
    for what, number in missing.items():
        yield f"{number} of {prs} pull requests have no {what}"
    yield from _prediction_warnings(plan, inputs, prs)
    if options.merged_span is not None:
        ends = (at + options.merged_span for part in plan.parts for at in part.cutoffs.values())
        late = sum(end > inputs.history.end for end in ends)
        if late:
            yield (
                f"{late} of {prs} pull requests: --merged-within runs past the end of the history; "
                "a later merge is not seen"
            )


def _prediction_warnings(plan: Plan, inputs: Inputs, prs: int) -> Iterator[str]:
    if not inputs.predictions:
        return
    known = {(event.repo, event.pr) for event in inputs.history.events if event.kind == "opened"}
    for each in inputs.predictions:
        strange = sum(key not in known for key in each.answers)
        if strange:
            what = plural(strange, "prediction")
            yield f"{each.router}: {what} left out: no such pull request in the history"
        missing = prs - sum(len(part.predictions[each.router]) for part in plan.parts)
        if missing:
            yield f"{each.router}: {missing} of {prs} pull requests have no prediction and count as misses"
