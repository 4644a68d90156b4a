"""How far chance reaches: intervals and paired tests, over pull requests or weeks of them.

Everything here sees a run as one table: a row is a unit (a pull request, or a week), a column a count. A measure is a
ratio y / x of the summed counts; `Measure.parts` gives both. Units are left out and exchanged whole, never comment
by comment: comments on one pull request succeed and fail together. docs/statistics.md says in plain words what each of
these can and cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, expit, logit, stdtrit

from metareview.exchange import DRAWS as DRAWS
from metareview.exchange import ROUNDING, exchange_test
from metareview.model.measure import Measure, ratio

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Interval = tuple[float, float]
Key = TypeVar("Key", bound=Hashable)
Group = TypeVar("Group", str, int, tuple[int, str])

LEVEL = 0.95
_TAIL = (1 - LEVEL) / 2
POWER = 0.8
"""How often a true difference of the detectable size is found."""
_DOUBLINGS = 40
"""Where that many doublings of the units are not enough, no number is."""
FEWEST_MATCHES = 5
"""Nothing is tested where both rates being equal would bring the smaller side fewer matches than this."""


@dataclass(frozen=True, slots=True)
class Variance:
    """An estimated variance and its degrees of freedom.

    Those of a sum of independent variances are Welch's and Satterthwaite's. None: a bound and no estimate, which leaves
    t the degrees of freedom of what it is added to.

    >>> Variance(1.0, 4) + Variance(1.0, 4), Variance(1.0, 4) + Variance(1.0)
    (Variance(value=2.0, freedom=8.0), Variance(value=2.0, freedom=4))
    """

    value: float = 0.0
    freedom: float | None = None

    def __add__(self, other: Variance) -> Variance:
        if not self.value or not other.value:
            return self if self.value else other
        value = self.value + other.value
        if self.freedom is None or other.freedom is None:
            return Variance(value, self.freedom if other.freedom is None else other.freedom)
        unsure = (self.value / value) ** 2 / self.freedom + (other.value / value) ** 2 / other.freedom
        return Variance(value, 1 / unsure)

    def with_jackknife(self, error: float, freedom: float) -> tuple[float, float]:
        """The standard error, and its degrees of freedom, of a figure with this variance besides the jackknife's."""
        if not self.value:
            return error, freedom
        whole = Variance(error**2, freedom) + self
        return math.sqrt(whole.value), whole.freedom or freedom


NO_VARIANCE = Variance()
Extra = Mapping[str, Variance]
"""By the name of a measure (in `pairwise_tests` of a table): variance of a figure that leaving out units cannot show,
and that further units do not lessen."""


def summed_variances(*sources: Extra) -> dict[str, Variance]:
    """By name, the variance from all of these sources together."""
    found: dict[str, Variance] = {}
    for source in sources:
        for name, variance in source.items():
            found[name] = found.get(name, NO_VARIANCE) + variance
    return found


def intervals(counts: Array, measures: Iterable[Measure], extra: Extra | None = None) -> dict[str, Interval | None]:
    """The 95 % interval of each measure over the rows of `counts`, by name: in closed form, without a seed.

    Each unit is left out in turn. How much the figure moves gives its standard error, to which `extra` adds; t on the
    scale of the log odds gives the interval, which stays within 0 and 1. A figure of 0 or 1, or one that never moves,
    counts the units as trials instead (Clopper and Pearson). None where fewer than two units have anything to measure.
    """
    more = extra or {}
    found = {measure.name: left_out(counts, measure) for measure in measures}
    return {
        name: rate_interval(figure, without[known], extra=more.get(name, NO_VARIANCE))
        for name, (figure, without, known) in found.items()
    }


def rate_interval(
    figure: float, without: Array, freedom: float | None = None, *, extra: Variance = NO_VARIANCE
) -> Interval | None:
    """The same of a rate, from what it is without each unit in turn; `freedom`: of t, where not units - 1.

    A figure of 0 or 1 keeps the interval of trials, whose ends lie further away by the reach of the `extra` variance,
    at a right angle.
    """
    n = len(without)
    if n < 2:
        return None
    error, of_t = extra.with_jackknife(jackknife_error(without), freedom or n - 1)
    t = float(stdtrit(of_t, 1 - _TAIL))
    if error <= ROUNDING or not ROUNDING < figure < 1 - ROUNDING:
        cut = min(max(figure, 0.0), 1.0)
        return _widened(cut, exact_interval(cut * n, n), t * math.sqrt(extra.value))
    reach = t * error / (figure * (1 - figure))
    return float(expit(logit(figure) - reach)), float(expit(logit(figure) + reach))


def _widened(figure: float, ends: Interval, reach: float) -> Interval:
    """An interval of a rate whose ends lie further away by an independent reach, at a right angle."""
    if not reach:
        return ends
    low, high = (math.hypot(end - figure, reach) for end in ends)
    return max(0.0, figure - low), min(1.0, figure + high)


def exact_interval(hits: float, n: int) -> Interval:
    """Of the rate behind so many hits in n independent trials, at 95 % (Clopper and Pearson)."""
    low = betaincinv(hits, n - hits + 1, _TAIL) if hits > ROUNDING else 0.0
    high = betaincinv(hits + 1, n - hits, 1 - _TAIL) if n - hits > ROUNDING else 1.0
    return float(low), float(high)


def ratio_interval(y: Array, x: Array) -> Interval | None:
    """The 95 % interval of sum(y) / sum(x) where that is no rate, but an amount per something: t on its own scale, not
    below 0. None for fewer than two units, and where one unit holds all of x."""
    figure, without = _ratio_left_out(y, x)
    ends = t_interval(figure, without)
    return None if ends is None else (max(0.0, ends[0]), ends[1])


def ratio_difference(y_a: Array, x_a: Array, y_b: Array, x_b: Array) -> Interval | None:
    """The same of B's ratio minus A's; row i of all four is the same unit."""
    (of_a, without_a), (of_b, without_b) = _ratio_left_out(y_a, x_a), _ratio_left_out(y_b, x_b)
    return t_interval(of_b - of_a, without_b - without_a)


def _ratio_left_out(y: Array, x: Array) -> tuple[float, Array]:
    return float(ratio(y.sum(), x.sum())), ratio(y.sum() - y, x.sum() - x)


def t_interval(figure: float, without: Array, extra: Variance = NO_VARIANCE, *, pairs: int = 1) -> Interval | None:
    """The 95 % interval of a figure on its own scale, from what it is without each unit; None for fewer than two.
    `pairs`: how many such intervals are to hold at once."""
    if len(without) < 2 or np.isnan(without).any():
        return None
    error, freedom = extra.with_jackknife(jackknife_error(without), len(without) - 1)
    reach = float(stdtrit(freedom, 1 - _TAIL / pairs)) * error
    return figure - reach, figure + reach


def summed(counts: Array, keys: Sequence[Group]) -> tuple[list[Group], Array]:
    """Each key once, in order, and the sum of its rows, each rounded once, so that their order changes nothing."""
    rows: dict[Group, list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    distinct = sorted(rows)
    sums = [[math.fsum(column) for column in counts[rows[key]].T.tolist()] for key in distinct]
    return distinct, np.array(sums, np.float64).reshape(len(distinct), counts.shape[1])


def left_out(counts: Array, measure: Measure) -> tuple[float, Array, Mask]:
    """The figure, the figure without each unit in turn, and which units have anything to measure.

    A count is never below 0, but an estimate of one for a single unit may be.
    """
    y, x = measure.parts(counts)
    totals = counts.sum(axis=0)
    if measure.adds_up:
        figure, without = ratio(y.sum(), x.sum()), ratio(y.sum() - y, x.sum() - x)
    else:
        figure, without = ratio(*measure.parts(totals)), ratio(*measure.parts(totals - counts))
    return float(figure), without, x != 0


def standard_error(counts: Array, measure: Measure) -> tuple[float | None, int]:
    """Of the measure over the rows of `counts`, and how many of them have anything to measure; None for under two."""
    _, without, measurable = left_out(counts, measure)
    units = int(measurable.sum())
    return (None if units < 2 else jackknife_error(without[measurable])), units


def jackknife_error(without: Array) -> float:
    """The standard error of a figure, from what it is without each unit in turn."""
    n = len(without)
    return float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of A and B on the same units: measure(B) - measure(A), and what chance could make of it."""

    units: int = 0
    """Units with anything to measure on either side."""
    value: float | None = None
    interval: Interval | None = None
    error: float | None = None
    """The standard error; None where nothing varies, so that nothing is known of the noise."""
    p: float | None = None
    """Two-sided; None where nothing was tested."""
    differing: int = 0
    """Units on which what is measured differs."""
    least_p: float = 1.0
    """The least p that exchanging these could give."""
    too_few_matches: bool = False
    """That is why nothing was tested."""
    extra: Variance = NO_VARIANCE
    """The part of the squared error that further units do not lessen."""

    def detectable(self, alpha: float) -> float | None:
        """The true difference that this many units like these would show, at this level, four times in five."""
        return None if self.error is None else self._detectable(self.error, self.units, alpha)

    def units_needed(self, difference: float, alpha: float) -> int | None:
        """How many units like these would show a true difference of this size, at this level, four times in five.

        None where no number of units would, or where the noise is not known.
        """
        if self.error is None:
            return None
        error = self.error

        def enough(n: int) -> bool:
            return self._detectable(error, n, alpha) <= difference

        # With fewer, no result reaches the level: the least p is 2 / 2^n.
        fewest = max(2, int(np.ceil(1 - np.log2(alpha))))
        if self.extra.value and not any(enough(fewest << doubled) for doubled in range(_DOUBLINGS)):
            return None
        return least(enough, fewest)

    def _detectable(self, error: float, units: int, alpha: float) -> float:
        """The same with another number of units, from the error with those that there are."""
        of_units = math.sqrt(max(0.0, error**2 - self.extra.value)) if self.extra.value else error
        error, freedom = self.extra.with_jackknife(of_units * (self.units / units) ** 0.5, units - 1)
        return _reach(freedom, alpha) * error


def least(enough: Callable[[int], bool], low: int) -> int:
    """The least number from `low` on that is enough, if whatever exceeds one that is enough is so too."""
    if enough(low):
        return low
    high = 2 * low
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _reach(freedom: float, alpha: float) -> float:
    """How many standard errors from 0 a true difference must lie to be found with probability POWER."""
    return float(stdtrit(freedom, 1 - alpha / 2) + stdtrit(freedom, POWER))


def differences(
    a: Array, b: Array, measures: Iterable[Measure], *, seed: int = 0, extra: Extra | None = None
) -> dict[str, Difference]:
    """B - A for each measure, by name; row i of `a` and of `b` is the same unit. `extra`: of both sides together."""
    if a.shape != b.shape:
        raise ValueError(f"paired tables must have one shape, got {a.shape} and {b.shape}")
    found: dict[str, Difference] = {}
    for measure in measures:
        each = _difference(a, b, measure, (extra or {}).get(measure.name, NO_VARIANCE))
        if each.value is not None and not each.too_few_matches:
            p, differing = exchange_test(a, b, measure, seed=seed)
            each = replace(each, p=p, differing=differing, least_p=min(1.0, 2.0 ** (1 - differing)))
        found[measure.name] = each
    return found


def _difference(a: Array, b: Array, measure: Measure, extra: Variance) -> Difference:
    """Everything but p."""
    (of_a, without_a, in_a), (of_b, without_b, in_b) = left_out(a, measure), left_out(b, measure)
    measurable = in_a | in_b
    value, n = of_b - of_a, int(measurable.sum())
    if np.isnan(value):
        return Difference(n)
    too_few = _too_few_matches(a, b, measure)
    without = (without_b - without_a)[measurable]
    if n < 2 or np.isnan(without).any():
        return Difference(n, value, too_few_matches=too_few)
    error, _ = extra.with_jackknife(jackknife_error(without), n - 1)
    known = error if error > ROUNDING else None
    return Difference(n, value, t_interval(value, without, extra), known, too_few_matches=too_few, extra=extra)


def _too_few_matches(a: Array, b: Array, measure: Measure) -> bool:
    (y_a, x_a), (y_b, x_b) = (measure.parts(counts.sum(axis=0)) for counts in (a, b))
    few = (y_a + y_b) * min(x_a, x_b) < FEWEST_MATCHES * (x_a + x_b)
    return bool(few) and not np.array_equal(a, b)


def holm(ps: Mapping[Key, float | None]) -> dict[Key, float | None]:
    """Holm's adjusted p values: rejecting those up to alpha keeps the risk of any false alarm within alpha.

    The i-th smallest of m values (from 0) is multiplied by m - i, is never less than a smaller one's result, and ends
    at 1. None (nothing was tested) stays None and is not counted in m. The order of `ps` is kept.
    """
    tested = sorted(((p, key) for key, p in ps.items() if p is not None), key=lambda item: item[0])
    adjusted: dict[Key, float | None] = dict.fromkeys(ps)
    floor = 0.0
    for step, (p, key) in enumerate(tested):
        floor = max(floor, min(1.0, (len(tested) - step) * p))
        adjusted[key] = floor
    return adjusted


def kappa(tp: ArrayLike, called: ArrayLike, positive: ArrayLike, n: ArrayLike) -> Array:
    """Cohen's kappa from counts: (observed - expected agreement) / (1 - expected); NaN if expected is 1."""
    tp, called, positive, n = (np.asarray(x, np.float64) for x in (tp, called, positive, n))
    observed = (n - called - positive + 2 * tp) / n
    expected = (called * positive + (n - called) * (n - positive)) / n**2
    out = np.full(np.broadcast(observed, expected).shape, np.nan)
    np.divide(observed - expected, 1 - expected, out=out, where=expected < 1)
    return out
