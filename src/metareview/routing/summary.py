"""What the records of a run add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from metareview.model.event import fold
from metareview.routing.measures import RankMeasure, Ranks, gini, rank_measures, rank_table, top1_share
from metareview.routing.queue import QueueTimes, queue_times
from metareview.routing.records import Declarations, RoutingRecord
from metareview.routing.weeks import by_week, week_of, week_warning
from metareview.stats import Interval, intervals


@dataclass(frozen=True, slots=True)
class RoutingConfig:
    """The options of a run as they were typed: what its figures mean."""

    cutoff: str
    truth: str
    truth_window: str | None
    include_bots: bool
    include_author: bool
    k: tuple[int, ...]
    merged_within: str | None
    ttfc: bool
    reviews_visible_at: str
    since: str | None
    until: str | None
    repos: tuple[str, ...]
    prs: tuple[int, ...]
    limit: int | None
    routers: tuple[str, ...]
    codeowners: str | None
    seed: int = 0

    @property
    def measures(self) -> list[RankMeasure]:
        """hit@k in rising order, and MRR."""
        return rank_measures(sorted(set(self.k)))


@dataclass(frozen=True, slots=True)
class TruthCounts:
    """How many pull requests have a truth, and how many have none for either reason."""

    observed: int
    no_response: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Load:
    """How evenly a router's first recommendations are spread over everybody who was ever on its lists."""

    gini: float | None
    top1_share: float | None


@dataclass(frozen=True, slots=True)
class RouterSummary:
    """The figures of one router. `metrics` has the measures of `rank_measures` by name."""

    metrics: Mapping[str, float | None]
    intervals: Mapping[str, Interval | None]
    observed_prs: int
    observed_metrics: Mapping[str, float | None]
    """The same over pull requests with a truth only."""
    queue: Mapping[str, QueueTimes]
    load: Load


@dataclass(frozen=True, slots=True)
class MergedRates:
    """The share of merged pull requests among those without and with a declaration; None for an empty group."""

    merged_rate_missing: float | None
    merged_rate_present: float | None


@dataclass(frozen=True, slots=True)
class DeclarationRates:
    """How often one declaration is missing, and how that goes together with merges."""

    missing_n: int
    present_n: int
    merged: MergedRates
    merged_within: MergedRates | None = None
    """The same with merges up to --merged-within after the cutoff, where that was given."""

    @property
    def n(self) -> int:
        return self.missing_n + self.present_n

    @property
    def missing_rate(self) -> float | None:
        return self.missing_n / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class RoutingSummary:
    """Everything that `metareview routing` says about a history."""

    config: RoutingConfig
    prs: int
    truth: TruthCounts
    routers: Mapping[str, RouterSummary]
    declarations: Mapping[str, DeclarationRates]
    warnings: tuple[str, ...] = ()

    @property
    def measures(self) -> list[RankMeasure]:
        return self.config.measures

    @property
    def metrics(self) -> dict[str, Mapping[str, float | None]]:
        """Each router's figures by the name of the measure."""
        return {name: router.metrics for name, router in self.routers.items()}


def summarise(
    records: Sequence[RoutingRecord],
    recommended: Mapping[str, set[str]],
    config: RoutingConfig,
    warnings: Iterable[str] = (),
) -> RoutingSummary:
    """The summary of these records.

    `recommended` has, for each router, everybody who was ever on one of its lists.
    """
    states = Counter(record.truth.state for record in records)
    observed = np.array([record.truth.state == "observed" for record in records], dtype=bool)
    ranks = {
        name: np.fromiter((record.answers[name].rank for record in records), np.int64, len(records))
        for name in recommended
    }
    weeks = [week_of(record.cutoff) for record in records]
    few_weeks = week_warning(weeks)
    return RoutingSummary(
        config=config,
        prs=len(records),
        truth=TruthCounts(states["observed"], states["no_response"], states["unknown"]),
        routers={
            name: RouterSummary(
                metrics=_metrics(of_one, config),
                intervals=_intervals(of_one, weeks, config),
                observed_prs=int(observed.sum()),
                observed_metrics=_metrics(of_one[observed], config),
                queue=queue_times(
                    ((record.answers[name].risk, record.ttfr_seconds, record.ttfc_seconds) for record in records),
                    ttfc=config.ttfc,
                ),
                load=_load([record.answers[name].candidates for record in records], recommended[name]),
            )
            for name, of_one in ranks.items()
        },
        declarations={each.name: _rates(records, each.name, config) for each in fields(Declarations)},
        warnings=(*warnings, *([few_weeks] if few_weeks else [])),
    )


def _metrics(ranks: Ranks, config: RoutingConfig) -> dict[str, float | None]:
    return {measure.name: measure.mean(ranks) for measure in config.measures}


def _intervals(ranks: Ranks, weeks: Sequence[int], config: RoutingConfig) -> dict[str, Interval | None]:
    return intervals(by_week(rank_table(ranks, config.measures), weeks), config.measures)


def _load(lists: Iterable[Sequence[str]], recommended: set[str]) -> Load:
    firsts = Counter(fold(candidates[0]) for candidates in lists if candidates)
    loads = [firsts[person] for person in recommended]
    return Load(gini(loads), top1_share(loads))


def _rates(records: Sequence[RoutingRecord], declaration: str, config: RoutingConfig) -> DeclarationRates:
    present = [bool(getattr(record.declarations, declaration)) for record in records]
    within = [bool(record.merged_within) for record in records]
    return DeclarationRates(
        missing_n=present.count(False),
        present_n=present.count(True),
        merged=merged_rates(present, [record.merged for record in records]),
        merged_within=None if config.merged_within is None else merged_rates(present, within),
    )


def merged_rates(present: Sequence[bool], merged: Sequence[bool]) -> MergedRates:
    """The share of merged ones where a declaration is missing, and where it is present."""
    groups: dict[bool, list[bool]] = {False: [], True: []}
    for is_present, was_merged in zip(present, merged, strict=True):
        groups[is_present].append(was_merged)
    missing, declared = (sum(group) / len(group) if group else None for group in groups.values())
    return MergedRates(missing, declared)
