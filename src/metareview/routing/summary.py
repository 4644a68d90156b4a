"""What the records of a run add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Self

import numpy as np

from metareview.model.build_gates import GateResult
from metareview.model.event import fold
from metareview.model.time import SECOND
from metareview.routing.expertise import ActualExpertise, RouterExpertise, actual_expertise, router_expertise
from metareview.routing.list_measures import RoutingMeasure, measures_of
from metareview.routing.load import Load, spread_load
from metareview.routing.queue import QueueTimes, Wait, queue_times
from metareview.routing.rank_figures import RankFigures
from metareview.routing.records import Declarations, RoutingRecord
from metareview.routing.responses import Responses
from metareview.routing.truth import USUAL_SOURCES
from metareview.routing.turnover import FilesAtRisk, RecommendedRisk
from metareview.routing.weeks import week_of
from metareview.stats import Interval


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
    prs: tuple[int | str, ...]
    limit: int | None
    routers: tuple[str, ...]
    codeowners: str | None
    truth_sources: tuple[str, ...] = USUAL_SOURCES
    router_config: Mapping[str, str] = field(default_factory=dict)
    """By router, the hash of what its factory was given; the text itself may hold a key."""

    @property
    def measures(self) -> list[RoutingMeasure]:
        """hit@k in rising order, and MRR; under `all_reviewers` MAP, nDCG@k and recall@k too."""
        return measures_of(self.ks, self.truth)

    @property
    def ks(self) -> list[int]:
        """Each k once, in rising order."""
        return sorted(set(self.k))


@dataclass(frozen=True, slots=True)
class TruthCounts:
    """How many pull requests have a truth, and how many have none for either reason."""

    observed: int
    no_response: int
    unknown: int


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """What figures need of the history as a whole."""

    end: int
    active: frozenset[str]
    """Folded logins of everybody eligible who reviewed or commented while pull requests were scored."""
    names: Mapping[str, str]
    """From folded login to the login as shown."""
    has_bodies: bool = True
    """Whether any pull request has a body; declarations are unknown where none has."""
    has_merges: bool = True


@dataclass(frozen=True, slots=True)
class RouterSummary:
    """The figures of one router. `metrics` has the measures of `rank_measures` by name."""

    metrics: Mapping[str, float | None]
    intervals: Mapping[str, Interval | None]
    answered: int
    """Pull requests for which it listed anybody."""
    observed_prs: int
    observed_metrics: Mapping[str, float | None]
    """The same over pull requests with a truth only."""
    queue: Mapping[str, QueueTimes]
    load: Load
    not_applicable: str | None = None
    """Why there are no figures: what the router needs and never had."""
    expertise: RouterExpertise | None = None
    """None, as for files at risk, where no pull request has files, or where the router is not applicable."""
    files_at_risk: RecommendedRisk | None = None


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
    build_gates: tuple[GateResult, ...] = ()
    """What came of the gates that the run was last held to."""

    expertise: ActualExpertise | None = None
    """Of those who really responded; None, as for files at risk, where no pull request has files."""
    files_at_risk: FilesAtRisk | None = None
    """As it came."""
    responses: Responses | None = None
    """Of people who were asked; None where the history has no requests."""

    def with_gates(self, results: tuple[GateResult, ...]) -> Self:
        return replace(self, build_gates=results)

    @property
    def measures(self) -> list[RoutingMeasure]:
        """Those of the configuration; but what an older version did not measure is not there."""
        held = set().union(*(router.metrics for router in self.routers.values()))
        return [measure for measure in self.config.measures if measure.name in held]

    @property
    def truth_warning(self) -> str | None:
        """What is said before all else where most pull requests have no truth, so that no router can score high."""
        absent = self.prs - self.truth.observed
        if 2 * absent <= self.prs:
            return None
        window = self.config.truth_window
        endless = window is None or window == "none"
        within = "after their cutoff" if endless else f"within {window} of their cutoff"
        fix = "" if endless else "; a longer --truth-window, such as 7d or none, finds more"
        return f"{absent:,} of {self.prs:,} pull requests have no truth {within} and count as misses{fix}"

    @property
    def metrics(self) -> dict[str, Mapping[str, float | None]]:
        """Each router's figures by the name of the measure."""
        return {name: router.metrics for name, router in self.routers.items()}


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What only the replay can count: who would know which files, and who responded to requests."""

    files_at_risk: FilesAtRisk | None = None
    recommended: Mapping[str, RecommendedRisk] = field(default_factory=dict)
    """By router."""
    responses: Responses | None = None


NO_OUTCOMES = Outcomes()


def summarise(
    records: Sequence[RoutingRecord],
    config: RoutingConfig,
    facts: HistoryFacts,
    warnings: Iterable[str] = (),
    not_applicable: Mapping[str, str] | None = None,
    outcomes: Outcomes = NO_OUTCOMES,
) -> RoutingSummary:
    """The summary of these records. `not_applicable` says why a router has no figures."""
    lacking = not_applicable or {}
    states = Counter(record.truth.state for record in records)
    observed = np.array([record.truth.state == "observed" for record in records], dtype=bool)
    ranks = {name: RankFigures(records, name, config.measures) for name in config.routers}
    weeks = [week_of(record.cutoff) for record in records]
    firsts = {name: _first_recommendations(records, name) for name in config.routers}
    actual = Counter(fold(target) for record in records for target in record.truth.targets)
    population = facts.active.union(*firsts.values())
    return RoutingSummary(
        config=config,
        prs=len(records),
        truth=TruthCounts(states["observed"], states["no_response"], states["unknown"]),
        routers={
            name: RouterSummary(
                metrics=of_one.absent() if name in lacking else of_one.means(),
                intervals=of_one.absent() if name in lacking else of_one.intervals(weeks),
                answered=sum(record.answers[name].listed > 0 for record in records),
                observed_prs=int(observed.sum()),
                observed_metrics=of_one.absent() if name in lacking else of_one.means(observed),
                queue=queue_times((_wait(record, name, facts.end) for record in records), ttfc=config.ttfc),
                load=spread_load(firsts[name], actual, population, facts.names),
                not_applicable=lacking.get(name),
                expertise=None if name in lacking else router_expertise(records, name, config.ks),
                files_at_risk=None if name in lacking else outcomes.recommended.get(name),
            )
            for name, of_one in ranks.items()
        },
        declarations={each.name: _rates(records, each.name, config, facts) for each in fields(Declarations)},
        warnings=tuple(warnings),
        expertise=actual_expertise(records),
        files_at_risk=outcomes.files_at_risk,
        responses=outcomes.responses,
    )


def _first_recommendations(records: Iterable[RoutingRecord], router: str) -> Counter[str]:
    lists = (record.answers[router].candidates for record in records)
    return Counter(fold(candidates[0]) for candidates in lists if candidates)


def _wait(record: RoutingRecord, router: str, end: int) -> Wait:
    watched = max(0, end - record.cutoff) / SECOND
    return Wait(record.answers[router].risk, record.ttfr_seconds, record.ttfc_seconds, watched)


def _rates(
    records: Sequence[RoutingRecord], declaration: str, config: RoutingConfig, facts: HistoryFacts
) -> DeclarationRates:
    """Where no body is known, nobody is counted; where no merge is, no rate of merges is given."""
    known = records if facts.has_bodies else ()
    present = [bool(getattr(record.declarations, declaration)) for record in known]

    def rates(merged: Sequence[bool]) -> MergedRates:
        return merged_rates(present, merged) if facts.has_merges else MergedRates(None, None)

    return DeclarationRates(
        missing_n=present.count(False),
        present_n=present.count(True),
        merged=rates([record.merged for record in known]),
        merged_within=None if config.merged_within is None else rates([bool(each.merged_within) for each in known]),
    )


def merged_rates(present: Sequence[bool], merged: Sequence[bool]) -> MergedRates:
    """The share of merged ones where a declaration is missing, and where it is present."""
    groups: dict[bool, list[bool]] = {False: [], True: []}
    for is_present, was_merged in zip(present, merged, strict=True):
        groups[is_present].append(was_merged)
    missing, declared = (sum(group) / len(group) if group else None for group in groups.values())
    return MergedRates(missing, declared)
