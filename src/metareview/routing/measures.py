"""How good rankings are, and how evenly they spread the work.

A rank is the position, from 1, of the first truth target in a list; 0 where none is in it or nobody came.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int64]


def first_ranks(rankings: NDArray[np.integer], targets: NDArray[np.integer]) -> Ranks:
    """The rank of each row of `rankings` (n lists of people as numbers, padded with negative ones).

    `targets` holds the truth of each row: n numbers, or n rows of several, padded with negative ones. A
    negative number matches nothing.

    >>> first_ranks(np.array([[7, 3, 5], [1, 2, -1]]), np.array([5, 4])).tolist()
    [3, 0]
    """
    if rankings.ndim != 2 or targets.shape[:1] != rankings.shape[:1] or targets.ndim not in (1, 2):
        raise ValueError("rankings must be n x m, targets n or n x t")
    ranks = np.zeros(len(rankings), dtype=np.int64)
    wanted = targets[:, None] if targets.ndim == 1 else targets
    # From the last position to the first, so that the best one is what stays.
    for position in range(rankings.shape[1] - 1, -1, -1):
        column = rankings[:, position]
        for each in range(wanted.shape[1]):
            target = wanted[:, each]
            ranks[(column == target) & (target >= 0)] = position + 1
    return ranks


def hit_at(ranks: Ranks, k: int) -> float | None:
    """hit@k: the share of pull requests with a target among the first k. None for no pull requests."""
    return float(np.count_nonzero((ranks > 0) & (ranks <= k)) / len(ranks)) if len(ranks) else None


def reciprocal(ranks: Ranks) -> NDArray[np.float64]:
    """1 / rank, and 0 for a miss."""
    return np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0)


def mrr(ranks: Ranks) -> float | None:
    """MRR: the mean of 1 / rank, misses counted as 0. None for no pull requests."""
    return float(reciprocal(ranks).mean()) if len(ranks) else None


def gini(loads: Iterable[int]) -> float | None:
    """The Gini coefficient of people's loads: 0 if all are equal, towards 1 if one carries everything.

    The mean absolute difference of all pairs over twice the mean. None if nobody carries anything.

    >>> gini([0, 0, 0, 4])
    0.75
    """
    values = np.sort(np.fromiter(loads, dtype=np.int64))
    total = int(values.sum())
    if not total:
        return None
    n = len(values)
    position = 2 * np.arange(1, n + 1) - n - 1
    return int((position * values).sum()) / (n * total)


def top1_share(loads: Iterable[int]) -> float | None:
    """The share of the most recommended person. None if nobody was recommended."""
    values = list(loads)
    total = sum(values)
    return max(values) / total if total else None
