"""How good rankings are, and how evenly they spread the work.

A rank is the position, from 1, of the first truth target in a list; 0 where none is in it or nobody came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from metareview.model.measure import Formula, Measure, Parts, ratio

Ranks = NDArray[np.int64]
Worth = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class RankMeasure(Measure):
    """The mean over pull requests of what a rank is worth; a miss is worth nothing, and counts.

    Its formula takes the mean from summed columns: column 0 counts pull requests, column 1 sums their worth.
    """

    worth: Callable[[Ranks], Worth]
    """What each of these ranks is worth."""

    def mean(self, ranks: Ranks) -> float | None:
        """The figure of these ranks. None for no pull requests."""
        return float(self.worth(ranks).mean()) if len(ranks) else None

    def in_column(self, column: int) -> RankMeasure:
        """The same measure, whose formula finds its sum in another column than the first."""
        return replace(self, formula=mean_of(column), parts=parts_of(column))

    def of_rank(self, rank: int) -> float:
        """What one rank is worth."""
        return float(self.worth(np.array([rank], dtype=np.int64))[0])


def hit_at(k: int) -> RankMeasure:
    """hit@k: the share of pull requests with a target among the first k.

    >>> print(hit_at(3), hit_at(3).mean(np.array([1, 4, 0, 2])))
    hit@3 0.5
    """
    name = f"hit@{k}"
    return RankMeasure(
        name=name,
        short=name,
        label=name,
        definition=f"pull requests with a rank of {k} or better / pull requests",
        formula=mean_of(1),
        parts=parts_of(1),
        worth=lambda ranks: ((ranks > 0) & (ranks <= k)).astype(np.float64),
    )


def mean_of(column: int) -> Formula:
    """The mean of what this column of summed counts adds up, over the pull requests that column 0 counts."""
    return lambda sums: ratio(*parts_of(column)(sums))


def parts_of(column: int) -> Parts:
    """That sum, and that number."""
    return lambda sums: (sums[..., column], sums[..., 0])


MRR = RankMeasure(
    name="mrr",
    short="mrr",
    label="MRR",
    definition="the mean of 1 / rank, misses counted as 0",
    formula=mean_of(1),
    parts=parts_of(1),
    worth=lambda ranks: np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0),
)


def rank_measures(ks: Iterable[int]) -> list[RankMeasure]:
    """hit@k for each k, and MRR, each in its column of a table whose first counts pull requests."""
    return [measure.in_column(at) for at, measure in enumerate([*map(hit_at, ks), MRR], 1)]


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
        for target in wanted.T:
            ranks[(rankings[:, position] == target) & (target >= 0)] = position + 1
    return ranks


def gini(loads: Iterable[int]) -> float | None:
    """The Gini coefficient of people's loads: 0 if all are equal, towards 1 if one carries everything.

    The mean absolute difference of all pairs over twice the mean. None if nobody carries anything.

    >>> gini([0, 0, 0, 4])
    0.75
    """
    values = sorted(loads)
    n, total = len(values), sum(values)
    weighted = sum((2 * position - n - 1) * value for position, value in enumerate(values, 1))
    return weighted / (n * total) if total else None


def top1_share(loads: Iterable[int]) -> float | None:
    """The share of the most recommended person. None if nobody was recommended."""
    values = list(loads)
    total = sum(values)
    return max(values) / total if total else None
