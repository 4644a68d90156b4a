"""How far chance reaches between two samples of units that need not be the same ones: pull requests, blocks of weeks.

Two versions of a bot never review one pull request, so nothing can be paired. Each side is a table of counts whose rows
are the units that it had; a measure is a ratio y / x of the sums of each side. A unit that both sides have is left out
of both, and exchanged between them, so that what it did to both is not counted as chance twice: where all are shared,
the test is the paired one of `stats`. docs/statistics.md says in plain words what these can and cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from metareview.model.measure import Measure, ratio
from metareview.stats import (
    DRAWS,
    FEWEST_MATCHES,
    POWER,
    Array,
    Difference,
    Interval,
    differences,
    holm,
    intervals,
    least,
)
from metareview.ties import PairTest

Numbers = NDArray[np.int64]

FEWEST_UNITS = 4
"""Nothing is tested where a side has fewer units: no split of 3 and 3 reaches 5 %."""
_CLEAR_ENOUGH = 300
"""Of the many pairs of a ranking, one of which so many draws were as clear is not drawn for any longer."""
_DRAWN_IN_FULL = 500
"""Pairs of a ranking that are drawn for in full. Of more, Holm's correction lets no pair reach 5 % that 10,000 draws
decide: they share as many draws as these have."""
_FEWEST_DRAWS = 200
_BLOCK_CELLS = 1 << 18
_BLOCK_DRAWS = 1000
_ROUNDING = 1e-12
_TIED = 1 - 1e-9
"""Statistics that are equal on paper differ by less than this share."""


@dataclass(frozen=True)
class Sample:
    """One side: the counts of each of its units, by key."""

    keys: Sequence[str]
    counts: Array
    extra: Mapping[str, float] = field(default_factory=dict)
    """By measure, variance that leaving units out does not show; it widens intervals and changes no p."""

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.counts) or len(set(self.keys)) != len(self.keys):
            raise ValueError("a sample has one row of counts for each of its keys, which are distinct")


@dataclass(frozen=True, slots=True)
class IndependentDifference(Difference):
    """One measure of A and B, each on its own units: measure(B) - measure(A), and what chance could make of it.

    `units` are those with anything to measure on either side; `too_few_matches` also says that a side has under
    `FEWEST_UNITS` of them, or that too few comments are no matches.
    """

    units_a: int = 0
    units_b: int = 0
    shared: int = 0
    """Units with anything to measure on both sides."""
    freedom: float = 0.0
    """Degrees of freedom of the standard error, by Welch and Satterthwaite."""
    spread: float | None = None
    """The standard error times the root of n, if each side had n of such units."""

    def detectable(self, alpha: float) -> float | None:
        """The true difference that samples of these sizes would show, at this level, four times in five."""
        return None if self.error is None else _reach(self.freedom, alpha) * self.error

    def units_needed(self, difference: float, alpha: float) -> int | None:
        """How many units like these each side would need to show a true difference of this size."""
        spread = self.spread
        if spread is None:
            return None
        return least(lambda n: _reach(2 * n - 2, alpha) * spread <= difference * n**0.5, FEWEST_UNITS)


def _reach(freedom: float, alpha: float) -> float:
    return float(stdtrit(freedom, 1 - alpha / 2) + stdtrit(freedom, POWER))


def independent_differences(
    a: Sample, b: Sample, measures: Iterable[Measure], *, seed: int = 0, draws: int = DRAWS
) -> dict[str, IndependentDifference]:
    """B - A for each measure, by name, with its interval, and p over so many draws."""
    return {measure.name: _difference(_Pair(a, b, measure), seed, draws) for measure in measures}


def independent_pairs(
    pairs: Mapping[tuple[str, str], tuple[Sample, Sample]], measure: Measure, *, alpha: float = 0.05, seed: int = 0
) -> dict[tuple[str, str], PairTest]:
    """The two samples of each pair of a ranking tested on one measure; `p_family` is Holm's over all of the pairs."""
    draws = min(DRAWS, max(_FEWEST_DRAWS, DRAWS * _DRAWN_IN_FULL // max(1, len(pairs))))
    compared = {names: _Pair(*samples, measure) for names, samples in pairs.items()}
    ps = {names: pair.p(seed, draws, _CLEAR_ENOUGH) for names, pair in compared.items()}
    family = holm(ps)

    def test(names: tuple[str, str]) -> PairTest:
        pair, adjusted = compared[names], family[names]
        low, high = pair.with_interval(IndependentDifference()).interval or (0.0, 0.0)
        separated = adjusted is not None and adjusted <= alpha and not low <= 0 <= high
        return PairTest(pair.difference, ps[names], adjusted, separated)

    return {names: test(names) for names in pairs}


def _difference(pair: _Pair, seed: int, draws: int) -> IndependentDifference:
    found = pair.with_interval(
        IndependentDifference(
            pair.units, pair.difference, units_a=len(pair.a.y), units_b=len(pair.b.y), shared=pair.shared
        )
    )
    if pair.difference is None:
        return found
    p = pair.p(seed, draws)
    return replace(found, p=p, too_few_matches=p is None, least_p=1.0 if p is None else pair.least_p)


class _Side:
    """The rows of one side that have anything to measure, and how far each of them moves the figure."""

    def __init__(self, sample: Sample, measure: Measure) -> None:
        if not measure.adds_up:
            raise ValueError(f"{measure} does not add up over pull requests")
        y, x = measure.parts(sample.counts)
        rows = np.flatnonzero(x)
        self.keys = [sample.keys[row] for row in rows.tolist()]
        self.y, self.x = y[rows], x[rows]
        self.interval: Interval | None = intervals(sample.counts, [measure], sample.extra)[measure.name]
        self.extra = sample.extra.get(measure.name, 0.0)
        # Cut to 0 and 1: counts that labels correct are estimates.
        self.figure = min(1.0, max(0.0, float(self.y.sum() / self.x.sum()))) if self.keys else float("nan")

    def deviations(self) -> dict[str, float]:
        """How far leaving out each row moves the figure, scaled so that their squares add up to its variance."""
        n = len(self.x)
        without = (self.y.sum() - self.y) / (self.x.sum() - self.x)
        deviations = np.sqrt((n - 1) / n) * (without - without.mean())
        return dict(zip(self.keys, deviations.tolist(), strict=True))


class _Pair:
    """Two samples on one measure."""

    def __init__(self, a: Sample, b: Sample, measure: Measure) -> None:
        self.a, self.b = _Side(a, measure), _Side(b, measure)
        self._measure = measure
        self.difference = self.b.figure - self.a.figure if self.a.keys and self.b.keys else None
        measurable = {*self.a.keys, *self.b.keys}
        self.units = len(measurable)
        self.shared = len({*self.a.keys} & {*self.b.keys})
        """Units with anything to measure on both sides."""
        rows_a, rows_b = ({key: row for row, key in enumerate(one.keys) if key in measurable} for one in (a, b))
        both = [key for key in rows_a if key in rows_b]
        # One side may have nothing to measure in a unit that both have.
        self._both_a = a.counts[[rows_a[key] for key in both]]
        self._both_b = b.counts[[rows_b[key] for key in both]]
        self._only_a = a.counts[[row for key, row in rows_a.items() if key not in rows_b]]
        self._only_b = b.counts[[row for key, row in rows_b.items() if key not in rows_a]]

    @property
    def _all_shared(self) -> bool:
        return not len(self._only_a) and not len(self._only_b)

    @property
    def same(self) -> bool:
        return self._all_shared and np.array_equal(self._both_a, self._both_b)

    @property
    def least_p(self) -> float:
        unequal = int((self._both_a != self._both_b).any(axis=1).sum())
        only_a, only_b = len(self._only_a), len(self._only_b)
        ways: int = comb(only_a + only_b, only_a) << unequal
        return 2 / max(2, ways)

    def p(self, seed: int, draws: int, enough: int | None = None) -> float | None:
        """Two-sided; None where there is too little to test. `enough`: draws as clear as the samples after which no
        more are made."""
        if self.difference is None:
            return None
        if self.same:
            return 1.0
        if self._too_few():
            return None
        if self._all_shared:
            return differences(self._both_a, self._both_b, [self._measure], seed=seed)[self._measure.name].p
        return _Deal(self).p(seed, draws, enough)

    def parts(self) -> tuple[Array, Array, Array]:
        """y and x of the units of A alone and of B alone; of A, then of B, of those that both have."""
        tables = (self._only_a, self._only_b, self._both_a, self._both_b)
        only_a, only_b, *both = (np.column_stack(self._measure.parts(rows)) for rows in tables)
        return only_a, only_b, np.hstack(both)

    def _too_few(self) -> bool:
        """Whether a side has under `FEWEST_UNITS`, or one common rate would bring the smaller side under five matches,
        or under five that are none: where nearly everything matches, the few that do not are the evidence."""
        if min(len(self.a.x), len(self.b.x)) < FEWEST_UNITS:
            return True
        x_a, x_b, matches = self.a.x.sum(), self.b.x.sum(), self.a.y.sum() + self.b.y.sum()
        rarer = min(matches, x_a + x_b - matches)
        return bool(rarer * min(x_a, x_b) < FEWEST_MATCHES * (x_a + x_b))

    def with_interval(self, found: IndependentDifference) -> IndependentDifference:
        """Each side's own interval, put together (Zou and Donner 2008): it keeps their skew, and a side that is all or
        nothing still has one. Where units are shared, what moves both figures together narrows it."""
        a, b = self.a, self.b
        if self.difference is None or a.interval is None or b.interval is None:
            return found
        if self.same:
            return replace(found, interval=(0.0, 0.0))
        of_a, of_b = a.deviations(), b.deviations()
        var_a, var_b = (sum(each**2 for each in of_one.values()) for of_one in (of_a, of_b))
        together = sum(each * of_b[key] for key, each in of_a.items() if key in of_b)
        var_a, var_b = var_a + a.extra, var_b + b.extra
        correlation = together / (var_a * var_b) ** 0.5 if min(var_a, var_b) > _ROUNDING**2 else 0.0

        def reach(from_a: float, from_b: float) -> float:
            return float(max(0.0, from_a**2 + from_b**2 - 2 * correlation * from_a * from_b) ** 0.5)

        low = self.difference - reach(a.interval[1] - a.figure, b.figure - b.interval[0])
        high = self.difference + reach(a.figure - a.interval[0], b.interval[1] - b.figure)
        found = replace(found, interval=(max(-1.0, low), min(1.0, high)))
        n_a, n_b = len(a.x), len(b.x)
        variance = var_a + var_b - 2 * together
        if variance <= _ROUNDING**2:
            return replace(found, freedom=float(n_a + n_b - 2))
        return replace(
            found,
            error=variance**0.5,
            freedom=(var_a + var_b) ** 2 / (var_a**2 / (n_a - 1) + var_b**2 / (n_b - 1)),
            spread=max(0.0, var_a * n_a + var_b * n_b - 2 * together * (n_a * n_b) ** 0.5) ** 0.5,
        )


class _Deal:
    """The test: units that both sides have are exchanged or not, the others are dealt anew, as many to each side.

    T = |B - A| over the root of the jackknife's variance, both worked out anew for every deal. Units with equal counts
    are interchangeable, so that a deal is how many of each kind come to B, and how many of each kind are exchanged.
    """

    def __init__(self, pair: _Pair) -> None:
        only_a, only_b, both = pair.parts()
        kinds, kind_of = np.unique(np.vstack([only_a, only_b]), axis=0, return_inverse=True)
        self._numbers = np.bincount(kind_of.ravel(), minlength=len(kinds))
        self._in_b = np.bincount(kind_of.ravel()[len(only_a) :], minlength=len(kinds))
        pairs, self._pairs = np.unique(both, axis=0, return_counts=True)
        nothing = np.zeros_like(kinds)
        self._rows = np.vstack(
            [np.hstack([kinds, nothing]), np.hstack([nothing, kinds]), pairs, np.roll(pairs, 2, axis=1)]
        )
        """y and x of A and of B: kinds that are A's, kinds that are B's, pairs as they are, pairs exchanged."""

    def p(self, seed: int, draws: int, enough: int | None) -> float:
        observed = self._statistics(self._deal(self._in_b[np.newaxis], np.zeros((1, len(self._pairs)), np.int64)))[0]
        if observed == 0.0:
            return 1.0
        rng = np.random.default_rng(seed)
        at_once = max(1, min(_BLOCK_DRAWS, _BLOCK_CELLS // len(self._rows)))
        extreme = made = 0
        while made < draws and (enough is None or extreme < enough):
            size = min(at_once, draws - made)
            in_b = rng.multivariate_hypergeometric(self._numbers, self._in_b.sum(), size, method="marginals")
            exchanged = rng.binomial(self._pairs, 0.5, (size, len(self._pairs)))
            extreme += int((self._statistics(self._deal(in_b, exchanged)) >= observed * _TIED).sum())
            made += size
        return (1 + extreme) / (1 + made)

    def _deal(self, in_b: Numbers, exchanged: Numbers) -> Array:
        """How many units each of the rows stands for."""
        return np.hstack([self._numbers - in_b, in_b, self._pairs - exchanged, exchanged]).astype(np.float64)

    def _statistics(self, deals: Array) -> Array:
        """T of each deal; infinite where a side, or a side without one of its units, has nothing to measure."""
        sums = deals @ self._rows
        difference, without = _difference_of(sums), _difference_of(sums[:, np.newaxis] - self._rows)
        lost = np.isnan(difference) | (np.isnan(without) & (deals > 0)).any(axis=1)
        without = np.nan_to_num(without)
        n = deals[0].sum()
        mean = (deals * without).sum(axis=1, keepdims=True) / n
        error = np.sqrt((n - 1) / n * (deals * (without - mean) ** 2).sum(axis=1))
        found = np.divide(np.abs(difference), error, out=np.full_like(error, np.inf), where=error > _ROUNDING)
        return np.where(lost, np.inf, np.where(np.abs(difference) > _ROUNDING, found, 0.0))


def _difference_of(sums: Array) -> Array:
    """B - A from y and x of A and of B."""
    y_a, x_a, y_b, x_b = np.moveaxis(sums, -1, 0)
    return ratio(y_b, x_b) - ratio(y_a, x_a)
