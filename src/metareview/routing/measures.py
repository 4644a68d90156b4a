"""How good rankings are, and how evenly they spread the work.

A rank is the position, from 1, of the first truth target in a list; 0 where none is in it or nobody came.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metareview.errors import UsageError
from metareview.model.measure import Measure

if TYPE_CHECKING:
    from metareview.model.measure import Formula

Ranks = NDArray[np.int64]
Worth = NDArray[np.float64]
_HIT = re.compile(r"hit@([1-9]\d*)", re.ASCII | re.IGNORECASE)


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
        return replace(self, formula=_mean_of(column))

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
        formula=_mean_of(1),
        worth=lambda ranks: ((ranks > 0) & (ranks <= k)).astype(np.float64),
    )


def _reciprocal(ranks: Ranks) -> Worth:
    return np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0)


def _mean_of(column: int) -> Formula:
    def mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(sums[..., column] / sums[..., 0])

    return mean


MRR = RankMeasure(
    name="mrr",
    short="mrr",
    label="MRR",
    definition="the mean of 1 / rank, misses counted as 0",
    formula=_mean_of(1),
    worth=_reciprocal,
)


def rank_measures(ks: Iterable[int]) -> list[RankMeasure]:
    """hit@k for each k, and MRR, each in its column of a `rank_table`."""
    return [measure.in_column(at) for at, measure in enumerate([*map(hit_at, ks), MRR], 1)]


def rank_table(ranks: Ranks, measures: Sequence[RankMeasure]) -> NDArray[np.float64]:
    """One row per pull request: 1, and what its rank is worth under each measure, to be summed for their formulas."""
    return np.column_stack([np.ones(len(ranks)), *(measure.worth(ranks) for measure in measures)])


def parse_measure(text: str) -> RankMeasure:
    """The measure that a user means by `hit@5` or `mrr`, whatever the case; UsageError otherwise.

    >>> str(parse_measure("Hit@5"))
    'hit@5'
    """
    if MRR.is_named(text):
        return MRR
    if hit := _HIT.fullmatch(text):
        return hit_at(int(hit[1]))
    raise UsageError(f"unknown metric {text!r}. The metrics of routers are hit@K, such as hit@5, and mrr.")


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
