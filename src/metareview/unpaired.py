"""How far chance reaches between two samples of pull requests that need not be the same ones.

Two versions of a bot never review one pull request, so nothing can be paired. Each side is a table of counts whose rows
are the pull requests that it had; a measure is a ratio y / x of the sums of each side, over the rows with an x. A pull
request that both sides have is left out of both, and turned round for both, so that what it did to both is not counted
as chance twice: where all are shared, the test is the paired one of `stats`. docs/statistics.md says in plain words
what these can and cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import comb

import numpy as np
from scipy.special import stdtr, stdtrit

from metareview.model.measure import Measure
from metareview.stats import DRAWS, FEWEST_MATCHES, POWER, Array, Difference, Interval, holm, intervals, least
from metareview.ties import PairTest

FEWEST_UNITS = 4
"""Nothing is tested where a side has fewer pull requests: no split of 3 and 3 reaches 5 %."""
_LARGE = 500
"""From so many pull requests on each side on, t says the same as the splits do, to the third digit."""
_CLEAR_ENOUGH = 300
"""Of the many pairs of a ranking, one of which so many splits were as clear is not drawn for any longer."""
_DRAWN_IN_FULL = 500
"""Pairs of a ranking that are drawn for in full. Of more, Holm's correction lets no pair reach 5 % that 10,000 random
splits decide: they share as many draws as these have."""
_FEWEST_DRAWS = 200
_BLOCK_CELLS = 1 << 20
_BLOCK_ROWS = 1000
_ROUNDING = 1e-12
_TIED = 1 - 1e-9
"""Statistics that are equal on paper differ by less than this share."""


@dataclass(frozen=True)
class Sample:
    """One side: the counts of each of its pull requests, by key."""

    keys: Sequence[str]
    counts: Array

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.counts) or len(set(self.keys)) != len(self.keys):
            raise ValueError("a sample has one row of counts for each of its keys, which are distinct")


@dataclass(frozen=True, slots=True)
class IndependentDifference(Difference):
    """One measure of A and B, each on its own pull requests: measure(B) - measure(A), and what chance could make of it.

    `units` are the pull requests with anything to measure on either side; `too_few_matches` also says that a side has
    under `FEWEST_UNITS` of them, or that too few comments are no matches.
    """

    units_a: int = 0
    units_b: int = 0
    shared: int = 0
    """Pull requests with anything to measure on both sides."""
    freedom: float = 0.0
    """Degrees of freedom of the standard error, by Welch and Satterthwaite."""
    spread: float | None = None
    """The standard error times the root of n, if each side had n of such pull requests."""
    least_p: float = 1.0
    """The least p that turning pull requests round could give."""

    def detectable(self, alpha: float) -> float | None:
        """The true difference that samples of these sizes would show, at this level, four times in five."""
        return None if self.error is None else _reach(self.freedom, alpha) * self.error

    def units_needed(self, difference: float, alpha: float) -> int | None:
        """How many pull requests like these each side would need to show a true difference of this size."""
        spread = self.spread
        if spread is None:
            return None
        return least(lambda n: _reach(2 * n - 2, alpha) * spread <= difference * n**0.5, FEWEST_UNITS)


def _reach(freedom: float, alpha: float) -> float:
    return float(stdtrit(freedom, 1 - alpha / 2) + stdtrit(freedom, POWER))


@dataclass(frozen=True)
class _Side:
    """The rows of one side that have anything to measure."""

    keys: Sequence[str]
    y: Array
    x: Array

    @property
    def figure(self) -> float:
        """Cut to 0 and 1: counts that labels correct are estimates."""
        return min(1.0, max(0.0, float(self.y.sum() / self.x.sum()))) if len(self.x) else float("nan")

    def deviations(self) -> Array:
        """How far leaving out each row moves the figure, scaled so that their squares add up to its variance."""
        n = len(self.x)
        if n < 2:
            return np.zeros(n)
        without = (self.y.sum() - self.y) / (self.x.sum() - self.x)
        deviations: Array = np.sqrt((n - 1) / n) * (without - without.mean())
        return deviations


def _side(sample: Sample, measure: Measure) -> _Side:
    if not measure.adds_up:
        raise ValueError(f"{measure} does not add up over pull requests")
    y, x = measure.parts(sample.counts)
    rows = np.flatnonzero(x)
    return _Side([sample.keys[row] for row in rows.tolist()], y[rows], x[rows])


def independent_differences(
    a: Sample, b: Sample, measures: Iterable[Measure], *, seed: int = 0, draws: int = DRAWS
) -> dict[str, IndependentDifference]:
    """B - A for each measure, by name, with its interval, and p over so many random splits where they are many."""
    return {measure.name: _difference(a, b, measure, seed, draws) for measure in measures}


def independent_pairs(
    samples: Mapping[str, Sample], measure: Measure, *, alpha: float = 0.05, seed: int = 0
) -> dict[tuple[str, str], PairTest]:
    """Every two samples tested on one measure, in their order; `p_family` is Holm's over all of the pairs."""
    sides = {name: _side(sample, measure) for name, sample in samples.items()}
    pairs = list(combinations(samples, 2))
    draws = min(DRAWS, max(_FEWEST_DRAWS, DRAWS * _DRAWN_IN_FULL // max(1, len(pairs))))
    values: dict[tuple[str, str], float | None] = {}
    ps: dict[tuple[str, str], float | None] = {}
    tests: dict[tuple[str, str], _Exchange] = {}
    for pair in pairs:
        a, b = sides[pair[0]], sides[pair[1]]
        known = bool(len(a.x) and len(b.x))
        values[pair] = b.figure - a.figure if known else None
        same = known and _same(a, b)
        ps[pair] = 1.0 if same else None
        if known and not same and not _too_few_to_test(a, b):
            tests[pair] = _Exchange.of(a, b)
    ps |= dict(zip(tests, _ps(list(tests.values()), seed, draws, _CLEAR_ENOUGH), strict=True))
    family = holm(ps)
    return {
        pair: PairTest(
            values[pair],
            ps[pair],
            adjusted := family[pair],
            separated=pair in tests and adjusted is not None and adjusted <= alpha and tests[pair].least_p <= alpha,
        )
        for pair in pairs
    }


def _difference(a: Sample, b: Sample, measure: Measure, seed: int, draws: int = DRAWS) -> IndependentDifference:
    ours, theirs = _side(a, measure), _side(b, measure)
    both = set(ours.keys) & set(theirs.keys)
    sizes = len(ours.keys), len(theirs.keys)
    found = IndependentDifference(sum(sizes) - len(both), units_a=sizes[0], units_b=sizes[1], shared=len(both))
    if not all(sizes):
        return found
    found = replace(found, value=theirs.figure - ours.figure)
    same = _same(ours, theirs)
    if min(sizes) >= 2:
        found = _with_interval(
            found, ours, theirs, [intervals(each.counts, [measure])[measure.name] for each in (a, b)]
        )
        if same:
            found = replace(found, interval=(0.0, 0.0), error=None, spread=None)
    test = _Exchange.of(ours, theirs)
    if not same and _too_few_to_test(ours, theirs):
        return replace(found, too_few_matches=True)
    [p] = [1.0] if same else _ps([test], seed, draws)
    return replace(found, p=p, least_p=test.least_p)


def _same(a: _Side, b: _Side) -> bool:
    return list(a.keys) == list(b.keys) and np.array_equal(a.y, b.y) and np.array_equal(a.x, b.x)


def _too_few_to_test(a: _Side, b: _Side) -> bool:
    """Whether a side has under `FEWEST_UNITS` pull requests, or one common rate would bring the smaller side under five
    matches, or under five that are none.

    Where nearly everything matches, the few that do not are the evidence.
    """
    if min(len(a.x), len(b.x)) < FEWEST_UNITS:
        return True
    x_a, x_b, matches = a.x.sum(), b.x.sum(), a.y.sum() + b.y.sum()
    rarer = min(matches, x_a + x_b - matches)
    return bool(rarer * min(x_a, x_b) < FEWEST_MATCHES * (x_a + x_b))


def _with_interval(
    found: IndependentDifference, a: _Side, b: _Side, ends: Sequence[Interval | None]
) -> IndependentDifference:
    """Each side's own interval, put together (Zou and Donner 2008): it keeps their skew, and a side that is all or
    nothing still has one. Where pull requests are shared, what moves both figures together narrows it."""
    of_a, of_b = ends
    if of_a is None or of_b is None:
        return found
    moved_a, moved_b = a.deviations(), b.deviations()
    at_b = {key: row for row, key in enumerate(b.keys)}
    together = sum(moved_a[row] * moved_b[at_b[key]] for row, key in enumerate(a.keys) if key in at_b)
    var_a, var_b = float((moved_a**2).sum()), float((moved_b**2).sum())
    correlation = together / (var_a * var_b) ** 0.5 if min(var_a, var_b) > _ROUNDING**2 else 0.0
    value = b.figure - a.figure

    def reach(from_a: float, from_b: float) -> float:
        return float(max(0.0, from_a**2 + from_b**2 - 2 * correlation * from_a * from_b) ** 0.5)

    low = value - reach(of_a[1] - a.figure, b.figure - of_b[0])
    high = value + reach(a.figure - of_a[0], of_b[1] - b.figure)
    variance = var_a + var_b - 2 * together
    n_a, n_b = len(a.x), len(b.x)
    known = variance > _ROUNDING**2
    freedom = _freedom(var_a, var_b, n_a, n_b) if known else float(n_a + n_b - 2)
    spread = max(0.0, var_a * n_a + var_b * n_b - 2 * together * (n_a * n_b) ** 0.5) ** 0.5
    return replace(
        found,
        interval=(max(-1.0, low), min(1.0, high)),
        error=variance**0.5 if known else None,
        freedom=freedom,
        spread=spread if known else None,
    )


def _freedom(var_a: float, var_b: float, n_a: int, n_b: int) -> float:
    return float((var_a + var_b) ** 2 / (var_a**2 / (n_a - 1) + var_b**2 / (n_b - 1)))


@dataclass(frozen=True)
class _Exchange:
    """The test: whole pull requests change sides, and those that both sides have change sign.

    e = y - pooled rate x x is what a row has more than one common rate would bring, and stays with its row; the totals
    of a side are those of the rows that are there. Each split is judged by its difference over its own standard error,
    without which a side that says four times as much would be called different two or three times too often.
    """

    e: Array
    x: Array
    """Rows of one side only, A's first."""
    of_a: int
    """How many of them are A's."""
    e_a: Array
    e_b: Array
    """Rows of pull requests that both have."""
    x_a: float
    x_b: float
    """Their totals."""
    least_p: float

    @classmethod
    def of(cls, a: _Side, b: _Side) -> _Exchange:
        pooled = (a.y.sum() + b.y.sum()) / (a.x.sum() + b.x.sum())
        at_b = {key: row for row, key in enumerate(b.keys)}
        shared = [(row, at_b[key]) for row, key in enumerate(a.keys) if key in at_b]
        in_a, in_b = [row for row, _ in shared], [row for _, row in shared]
        only_a, only_b = (np.setdiff1d(np.arange(len(s.x)), rows) for s, rows in ((a, in_a), (b, in_b)))
        e_a, e_b = (s.y - pooled * s.x for s in (a, b))
        unequal = int(((a.y[in_a] != b.y[in_b]) | (a.x[in_a] != b.x[in_b])).sum())
        splits = comb(len(only_a) + len(only_b), len(only_a)) * 2**unequal
        return cls(
            e=np.concatenate([e_a[only_a], e_b[only_b]]),
            x=np.concatenate([a.x[only_a], b.x[only_b]]),
            of_a=len(only_a),
            e_a=e_a[in_a],
            e_b=e_b[in_b],
            x_a=float(a.x[in_a].sum()),
            x_b=float(b.x[in_b].sum()),
            least_p=2 / max(2, splits),
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """What its splits depend on: rows of one side only, how many of these are A's, rows of both."""
        return len(self.e), self.of_a, len(self.e_a)

    @property
    def splits(self) -> int:
        n, of_a, m = self.shape
        return int(comb(n, of_a) * 2**m)

    def without_draws(self) -> tuple[float, float | None]:
        """How clear it is as it is; and p, where that takes no draws."""
        n, of_a, m = self.shape
        as_it_is = np.r_[np.zeros(of_a), np.ones(n - of_a)][np.newaxis], np.ones((1, m))
        observed, freedom = (float(each[0]) for each in self.statistics(*as_it_is))
        if observed == 0.0:
            return observed, 1.0
        large = min(of_a, n - of_a) + m >= _LARGE
        return observed, float(2 * stdtr(freedom, -observed)) if large else None

    def statistics(self, in_b: Array, signs: Array) -> tuple[Array, Array]:
        """|B - A| over its standard error, and the degrees of freedom of that, for each split: one row of `in_b` says
        1 of the rows that are B's, one of `signs` which way round the shared ones are."""
        m = len(self.e_a)
        n_a, n_b = self.of_a + m, len(self.e) - self.of_a + m
        flipped_a, flipped_b = signs @ self.e_a, signs @ self.e_b
        sum_b = in_b @ self.e
        sum_a = self.e.sum() - sum_b + flipped_a
        sum_b = sum_b + flipped_b
        x_b = in_b @ self.x
        x_a = self.x.sum() - x_b + self.x_a
        x_b = x_b + self.x_b
        squares = self.e**2
        squares_b = in_b @ squares
        squares_a = squares.sum() - squares_b + (self.e_a**2).sum()
        squares_b = squares_b + (self.e_b**2).sum()
        widen_a, widen_b = n_a / (n_a - 1), n_b / (n_b - 1)
        var_a = widen_a * np.maximum(squares_a - sum_a**2 / n_a, 0.0) / x_a**2
        var_b = widen_b * np.maximum(squares_b - sum_b**2 / n_b, 0.0) / x_b**2
        products = (self.e_a * self.e_b).sum() - (sum_b * flipped_a) / n_b - (sum_a * flipped_b) / n_a
        together = (widen_a * widen_b) ** 0.5 * (products + m * sum_a * sum_b / (n_a * n_b)) / (x_a * x_b)
        variance = var_a + var_b - 2 * together
        difference = np.abs(sum_b / x_b - sum_a / x_a)
        varies = variance > _ROUNDING * (squares_a / x_a**2 + squares_b / x_b**2)
        flat = np.where(difference > _ROUNDING, np.inf, 0.0)
        found = np.divide(difference, np.sqrt(np.maximum(variance, 0.0)), out=flat, where=varies)
        under = var_a**2 / (n_a - 1) + var_b**2 / (n_b - 1)
        alone = np.full_like(under, n_a + n_b - 2)
        return np.where(difference > _ROUNDING, found, 0.0), np.divide(
            (var_a + var_b) ** 2, under, out=alone, where=under > 0
        )


def _ps(tests: Sequence[_Exchange], seed: int, draws: int, enough: int | None = None) -> list[float]:
    """Of each test, two-sided: over all splits where there are few, else over so many random ones; fewer, where
    `enough` of them were at least as clear. Tests of one shape share their splits."""
    found: dict[int, float] = {}
    observed: dict[int, float] = {}
    by_shape: dict[tuple[int, int, int], list[int]] = {}
    for at, test in enumerate(tests):
        observed[at], p = test.without_draws()
        if p is None:
            by_shape.setdefault(test.shape, []).append(at)
        else:
            found[at] = p
    for shape, going in by_shape.items():
        splits = tests[going[0]].splits
        exact = splits <= draws
        extreme = dict.fromkeys(going, 0)
        tried = 0
        for block in _all_splits(*shape) if exact else _random_splits(*shape, seed, draws):
            tried += len(block[0])
            for at in going:
                extreme[at] += int((tests[at].statistics(*block)[0] >= observed[at] * _TIED).sum())
            if not exact:
                found |= {at: (1 + extreme[at]) / (1 + tried) for at in going}
                going = [at for at in going if enough is None or extreme[at] < enough]
                if not going:
                    break
        found |= {at: extreme[at] / splits for at in going} if exact else {}
    return [found[at] for at in range(len(tests))]


def _all_splits(n: int, of_a: int, m: int) -> Iterator[tuple[Array, Array]]:
    """Every choice of B's rows with every choice of signs."""
    signs = np.where((np.arange(2**m)[:, np.newaxis] >> np.arange(m)) & 1, -1.0, 1.0)
    choices = combinations(range(n), n - of_a)
    at_once = max(1, _BLOCK_CELLS // ((n + m + 1) * len(signs)))
    while chosen := list(islice(choices, at_once)):
        in_b = np.zeros((len(chosen), n))
        np.put_along_axis(in_b, np.array(chosen, np.int64).reshape(len(chosen), -1), 1.0, axis=1)
        yield np.repeat(in_b, len(signs), axis=0), np.tile(signs, (len(chosen), 1))


def _random_splits(n: int, of_a: int, m: int, seed: int, draws: int) -> Iterator[tuple[Array, Array]]:
    """Random splits, in blocks."""
    rng = np.random.default_rng(seed)
    of_b = n - of_a
    rows = max(1, min(_BLOCK_ROWS, _BLOCK_CELLS // max(1, n + m)))
    for start in range(0, draws, rows):
        size = min(rows, draws - start)
        in_b = _chosen(rng, size, n, of_b) if 0 < of_b < n else np.full((size, n), float(of_b == n))
        yield in_b, np.where(rng.integers(0, 2, size=(size, m), dtype=np.bool_), -1.0, 1.0)


def _chosen(rng: np.random.Generator, size: int, n: int, of_b: int) -> Array:
    """Rows of 0 and 1, with 1 in `of_b` random places of n: where the least of n random numbers are."""
    drawn = rng.random((size, n), dtype=np.float32)
    last = np.partition(drawn, of_b - 1, axis=1)[:, of_b - 1 : of_b]
    in_b = (drawn <= last).astype(np.float64)
    # Of two that are equal where the line is drawn, one is taken.
    for row in np.flatnonzero(in_b.sum(axis=1) != of_b).tolist():
        in_b[row] = 0.0
        in_b[row, np.argpartition(drawn[row], of_b)[:of_b]] = 1.0
    return in_b
