"""How far chance reaches: intervals, paired tests and groups of ties, all over pull requests.

Everything here sees a run as one table: a row is a unit (a pull request), a column a count. A metric is a function of
the *summed* counts, vectorised over leading axes, that gives NaN where it is undefined:

    >>> precision = lambda sums: sums[..., 0] / sums[..., 1]          # matched / generated
    >>> bootstrap_intervals(np.array([[1.0, 2.0]]), {"precision": precision})
    {'precision': (0.5, 0.5)}

Units are drawn and swapped, never single comments: comments on one pull request succeed and fail together.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from statistics import NormalDist
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from metareview.errors import UsageError

Array = NDArray[np.float64]
Metric = Callable[[Array], Array]
Interval = tuple[float, float]
Key = TypeVar("Key", bound=Hashable)

# Random units are drawn in blocks of about this many cells, 8 MB, however many pull requests there are.
_BLOCK_CELLS = 1 << 20
# A metric that is undefined in 99 of 100 draws has no distribution worth an answer, and the redraw must end.
_DRAWS_PER_VALUE = 100
# Differences that are equal on paper differ by rounding: a share of the metric's own size.
_ROUNDING = 1e-12


def bootstrap_intervals(
    counts: Array, metrics: Mapping[str, Metric], *, resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> dict[str, Interval | None]:
    """The bootstrap interval of each metric over the rows of `counts`, shape (units, columns).

    As many units as there are get drawn with replacement, `resamples` times. A resample where a metric is undefined is
    drawn again for that metric, so that each interval rests on exactly `resamples` values. None: there is no unit, or
    the metric is undefined on the whole set or in 99 of 100 resamples. One unit: both ends equal the estimate. The same
    seed gives the same intervals, and a metric's interval does not depend on which others are asked for.
    """
    _require(0 < level < 1, f"level must lie between 0 and 1, got {level}")
    intervals: dict[str, Interval | None] = dict.fromkeys(metrics)
    for name, drawn in _bootstrap_values(_table(counts), metrics, resamples, seed).items():
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
        intervals[name] = (low, high)
    return intervals


def bootstrap_difference(
    a: Array, b: Array, metrics: Mapping[str, Metric], *, resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> dict[str, Interval | None]:
    """The interval of metric(b) - metric(a), where row i of `a` and of `b` is the same unit.

    Each resample draws units once and takes both runs' counts of them, so that what makes a pull request hard for both
    cancels out. Undefined where either side is; otherwise as `bootstrap_intervals`.
    """
    return bootstrap_intervals(*_paired(a, b, metrics), resamples=resamples, seed=seed, level=level)


def permutation_test(
    a: Array, b: Array, metrics: Mapping[str, Metric], *, permutations: int = 10_000, seed: int = 0
) -> dict[str, float | None]:
    """The two-sided p value of "A and B are interchangeable within each unit", for each metric.

    A's and B's counts are swapped in each unit with probability 1/2 and the metric is worked out again from the sums;
    p = (1 + permutations that differ at least as much) / (1 + permutations). Equal runs: 1.

    A permutation where either side is undefined is drawn again. The observed runs are defined, so under the null they
    are one of the *defined* arrangements at random, and the test stays exact given that. None: there is no unit, or the
    metric is undefined on A or on B or in 99 of 100 permutations.
    """
    _require(permutations >= 1, f"permutations must be at least 1, got {permutations}")
    both, differences = _paired(a, b, metrics)
    ps: dict[str, float | None] = dict.fromkeys(metrics)
    if not len(both):
        return ps
    width = both.shape[1] // 2
    totals = both.sum(axis=0)
    swap = np.roll(both, width, axis=1) - both
    swap = swap[swap.any(axis=1)]  # a unit with equal counts changes nothing when swapped
    rng = np.random.default_rng(seed)

    def draw(rows: int) -> Array:
        swapped = rng.integers(0, 2, size=(rows, len(swap)), dtype=np.bool_)
        return np.asarray(totals + swapped @ swap, dtype=np.float64)

    for name, drawn in _defined_values(draw, len(swap), totals, differences, permutations).items():
        observed = abs(_value(differences[name], totals))
        size = max(abs(_value(metrics[name], side)) for side in (totals[:width], totals[width:]))
        extreme = np.count_nonzero(np.abs(drawn) >= observed - _ROUNDING * size)
        ps[name] = (1 + int(extreme)) / (1 + permutations)
    return ps


def minimum_detectable_difference(
    a: Array,
    b: Array,
    metrics: Mapping[str, Metric],
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, float | None]:
    """The true difference that a set of this size would show as significant with probability `power`.

    (z(1 - alpha/2) + z(power)) * SE, with SE the standard deviation of the bootstrap of metric(b) - metric(a) and z the
    quantile of the normal distribution: 2.80 * SE by default. It falls with the square root of the set's size. None:
    the metric is undefined, or every resample gave the same difference (one unit, or equal runs), so that nothing is
    known of the noise.
    """
    _require(0 < alpha < 1, f"alpha must lie between 0 and 1, got {alpha}")
    _require(0 < power < 1, f"power must lie between 0 and 1, got {power}")
    factor = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
    values = _bootstrap_values(*_paired(a, b, metrics), resamples, seed)
    noisy = {name: drawn for name, drawn in values.items() if len(drawn) > 1 and np.ptp(drawn) > _ROUNDING}
    return dict.fromkeys(metrics) | {name: factor * float(np.std(drawn, ddof=1)) for name, drawn in noisy.items()}


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


@dataclass(frozen=True, slots=True)
class PairTest:
    """Two tables on the units that both have: how many those are, metric(b) - metric(a) there, and the paired test."""

    units: int
    diff: float | None
    p: float | None
    p_holm: float | None


def pairwise_tests(
    tables: Mapping[str, Mapping[str, Sequence[float] | Array]], metric: Metric, *, seed: int = 0
) -> dict[tuple[str, str], PairTest]:
    """The paired test of one metric for every two tables, in their order, with Holm over all pairs.

    A table has a row of counts for each unit. Two that share no unit are not tested, and so never separated.
    """
    pairs = list(combinations(tables, 2))
    # The least p is 1 / permutations. Times the number of pairs, as Holm has it, it must still fall well below 0.05.
    permutations = max(10_000, 100 * len(pairs))
    tests: dict[tuple[str, str], PairTest] = {}
    for pair in pairs:
        a, b = (tables[name] for name in pair)
        units = [unit for unit in a if unit in b]
        if not units:
            tests[pair] = PairTest(0, None, None, None)
            continue
        one, other = (np.array([table[unit] for unit in units], np.float64) for table in (a, b))
        p = permutation_test(one, other, {"": metric}, permutations=permutations, seed=seed)[""]
        diff = _value(metric, other.sum(axis=0)) - _value(metric, one.sum(axis=0))
        tests[pair] = PairTest(len(units), None if np.isnan(diff) else diff, p, None)
    adjusted = holm({pair: test.p for pair, test in tests.items()})
    return {pair: replace(test, p_holm=adjusted[pair]) for pair, test in tests.items()}


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


def _paired(a: Array, b: Array, metrics: Mapping[str, Metric]) -> tuple[Array, dict[str, Metric]]:
    """Both runs side by side in one table, and the metrics of it that give metric(b) - metric(a)."""
    a, b = _table(a), _table(b)
    if a.shape != b.shape:
        raise ValueError(f"paired tables must have one shape, got {a.shape} and {b.shape}")
    width = a.shape[1]

    def difference(metric: Metric) -> Metric:
        return lambda sums: metric(sums[..., width:]) - metric(sums[..., :width])

    return np.hstack([a, b]), {name: difference(metric) for name, metric in metrics.items()}


def _bootstrap_values(counts: Array, metrics: Mapping[str, Metric], resamples: int, seed: int) -> dict[str, Array]:
    _require(resamples >= 1, f"resamples must be at least 1, got {resamples}")
    units = len(counts)
    if not units:
        return {}
    rng = np.random.default_rng(seed)

    def draw(rows: int) -> Array:
        drawn = rng.integers(0, units, size=(rows, units))
        drawn += np.arange(rows)[:, np.newaxis] * units
        weights = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)
        return np.asarray(weights @ counts, dtype=np.float64)

    return _defined_values(draw, units, counts.sum(axis=0), metrics, resamples)


def _defined_values(
    draw: Callable[[int], Array], units: int, totals: Array, metrics: Mapping[str, Metric], wanted: int
) -> dict[str, Array]:
    """For each metric its first `wanted` defined values in one stream of drawn sums, if it is defined often enough.

    `draw(rows)` gives the next sums of the stream. It is read in rounds of `wanted` whatever is still missing, so that
    a metric which is often undefined reads further without changing what another one sees.
    """
    block = max(1, _BLOCK_CELLS // max(1, units))
    values = {name: np.empty(0) for name, metric in metrics.items() if not np.isnan(_value(metric, totals))}
    for _ in range(_DRAWS_PER_VALUE):
        unfinished = [name for name, before in values.items() if len(before) < wanted]
        if not unfinished:
            break
        sums = np.concatenate([draw(min(block, wanted - start)) for start in range(0, wanted, block)])
        for name in unfinished:
            drawn = _values(metrics[name], sums)
            values[name] = np.concatenate([values[name], drawn[~np.isnan(drawn)]])[:wanted]
    return {name: drawn for name, drawn in values.items() if len(drawn) == wanted}


def _values(metric: Metric, sums: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):  # a division by 0 is how a metric says "undefined"
        values = np.asarray(metric(sums), dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _value(metric: Metric, sums: Array) -> float:
    return float(_values(metric, sums))


def _table(counts: Array) -> Array:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"counts must have the shape (units, columns), got {table.shape}")
    return table


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise UsageError(message)
