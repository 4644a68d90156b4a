"""What a run says of a history; `routing/summarise.py` makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from metareview.model.build_gates import GateResult
from metareview.model.time import parse_span
from metareview.routing.expertise import ActualExpertise, RouterExpertise
from metareview.routing.list_measures import RoutingMeasure, measures_of
from metareview.routing.load import Load
from metareview.routing.queue import QueueTimes
from metareview.routing.responses import Responses
from metareview.routing.truth import USUAL_SOURCES
from metareview.routing.turnover import FilesAtRisk, RecommendedRisk
from metareview.routing.weekly_cells import UnitRows
from metareview.routing.weeks import Units
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
    has_requests: bool = False
    """Whether anybody was ever asked for a review; what came of requests is unknown where nobody was."""
    strange_predictions: Mapping[str, int] = field(default_factory=dict)
    """By router, how many of its predictions are about no pull request of the history."""


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
    by_unit: UnitRows | None = field(default=None, compare=False, repr=False)
    """For each unit that chance is measured over its pull requests and what the lists are worth in all under each
    measure; not stored. None where pull requests are the units, and for a run that was loaded."""


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

    units: Units | None = field(default=None, compare=False, repr=False)
    """What intervals and tests are over; not stored."""

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
        misses = f"{absent:,} of {self.prs:,} pull requests have no truth {{}} and count as misses"
        if window is None or window == "none":
            return misses.format("after their cutoff")
        span = parse_span(window, "--truth-window")
        longer = next((each for each in ("7d", "30d") if parse_span(each, "--truth-window") > span), None)
        fix = f"a longer --truth-window, such as {longer} or none," if longer else "--truth-window none"
        return f"{misses.format(f'within {window} of their cutoff')}; {fix} finds more"

    @property
    def metrics(self) -> dict[str, Mapping[str, float | None]]:
        """Each router's figures by the name of the measure."""
        return {name: router.metrics for name, router in self.routers.items()}
