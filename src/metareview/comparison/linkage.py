"""Complete linkage over a sparse graph: groups in which every two members are joined by an edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


def complete_linkage(size: int, one: Indices, other: Indices, score: NDArray[np.float64]) -> Indices:
    """For each of `size` units the first unit of its group.

    Edges are pairs of units with a score, each given once. The two groups whose least score is highest are joined
    first, as long as every pair across them is an edge. Of equal scores the pair of the earlier units counts as the
    higher, so that there are no ties.

    Edges are taken from the best to the worst. Two groups are joined at the moment when the last edge across them is
    taken: no other two groups have a better worst edge, because these would have been joined before. The cost is that
    of sorting the edges, and of a step for each.
    """
    first, second = np.minimum(one, other), np.maximum(one, other)
    order = np.lexsort((second, first, -score))
    group = list(range(size))
    members = [[unit] for unit in range(size)]
    taken: list[dict[int, int]] = [{} for _ in range(size)]
    """For each group, by other group, how many edges across the two were taken so far."""
    for left, right in zip(first[order].tolist(), second[order].tolist(), strict=True):
        a, b = group[left], group[right]
        edges = taken[a].get(b, 0) + 1
        if edges < len(members[a]) * len(members[b]):
            taken[a][b] = taken[b][a] = edges
            continue
        if len(members[a]) + len(taken[a]) < len(members[b]) + len(taken[b]):
            a, b = b, a
        taken[a].pop(b, None)
        for neighbour, number in taken[b].items():
            if neighbour != a:
                del taken[neighbour][b]
                taken[a][neighbour] = taken[neighbour][a] = taken[a].get(neighbour, 0) + number
        for unit in members[b]:
            group[unit] = a
        members[a] += members[b]
        members[b], taken[b] = [], {}
    least = [min(units, default=0) for units in members]
    return np.array([least[each] for each in group], np.int64)
