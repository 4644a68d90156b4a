"""Units that differ from all labelled ones of their stratum, and the variance that they may add to an estimate.

Where every labelled unit of a stratum has the same value, 0 or 1, neither the sample nor the jackknife shows any
variance, and yet a rare unit that differs may be among those without a label. Half a surprise stands for it: of n
labelled units and half a further one, that half differs, so that the rate is p = ½ / (n + 1). The error of predicting
u unlabelled units from n labelled ones then has the variance u (u + n) p (1 - p) / (n + 1); with u = N - n, for the
whole stratum, that is N (N - n) p (1 - p) / (n + 1). docs/labels.md has the simulations that chose the half.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metareview.comparison.strata import Sample
from metareview.model.measure import Measure
from metareview.stats import Array, Mask

RecordKey = tuple[str, str]
"""The pull request and the reviewer."""
_STEP = 1e-4
"""In counts, for the slope of a measure."""


def surprise_variance(labelled: Array) -> Array:
    """p (1 - p) / (n + 1) of strata with n labelled units that were all alike: half a surprise in n + 1."""
    p = 0.5 / (labelled + 1)
    variance: Array = p * (1 - p) / (labelled + 1)
    return variance


@dataclass(frozen=True)
class HiddenUnits:
    """The unlabelled units of strata whose labelled ones are all alike, by pull request and reviewer."""

    strata: NDArray[np.int64]
    """Which strata of the sample they are."""
    labelled: Array
    """How many units of each of these strata are labelled."""
    unlabelled: Mapping[RecordKey, Array]
    """Two rows of sums over the units without a label in each stratum: of their weights, and of the squares of these.
    Without records that have none."""
    columns: Mapping[int, float]
    """The counts that one more or one fewer such unit changes, and by how much."""

    def unlabelled_of(self, keys: Iterable[RecordKey]) -> Array:
        """The two rows summed over these records."""
        sums = np.zeros((2, len(self.labelled)))
        for key in keys:
            sums += self.unlabelled.get(key, 0.0)
        return sums

    def variance(self, keys: Iterable[RecordKey]) -> float:
        """What they add to the variance of the estimated sum over these records."""
        return float(hidden_variances(self.labelled, self.unlabelled_of(keys)).sum())


def hidden_variances(labelled: Array, unlabelled: Array) -> Array:
    """The variance of predicting sums over unlabelled units, by stratum; `unlabelled` as of `HiddenUnits`."""
    weights, squares = unlabelled
    variances: Array = (weights**2 + labelled * squares) * surprise_variance(labelled)
    return variances


def hidden_units(
    sample: Sample,
    members: Mapping[RecordKey, Sequence[int]],
    known: Iterable[tuple[int, RecordKey]],
    columns: Mapping[int, float],
    *,
    among: Mask | None = None,
    runs: Mapping[RecordKey, int] | None = None,
) -> HiddenUnits:
    """From the strata's members in each record, and the stratum and record of each labelled unit.

    `among`: the strata that are meant, if not all. `runs`: of how many repeated runs a record is the mean, so that a
    unit of one of them weighs less.
    """
    strata = np.flatnonzero(sample.alike if among is None else sample.alike & among)
    place = {stratum: at for at, stratum in enumerate(strata.tolist())}
    unlabelled = {key: np.array(counts, np.float64)[strata] for key, counts in members.items()} if place else {}
    for stratum, key in known:
        if stratum in place:
            unlabelled[key][place[stratum]] -= 1
    found = {}
    for key, counts in unlabelled.items():
        if counts.any():
            weight = 1 / (runs or {}).get(key, 1)
            found[key] = np.array([counts * weight, counts * weight**2])
    return HiddenUnits(strata, sample.labelled[strata].astype(np.float64), found, columns)


def extra_variances(
    hidden: Iterable[HiddenUnits], keys: Sequence[RecordKey], totals: Array, measures: Iterable[Measure]
) -> dict[str, float]:
    """What hidden units add to the variance of each measure over these records, by name; `totals`: their summed
    counts. A measure moves as its slope in the counts says."""
    chosen = list(measures)
    found = {measure.name: 0.0 for measure in chosen}
    for each in hidden:
        variance = each.variance(keys)
        if variance > 0:
            for measure in chosen:
                found[measure.name] += variance * slope(measure, totals, each.columns) ** 2
    return found


def slope(measure: Measure, totals: Array, columns: Mapping[int, float]) -> float:
    """How far the measure moves per unit by which these counts change; 0 where that is not defined."""
    step = np.zeros(len(totals))
    step[list(columns)] = [_STEP * each for each in columns.values()]
    above, below = float(measure(totals + step)), float(measure(totals - step))
    return 0.0 if np.isnan(above) or np.isnan(below) else (above - below) / (2 * _STEP)
