"""How many more labels, or pull requests, would make the interval of a corrected F1 as narrow as wished.

The variance of F1 comes from which pull requests there are, from which blocks were drawn, and from blocks that may
differ where all labelled ones are alike. More labels only make the last two smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from metareview.comments.blocks import RecordKey
from metareview.comparison.frame import LabelledFrame
from metareview.comparison.hidden_units import HiddenUnits, hidden_variances, slope
from metareview.model.measure import Measure
from metareview.stats import LEVEL, Array, standard_error

GOAL = 0.03
"""Half the width of the interval of F1 that a plan is made for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What would bring the interval of F1 to GOAL to either side."""

    blocks: int | None
    """Labelled blocks in all; None where no number of labels is enough."""
    half_width: float
    """What it is now."""
    at_best: float
    """What it would be with every block labelled."""
    prs: int | None
    """Where labels are not enough: about how many pull requests, all labelled, would be."""


def plan_of(
    rows: Array, of_f1: Measure, labelled: LabelledFrame, hidden: Sequence[HiddenUnits], keys: Sequence[RecordKey]
) -> Plan | None:
    """From rows of corrected counts, one per unit of one reviewer; `keys`: of its pull requests. None without an
    error."""
    error, units = standard_error(rows, of_f1)
    totals = rows.sum(axis=0)
    if error is None or not float(of_f1.parts(totals)[1]):
        return None
    slopes = [slope(of_f1, totals, each.columns) for each in hidden]
    spread = _Spread.of(labelled, keys, dict(zip(("matches", "comments", "references"), slopes, strict=True)))
    t = float(stdtrit(units - 1, (1 + LEVEL) / 2))
    from_prs = max(0.0, error**2 - spread.variance(1.0))

    def half_width(factor: float) -> float:
        unseen = sum(of**2 * _hidden(each, labelled, keys, factor) for of, each in zip(slopes, hidden, strict=True))
        return t * float(np.sqrt(from_prs + spread.variance(factor) + unseen))

    done, now, at_best = labelled.done, half_width(1.0), half_width(np.inf)
    if at_best > GOAL:
        return Plan(None, now, at_best, int(np.ceil(len(keys) * units / len(rows) * (at_best / GOAL) ** 2)))
    low, high = 0, done if now <= GOAL else labelled.frame.blocks
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(middle / done) <= GOAL else (middle, high)
    return Plan(high, now, at_best, None)


def _hidden(hidden: HiddenUnits, labelled: LabelledFrame, keys: Sequence[RecordKey], factor: float) -> float:
    """The variance of hidden units with this many times as many labels in each stratum, if these are alike too."""
    n, sizes = hidden.labelled, labelled.sample.sizes[hidden.strata].astype(np.float64)
    more = np.minimum(sizes, n * factor)
    unlabelled = hidden.unlabelled_of(keys) * (sizes - more) / np.maximum(sizes - n, 1)
    return float(hidden_variances(more, unlabelled).sum())


@dataclass(frozen=True)
class _Spread:
    """How much of the jackknife's variance of one reviewer's F1 comes from not all blocks being labelled."""

    sizes: Array
    own: Array
    """How many blocks of each stratum are the reviewer's, those of repeated runs by their weight, times the square of
    how far F1 moves with one of them."""
    labelled: Array
    variances: Array
    """Of the numbers of a stratum's labelled blocks."""

    @classmethod
    def of(cls, labelled: LabelledFrame, keys: Sequence[RecordKey], slopes: dict[str, float]) -> _Spread:
        frame, sample = labelled.frame, labelled.sample
        # A block of one of three runs is a third in the mean, and a ninth in its square.
        weighed = (np.array(frame.members[key]) / frame.runs.get(key, 1) ** 2 for key in keys if key in frame.members)
        moves = np.array([slopes[stratum.counted] for stratum in frame.strata])
        own = np.sum([np.zeros(len(moves)), *weighed], axis=0) * moves**2
        strata, values = labelled.known()
        beyond = (np.array(values) - sample.mean[strata]) ** 2
        n = sample.labelled
        variances = np.bincount(strata, beyond, len(frame.strata)) / np.maximum(n - 1, 1)
        return cls(sample.sizes.astype(np.float64), own, n.astype(np.float64), variances)

    def variance(self, factor: float) -> float:
        """With this many times as many labelled blocks in each stratum. The squares of (N / n) (value - mean), summed
        over n labelled blocks, less what they are with all labelled: these squares, not the variance of the sample, are
        what the jackknife over pull requests adds up."""

        def squares(of: Array) -> Array:
            each: Array = np.maximum(of - 1, 0) / np.maximum(of, 1) ** 2
            return each

        more = np.maximum(squares(np.minimum(self.sizes, self.labelled * factor)) - squares(self.sizes), 0)
        return float((self.sizes * self.own * more * self.variances).sum())
