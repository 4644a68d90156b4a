"""A measure is an object: its names, which way is better, its definition, and its formula over summed counts.

Sums hold counts in the last axis, so that one formula serves a pull request, a slice, the whole set, and each of ten
thousand pull requests left out in turn. Where a measure is undefined its formula gives NaN, which users see as null.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metareview.errors import UsageError, did_you_mean

Sums = NDArray[np.float64]
Formula = Callable[[Sums], Sums]
Parts = Callable[[Sums], tuple[Sums, Sums]]


@dataclass(frozen=True)
class Measure:
    """One figure of a run.

    `name` is its key in JSON, `short` what users may type for it, `label` what tables call it. `needs` says what a run
    must have for the measure to mean something: `location`, `negatives`, or nothing.

    Every measure is a ratio of two parts, y / x, which the statistics work on. `adds_up` says whether y is a sum over
    pull requests, as x always is.
    """

    name: str
    short: str
    label: str
    definition: str
    formula: Formula
    parts: Parts
    lower_is_better: bool = False
    needs: str = ""
    adds_up: bool = True
    complement_of: str = ""
    """The name of the measure that this one is 1 minus, or always equal to, so that one test serves both."""
    harmonic: tuple[Measure, Measure, float] | None = None
    """The two measures that this one is a harmonic mean of, and the weight of the second, where it is one."""

    def __call__(self, sums: Sums) -> Sums:
        return self.formula(sums)

    def __str__(self) -> str:
        return self.name

    def value(self, sums: Sums) -> float | None:
        """The figure for JSON: null, never NaN."""
        figure = float(self.formula(sums))
        return figure if math.isfinite(figure) else None

    def is_named(self, text: str) -> bool:
        """True if a user who types this means the measure: its name, its short name, whatever the case."""
        return text.casefold() in (self.name, self.short)


def ratio(over: Sums, under: Sums) -> Sums:
    """y / x; NaN where x is 0."""
    quotient: Sums = np.divide(over, under, out=np.full(np.shape(under), np.nan), where=np.asarray(under != 0))
    return quotient


def find_measure(text: str, measures: Iterable[Measure], option: str) -> Measure:
    """The measure that a user names; UsageError with the nearest and all short names where there is none."""
    known = list(measures)
    for measure in known:
        if measure.is_named(text):
            return measure
    meant = did_you_mean(text, [name for measure in known for name in (measure.name, measure.short)])
    names = ", ".join(measure.short for measure in known)
    raise UsageError(f"{option}: unknown metric {text!r}.{meant} The metrics are {names}.")
