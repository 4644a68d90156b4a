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
_PRODUCT_ROWS = 2000
_KEPT_CELLS = 1 << 22
"""Products of rows of all pairs are kept up to so many cells, 32 MB, and else worked out for each block of draws."""
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
        self._groups = _groups(size)
        self._rows: dict[range, Array] = {}
        x = columns[1]
        self._may_be_empty = [bool((np.minimum(x[a], x[a + 1 :]).sum(axis=1) <= 0).any()) for a in range(size - 1)]
        """By table, whether an exchange may leave it or a table after it without anything to measure."""
        self.differing = int(moving.sum())
        """How many units have different rows in any two of the tables: the others may stay as they are."""
        observed = self.squared(np.zeros((self.differing, 1)))[:, 0]
        self.observed = np.where(observed > ROUNDING**2, observed, 0.0)
        """T² of every two tables as they are, in the order of `combinations`."""

    def squared(self, bits: Array) -> Array:
        """T² for each pair of tables and each draw (a column of bits, one for each differing unit)."""
        found = np.empty((self.pairs, bits.shape[1]))
        # Few large products: many small ones keep a threaded BLAS waiting for its threads.
        moved = np.split(np.vstack(self._moving) @ bits, len(self._moving))
        work = np.empty((6, len(self._columns[0]), bits.shape[1]))
        end = 0
        for group in self._groups:
            for a, crossed in zip(group, self._crossed(group, bits), strict=True):
                start, end = end, end + len(self._columns[0]) - 1 - a
                if self._weight is None:
                    self._of_ratio(a, crossed[0], moved, found[start:end], work[:, : end - start])
                else:
                    self._of_mean(a, crossed, moved, found[start:end])
        return found

    def _crossed(self, group: range, bits: Array) -> Iterator[list[Array]]:
        """For each of these tables with each table after it, by two different columns, what exchanges add to the sum of
        the products of A's one and B's other."""
        crossed = [(u, v) for u, v in self._products if u != v]
        rows = self._rows.get(group)
        if rows is None:
            rows = np.vstack(
                [
                    self._moving[u][a + 1 :] * self._moving[v][a] - self._moving[u][a] * self._moving[v][a + 1 :]
                    for a in group
                    for u, v in crossed
                ]
            )
            if self.pairs * self.differing <= _KEPT_CELLS:
                self._rows[group] = rows
        sums, end = rows @ bits, 0
        for a in group:
            size = len(self._columns[0]) - 1 - a
            start, end = end, end + size * len(crossed)
            yield np.split(sums[start:end], len(crossed))

    def _of_ratio(self, a: int, crossed: Array, moved: Sequence[Array], found: Array, work: Array) -> None:
        """The same as `_of_mean` for one ratio: y / x, worked out in place, which takes half of the time.

        The sum over units of (y - rate x)² is that of y², less rate times (that of 2xy, less rate times that of x²).
        """
        rest = slice(a + 1, None)
        rate_a, rate_b, over_a, over_b, squares, others = work
        (y, x, *squared), (y_total, x_total, *squared_totals) = moved, self._totals
        for sums, total, of_a, of_b in ((y, y_total, rate_a, rate_b), (x, x_total, over_a, over_b)):
            np.subtract(sums[rest], sums[a], out=of_a)
            np.subtract(total[rest], of_a, out=of_b)
            of_a += total[a]
        empty = None
        if self._may_be_empty[a]:
            empty = (over_a == 0) | (over_b == 0)
            over_a[over_a == 0] = np.inf
            over_b[over_b == 0] = np.inf
        np.reciprocal(over_a, out=over_a)
        np.reciprocal(over_b, out=over_b)
        rate_a *= over_a
        rate_b *= over_b
        np.subtract(squared[2][rest], squared[2][a], out=squares)
        np.subtract(squared_totals[2][rest], squares, out=others)
        squares += squared_totals[2][a]
        for sums, total, sign in ((squared[1], squared_totals[1], -1), (squared[0], squared_totals[0], 1)):
            squares *= rate_a
            others *= rate_b
            np.subtract(sums[rest], sums[a], out=found)
            (np.add if sign > 0 else np.subtract)(squares, found, out=squares)
            (np.subtract if sign > 0 else np.add)(others, found, out=others)
            squares += sign * total[a]
            others += sign * total[rest]
        of_y, of_xy, of_x = (gram[rest, [a]] for gram in self._grams)
        squares *= over_a
        squares *= over_a
        others *= over_b
        others *= over_b
        squares += others
        np.multiply(rate_b, of_x, out=found)
        found -= of_xy
        found += crossed
        found *= rate_a
        crossed += self._grams[1][a, rest, np.newaxis]
        crossed *= rate_b
        found -= crossed
        found += of_y
        found *= over_a
        found *= over_b
        found *= 2
        squares -= found
        rate_b -= rate_a
        total = squared_totals[0]
        greatest = float((total[a] + total[rest].max()).item()) * max(over_a.max(), over_b.max()) ** 2
        scale = None
        if squares.min() <= ROUNDING * greatest:
            gained = squared[0][rest] - squared[0][a]
            scale = ROUNDING * ((gained + total[a]) * over_a**2 + (total[rest] - gained) * over_b**2)
        self._divide(rate_b, squares, scale, found)
        if empty is not None:
            found[empty] = np.inf

    @staticmethod
    def _divide(difference: Array, squares: Array, least: Array | None, found: Array) -> None:
        """Write the squared difference over the squares: 0 / 0 is 0, and squares up to `least` are 0 on paper."""
        flat = None if least is None else squares <= least
        if flat is not None and flat.any():
            squares[flat] = 0.0
            difference[flat & (np.abs(difference) <= ROUNDING)] = 0.0
        np.multiply(difference, difference, out=difference)
        with np.errstate(divide="ignore", invalid="ignore"):
            np.divide(difference, squares, out=found)
        if flat is not None:
            found[flat & (difference == 0)] = 0.0

    def _of_mean(self, a: int, crossed: Sequence[Array], moved: Sequence[Array], found: Array) -> None:
        """Write T² of table `a` with each table after it; `moved`: the sums of each table over the exchanged units."""
        count = len(self._columns)
        ours, theirs = [], []
        for sums, total in zip(moved, self._totals, strict=True):
            gained = sums[a + 1 :] - sums[a]
            theirs.append(total[a + 1 :] - gained)
            gained += total[a]
            ours.append(gained)
        of_a, of_b = (_Figure(sums[:count], self._pooled, self._weight) for sums in (ours, theirs))
        squares = self._across(a, crossed, of_a.slopes, of_b.slopes)
        squares *= -2
        scale = np.zeros_like(squares)
        for figure, of_side in ((of_a, ours), (of_b, theirs)):
            self._add_squares(figure.slopes, of_side[count:], squares, scale)
        difference = of_b.value
        difference -= of_a.value
        scale *= ROUNDING
        self._divide(difference, squares, scale, found)
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

    def _across(self, a: int, crossed: Sequence[Array], slopes_a: Sequence[Array], slopes_b: Sequence[Array]) -> Array:
        """The sum over units of what A's row adds to its figure times what B's adds to its own."""
        found = np.zeros_like(slopes_b[0])
        moved = iter(crossed)
        for (u, v), gram in zip(self._products, self._grams, strict=True):
            if u == v:
                term = slopes_a[u] * slopes_b[u]
                term *= gram[a + 1 :, [a]]
                found += term
                continue
            gained = next(moved)
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


def _groups(size: int) -> list[range]:
    """The first tables of all pairs, in groups of about as many pairs as one matrix product takes well."""
    groups, start, pairs = [], 0, 0
    for a in range(size - 1):
        pairs += size - 1 - a
        if pairs >= _PRODUCT_ROWS or a == size - 2:
            groups.append(range(start, a + 1))
            start, pairs = a + 1, 0
    return groups


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
