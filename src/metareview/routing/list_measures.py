"""How good whole lists are where several people are right: average precision, nDCG@k and recall@k.

Only for a truth of several people (`all_reviewers`): where one person is right, they say nothing that hit@k and MRR do
not. Somebody either is a target or is not, so gains are 0 and 1. What a list does not hold counts as never found: a
list shorter than k is worth what it holds, and a pull request without a truth is worth nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from metareview.model.measure import Measure
from metareview.routing.measures import RankMeasure, mean_of, parts_of, rank_measures

SEVERAL = "all_reviewers"
"""The truth that these measures are for."""


class Places(NamedTuple):
    """Where a list has the targets of its pull request: their ranks from 1, rising, and how many targets there are."""

    ranks: tuple[int, ...] = ()
    targets: int = 0

    @property
    def first(self) -> int:
        """The rank of the first target; 0: none is in the list."""
        return self.ranks[0] if self.ranks else 0


@dataclass(frozen=True, kw_only=True)
class ListMeasure(Measure):
    """The mean over pull requests of what the places of all targets are worth; a miss is worth nothing, and counts."""

    figure: str
    """Its key in a record of one pull request."""
    worth: Callable[[Places], float]

    def in_column(self, column: int) -> ListMeasure:
        """The same measure, whose formula finds its sum in another column than the first."""
        return replace(self, formula=mean_of(column), parts=parts_of(column))


RoutingMeasure = RankMeasure | ListMeasure


def average_precision(places: Places) -> float:
    """The mean over all targets of the precision at their rank; 0 for one that the list does not have.

    >>> average_precision(Places((1, 4), 3))  # (1 / 1 + 2 / 4 + 0) / 3
    0.5
    """
    found = sum(number / rank for number, rank in enumerate(places.ranks, 1))
    return found / places.targets if places.targets else 0.0


MAP = ListMeasure(
    name="map",
    short="map",
    label="MAP",
    definition=(
        "the mean of average precision: of each target's precision at its rank, over the full list;"
        f" --truth {SEVERAL} only"
    ),
    formula=mean_of(1),
    parts=parts_of(1),
    figure="average_precision",
    worth=average_precision,
)


def ndcg_at(k: int) -> ListMeasure:
    """nDCG@k: each target among the first k adds 1 / log2(rank + 1), over the most that k places could add.

    >>> round(ndcg_at(3).worth(Places((2,), 2)), 4)  # (1 / log2 3) / (1 + 1 / log2 3)
    0.3869
    """

    def worth(places: Places) -> float:
        gained = math.fsum(1 / math.log2(rank + 1) for rank in places.ranks if rank <= k)
        most = math.fsum(1 / math.log2(rank + 1) for rank in range(1, min(k, places.targets) + 1))
        return gained / most if most else 0.0

    name = f"ndcg@{k}"
    return ListMeasure(
        name=name,
        short=name,
        label=f"nDCG@{k}",
        definition=(
            f"the sum of 1 / log2(rank + 1) over targets among the first {k} / the same of an ideal list, as a mean;"
            f" --truth {SEVERAL} only"
        ),
        formula=mean_of(1),
        parts=parts_of(1),
        complement_of="hit@1" if k == 1 else "",  # the same figure, so one test serves both
        figure=name,
        worth=worth,
    )


def recall_at(k: int) -> ListMeasure:
    """recall@k: the share of the targets that are among the first k.

    >>> recall_at(3).worth(Places((1, 4), 2))
    0.5
    """
    name = f"recall@{k}"
    return ListMeasure(
        name=name,
        short=name,
        label=name,
        definition=f"targets among the first {k} / targets, as a mean; --truth {SEVERAL} only",
        formula=mean_of(1),
        parts=parts_of(1),
        figure=name,
        worth=lambda places: sum(rank <= k for rank in places.ranks) / places.targets if places.targets else 0.0,
    )


def list_measures(ks: Iterable[int], column: int = 1) -> list[ListMeasure]:
    """MAP, and nDCG@k and recall@k for each k, in columns of a table from this one on."""
    held = list(ks)
    measures = [MAP, *map(ndcg_at, held), *map(recall_at, held)]
    return [measure.in_column(at) for at, measure in enumerate(measures, column)]


def measures_of(ks: Iterable[int], truth: str) -> list[RoutingMeasure]:
    """hit@k and MRR, and under a truth of several people what their places are worth, each in its column."""
    held = list(ks)
    of_rank: list[RoutingMeasure] = [*rank_measures(held)]
    return of_rank + (list_measures(held, 1 + len(of_rank)) if truth == SEVERAL else [])
