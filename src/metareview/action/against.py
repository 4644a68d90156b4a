"""Did it get better or worse, beyond chance? One sentence, from the verdict of `metareview compare`."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.comparison.verdict import Comparison, MetricDifference
from metareview.report.numbers import rate

_NAMED = 4
"""Metrics of a sentence."""


def change_sentence(result: Comparison) -> str:
    """Worse, better, both, or neither; metrics that the comparison is held to come first."""
    held = [gate.metric for gate in result.gates]
    metrics = [*held, *(metric for metric in result.metrics.values() if metric not in held)]
    worse = [metric for metric in metrics if metric.is_loss(result.alpha)]
    better = [metric for metric in metrics if metric.winner(result.alpha) == "b"]
    now, before = result.b.label, result.a.label
    if not worse and not better:
        return f"{now} is neither better nor worse than {before} beyond chance: {_listed(metrics)}."
    if worse and better:
        return f"Beyond chance, {now} is worse than {before} on {_listed(worse)}, and better on {_listed(better)}."
    word, those = ("worse", worse) if worse else ("better", better)
    return f"{now} is {word} than {before}, beyond chance: {_listed(those)}."


def _listed(metrics: Sequence[MetricDifference]) -> str:
    more = len(metrics) - _NAMED
    words = [f"{metric.measure.label} {rate(metric.b)} (was {rate(metric.a)})" for metric in metrics[:_NAMED]]
    words += [f"{more} more"] if more > 0 else []
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
