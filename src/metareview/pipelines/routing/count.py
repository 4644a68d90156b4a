"""From the answers of all repositories to the summary, and what a reader of its figures should know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from metareview.model.words import plural
from metareview.pipelines.routing.answer import Answers
from metareview.pipelines.routing.plan import Plan
from metareview.pipelines.routing.tally import BODY, FILES, PREDICTION
from metareview.routing.load import active_people
from metareview.routing.records import RoutingRecord
from metareview.routing.sum_up import sum_up
from metareview.routing.summarise import summary_of
from metareview.routing.summary import HistoryFacts, RoutingConfig, RoutingSummary
from metareview.routing.sums import Missing, RoutingSums


@dataclass(frozen=True, slots=True)
class RoutingResult:
    """One record per pull request, by cutoff within each repository, and what they add up to."""

    records: list[RoutingRecord]
    summary: RoutingSummary


def count(answers: Answers, plan: Plan) -> RoutingResult:
    """The records as they are kept, and the summary of what they add up to."""
    sums = sum_up(answers.records, configured(plan), answers.outcomes)
    lacking = not_applicable(sums, plan)
    records = [without_figures(record, lacking) for record in answers.records] if lacking else answers.records
    return RoutingResult(records, conclude(sums, plan, facts_of(plan)))


def configured(plan: Plan) -> RoutingConfig:
    """The options of the run as they are stored."""
    return plan.options.config(plan.names, plan.inputs.router_hashes())


def conclude(sums: RoutingSums, plan: Plan, facts: HistoryFacts) -> RoutingSummary:
    """The summary of all repositories, with what to know of it, from what their records add up to."""
    lacking = not_applicable(sums, plan)
    summary = summary_of(sums, configured(plan), facts, not_applicable=lacking)
    first = [] if summary.truth_warning is None else [summary.truth_warning]
    warnings = [*first, *plan.warnings, *_warnings(sums, plan, facts, lacking)]
    return replace(summary, warnings=tuple(warnings))


def facts_of(plan: Plan) -> HistoryFacts:
    history, span = plan.inputs.history, plan.options.truth_span
    cutoffs = [at for part in plan.parts for at in part.cutoffs.values()]
    until = None if span is None else max(cutoffs) + span
    events = (event for part in plan.parts for event in part.events)
    outline, predictions = history.outline(), plan.inputs.predictions
    known = {(event.repo, event.pr) for event in history.events if event.kind == "opened"} if predictions else set()
    return HistoryFacts(
        end=history.end,
        active=frozenset(active_people(events, min(cutoffs), until, plan.eligible)),
        names=history.names,
        has_bodies=outline.has_bodies,
        has_merges=outline.has_merges,
        has_requests=outline.has_requests,
        strange_predictions={each.router: sum(key not in known for key in each.answers) for each in predictions},
    )


def not_applicable(sums: RoutingSums, plan: Plan) -> dict[str, str]:
    """By router, what it needs and had on no pull request, if it listed nobody either."""
    return {
        name: f"{sums.prs:,} of {plural(sums.prs, 'pull request has', 'pull requests have')} no {what}"
        for name, what, number in _missing(sums, plan)
        if number == sums.prs and not sums.routers[name].answered
    }


def _missing(sums: RoutingSums, plan: Plan) -> Iterator[tuple[str, str, int]]:
    """What each router needs and on how many pull requests it was not there, in an order that is always the same."""
    for named in plan.routers:
        needed = [each.what for each in sums.outcomes.missing if each.router == named.name]
        for what in sorted(needed, key=lambda what: (what == BODY, what == FILES, what)):
            yield named.name, what, sums.outcomes.missing[Missing(named.name, what)]


def without_figures(record: RoutingRecord, routers: Collection[str]) -> RoutingRecord:
    """A router that is not applicable missed nobody: it was never asked what it could answer."""
    emptied = {
        name: replace(answer, figures=dict.fromkeys(answer.figures)) if name in routers else answer
        for name, answer in record.answers.items()
    }
    return replace(record, answers=emptied)


def _warnings(sums: RoutingSums, plan: Plan, facts: HistoryFacts, lacking: Mapping[str, str]) -> Iterator[str]:
    """Each with its number."""
    history, outcomes = plan.inputs.history, sums.outcomes
    of_all = f"of {plural(sums.prs, 'pull request')}"
    if plan.options.reviews_visible_at == "creation":
        yield "reviews were shown to routers from their pull request's opening on: figures are not leak-free"
    silent = sums.unknown
    for repo, resources in history.gaps.items():
        if silent[repo]:
            of_what = ", ".join(sorted(resources))
            yield (
                f"{silent[repo]} {of_all} have no response and are unknown, because the history of {repo} "
                f"has gaps ({of_what})"
            )
    for name, why in lacking.items():
        yield f"{name} is not applicable and has no figures: {why}"
    needed: dict[tuple[str, int], list[str]] = {}
    for name, what, number in _missing(sums, plan):
        if number and what != BODY and name not in lacking:  # An empty body is a body.
            needed.setdefault((what, number), []).append(name)
    for (what, number), names in needed.items():
        yield f"{number} {of_all} have no {what}, which {', '.join(names)} need{'s' if len(names) == 1 else ''}"
    if not facts.has_bodies:
        yield "no pull request of the history has a body: what they declare is not known"
    if not facts.has_merges:
        yield "the history has no merged event: how often pull requests were merged is not known"
    for each in plan.inputs.predictions:
        if strange := facts.strange_predictions.get(each.router):
            yield f"{each.router}: {plural(strange, 'prediction')} left out: no such pull request in the history"
        if missing := outcomes.missing[Missing(each.router, PREDICTION)]:
            yield f"{each.router}: {missing} {of_all} have no prediction and count as misses"
    if outcomes.late and facts.has_merges:
        yield f"{outcomes.late} {of_all}: --merged-within runs past the end of the history; a later merge is not seen"
    if unknown := sums.units.warning:
        yield unknown
