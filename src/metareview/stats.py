"""Stand-in for the bootstrap, to be replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray


def bootstrap_intervals(
    counts: NDArray[np.float64],
    metrics: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]],
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> dict[str, tuple[float, float] | None]:
    rng = np.random.default_rng(seed)
    n = len(counts)
    sums = np.empty((resamples, counts.shape[1]))
    for index in range(resamples):
        sums[index] = np.bincount(rng.integers(0, n, n), minlength=n) @ counts
    result: dict[str, tuple[float, float] | None] = {}
    for name, metric in metrics.items():
        values = metric(sums)
        values = values[np.isfinite(values)]
        tail = 100 * (1 - level) / 2
        result[name] = (
            None
            if not len(values)
            else (float(np.percentile(values, tail)), float(np.percentile(values, 100 - tail)))
        )
    return result
