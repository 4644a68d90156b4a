"""How long intervals, paired tests and letters take, in seconds of one core, and next to scipy on the same work."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import scipy.stats

from bench.measure import Result, Row, compared, seconds
from bench.simulation import difficulty, review
from metareview.comments.measures import measured, positive_match_rate
from metareview.exchange import exchange_test
from metareview.stats import Array, differences, intervals
from metareview.ties import pairwise_tests

MEASURES = measured(location=True, negatives=True, alignment="optimal")


def _reviews(units: int, reviewers: int) -> list[Array]:
    rng = np.random.default_rng(units)
    right = difficulty(rng, units, 0.4)
    return [review(rng, right, 6.0) for _ in range(reviewers)]


def _scipys_test(a: Array, b: Array) -> Any:
    """The same exchange, by scipy: the two rows of each unit change sides, and T is worked out anew."""
    rows = np.stack([np.stack(positive_match_rate.parts(side)) for side in (a, b)])

    def statistic(y_a: Array, x_a: Array, y_b: Array, x_b: Array, axis: int = -1) -> Array:
        figures, residuals = [], []
        for y, x in ((y_a, x_a), (y_b, x_b)):
            under = x.sum(axis=axis, keepdims=True)
            rate = y.sum(axis=axis, keepdims=True) / under
            figures.append(rate[..., 0])
            residuals.append((y - rate * x) / under)
        difference: Array = np.abs(figures[1] - figures[0])
        return difference / np.sqrt(((residuals[1] - residuals[0]) ** 2).sum(axis=axis))

    places = np.arange(len(a))

    def of_codes(one: Array, other: Array, axis: int = -1) -> Array:
        # A unit's place stands for its row of A, its place plus the number of units for its row of B.
        y, x = np.concatenate([rows[0], rows[1]], axis=1)
        first, second = one.astype(np.int64), other.astype(np.int64)
        return statistic(y[first], x[first], y[second], x[second], axis)

    return scipy.stats.permutation_test(
        (places, places + len(a)), of_codes, permutation_type="samples", alternative="greater", n_resamples=10_000,
        vectorized=True, batch=1000, rng=0,
    )  # fmt: skip


def ratios() -> Result:
    """One measure's paired test: both exchange the rows of 200 pull requests, 10,000 times, and find the same p.

    The intervals: ours leaves out each pull request in turn (jackknife), a bootstrap draws 2,000 samples of them.
    """
    a, b = _reviews(200, 2)
    ours = differences(a, b, [positive_match_rate])[positive_match_rate.name]
    assert ours.p is not None
    assert abs(ours.p - _scipys_test(a, b).pvalue) < 0.02
    test = compared(lambda: differences(a, b, [positive_match_rate]), lambda: _scipys_test(a, b), rounds=3)
    low, high = intervals(a, [positive_match_rate])[positive_match_rate.name] or (0.0, 0.0)
    drawn_low, drawn_high = _bootstrap(a)
    assert abs(low - drawn_low) < 0.02
    assert abs(high - drawn_high) < 0.02
    interval = compared(lambda: intervals(a, [positive_match_rate]), lambda: _bootstrap(a), rounds=3)
    rows = [
        Row.ratio("a paired test", test.ratio, peer="scipy.stats.permutation_test", at_least=1),
        Row.ratio("an interval", interval.ratio, peer="scipy.stats.bootstrap", at_least=1),
    ]
    return Result("Statistics", rows)


def _bootstrap(counts: Array) -> tuple[float, float]:
    rate = positive_match_rate.formula

    def of_drawn(drawn: Array, axis: int = -1) -> Array:
        sums: Array = counts[drawn].sum(axis=-2)
        return np.asarray(rate(sums))

    places = np.arange(len(counts))
    found = scipy.stats.bootstrap(
        (places,), of_drawn, n_resamples=2_000, method="percentile", vectorized=True, batch=200, rng=0
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def run() -> Result:
    a, b = _reviews(200, 2)
    [many] = _reviews(100_000, 1)
    tools = {str(number): counts for number, counts in enumerate(_reviews(200, 100))}
    tracemalloc.start()
    pairwise_tests(tools, positive_match_rate)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    letters = seconds(lambda: pairwise_tests(tools, positive_match_rate), 1)
    one, other = _reviews(40, 2)
    pair = seconds(lambda: exchange_test(one, other, positive_match_rate))
    rows = [
        Row.below("intervals of 200 pull requests, 8 measures", seconds(lambda: intervals(a, MEASURES)), "s", 0.1),
        Row.below("intervals of 100,000 pull requests, 8 measures", seconds(lambda: intervals(many, MEASURES)), "s", 1),
        Row.below("paired test of 200 pull requests, 8 measures", seconds(lambda: differences(a, b, MEASURES)), "s", 1),
        Row.below("10,000 draws of one pair of 40 pull requests", pair, "s", 0.02),
        Row.below("letters of 100 reviewers, 4,950 pairs, 200 pull requests", letters, "s", 6),
        Row.below("their memory at most", peak, "MB", 100),
    ]
    return Result("Statistics", [*rows, *ratios().rows])
