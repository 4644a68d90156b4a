"""From counts to rates. A rate is a function of *summed* counts; its definition stands beside its formula.

`Sums` holds counts in the last axis, so that one function serves a pull request, a slice, the whole set, and ten
thousand resamples at once. Where a denominator is 0 a rate is NaN here and null in what users see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Sums = NDArray[np.float64]
Measure = Callable[[Sums], Sums]

COUNTS = (
    "positive_expected_nums",
    "total_generated_nums",
    "positive_line_match_nums",
    "positive_match_nums",
    "positive_covered_nums",
    "positive_line_covered_nums",
    "unmatched_nums",
    "negative_expected_nums",
    "negative_match_nums",
    "judge_error_nums",
)
LINE_COUNTS = ("positive_line_match_nums", "positive_line_covered_nums")
_COLUMN = {name: position for position, name in enumerate(COUNTS)}


def positive_match_rate(sums: Sums) -> Sums:
    """Precision: comments that match a reference / comments."""
    return _ratio(sums, "positive_match_nums", "total_generated_nums")


def positive_recall_rate(sums: Sums) -> Sums:
    """Recall: references that were raised / references."""
    return _ratio(sums, "positive_covered_nums", "positive_expected_nums")


def f1(sums: Sums) -> Sums:
    """The harmonic mean of precision and recall; 0 where one of them is 0 or only one is defined."""
    return _harmonic(positive_match_rate(sums), positive_recall_rate(sums))


def f_beta(beta: float) -> Measure:
    """The weighted harmonic mean of precision and recall, (1 + b²)PR / (b²P + R): beta 2 minds recall more, 0.5
    precision; beta 1 is f1. Undefined and 0 where f1 is."""

    def measure(sums: Sums) -> Sums:
        return _harmonic(positive_match_rate(sums), positive_recall_rate(sums), beta)

    return measure


def positive_line_match_rate(sums: Sums) -> Sums:
    """Line precision: comments that point where a reference does / comments."""
    return _ratio(sums, "positive_line_match_nums", "total_generated_nums")


def positive_line_recall_rate(sums: Sums) -> Sums:
    """Line recall: references that some comment points at / references."""
    return _ratio(sums, "positive_line_covered_nums", "positive_expected_nums")


def line_f1(sums: Sums) -> Sums:
    """The harmonic mean of line precision and line recall."""
    return _harmonic(positive_line_match_rate(sums), positive_line_recall_rate(sums))


def unmatched_rate(sums: Sums) -> Sums:
    """Noise: comments that match no reference / comments."""
    return _ratio(sums, "unmatched_nums", "total_generated_nums")


def false_positive_rate(sums: Sums) -> Sums:
    """Comments that repeat what annotators rejected / comments. Only where negatives are given."""
    return _ratio(sums, "negative_match_nums", "total_generated_nums")


MEASURES: Mapping[str, Measure] = {
    measure.__name__: measure
    for measure in (
        positive_match_rate,
        positive_recall_rate,
        f1,
        positive_line_match_rate,
        positive_line_recall_rate,
        line_f1,
        unmatched_rate,
        false_positive_rate,
    )
}
LINE_MEASURES = ("positive_line_match_rate", "positive_line_recall_rate", "line_f1")
LOWER_IS_BETTER = ("unmatched_rate", "false_positive_rate")
SHORT_NAMES: Mapping[str, str] = {
    "positive_match_rate": "precision",
    "positive_recall_rate": "recall",
    "f1": "F1",
    "positive_line_match_rate": "line precision",
    "positive_line_recall_rate": "line recall",
    "line_f1": "line F1",
    "unmatched_rate": "noise",
    "false_positive_rate": "false positives",
}
"""The measures in the words of a sentence."""
RECALLS = ("positive_recall_rate", "positive_line_recall_rate")


def table(counts: Iterable[Mapping[str, int | None]]) -> Sums:
    """A row for each mapping of counts; a count that is null (place was not asked) is 0 here."""
    rows = [[float(row.get(name) or 0) for name in COUNTS] for row in counts]
    return np.array(rows, np.float64).reshape(-1, len(COUNTS))


def measured(place: bool, negatives: bool) -> dict[str, Measure]:
    """The measures that mean something in this run."""
    return {
        name: measure
        for name, measure in MEASURES.items()
        if (place or name not in LINE_MEASURES) and (negatives or name != "false_positive_rate")
    }


def rates(
    sums: Sums, available: Mapping[str, Measure], names: Sequence[str] | None = None
) -> dict[str, float | None]:
    """Every rate by name; null where it is undefined or not measured."""
    return {
        name: number(available[name](sums)) if name in available else None
        for name in (MEASURES if names is None else names)
    }


def number(value: float | np.floating | Sums) -> float | None:
    """A float for JSON: null, never NaN."""
    plain = float(value)
    return None if np.isnan(plain) else plain


def _ratio(sums: Sums, above: str, below: str) -> Sums:
    over, under = sums[..., _COLUMN[above]], sums[..., _COLUMN[below]]
    ratio: Sums = np.divide(over, under, out=np.full(np.shape(under), np.nan), where=np.asarray(under != 0))
    return ratio


def _harmonic(precision: Sums, recall: Sums, beta: float = 1) -> Sums:
    p, r = np.nan_to_num(precision), np.nan_to_num(recall)
    undefined = np.where(np.isnan(precision) & np.isnan(recall), np.nan, 0.0)
    weight = beta * beta
    under = weight * p + r
    mean: Sums = np.divide((1 + weight) * p * r, under, out=undefined, where=np.asarray(under != 0))
    return mean
