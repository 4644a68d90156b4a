"""The studentised exchange: a permutation test of two figures on the same units.

If A and B were equal, the two rows of a unit might as well stand the other way round. Each draw exchanges the rows of
some units and works out T anew: the difference of the two figures over the standard error of that difference. Without
the error below the line, one unit with a great many comments decides the test; docs/statistics.md has the simulations.

T needs sums and sums of products over the units, all linear in the bits of a draw (1: exchanged), so that all draws of
all pairs are a few matrix products and element-wise work on their results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from metareview.model.measure import Measure

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

DRAWS = 10_000
"""Random exchanges that a test tries."""
BLOCK_CELLS = 1 << 20
"""Draws are made in blocks of about this many cells, 8 MB, however many units or pairs there are."""
ROUNDING = 1e-12
"""Figures that are equal on paper differ by less than this."""
_EXACT_UNITS = 13
"""Up to this many differing units, every exchange is tried."""
_TIED = 1e-9
"""T is as extreme as another that exceeds it by no more than this share."""


def exchange_test(a: Array, b: Array, measure: Measure, *, seed: int = 0) -> tuple[float, int]:
    """Two-sided p of the difference between two tables whose rows are the same units, and the units that differ.

    Up to 13 differing units it is exact, c / 2^n; else c of 10,000 draws count as (1 + c) / (1 + 10,000).
    """
    pair = Exchange([a, b], measure)
    n = pair.differing
    exact = n <= _EXACT_UNITS
    least = least_extreme(pair.observed)
    extreme = sum(
        int((pair.squared(bits) >= least).sum()) for bits in ([_all_bits(n)] if exact else random_bits(n, seed))
    )
    return (extreme / 2**n if exact else (1 + extreme) / (1 + DRAWS)), n


class Exchange:
    """Tables of the same units, one a competitor: T² of every two of them after an exchange of units.

    A figure is a ratio of two sums, or the harmonic mean of two such ratios; `_columns` holds y and x of each ratio,
    with y less what the pooled rate would bring, which changes no T and keeps the sums of squares exact.
    """

    def __init__(self, tables: Sequence[Array], measure: Measure) -> None:
        ratios = [measure] if measure.adds_up or measure.harmonic is None else [*measure.harmonic[:2]]
        self._weight = measure.harmonic[2] if len(ratios) > 1 and measure.harmonic else None
        parts = [[ratio.parts(counts) for counts in tables] for ratio in ratios]
        columns = []
        self._pooled = []
        for of_ratio in parts:
            y, x = (np.array(column) for column in zip(*of_ratio, strict=True))
            self._pooled.append(float(y.sum() / x.sum()) if x.sum() else 0.0)
            columns += [y - self._pooled[-1] * x, x]
        self._columns = columns
        """Each tables x units: y and x of the first ratio, then of the second."""
        self._products = list(combinations_with_replacement(range(len(columns)), 2))
        # Products of two different columns count twice in a square.
        doubled = (columns[u] * columns[v] * (1 if u == v else 2) for u, v in self._products)
        self._own = [*columns, *doubled]
        self._totals = [column.sum(axis=1, keepdims=True) for column in self._own]
        self._grams = [columns[u] @ columns[v].T for u, v in self._products]
        moving = np.any([(column != column[:1]).any(axis=0) for column in columns], axis=0)
        self._moving = [column[:, moving] for column in self._own]
        size = len(columns[0])
        self.pairs = size * (size - 1) // 2
        self.differing = int(moving.sum())
        """How many units have different rows in any two of the tables: the others may stay as they are."""
        observed = self.squared(np.zeros((self.differing, 1)))[:, 0]
        self.observed = np.where(observed > ROUNDING**2, observed, 0.0)
        """T² of every two tables as they are, in the order of `combinations`."""

    def squared(self, bits: Array) -> Array:
        """T² for each pair of tables and each draw (a column of bits, one for each differing unit)."""
        found = np.empty((self.pairs, bits.shape[1]))
        # One product of all: many small ones keep a threaded BLAS waiting for its threads.
        moved = np.split(np.vstack(self._moving) @ bits, len(self._moving))
        end = 0
        for a in range(len(self._columns[0]) - 1):
            start, end = end, end + len(self._columns[0]) - 1 - a
            self._of_one(a, bits, moved, found[start:end])
        return found

    def _of_one(self, a: int, bits: Array, moved: Sequence[Array], found: Array) -> None:
        """Write T² of table `a` with each table after it; `moved`: the sums of each table over the exchanged units."""
        count = len(self._columns)
        ours, theirs = [], []
        for sums, total in zip(moved, self._totals, strict=True):
            gained = sums[a + 1 :] - sums[a]
            theirs.append(total[a + 1 :] - gained)
            gained += total[a]
            ours.append(gained)
        of_a, of_b = (_Figure(sums[:count], self._pooled, self._weight) for sums in (ours, theirs))
        squares = self._across(a, bits, of_a.slopes, of_b.slopes)
        squares *= -2
        scale = np.zeros_like(squares)
        for figure, of_side in ((of_a, ours), (of_b, theirs)):
            self._add_squares(figure.slopes, of_side[count:], squares, scale)
        difference = of_b.value
        difference -= of_a.value
        scale *= ROUNDING
        flat = squares <= scale
        if flat.any():
            squares[flat] = 0.0
            difference[flat & (np.abs(difference) <= ROUNDING)] = 0.0
        np.multiply(difference, difference, out=difference)
        with np.errstate(divide="ignore", invalid="ignore"):
            np.divide(difference, squares, out=found)
        if flat.any():
            found[flat & (difference == 0)] = 0.0
        for figure in (of_a, of_b):
            if figure.empty is not None:
                found[figure.empty] = np.inf

    def _add_squares(self, slopes: Sequence[Array], products: Sequence[Array], squares: Array, scale: Array) -> None:
        """Add the sum over units of (what a unit's row adds to the figure)², and the size of its parts to `scale`."""
        for (u, v), product in zip(self._products, products, strict=True):
            product *= slopes[u]
            product *= slopes[v]
            squares += product
            if u == v and u % 2 == 0:
                scale += product

    def _across(self, a: int, bits: Array, slopes_a: Sequence[Array], slopes_b: Sequence[Array]) -> Array:
        """The sum over units of what A's row adds to its figure times what B's adds to its own."""
        found = np.zeros_like(slopes_b[0])
        crossed = [(u, v) for u, v in self._products if u != v]
        rows = [
            self._moving[u][a + 1 :] * self._moving[v][a] - self._moving[u][a] * self._moving[v][a + 1 :]
            for u, v in crossed
        ]
        moved = dict(zip(crossed, np.split(np.vstack(rows) @ bits, len(crossed)), strict=True))
        for (u, v), gram in zip(self._products, self._grams, strict=True):
            if u == v:
                term = slopes_a[u] * slopes_b[u]
                term *= gram[a + 1 :, [a]]
                found += term
                continue
            gained = moved[u, v]
            term = gram[a + 1 :, [a]] - gained
            term *= slopes_a[v]
            term *= slopes_b[u]
            found += term
            gained += gram[a, a + 1 :, np.newaxis]
            gained *= slopes_a[u]
            gained *= slopes_b[v]
            found += gained
        return found


class _Figure:
    """A figure of one side after each draw, and how it depends on the columns of a unit's row (the delta method).

    `slopes` are 1 / X for y and -rate / X for x, times the slope of the harmonic mean. `value` is less a constant, that
    of both sides. `empty` says where nothing stands below the line; None: nowhere.
    """

    def __init__(self, sums: Sequence[Array], pooled: Sequence[float], weight: float | None) -> None:
        zero = [x == 0 for x in sums[1::2]]
        empty = zero[0] if weight is None else zero[0] & zero[1]
        self.empty = empty if empty.any() else None
        above, inverse = [], []
        for y, x, none in zip(sums[::2], sums[1::2], zero, strict=True):
            if none.any():
                x = np.where(none, np.inf, x)
            np.divide(1.0, x, out=x)
            y *= x
            above.append(y)
            inverse.append(x)
        if weight is None:
            [self.value], [over] = above, inverse
            self.slopes = [over, self.value * over]
            np.negative(self.slopes[1], out=self.slopes[1])
            return
        precision, recall = (
            np.where(none, 0.0, rate + base) for rate, base, none in zip(above, pooled, zero, strict=True)
        )
        under = weight * precision + recall
        share = np.divide(1.0, under, out=np.zeros_like(under), where=under > 0)
        self.value = (1 + weight) * precision * recall * share
        of_mean = (1 + weight) * (recall * share) ** 2, (1 + weight) * weight * (precision * share) ** 2
        self.slopes = []
        for slope, rate, over in zip(of_mean, above, inverse, strict=True):
            self.slopes += [slope * over, -slope * over * rate]


def least_extreme(squared: Array) -> Array:
    """The least T² that is as extreme as each of these."""
    return squared * (1 - _TIED) ** 2


def _all_bits(units: int) -> Array:
    bits = (np.arange(2**units) >> np.arange(units)[:, np.newaxis]) & 1
    return bits.astype(np.float64)


def random_bits(units: int, seed: int) -> Iterator[Array]:
    """10,000 columns of random bits, in blocks; the same ones for any test with as many units."""
    rng = np.random.default_rng(seed)
    draws = max(1, BLOCK_CELLS // max(1, units))
    for start in range(0, DRAWS, draws):
        drawn = rng.integers(0, 2, size=(units, min(draws, DRAWS - start)), dtype=np.bool_)
        yield drawn.astype(np.float64)
