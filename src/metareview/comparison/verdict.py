"""What a comparison of two reviewers or routers gives: every metric's difference, how sure it is, and a verdict.

A is the baseline and B is compared with it: differences are B - A.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from metareview.comments.costs import CostsCompared
from metareview.comparison.compared_runs import SideRuns, difference_label
from metareview.comparison.explain import Explanation
from metareview.comparison.verdict_sentences import sentences
from metareview.errors import UsageError
from metareview.model.measure import Measure, find_measure
from metareview.model.words import counted, plural
from metareview.routing.weeks import PULL_REQUESTS, Units
from metareview.runs.files import JsonObject, as_json
from metareview.stats import Difference, Interval

SCHEMA = "metareview.compare/1"


@dataclass(frozen=True, slots=True)
class Side:
    """A or B: its name in its run, the run's folder if it has one, and what sentences call it."""

    name: str
    run: str | None
    label: str


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """One measure of A and B. None where a side has no figure, and for all that depends on it."""

    measure: Measure
    a: float | None
    b: float | None
    test: Difference
    p_holm: float | None
    minimum_detectable: float | None
    """The true difference that a set of this size would show four times in five, at the corrected level."""
    enough_differing_units: bool = True
    """Whether A and B differ on so many units that exchanging them could reach the corrected level at all."""

    @property
    def diff(self) -> float | None:
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def interval(self) -> Interval | None:
        """Of the difference."""
        return self.test.interval

    @property
    def p(self) -> float | None:
        return self.test.p

    @property
    def too_few_matches(self) -> bool:
        """Whether that is why nothing was tested."""
        return self.test.too_few_matches

    def to_dict(self) -> JsonObject:
        return {figure: getattr(self, figure) for figure in ("a", "b", "diff", "interval", "p", "p_holm")}

    def winner(self, alpha: float) -> str | None:
        """`a` or `b`, whichever is better by more than chance explains: p is small enough after Holm's correction, and
        the interval of the difference does not hold 0."""
        if not self.diff or not self.is_significant(alpha) or self.interval_holds_0:
            return None
        return "b" if (self.diff > 0) != self.measure.lower_is_better else "a"

    def is_significant(self, alpha: float) -> bool:
        """Whether p, after Holm's correction, is small enough."""
        return self.p_holm is not None and self.p_holm <= alpha

    @property
    def interval_holds_0(self) -> bool:
        """Whether the difference may be none; so too where there is no interval."""
        return self.interval is None or self.interval[0] <= 0 <= self.interval[1]

    def is_within(self, margin: float) -> bool:
        """Whether the interval shows that B is no worse than A by more than this; not where there is no interval."""
        if self.interval is None:
            return False
        low, high = self.interval
        return high <= margin if self.measure.lower_is_better else low >= -margin

    def is_loss(self, alpha: float) -> bool:
        """Whether B is worse by more than chance explains. A figure that A has and B has not (a reviewer that fell
        silent has no precision) is a loss too: nothing was shown."""
        return self.a is not None if self.b is None else self.winner(alpha) == "a"


@dataclass(frozen=True, slots=True)
class LossGate:
    """A gate of a comparison. `--fail-if-worse`: B must not be shown to lose to A on this metric. With a margin,
    `--no-worse`: B must be shown not to lose more than that."""

    metric: MetricDifference
    passed: bool | None
    """None where what the judge left undecided leaves it open."""
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Pull requests that are not compared, by reason."""

    only_a: int = 0
    only_b: int = 0
    different_references: int = 0


@dataclass(frozen=True, slots=True)
class Family:
    """What the leaderboard of everybody in these runs makes of A and B, on the main metric alone."""

    competitors: int
    """How many are ranked there."""
    prs: int
    p: float | None
    """Among all pairs; None where the two were not tested there."""
    separated: bool


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """How many units like these would show a true difference of this size four times in five."""

    difference: float
    units: Mapping[str, int | None]
    """By metric; of samples those that each side needs."""


@dataclass(frozen=True, slots=True)
class Samples:
    """A and B as two samples of pull requests, which need not be the same ones."""

    a: int
    """Pull requests that A has."""
    b: int
    shared: int
    """Those that both have."""
    paired: bool
    """Whether both were restricted to those, so that the tests are paired."""
    known: Mapping[str, tuple[int, int]]
    """How many comments of A and of B each figure is over."""
    slices: Mapping[str, Mapping[str, SliceDifference]] = field(default_factory=dict)
    """The main metric by dimension and value, those with the most comments first."""
    units: tuple[int, int, int] = (0, 0, 0)
    """Units of the tests that A has, that B has, and that both have."""


@dataclass(frozen=True, slots=True)
class SliceDifference:
    """The main metric over the comments of one kind, and how many of A and of B it is over."""

    metric: MetricDifference
    known: tuple[int, int]


@dataclass(frozen=True)
class Comparison:
    """B against A. `to_dict()` is what `metareview compare --json` prints."""

    kind: str
    a: Side
    b: Side
    prs: int
    weeks: int | None
    """How many weeks the tests are over, from the first to the last; None where units are no blocks of weeks."""
    left_out: LeftOut
    alpha: float
    beta: float | None
    metrics: Mapping[str, MetricDifference]
    main: str
    """The metric that the explanation is about."""
    explanation: Explanation
    undecided: Mapping[str, float]
    """Pairs of `a` and `b` without a verdict, on the pull requests that are compared."""
    family: Family | None
    plan: PlannedSize | None
    warnings: tuple[str, ...]
    labelled: tuple[int, int] | None = None
    """Labelled blocks of A's run and of B's, where labels correct the figures of both."""
    samples: Samples | None = None
    """For outcomes: what A's and B's own pull requests are. None where all is paired."""
    costs: Mapping[str, CostsCompared] = field(default_factory=dict)
    """What reviews took, of each kind that both know on any pull request; as judged, labels or not."""
    mixed_examples: bool = False
    """Whether the two judges learned from different examples."""
    gates: tuple[LossGate, ...] = ()
    """What came of the gates that the comparison was held to."""
    over: Units | None = None
    """The units of tests and intervals; None for comments, where they are pull requests."""
    runs: Mapping[str, SideRuns] = field(default_factory=dict)
    """Of `a` and `b`, where either has repeated runs."""

    def with_gates(self, metrics: Iterable[str], margins: Mapping[str, float] | None = None) -> Self:
        """A copy that is held to a gate for each of these metrics, and to a margin for each of those."""
        measures = [metric.measure for metric in self.metrics.values()]
        held: dict[tuple[str, bool], float | None] = {}
        for name in metrics:
            held[find_measure(name, measures, "--fail-if-worse").name, False] = None
        for name, margin in (margins or {}).items():
            key = find_measure(name, measures, "--no-worse").name, True
            if key in held:
                raise UsageError(f"--no-worse names {key[0]} twice. Give one margin for it.")
            held[key] = margin
        return replace(self, gates=tuple(self._gate(self.metrics[name], margin) for (name, _), margin in held.items()))

    def _gate(self, metric: MetricDifference, margin: float | None) -> LossGate:
        asks_judge = self.samples is None or bool(metric.measure.needs)
        is_open = asks_judge and any(self.undecided.values())
        passed = not metric.is_loss(self.alpha) if margin is None else metric.is_within(margin)
        return LossGate(metric, None if is_open else passed, margin)

    @property
    def units(self) -> str:
        """What the tests are over, in words: `12 pull requests`, `120 and 95 pull requests`."""
        if self.samples is not None and not self.samples.paired:
            of_a, of_b, _ = self.samples.units
            return f"{counted(of_a)} and {self.units_in_words(of_b)}"
        return self.units_in_words(self.prs if self.over is None else self.over.n)

    def units_in_words(self, units: int) -> str:
        """So many units like those of the tests."""
        return plural(units, "pull request") if self.over is None else self.over.counted(units)

    @property
    def runs_by_label(self) -> dict[str, SideRuns]:
        return {getattr(self, side).label: runs for side, runs in self.runs.items()}

    @property
    def verdict(self) -> str:
        """What the figures say, in plain sentences."""
        return " ".join(sentences(self))

    def _units_to_json(self) -> JsonObject:
        units = Units(PULL_REQUESTS, self.prs, 0) if self.over is None else self.over
        of_sides = {} if self.samples is None else dict(zip(("a", "b", "shared"), self.samples.units, strict=True))
        return {**units.to_dict(), **of_sides}

    def to_dict(self) -> JsonObject:
        why, unit = self.explanation, "references" if self.kind == "comments" else "prs"
        head = {name: getattr(self, name) for name in ("kind", "a", "b", "prs", "left_out", "alpha", "beta")}
        document = {
            "schema": SCHEMA,
            **head,
            "metrics": {name: metric.to_dict() for name, metric in self.metrics.items()},
            "minimum_detectable_difference": {name: metric.minimum_detectable for name, metric in self.metrics.items()},
            "too_few_matches": [name for name, metric in self.metrics.items() if metric.too_few_matches],
            "weeks": self.weeks,
            "units": self._units_to_json(),
            "leaderboard": self.family,
            "plan": self.plan,
            "undecided": self.undecided,
            "pull_requests": {
                "metric": self.main,
                "gains": [pair.to_dict() for pair in why.gains],
                "losses": [pair.to_dict() for pair in why.losses],
                "differing": why.differing,
            },
            "kinds": {
                dimension: {
                    kind: {unit: tally.total, "a": tally.a, "b": tally.b, "diff": (tally.b - tally.a) / tally.total}
                    for kind, tally in tallies.items()
                }
                for dimension, tallies in why.kinds.items()
            },
            "found": {name: {"count": len(items), unit: items} for name, items in why.found.items()},
            "warnings": self.warnings,
            "verdict": self.verdict,
        }
        if self.samples is not None:
            document = _with_samples(document, self.samples)
        if self.mixed_examples:
            document["mixed_examples"] = True
        if self.runs:
            document |= {"runs": self.runs, "interval_of": difference_label(self.runs_by_label)}
        if self.costs:
            document["costs"] = {kind: _costs_to_json(each) for kind, each in self.costs.items()}
        if margins := {gate.metric.measure.name: gate for gate in self.gates if gate.margin is not None}:
            document["no_worse"] = {
                name: {"margin": each.margin, "shown": each.passed} for name, each in margins.items()
            }
        if self.labelled is not None:
            of = "blocks" if self.samples is None else "comments"
            document[f"corrected_by_{of}"] = dict(zip(("a", "b"), self.labelled, strict=True))
        return as_json(document)


def _costs_to_json(costs: CostsCompared) -> JsonObject:
    figures = {"per_pr": costs.per_pr, "per_valid_finding": costs.per_valid_finding}
    return {
        "prs": costs.prs,
        **{
            name: {figure: getattr(each, figure) for figure in ("a", "b", "diff", "interval")}
            for name, each in figures.items()
        },
    }


def _with_samples(document: JsonObject, samples: Samples) -> JsonObject:
    """What a comparison of outcomes has besides, and without what it has not: references that somebody found."""
    kept = {name: value for name, value in document.items() if name not in ("kinds", "found")}
    return kept | {
        "paired": samples.paired,
        "samples": {"a": samples.a, "b": samples.b, "shared": samples.shared},
        "known": {name: {"a": a, "b": b} for name, (a, b) in samples.known.items()},
        "slices": {
            dimension: {
                value: each.metric.to_dict() | {"known": {"a": each.known[0], "b": each.known[1]}}
                for value, each in values.items()
            }
            for dimension, values in samples.slices.items()
        },
    }
