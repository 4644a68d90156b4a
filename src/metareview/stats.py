"""How far chance reaches: intervals and paired tests, over pull requests or weeks of them.

Everything here sees a run as one table: a row is a unit (a pull request, or a week), a column a count. A measure is a
ratio y / x of the summed counts; `Measure.parts` gives both. Units are left out and turned round whole, never comment
by comment: comments on one pull request succeed and fail together. docs/statistics.md says in plain words what each of
these can and cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, expit, logit, stdtrit

from metareview.model.measure import Measure, ratio

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Interval = tuple[float, float]
Key = TypeVar("Key", bound=Hashable)

LEVEL = 0.95
_TAIL = (1 - LEVEL) / 2
DRAWS = 10_000
"""Random signs for the units that a test tries."""
POWER = 0.8
"""How often a true difference of the detectable size is found."""
FEWEST_MATCHES = 5
"""Nothing is tested where both rates being equal would bring the smaller side fewer matches than this."""
_EXACT_UNITS = 13
"""Up to this many units, every combination of signs is tried."""
BLOCK_CELLS = 1 << 20
"""Draws are made in blocks of about this many cells, 8 MB, however many units or pairs there are."""
ROUNDING = 1e-12
"""Figures that are equal on paper differ by less than this."""


def intervals(counts: Array, measures: Iterable[Measure]) -> dict[str, Interval | None]:
    """The 95 % interval of each measure over the rows of `counts`, by name: in closed form, without a seed.

    Each unit is left out in turn. How much the figure moves gives its standard error; t on the scale of the log odds
    gives the interval, which stays within 0 and 1. A figure of 0 or 1, or one that never moves, counts the units as
    trials instead (Clopper and Pearson). None where fewer than two units have anything to measure.
    """
    found = {measure.name: left_out(counts, measure) for measure in measures}
    return {name: rate_interval(figure, without[known]) for name, (figure, without, known) in found.items()}


def rate_interval(figure: float, without: Array, freedom: float | None = None) -> Interval | None:
    """The same of a rate, from what it is without each unit in turn; `freedom`: of t, where not units - 1."""
    n = len(without)
    if n < 2:
        return None
    error = jackknife_error(without)
    if error <= ROUNDING or not ROUNDING < figure < 1 - ROUNDING:
        return exact_interval(min(max(figure, 0.0), 1.0) * n, n)
    reach = stdtrit(freedom or n - 1, 1 - _TAIL) * error / (figure * (1 - figure))
    return float(expit(logit(figure) - reach)), float(expit(logit(figure) + reach))


def exact_interval(hits: float, n: int) -> Interval:
    """Of the rate behind so many hits in n independent trials, at 95 % (Clopper and Pearson)."""
    low = betaincinv(hits, n - hits + 1, _TAIL) if hits > ROUNDING else 0.0
    high = betaincinv(hits + 1, n - hits, 1 - _TAIL) if n - hits > ROUNDING else 1.0
    return float(low), float(high)


def ratio_interval(y: Array, x: Array) -> Interval | None:
    """The 95 % interval of sum(y) / sum(x) where that is no rate, but an amount per something: t on its own scale, not
    below 0. None for fewer than two units, and where one unit holds all of x."""
    figure, without = _ratio_left_out(y, x)
    ends = _t_interval(figure, without)
    return None if ends is None else (max(0.0, ends[0]), ends[1])


def ratio_difference(y_a: Array, x_a: Array, y_b: Array, x_b: Array) -> Interval | None:
    """The same of B's ratio minus A's; row i of all four is the same unit."""
    (of_a, without_a), (of_b, without_b) = _ratio_left_out(y_a, x_a), _ratio_left_out(y_b, x_b)
    return _t_interval(of_b - of_a, without_b - without_a)


def _ratio_left_out(y: Array, x: Array) -> tuple[float, Array]:
    return float(ratio(y.sum(), x.sum())), ratio(y.sum() - y, x.sum() - x)


def _t_interval(figure: float, without: Array) -> Interval | None:
    if len(without) < 2 or np.isnan(without).any():
        return None
    reach = float(stdtrit(len(without) - 1, (1 + LEVEL) / 2)) * jackknife_error(without)
    return figure - reach, figure + reach


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
    too_few_matches: bool = False
    """That is why nothing was tested."""

    def detectable(self, alpha: float) -> float | None:
        """The true difference that this many units like these would show, at this level, four times in five."""
        return None if self.error is None else _reach(self.units, alpha) * self.error

    def units_needed(self, difference: float, alpha: float) -> int | None:
        """How many units like these would show a true difference of this size, at this level, four times in five."""
        if self.error is None:
            return None
        spread = self.error * self.units**0.5

        def enough(n: int) -> bool:
            return bool(_reach(n, alpha) * spread <= difference * n**0.5)

        # With fewer, no result reaches the level: the least p is 2 / 2^n.
        return least(enough, max(2, int(np.ceil(1 - np.log2(alpha)))))


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


def _reach(units: int, alpha: float) -> float:
    """How many standard errors from 0 a true difference must lie to be found with probability POWER."""
    return float(stdtrit(units - 1, 1 - alpha / 2) + stdtrit(units - 1, POWER))


def differences(a: Array, b: Array, measures: Iterable[Measure], *, seed: int = 0) -> dict[str, Difference]:
    """B - A for each measure, by name; row i of `a` and of `b` is the same unit."""
    if a.shape != b.shape:
        raise ValueError(f"paired tables must have one shape, got {a.shape} and {b.shape}")
    found: dict[str, Difference] = {}
    tested: dict[str, Array] = {}
    for measure in measures:
        found[measure.name] = _difference(a, b, measure)
        if found[measure.name].value is not None and not found[measure.name].too_few_matches:
            tested[measure.name] = contributions(a, b, measure)
    for name, p in zip(tested, _flip_signs(list(tested.values()), seed), strict=True):
        found[name] = replace(found[name], p=p)
    return found


def _difference(a: Array, b: Array, measure: Measure) -> Difference:
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
    error = jackknife_error(without)
    reach = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    known = error if error > ROUNDING else None
    return Difference(n, value, (value - reach, value + reach), known, too_few_matches=too_few)


def _too_few_matches(a: Array, b: Array, measure: Measure) -> bool:
    (y_a, x_a), (y_b, x_b) = (measure.parts(counts.sum(axis=0)) for counts in (a, b))
    few = (y_a + y_b) * min(x_a, x_b) < FEWEST_MATCHES * (x_a + x_b)
    return bool(few) and not np.array_equal(a, b)


def contributions(a: Array, b: Array, measure: Measure) -> Array:
    """What each unit adds to B - A, which is their mean.

    A unit's y counts by how far it lies from what the pooled rate would bring for its x: so one that only says more
    adds nothing. Where y does not add up over units, the differences of the jackknife's pseudo-values.
    """
    (y_a, x_a), (y_b, x_b) = measure.parts(a), measure.parts(b)
    if measure.adds_up:
        pooled = (y_a.sum() + y_b.sum()) / (x_a.sum() + x_b.sum())
        return rounded((y_b - pooled * x_b) / x_b.mean() - (y_a - pooled * x_a) / x_a.mean())
    (of_a, without_a, in_a), (of_b, without_b, in_b) = left_out(a, measure), left_out(b, measure)
    measurable = in_a | in_b
    n = int(measurable.sum())
    values = n * (of_b - of_a) - (n - 1) * (without_b - without_a)
    # The mean is over all rows, of which those with nothing to measure add nothing.
    return rounded(np.where(measurable, np.nan_to_num(values, nan=of_b - of_a), 0.0) * (len(values) / max(n, 1)))


def rounded(values: Array) -> Array:
    """What is 0 on paper is 0: rounding leans one way on all units, and a test would take that for a difference."""
    return np.where(np.abs(values) > ROUNDING, values, 0.0)


def can_tell(a: Array, b: Array, alpha: float) -> bool:
    """Whether the counts of A and B differ on so many units that exchanging them there could reach the level at all.

    The pooled rate leans on every unit, also on those where A and B did the same; one unit with a great many comments
    can thereby look like evidence from all.
    """
    unequal = int((a != b).any(axis=1).sum())
    return 2.0 ** (1 - unequal) <= alpha


def _flip_signs(tested: Sequence[Array], seed: int) -> list[float]:
    """The two-sided p of each sum of contributions, if every unit's sign were as likely to be the other."""
    if not tested:
        return []
    values = np.column_stack(tested)
    least = np.abs(values.mean(axis=0)) - ROUNDING
    n = len(values)
    extreme = np.zeros(len(tested), dtype=np.int64)
    exact = n <= _EXACT_UNITS
    for signs in [_all_signs(n)] if exact else random_signs(n, seed):
        extreme += (np.abs(signs @ values) / n >= least).sum(axis=0)
    return [int(c) / 2**n if exact else (1 + int(c)) / (1 + DRAWS) for c in extreme]


def _all_signs(units: int) -> Array:
    bits = np.arange(2**units)[:, np.newaxis] >> np.arange(units)
    return np.where(bits & 1, -1.0, 1.0)


def random_signs(units: int, seed: int) -> Iterator[Array]:
    """DRAWS rows of random signs, in blocks; the same ones for everybody who has as many units."""
    rng = np.random.default_rng(seed)
    block = max(1, BLOCK_CELLS // max(1, units))
    for start in range(0, DRAWS, block):
        yield np.where(rng.integers(0, 2, size=(min(block, DRAWS - start), units), dtype=np.bool_), -1.0, 1.0)


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
