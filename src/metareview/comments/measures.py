"""The counts of a review, and the measures made of them: each one's definition stands beside its formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace

import numpy as np

from metareview.model.measure import Formula, Measure, Sums

Rates = Mapping[str, float | None]
"""Figures by the name of their measure; None where one is undefined or not measured."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted per pull request and reviewer, and summed. The order is that of the columns of a table.

    `line_matched` and `line_covered` are None where locations are not compared.
    """

    expected: int = 0
    """References."""
    generated: int = 0
    """Comments."""
    line_matched: int | None = 0
    """Comments at the location of a reference."""
    matched: int = 0
    """Comments that raise the issue of a reference."""
    covered: int = 0
    """References that were raised."""
    line_covered: int | None = 0
    """References that some comment points at."""
    unmatched: int = 0
    """Comments that match no reference."""
    negatives: int = 0
    """Comments that annotators rejected."""
    negatives_matched: int = 0
    """Comments that repeat a rejected one."""
    undecided: int = 0
    """Pairs that the judge could not decide."""

    @classmethod
    def from_sums(cls, sums: Sums, *, location: bool) -> Counts:
        """The counts of a table's row, or of its sums."""
        counts = cls(*map(int, sums))
        return counts if location else counts.without_lines()

    def without_lines(self) -> Counts:
        """The counts of a run that does not compare locations."""
        return replace(self, line_matched=None, line_covered=None)


_COLUMN = {field.name: position for position, field in enumerate(fields(Counts))}


def table(counts: Iterable[Counts]) -> Sums:
    """One row for each, one column per count; None is 0 here."""
    rows = [[float(value or 0) for value in astuple(row)] for row in counts]
    return np.array(rows, np.float64).reshape(-1, len(_COLUMN))


def _measure(
    short: str, label: str = "", *, lower_is_better: bool = False, needs: str = ""
) -> Callable[[Formula], Measure]:
    """Makes a measure of its formula; the function's name is the measure's, its docstring the definition."""

    def make(formula: Formula) -> Measure:
        definition = " ".join((formula.__doc__ or "").split())
        return Measure(formula.__name__, short, label or short, definition, formula, lower_is_better, needs)

    return make


@_measure("precision")
def positive_match_rate(sums: Sums) -> Sums:
    """Of the comments, the share that match a reference."""
    return _ratio(sums, "matched", "generated")


@_measure("recall")
def positive_recall_rate(sums: Sums) -> Sums:
    """Of the references, the share that were raised."""
    return _ratio(sums, "covered", "expected")


@_measure("f1", "F1")
def f1(sums: Sums) -> Sums:
    """The harmonic mean of precision and recall; 0 where one of them is 0 or only one is defined."""
    return _harmonic(positive_match_rate(sums), positive_recall_rate(sums))


@_measure("line_precision", "line precision", needs="location")
def positive_line_match_rate(sums: Sums) -> Sums:
    """Of the comments, the share that point where a reference does."""
    return _ratio(sums, "line_matched", "generated")


@_measure("line_recall", "line recall", needs="location")
def positive_line_recall_rate(sums: Sums) -> Sums:
    """Of the references, the share that some comment points at."""
    return _ratio(sums, "line_covered", "expected")


@_measure("line_f1", "line F1", needs="location")
def line_f1(sums: Sums) -> Sums:
    """The harmonic mean of line precision and line recall."""
    return _harmonic(positive_line_match_rate(sums), positive_line_recall_rate(sums))


@_measure("noise", lower_is_better=True)
def unmatched_rate(sums: Sums) -> Sums:
    """Of the comments, the share that match no reference."""
    return _ratio(sums, "unmatched", "generated")


@_measure("false_positives", "false positives", lower_is_better=True, needs="negatives")
def false_positive_rate(sums: Sums) -> Sums:
    """Of the comments, the share that repeat what annotators rejected."""
    return _ratio(sums, "negatives_matched", "generated")


MEASURES: Sequence[Measure] = (
    positive_match_rate,
    positive_recall_rate,
    f1,
    positive_line_match_rate,
    positive_line_recall_rate,
    line_f1,
    unmatched_rate,
    false_positive_rate,
)
RECALLS = (positive_recall_rate, positive_line_recall_rate)


def f_beta(beta: float) -> Measure:
    """The weighted harmonic mean of precision and recall: beta 2 minds recall more, 0.5 precision; beta 1 is F1."""

    def formula(sums: Sums) -> Sums:
        return _harmonic(positive_match_rate(sums), positive_recall_rate(sums), beta)

    definition = f"(1 + b²)PR / (b²P + R) with b = {beta:g}; undefined, and 0, where F1 is."
    return Measure("f_beta", "f_beta", f"F{beta:g}", definition, formula)


def measured(*, location: bool, negatives: bool) -> tuple[Measure, ...]:
    """The measures that mean something in a run."""
    has = {"": True, "location": location, "negatives": negatives}
    return tuple(measure for measure in MEASURES if has[measure.needs])


def rates(sums: Sums, available: Iterable[Measure], names: Iterable[Measure] = MEASURES) -> dict[str, float | None]:
    """Every figure by name; None where it is undefined or not available."""
    known = {measure.name for measure in available}
    return {measure.name: measure.value(sums) if measure.name in known else None for measure in names}


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
