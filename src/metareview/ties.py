"""Everybody of a ranking against everybody else: all pairs tested as one family, and the groups of ties that follow."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from metareview.exchange import BLOCK_CELLS, DRAWS, Array, Exchange, Mask, least_extreme, random_bits
from metareview.model.measure import Measure
from metareview.stats import FEWEST_MATCHES, NO_VARIANCE, Extra, left_out, t_interval

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
    """Whether the letters tell them apart: p_family up to the level, and an interval of the difference without 0."""


def pairwise_tests(
    tables: Mapping[str, Array], measure: Measure, *, alpha: float = 0.05, seed: int = 0, extra: Extra | None = None
) -> dict[tuple[str, str], PairTest]:
    """Test every two tables, whose rows are the same units, on one measure as one family; pairs in their order.

    `extra`, by the name of a table: what its figure varies by beside its units, which widens intervals and leaves p.

    Step-down max-T (Westfall and Young) over the studentised exchange: each draw gives every unit one bit, the same for
    all pairs, so that what the pairs have in common is not paid for twice. From the pair with the greatest T down, p is
    the share of draws in which this or any later pair reaches it.
    """
    pairs = list(combinations(tables, 2))
    if not pairs:
        return {}
    everybody = _PairInputs(tables, measure, extra or {})
    first, second = np.triu_indices(len(tables), 1)
    differences = everybody.figures[second] - everybody.figures[first]
    tested = np.flatnonzero(~np.isnan(differences) & ~everybody.too_few_matches(first, second))
    tests = {
        pair: PairTest(None if np.isnan(value) else value)
        for pair, value in zip(pairs, differences.tolist(), strict=True)
    }
    if not len(tested):
        return tests
    ps, family = _step_down(Exchange(list(tables.values()), measure), tested, seed)
    without_0 = everybody.intervals_exclude_0(first[tested], second[tested]).tolist()
    for at, p, p_family, excluded in zip(tested.tolist(), ps, family, without_0, strict=True):
        pair = pairs[at]
        tests[pair] = PairTest(tests[pair].value, p, p_family, separated=p_family <= alpha and excluded)
    return tests


class _PairInputs:
    """What all pairs need of each table, worked out once."""

    def __init__(self, by_name: Mapping[str, Array], measure: Measure, extra: Extra) -> None:
        tables = list(by_name.values())
        self._tables, self._extra = tables, [extra.get(name, NO_VARIANCE) for name in by_name]
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

    def intervals_exclude_0(self, first: Numbers, second: Numbers) -> Mask:
        """For which pairs the jackknife's interval of the difference does not hold 0.

        Where runs differ, p does not know it, and the intervals alone must hold for all pairs at once (Bonferroni).
        """
        found = np.zeros(len(first), dtype=np.bool_)
        for at, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            measurable = self._measurable[:, a] | self._measurable[:, b]
            without = (self._without[:, b] - self._without[:, a])[measurable]
            more = self._extra[a] + self._extra[b]
            pairs = 1 if more.freedom is None else len(first)
            ends = t_interval(float(self.figures[b] - self.figures[a]), without, more, pairs=pairs)
            found[at] = ends is not None and not ends[0] <= 0 <= ends[1]
        return found


def _step_down(exchange: Exchange, tested: Numbers, seed: int) -> tuple[list[float], list[float]]:
    """For each tested pair its p alone and its p among all of them."""
    observed = exchange.observed[tested]
    order = np.argsort(-observed, kind="stable")
    columns, least = tested[order], least_extreme(observed[order])[:, np.newaxis]
    alone, among = np.zeros(len(order), dtype=np.int64), np.zeros(len(order), dtype=np.int64)
    width = max(1, BLOCK_CELLS // exchange.pairs)
    for block in random_bits(exchange.differing, seed):
        for start in range(0, block.shape[1], width):
            drawn = exchange.squared(block[:, start : start + width])[columns]
            alone += (drawn >= least).sum(axis=1)
            # From here on backwards: the greatest of this pair and all that come after it.
            greatest = np.maximum.accumulate(drawn[::-1], axis=0)[::-1]
            among += (greatest >= least).sum(axis=1)
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
