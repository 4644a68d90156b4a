"""Everybody of a ranking against everybody else: all pairs tested as one family, and the groups of ties that follow."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from metareview.model.measure import Measure
from metareview.stats import (
    BLOCK_CELLS,
    DRAWS,
    FEWEST_MATCHES,
    ROUNDING,
    Array,
    Mask,
    can_tell,
    left_out,
    random_signs,
    rounded,
)

Numbers = NDArray[np.int64]

MOST_TESTED = 200
"""Whoever ranks more tests nobody: pairs, and with them time and memory of the draws, grow with the square of the
ranked, 19,900 at this number."""


@dataclass(frozen=True, slots=True)
class PairTest:
    """Two of a ranking: B - A, the p of this pair alone, and its p among all pairs; None where not tested."""

    value: float | None
    p: float | None = None
    p_family: float | None = None
    separated: bool = False
    """Whether the letters tell them apart: p_family up to the level, on enough unequal units."""


def pairwise_tests(
    tables: Mapping[str, Array], measure: Measure, *, alpha: float = 0.05, seed: int = 0
) -> dict[tuple[str, str], PairTest]:
    """Every two tables, whose rows are the same units, tested on one measure as one family, in their order.

    Step-down max-T (Westfall and Young): each draw gives every unit one sign, the same for all pairs, so that what the
    pairs have in common is not paid for twice. T = |sum of contributions| / root of the sum of their squares. From the
    pair with the greatest T down, p is the share of draws in which this or any later pair reaches it.
    """
    pairs = list(combinations(tables, 2))
    if not pairs:
        return {}
    everybody = _Everybody(list(tables.values()), measure)
    first, second = np.triu_indices(len(tables), 1)
    differences = everybody.figures[second] - everybody.figures[first]
    tested = np.flatnonzero(~np.isnan(differences) & ~everybody.too_few_matches(first, second))
    tests = {
        pair: PairTest(None if np.isnan(value) else value)
        for pair, value in zip(pairs, differences.tolist(), strict=True)
    }
    if not len(tested):
        return tests
    ps, family = _step_down(everybody.contributions(first[tested], second[tested]), seed)
    for at, p, p_family in zip(tested.tolist(), ps, family, strict=True):
        one, other = pairs[at]
        separated = p_family <= alpha and can_tell(tables[one], tables[other], alpha)
        tests[one, other] = PairTest(tests[one, other].value, p, p_family, separated)
    return tests


class _Everybody:
    """What a test needs of each table, worked out once and not for each of its pairs."""

    def __init__(self, tables: Sequence[Array], measure: Measure) -> None:
        self._tables = tables
        self._adds_up = measure.adds_up
        parts = [measure.parts(counts) for counts in tables]
        self._y, self._x = (np.column_stack(column) for column in zip(*parts, strict=True))
        self._sums = np.array([(y.sum(), x.sum(), x.mean()) for y, x in parts]).T
        self._totals = np.array([measure.parts(counts.sum(axis=0)) for counts in tables], np.float64).T
        figures, without, measurable = zip(*(left_out(counts, measure) for counts in tables), strict=True)
        self.figures = np.array(figures)
        self._without, self._measurable = np.column_stack(without), np.column_stack(measurable)

    def too_few_matches(self, first: Numbers, second: Numbers) -> Mask:
        """Of which pairs both rates being equal would bring the smaller side too few; not of two that are the same."""
        (y_a, x_a), (y_b, x_b) = self._totals[:, first], self._totals[:, second]
        few: Mask = (y_a + y_b) * np.minimum(x_a, x_b) < FEWEST_MATCHES * (x_a + x_b)
        for pair in np.flatnonzero(few).tolist():
            few[pair] = not np.array_equal(self._tables[first[pair]], self._tables[second[pair]])
        return few

    def contributions(self, first: Numbers, second: Numbers) -> Array:
        """What each unit adds to the difference of each pair, as `stats.contributions` has it: units x pairs."""
        found = np.empty((len(self._y), len(first)))
        starts = np.flatnonzero(np.diff(first, prepend=-1))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(first)], strict=True):
            found[:, start:end] = self._of_one(first[start], second[start:end])
        return found

    def _of_one(self, a: int, b: Numbers) -> Array:
        """Of one table and several others."""
        if self._adds_up:
            (y_a, x_a, mean_a), (y_b, x_b, mean_b) = self._sums[:, a], self._sums[:, b]
            pooled = (y_a + y_b) / (x_a + x_b)
            ours = (self._y[:, [a]] - pooled * self._x[:, [a]]) / mean_a
            return rounded((self._y[:, b] - pooled * self._x[:, b]) / mean_b - ours)
        difference = self.figures[b] - self.figures[a]
        measurable = self._measurable[:, [a]] | self._measurable[:, b]
        n = measurable.sum(axis=0)
        values = n * difference - (n - 1) * (self._without[:, b] - self._without[:, [a]])
        values = np.where(np.isnan(values), difference, values)
        return rounded(np.where(measurable, values, 0.0) * (len(values) / np.maximum(n, 1)))


def _step_down(values: Array, seed: int) -> tuple[list[float], list[float]]:
    """For each column of contributions its p alone and its p among all columns."""
    size = np.sqrt((values**2).sum(axis=0))
    scaled = np.divide(values, size, out=np.zeros_like(values), where=size > 0)
    observed = np.abs(scaled.sum(axis=0))
    order = np.argsort(-observed, kind="stable")
    scaled, least = scaled[:, order], observed[order] - ROUNDING
    pairs = len(order)
    alone, among = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
    rows = max(1, BLOCK_CELLS // pairs)
    for block in random_signs(len(values), seed):
        for start in range(0, len(block), rows):
            drawn = np.abs(block[start : start + rows] @ scaled)
            alone += (drawn >= least).sum(axis=0)
            # From here on backwards: the greatest of this pair and all that come after it.
            greatest = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
            among += (greatest >= least).sum(axis=0)
    p_alone, p_among = (1 + alone) / (1 + DRAWS), np.maximum.accumulate((1 + among) / (1 + DRAWS))
    back = np.argsort(order, kind="stable")
    return p_alone[back].tolist(), p_among[back].tolist()


def tie_letters(names: Sequence[str], separated: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Letters for a ranking: two names share one if and only if the pair is not in `separated`.

    Insert and absorb (Piepho 2004): one group of everybody; each separated pair splits every group that holds both into
    one without the first and one without the second; a group whose ties the others already show is dropped, which also
    bounds their number. Each group is a letter, in the order of its best names. Members need not be neighbours in rank:
    the pairs decide.

    >>> tie_letters(["x", "y", "z"], [("x", "z")])
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    rank = {name: position for position, name in enumerate(names)}
    if len(rank) != len(names):
        raise ValueError("names must be distinct")
    groups = [sorted(rank.values())] if rank else []
    shown = np.ones((len(rank), len(rank)), dtype=np.int64)  # how many groups hold both
    # In rank order, so that the letters do not depend on the order of the pairs.
    for better, worse in sorted({tuple(sorted((rank[one], rank[other]))) for one, other in separated}):
        if better == worse:
            raise ValueError(f"{names[better]!r} cannot be separated from itself")
        split = [group for group in groups if better in group and worse in group]
        groups = [group for group in groups if better not in group or worse not in group]
        halves = [[each for each in group if each != without] for group in split for without in (better, worse)]
        for group in split:
            shown[np.ix_(group, group)] -= 1
        for group in halves:
            shown[np.ix_(group, group)] += 1
        for group in sorted(halves, key=lambda half: (len(half), half)):
            if shown[np.ix_(group, group)].min() > 1:
                shown[np.ix_(group, group)] -= 1
            else:
                groups.append(group)
    letters = [""] * len(rank)
    # a to z, A to Z, then other alphabets: one character each, so that "ab" is always two groups.
    alphabet = chain(string.ascii_letters, filter(str.isalpha, map(chr, range(0x3B1, 0x110000))))
    for letter, group in zip(alphabet, sorted(groups), strict=False):
        for position in group:
            letters[position] += letter
    return dict(zip(names, letters, strict=True))
