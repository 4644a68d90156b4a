"""What a comparison of two reviewers or routers gives: every metric's difference, how sure it is, and a verdict.

A is the baseline and B is compared with it: differences are B - A.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from metareview.comments.costs import CostsCompared
from metareview.comparison.explain import Explanation
from metareview.comparison.judge_parameters import MIXED
from metareview.model.measure import Measure
from metareview.model.words import counted, plural
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
    can_tell: bool = True
    """Whether A and B differ on enough pull requests for anything to be found."""

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
        """`a` or `b`, whichever is better by more than chance explains, Holm's correction applied."""
        if not self.can_tell or not self.diff or self.p_holm is None or self.p_holm > alpha:
            return None
        return "b" if (self.diff > 0) != self.measure.lower_is_better else "a"

    def is_loss(self, alpha: float) -> bool:
        """Whether B is worse by more than chance explains. A figure that A has and B has not (a reviewer that fell
        silent has no precision) is a loss too: nothing was shown."""
        return self.a is not None if self.b is None else self.winner(alpha) == "a"


@dataclass(frozen=True, slots=True)
class LossGate:
    """A gate of `--fail-if-worse`: B must not lose to A on this metric."""

    metric: MetricDifference
    passed: bool | None
    """None where what the judge left undecided leaves it open."""


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
    """How many weeks the tests are over; None where they are over pull requests."""
    left_out: LeftOut
    alpha: float
    beta: float | None
    metrics: Mapping[str, MetricDifference]
    main: str
    """The metric that the explanation is about."""
    explanation: Explanation
    unequal_units: int
    """Pull requests, or weeks, on which the counts of A and B differ."""
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

    def with_gates(self, metrics: Iterable[str]) -> Self:
        """A copy that is held to a gate for each of these metrics."""
        return replace(self, gates=tuple(self._gate(self.metrics[name]) for name in dict.fromkeys(metrics)))

    def _gate(self, metric: MetricDifference) -> LossGate:
        asks_judge = self.samples is None or bool(metric.measure.needs)
        is_open = asks_judge and any(self.undecided.values())
        return LossGate(metric, None if is_open else not metric.is_loss(self.alpha))

    @property
    def units(self) -> str:
        """What the tests are over, in words: `12 pull requests`, `120 and 95 pull requests`."""
        if self.samples is not None and not self.samples.paired:
            return f"{self.samples.a} and {plural(self.samples.b, 'pull request')}"
        return plural(self.prs, "pull request") if self.weeks is None else plural(self.weeks, "week")

    @property
    def verdict(self) -> str:
        """What the figures say, in plain sentences."""
        return " ".join(_sentences(self))

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
        if self.costs:
            document["costs"] = {kind: _costs_to_json(each) for kind, each in self.costs.items()}
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


def _sentences(result: Comparison) -> Iterator[str]:
    """The verdict: who is better on what, what cannot be known, and what that depends on."""
    groups: dict[str, list[str]] = {}
    for metric in result.metrics.values():
        winner = metric.winner(result.alpha)
        group = winner or _no_winner(metric)
        lower = " (lower)" if winner and metric.measure.lower_is_better else ""
        groups.setdefault(group, []).append(metric.measure.label + lower)
    lists = {name: " and ".join(filter(None, (", ".join(of[:-1]), of[-1]))) for name, of in groups.items()}
    sides = {"a": result.a, "b": result.b}
    parts = [f"{side.label} is better on {lists[name]}" for name, side in sides.items() if name in lists]
    if "unknown" in lists:
        parts.append(f"{'on' if parts else 'On'} {lists['unknown']} the data cannot tell")
    if "too few" in lists:
        what = "matches" if result.samples is None else "comments"
        parts.append(f"{'on' if parts else 'On'} {lists['too few']} there are too few {what} to test")
    if "equal" in lists:
        parts.append(f"the figures are equal on {lists['equal']}" if parts else "The figures are equal")
    if "undefined" in lists:
        why = "one side has no figure" if result.samples is None else "the data of one side or both do not tell"
        parts.append(f"{lists['undefined']} cannot be compared, {why}")
    yield "; ".join(parts) + "."
    if result.samples is not None:
        yield _sampled(result, result.samples)
    main = result.metrics[result.main]
    if result.unequal_units and not main.can_tell and result.samples is None:
        yield f"The counts differ on {result.unequal_units} of {result.units}, too few for any test to tell."
    elif "unknown" in lists and main.minimum_detectable is not None:
        yield (
            f"With these {result.units}, a true difference in {main.measure.label} has to be about"
            f" {main.minimum_detectable:.2f} to be found four times in five."
        )
    if result.labelled is not None:
        blocks, comments = (sorted({plural(number, of) for number in result.labelled}) for of in ("block", "comment"))
        if result.samples is None:
            yield f"Precision, recall and F1 are corrected by people's labels of {' and '.join(blocks)}."
        else:
            yield f"What was addressed is corrected by people's labels of {' and '.join(comments)}."
    if result.mixed_examples:
        yield MIXED
    yield from _family_sentences(result)
    yield from _plan_sentences(result)
    if any(result.undecided.values()):
        of_each = ", ".join(f"{counted(result.undecided[name])} of {side.label}" for name, side in sides.items())
        if result.samples is None:
            yield f"Undecided pairs count as no match: {of_each}."
        else:
            yield f"Comments that the judge left undecided are not in addressed: {of_each}."


def _sampled(result: Comparison, samples: Samples) -> str:
    """What the tests rest on."""
    if samples.paired:
        return f"Paired, on the {plural(samples.shared, 'pull request')} that both have, and on no others."
    sizes = f"{samples.a} of {result.a.label} and {samples.b} of {result.b.label}"
    if not samples.shared:
        return f"Not paired: two independent samples of pull requests, {sizes}; none is in both."
    both = "1 is in both, and the test takes it as a pair"
    if samples.shared > 1:
        both = f"{samples.shared} are in both, and the test takes these in pairs"
    return f"Two samples of pull requests, {sizes}; {both}."


def _no_winner(metric: MetricDifference) -> str:
    if metric.too_few_matches:
        return "too few"
    return "undefined" if metric.p_holm is None else "unknown" if metric.diff else "equal"


def _family_sentences(result: Comparison) -> Iterator[str]:
    """How this and the leaderboard go together: that tests one metric alone, over all its pairs."""
    family, main = result.family, result.metrics[result.main]
    here = bool(main.winner(result.alpha))
    if family is None or family.p is None or (family.competitors == 2 and family.separated == here):
        return
    if family.separated:
        told = "tells them apart too" if here else "tells them apart; here, several metrics share the level"
    else:
        told = "cannot tell them apart" + ("; there, all pairs share the level of 0.05" if here else " either")
    where = "" if family.prs == result.prs else f", on the {plural(family.prs, 'pull request')} that all of them have"
    word = "reviewers" if result.kind == "comments" else "routers"
    yield (
        f"The leaderboard of these {family.competitors} {word} tests {main.measure.label} alone, over all their pairs"
        f"{where}, and {told} (p {'< 0.001' if family.p < 0.001 else f'= {family.p:.3f}'})."
    )


def _plan_sentences(result: Comparison) -> Iterator[str]:
    if result.plan is None:
        return
    label, units = result.metrics[result.main].measure.label, result.plan.units[result.main]
    difference = f"{result.plan.difference:g}"
    if units is None:
        yield f"What a difference of {difference} in {label} would take is not known: these {result.units} do not vary."
        return
    word = "pull request" if result.weeks is None else "week"
    of_each = " of each" if result.samples is not None and not result.samples.paired else ""
    yield (
        f"To find a true difference of {difference} in {label} four times in five would take about"
        f" {plural(units, word)}{of_each} like these."
    )
