"""How long intervals, paired tests and letters take, in seconds of one core, and next to scipy on the same work."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from bench.simulation import difficulty, review
from metareview.comments.measures import measured, positive_match_rate
from metareview.stats import Array, contributions, differences, intervals, pairwise_tests

MEASURES = measured(location=True, negatives=True, alignment="optimal")


def _reviews(units: int, reviewers: int) -> list[Array]:
    rng = np.random.default_rng(units)
    right = difficulty(rng, units, 0.4)
    return [review(rng, right, 6.0) for _ in range(reviewers)]


def _seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few runs, in processor time over all threads: what one core would have needed."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def _scipys_test(values: Array) -> object:
    return scipy.stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=10_000, vectorized=True, batch=1000
    )


def run() -> dict[str, Any]:
    a, b = _reviews(200, 2)
    values = contributions(a, b, positive_match_rate)
    one = _seconds(lambda: differences(a, b, [positive_match_rate]))
    theirs = _seconds(lambda: _scipys_test(values), repeats=1)
    [many] = _reviews(100_000, 1)
    tools = {str(number): counts for number, counts in enumerate(_reviews(200, 100))}
    tracemalloc.start()
    pairwise_tests(tools, positive_match_rate)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    rows: list[tuple[str, float, str, float | None]] = [
        ("intervals of 200 pull requests, 8 measures", _seconds(lambda: intervals(a, MEASURES)), "s", 0.1),
        ("intervals of 100,000 pull requests, 8 measures", _seconds(lambda: intervals(many, MEASURES)), "s", 1.0),
        ("paired test of 200 pull requests, 8 measures", _seconds(lambda: differences(a, b, MEASURES)), "s", 1.0),
        ("letters of 100 reviewers, 4,950 pairs, 200 pull requests",
         _seconds(lambda: pairwise_tests(tools, positive_match_rate), repeats=1), "s", 20.0),
        ("their memory at most", peak, "MB", 100.0),
    ]  # fmt: skip
    table = [
        {
            "what": what,
            "value": round(value, 3),
            "unit": unit,
            "target": None if target is None else f"< {target:g}",
            "met": None if target is None else value < target,
        }
        for what, value, unit, target in rows
    ]
    ratio = theirs / one
    table.append(
        {
            "what": "scipy.stats.permutation_test of one measure against ours",
            "value": round(ratio, 1),
            "unit": "times as long",
            "target": "> 1",
            "met": ratio > 1,
        }
    )
    return {"title": "Statistics", "rows": table}


if __name__ == "__main__":
    for row in run()["rows"]:
        print(row)
