"""How long intervals and paired tests take, in seconds of one core, and next to scipy on the same draws."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from metareview.stats import bootstrap_intervals, permutation_test

# Columns: generated, expected, matched, covered, line matched, line covered, matched negatives.
METRICS = {
    "positive_match_rate": lambda s: s[..., 2] / s[..., 0],
    "positive_recall_rate": lambda s: s[..., 3] / s[..., 1],
    "f1": lambda s: _f1(s[..., 2] / s[..., 0], s[..., 3] / s[..., 1]),
    "positive_line_match_rate": lambda s: s[..., 4] / s[..., 0],
    "positive_line_recall_rate": lambda s: s[..., 5] / s[..., 1],
    "line_f1": lambda s: _f1(s[..., 4] / s[..., 0], s[..., 5] / s[..., 1]),
    "unmatched_rate": lambda s: 1 - s[..., 2] / s[..., 0],
    "false_positive_rate": lambda s: s[..., 6] / s[..., 0],
}


def _f1(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)


def _counts(units: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    generated, expected = 1 + rng.poisson(7, units), 1 + rng.poisson(6, units)
    lines = rng.binomial(np.minimum(generated, expected), 0.5)
    matched = rng.binomial(lines, 0.6)
    negatives = rng.binomial(generated - matched, 0.2)
    return np.stack([generated, expected, matched, matched, lines, lines, negatives], axis=1).astype(np.float64)


def _seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few runs, in processor time over all threads: what one core would have needed."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def _scipy_intervals(counts: np.ndarray) -> None:
    columns = tuple(counts.T)
    for metric in METRICS.values():
        scipy.stats.bootstrap(
            columns,
            lambda *drawn, axis, metric=metric: metric(np.stack([column.sum(axis) for column in drawn], axis=-1)),
            paired=True,
            vectorized=True,
            n_resamples=10_000,
            method="percentile",
            batch=1000,
        )


def run() -> dict[str, Any]:
    a, b = _counts(200, 1), _counts(200, 2)
    ours = _seconds(lambda: bootstrap_intervals(a, METRICS, resamples=10_000))
    test = _seconds(lambda: permutation_test(a, b, METRICS))
    theirs = _seconds(lambda: _scipy_intervals(a), repeats=1)
    many = _counts(100_000, 3)
    large = _seconds(lambda: bootstrap_intervals(many, METRICS), repeats=1)
    tracemalloc.start()
    bootstrap_intervals(many, METRICS, resamples=100)  # blocks have one size, so more resamples need no more
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    rows = [
        ("10,000 resamples of 200 pull requests, 8 metrics", ours, "s", 1.0),
        ("paired test, 10,000 permutations of 200 pull requests, 8 metrics", test, "s", 1.0),
        ("2,000 resamples of 100,000 pull requests, 8 metrics", large, "s", None),
        ("its memory at most", peak, "MB", 100.0),
    ]
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
    ratio = theirs / ours
    table.append(
        {
            "what": "scipy.stats.bootstrap, a call for each metric, against ours",
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
