"""From what records add up to, to the figures of a run.

Here numbers are first divided and rounded, always in the same order: equal sums give figures that are equal to the last
digit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields

from metareview.model.event import RISKS
from metareview.routing.expertise import actual_expertise, router_expertise
from metareview.routing.load import spread_load
from metareview.routing.queue import Waits, merged_waits, queue_times
from metareview.routing.rank_figures import RankFigures
from metareview.routing.records import Declarations, RoutingRecord
from metareview.routing.responses import add_up
from metareview.routing.sum_up import NO_OUTCOMES, sum_up
from metareview.routing.summary import (
    DeclarationRates,
    HistoryFacts,
    MergedRates,
    RouterSummary,
    RoutingConfig,
    RoutingSummary,
    TruthCounts,
)
from metareview.routing.sums import Declared, Outcomes, Risks, RouterSums, RoutingSums

_NOBODY = RouterSums()


def summarise(
    records: Sequence[RoutingRecord],
    config: RoutingConfig,
    facts: HistoryFacts,
    warnings: Iterable[str] = (),
    not_applicable: Mapping[str, str] | None = None,
    outcomes: Outcomes = NO_OUTCOMES,
) -> RoutingSummary:
    """The summary of these records. `not_applicable` says why a router has no figures."""
    return summary_of(sum_up(records, config, outcomes), config, facts, warnings, not_applicable)


def summary_of(
    sums: RoutingSums,
    config: RoutingConfig,
    facts: HistoryFacts,
    warnings: Iterable[str] = (),
    not_applicable: Mapping[str, str] | None = None,
) -> RoutingSummary:
    """The summary of the records behind these sums."""
    lacking = not_applicable or {}
    states, outcomes = sums.states, sums.outcomes
    population = facts.active.union(outcomes.active, *(one.firsts for one in sums.routers.values()))
    return RoutingSummary(
        config=config,
        prs=sums.prs,
        truth=TruthCounts(states["observed"], states["no_response"], states["unknown"]),
        routers={
            name: _router_summary(name, at, sums, config, facts, population, lacking.get(name))
            for at, name in enumerate(config.routers)
        },
        declarations={each.name: _rates(sums.declared, each.name, config, facts) for each in fields(Declarations)},
        warnings=tuple(warnings),
        expertise=actual_expertise(sums.pulls),
        files_at_risk=outcomes.files_at_risk,
        responses=add_up(outcomes.requests, facts.names) if facts.has_requests else None,
        units=sums.units,
    )


def _router_summary(
    name: str,
    place: int,
    sums: RoutingSums,
    config: RoutingConfig,
    facts: HistoryFacts,
    population: Collection[str],
    lacking: str | None,
) -> RouterSummary:
    """`place`: among the routers of the run."""
    of_one = sums.routers.get(name, _NOBODY)
    has_figures = lacking is None
    figures = RankFigures(of_one.ranked, config.measures)
    return RouterSummary(
        metrics=figures.means() if has_figures else figures.absent(),
        intervals=figures.intervals() if has_figures else figures.absent(),
        answered=of_one.answered,
        observed_prs=sums.states["observed"],
        observed_metrics=figures.means(observed=True) if has_figures else figures.absent(),
        queue=queue_times(_by_risk(sums.waits, place), facts.end, ttfc=config.ttfc),
        load=spread_load(of_one.firsts, sums.targets, population, facts.names),
        not_applicable=lacking,
        expertise=router_expertise(of_one.experts, config.ks) if has_figures else None,
        files_at_risk=sums.outcomes.recommended.get(name) if has_figures else None,
        by_unit=figures.by_unit() if has_figures else None,
    )


def _by_risk(waits: Mapping[Risks, Waits], place: int) -> dict[str, Waits]:
    """The waits by the risk that one router gave."""
    return {
        risk: merged_waits([of_risks for risks, of_risks in waits.items() if risks[place] == risk]) for risk in RISKS
    }


def _rates(
    declared: Counter[Declared], declaration: str, config: RoutingConfig, facts: HistoryFacts
) -> DeclarationRates:
    """Where no body is known, nobody is counted; where no merge is, no rate of merges is given."""
    known = declared if facts.has_bodies else Counter[Declared]()
    numbers: Counter[bool] = Counter()
    merged: Counter[bool] = Counter()
    within: Counter[bool] = Counter()
    for each, number in known.items():
        present = bool(getattr(each, declaration))
        numbers[present] += number
        merged[present] += number * each.merged
        within[present] += number * bool(each.merged_within)

    def rates(merges: Counter[bool]) -> MergedRates:
        return merged_rates(numbers, merges) if facts.has_merges else MergedRates(None, None)

    return DeclarationRates(
        missing_n=numbers[False],
        present_n=numbers[True],
        merged=rates(merged),
        merged_within=None if config.merged_within is None else rates(within),
    )


def merged_rates(numbers: Mapping[bool, int], merged: Mapping[bool, int]) -> MergedRates:
    """The share of merged ones where a declaration is missing, and where it is present."""
    missing, declared = (
        merged[present] / numbers[present] if numbers.get(present) else None for present in (False, True)
    )
    return MergedRates(missing, declared)
