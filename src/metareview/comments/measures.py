"""The counts of a review, and the measures made of them: each one's definition stands beside its formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import fsum, isfinite
from operator import attrgetter
from typing import TypedDict, Unpack

import numpy as np

from metareview.model.measure import Measure, Parts, Sums, ratio

Rates = Mapping[str, float | None]
"""Figures by the name of their measure; None where one is undefined or not measured."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted per pull request and reviewer, and summed. The order is that of the columns of a table.

    `line_matched` and `line_covered` are None where locations are not compared. Whole numbers are ints; means over
    repeated runs need not be whole.
    """

    expected: float = 0
    """References."""
    generated: float = 0
    """Comments."""
    line_matched: float | None = 0
    """Comments at the location of a reference."""
    matched: float = 0
    """Comments that raise the issue of a reference."""
    covered: float = 0
    """References that were raised."""
    line_covered: float | None = 0
    """References that some comment points at."""
    unmatched: float = 0
    """Comments that match no reference."""
    negatives: float = 0
    """Comments that annotators rejected."""
    negatives_matched: float = 0
    """Comments that repeat a rejected one."""
    undecided: float = 0
    """Pairs that the judge could not decide."""

    @classmethod
    def from_sums(cls, sums: Sums, *, location: bool) -> Counts:
        """The counts of a table's row, or of its sums."""
        counts = cls(*map(whole, sums.tolist()))
        return counts if location else counts.without_lines()

    def without_lines(self) -> Counts:
        """The counts of a run that does not compare locations."""
        return replace(self, line_matched=None, line_covered=None)

    def values(self) -> tuple[float | None, ...]:
        """All of them, in order."""
        return _VALUES(self)


def whole(value: float) -> float:
    """The number, as an int where it is whole but for rounding."""
    nearest = round(value)
    return nearest if abs(value - nearest) < _ROUNDING else value


_ROUNDING = 1e-9
_COLUMN = {field.name: position for position, field in enumerate(fields(Counts))}
_VALUES: Callable[[Counts], tuple[float | None, ...]] = attrgetter(*_COLUMN)


def table(counts: Iterable[Counts]) -> Sums:
    """One row for each, one column per count; None is 0 here."""
    rows = np.array(list(map(_VALUES, counts)), np.float64).reshape(-1, len(_COLUMN))
    rows[np.isnan(rows)] = 0
    return rows


def recall_table(tallies: Iterable[tuple[float, float, float]]) -> Sums:
    """The same of references alone: how many, how many were raised, and how many some comment points at."""
    rows = np.array(list(tallies), np.float64).reshape(-1, 3)
    counts = np.zeros((len(rows), len(_COLUMN)))
    counts[:, [_COLUMN[name] for name in ("expected", "covered", "line_covered")]] = rows
    return counts


def total(counts: Sums) -> Sums:
    """The sums of a table's columns, each rounded once, so that no order of rows makes one of two equals the greater.

    Thirds of repeated runs that add up to a whole number are that number.
    """
    sums: Sums = np.array([fsum(column) for column in counts.T.tolist()], np.float64)
    nearest = np.rint(sums)
    return np.where(np.abs(sums - nearest) < _ROUNDING, nearest, sums)


class _Traits(TypedDict, total=False):
    lower_is_better: bool
    needs: str
    complement_of: str


def _share(over: str, under: str) -> Parts:
    """One count over another."""
    return lambda sums: (sums[..., _COLUMN[over]], sums[..., _COLUMN[under]])


def _rate(name: str, short: str, definition: str, parts: Parts, **more: Unpack[_Traits]) -> Measure:
    label = short.replace("_", " ")
    return Measure(name, short, label, definition, lambda sums: ratio(*parts(sums)), parts, **more)


def _f(name: str, label: str, definition: str, precision: Measure, recall: Measure, beta: float = 1) -> Measure:
    """The weighted harmonic mean of a precision and a recall.

    As a ratio: its x is the weighted mean of comments and references. Its y is the number of matches where they are
    one-to-one, and only then a sum over pull requests; `one_to_one` makes that of it.
    """
    weight = beta * beta

    def formula(sums: Sums) -> Sums:
        return _harmonic(precision(sums), recall(sums), weight)

    def parts(sums: Sums) -> tuple[Sums, Sums]:
        under = (precision.parts(sums)[1] + weight * recall.parts(sums)[1]) / (1 + weight)
        return np.nan_to_num(formula(sums)) * under, under

    of = (precision, recall, weight)
    return Measure(name, name, label, definition, formula, parts, needs=recall.needs, adds_up=False, harmonic=of)


positive_match_rate = _rate(
    "positive_match_rate",
    "precision",
    "Of the comments, the share that match a reference.",
    _share("matched", "generated"),
)
positive_recall_rate = _rate(
    "positive_recall_rate", "recall", "Of the references, the share that were raised.", _share("covered", "expected")
)
f1 = _f(
    "f1",
    "F1",
    "The harmonic mean of precision and recall; 0 where one of them is 0 or only one is defined.",
    positive_match_rate,
    positive_recall_rate,
)
positive_line_match_rate = _rate(
    "positive_line_match_rate",
    "line_precision",
    "Of the comments, the share that point where a reference does.",
    _share("line_matched", "generated"),
    needs="location",
)
positive_line_recall_rate = _rate(
    "positive_line_recall_rate",
    "line_recall",
    "Of the references, the share that some comment points at.",
    _share("line_covered", "expected"),
    needs="location",
)
line_f1 = _f(
    "line_f1",
    "line F1",
    "The harmonic mean of line precision and line recall.",
    positive_line_match_rate,
    positive_line_recall_rate,
)
unmatched_rate = _rate(
    "unmatched_rate",
    "noise",
    "Of the comments, the share that match no reference.",
    _share("unmatched", "generated"),
    lower_is_better=True,
    complement_of="positive_match_rate",
)
false_positive_rate = _rate(
    "false_positive_rate",
    "false_positives",
    "Of the comments, the share that repeat what annotators rejected.",
    _share("negatives_matched", "generated"),
    lower_is_better=True,
    needs="negatives",
)

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
MAIN = (f1, positive_match_rate, positive_recall_rate)
"""What every run has."""
RECALLS = (positive_recall_rate, positive_line_recall_rate)


def f_beta(beta: float) -> Measure:
    """The weighted harmonic mean of precision and recall: beta 2 minds recall more, 0.5 precision; beta 1 is F1."""
    definition = f"(1 + b²)PR / (b²P + R) with b = {beta:g}; undefined, and 0, where F1 is."
    return _f("f_beta", f"F{beta:g}", definition, positive_match_rate, positive_recall_rate, beta)


def one_to_one(measure: Measure, alignment: str) -> Measure:
    """The measure as it is under an alignment: where that is one-to-one, an F is matches over a mean size.

    `greedy` is one-to-one in meaning, but one comment may use up several references by location.
    """
    pairs_up = {"optimal": ("f1", "f_beta", "line_f1"), "greedy": ("f1", "f_beta")}
    if measure.name not in pairs_up.get(alignment, ()):
        return measure
    matched = _COLUMN["line_matched" if measure.needs == "location" else "matched"]
    return replace(measure, parts=lambda sums: (sums[..., matched], measure.parts(sums)[1]), adds_up=True)


def measured(*, location: bool, negatives: bool, alignment: str = "coverage") -> tuple[Measure, ...]:
    """The measures that mean something in a run."""
    has = {"": True, "location": location, "negatives": negatives}
    return tuple(one_to_one(measure, alignment) for measure in MEASURES if has[measure.needs])


def rates(sums: Sums, available: Iterable[Measure], names: Iterable[Measure] = MEASURES) -> dict[str, float | None]:
    """Every figure by name; None where it is undefined or not available."""
    known = {measure.name for measure in available}
    return {measure.name: measure.value(sums) if measure.name in known else None for measure in names}


def rates_of_each(counts: Sums, available: Iterable[Measure]) -> list[dict[str, float | None]]:
    """The same for each row of a table."""
    known = {measure.name for measure in available}
    nothing: list[float | None] = [None] * len(counts)
    columns = [_figures(measure, counts) if measure.name in known else nothing for measure in MEASURES]
    names = [measure.name for measure in MEASURES]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _figures(measure: Measure, counts: Sums) -> list[float | None]:
    return [figure if isfinite(figure) else None for figure in measure(counts).tolist()]


def _harmonic(precision: Sums, recall: Sums, weight: float) -> Sums:
    p, r = np.nan_to_num(precision), np.nan_to_num(recall)
    undefined = np.where(np.isnan(precision) & np.isnan(recall), np.nan, 0.0)
    under = weight * p + r
    mean: Sums = np.divide((1 + weight) * p * r, under, out=undefined, where=np.asarray(under != 0))
    return mean
