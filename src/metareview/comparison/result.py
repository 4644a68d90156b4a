"""What a comparison found: typed, as JSON, and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from metareview.comparison.explain import Explanation
from metareview.model.measure import Measure
from metareview.runs.files import JsonObject
from metareview.stats import Interval

SCHEMA = "metareview.compare/1"


@dataclass(frozen=True, slots=True)
class Side:
    """A or B: its name in its run, the run's folder if it has one, and what sentences call it."""

    name: str
    run: str | None
    label: str
    undecided: int = 0
    """Pairs without a verdict, on the pull requests that are compared."""


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """One measure of A and B. None where a side has no figure, and for all that depends on it."""

    measure: Measure
    a: float | None
    b: float | None
    interval: Interval | None
    """Of the difference."""
    p: float | None
    p_holm: float | None
    minimum_detectable: float | None
    """The true difference that a set of this size would show four times in five."""

    @property
    def diff(self) -> float | None:
        return None if self.a is None or self.b is None else self.b - self.a

    def winner(self, alpha: float) -> str | None:
        """`a` or `b`, whichever is better by more than chance explains, Holm's correction applied."""
        if not self.diff or self.p_holm is None or self.p_holm > alpha:
            return None
        return "b" if (self.diff > 0) != self.measure.lower_is_better else "a"

    def is_loss(self, alpha: float) -> bool:
        """Whether B is worse by more than chance explains.

        A figure that A has and B has not (a reviewer that fell silent has no precision) is a loss too: nothing was
        shown.
        """
        return self.a is not None if self.b is None else self.winner(alpha) == "a"

    def to_dict(self) -> JsonObject:
        return {
            "a": self.a,
            "b": self.b,
            "diff": self.diff,
            "interval": None if self.interval is None else list(self.interval),
            "p": self.p,
            "p_holm": self.p_holm,
        }


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Pull requests that are not compared, by reason."""

    only_a: int = 0
    only_b: int = 0
    different_references: int = 0


@dataclass(frozen=True)
class Comparison:
    """B against A. `to_dict()` is what `metareview compare --json` prints."""

    kind: str
    """`comments` or `routing`."""
    a: Side
    b: Side
    prs: int
    left_out: LeftOut
    alpha: float
    beta: float | None
    metrics: Mapping[str, MetricDifference]
    main: str
    """The metric that the explanation is about."""
    explanation: Explanation
    unequal_prs: int
    """Pull requests on which the counts of A and B differ."""
    warnings: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """What the figures say, in plain sentences."""
        return " ".join(_sentences(self))

    def to_dict(self) -> JsonObject:
        why = self.explanation
        unit = "references" if self.kind == "comments" else "prs"
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "a": {"name": self.a.name, "run": self.a.run, "label": self.a.label},
            "b": {"name": self.b.name, "run": self.b.run, "label": self.b.label},
            "prs": self.prs,
            "left_out": asdict(self.left_out),
            "alpha": self.alpha,
            "beta": self.beta,
            "metrics": {name: metric.to_dict() for name, metric in self.metrics.items()},
            "minimum_detectable_difference": {name: metric.minimum_detectable for name, metric in self.metrics.items()},
            "undecided": {"a": self.a.undecided, "b": self.b.undecided},
            "pull_requests": {
                "metric": self.main,
                "gains": [entry.to_dict() for entry in why.gains],
                "losses": [entry.to_dict() for entry in why.losses],
                "differing": list(why.differing),
            },
            "kinds": {
                dimension: {
                    kind: {unit: tally.total, "a": tally.a, "b": tally.b, "diff": tally.diff}
                    for kind, tally in tallies.items()
                }
                for dimension, tallies in why.kinds.items()
            },
            "found": {
                name: {"count": len(items), unit: [item if isinstance(item, str) else item.to_dict() for item in items]}
                for name, items in why.found.items()
            },
            "warnings": list(self.warnings),
            "verdict": self.verdict,
        }


def _sentences(result: Comparison) -> Iterator[str]:
    """The verdict: who is better on what, what cannot be known, and what that depends on."""
    better: dict[str, list[str]] = {"a": [], "b": []}
    equal: list[str] = []
    unknown: list[str] = []
    undefined: list[str] = []
    for metric in result.metrics.values():
        label, winner = metric.measure.label, metric.winner(result.alpha)
        if winner:
            better[winner].append(label + (" (lower)" if metric.measure.lower_is_better else ""))
        else:
            list_of = undefined if metric.p_holm is None else unknown if metric.diff else equal
            list_of.append(label)
    parts = [
        f"{side.label} is better on {_listed(better[name])}"
        for name, side in (("a", result.a), ("b", result.b))
        if better[name]
    ]
    if unknown:
        parts.append(f"{'on' if parts else 'On'} {_listed(unknown)} the data cannot tell")
    if equal:
        parts.append(f"equal on {_listed(equal)}" if parts else "The figures are equal")
    if undefined:
        parts.append(f"{_listed(undefined)} cannot be compared, one side has no figure")
    yield "; ".join(parts) + "."
    least = result.metrics[result.main].minimum_detectable
    if result.unequal_prs and 2 / 2**result.unequal_prs > result.alpha:
        yield (
            f"The counts differ on {result.unequal_prs} of {result.prs} pull requests, too few for any test to tell."
        )
    elif unknown and least is not None:
        yield (
            f"With these {result.prs} pull requests, a true difference in"
            f" {result.metrics[result.main].measure.label} has to be about {least:.2f} to be found four times in five."
        )
    if result.a.undecided or result.b.undecided:
        yield (
            f"Undecided pairs count as no match: {result.a.undecided} of {result.a.label},"
            f" {result.b.undecided} of {result.b.label}."
        )


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
