"""Which pairs of comments may match by place.

The definition is `may_match`: paths equal, sides equal, and at most `distance` lines between the ranges; a field
that either side lacks is not compared. `candidate_pairs` gives exactly the pairs that it allows, without looking at
the others: comments are grouped by (path, side), and within a group two sorted arrays answer which ranges touch, so
the cost is n log n plus the number of pairs found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metareview.model.comment import MAX_LINE, Comment, normal_path, normal_side

Indices = NDArray[np.int64]


def line_gap(a: Comment, b: Comment) -> int:
    """Lines between two ranges; 0 where they overlap. 10-15 and 16-20 are 1 apart."""
    (a_from, a_to), (b_from, b_to) = a.span, b.span
    return max(0, b_from - a_to, a_from - b_to)


def may_match(a: Comment, b: Comment, distance: int) -> bool:
    """The definition, for one pair."""
    return (
        _agree(normal_path(a.path), normal_path(b.path))
        and _agree(normal_side(a.side), normal_side(b.side))
        and line_gap(a, b) <= distance
    )


def _agree(a: str | None, b: str | None) -> bool:
    return a is None or b is None or a == b


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs that may match, ordered by generated, then reference position, with the lines between them."""

    generated: Indices
    reference: Indices
    gap: Indices

    def __len__(self) -> int:
        return len(self.generated)

    def only(self, keep: NDArray[np.bool_]) -> Candidates:
        return Candidates(self.generated[keep], self.reference[keep], self.gap[keep])

    def pairs(self) -> Indices:
        """Shape (n, 2): generated, reference."""
        return np.column_stack([self.generated, self.reference])

    def edges(self, generated: Collection[int], reference: Collection[int]) -> list[int]:
        """The positions of pairs that are among them."""
        width = int(self.reference.max(initial=0)) + 1
        wanted = np.array([*generated], np.int64) * width + np.array([*reference], np.int64)
        edges: list[int] = np.searchsorted(self.generated * width + self.reference, wanted).tolist()
        return edges


def candidate_pairs(
    generated: Sequence[Comment], reference: Sequence[Comment], distance: int, *, anywhere: bool = False
) -> Candidates:
    """All pairs that may match by place; every pair where place is not asked (`anywhere`)."""
    if anywhere:
        pairs = np.indices((len(generated), len(reference))).reshape(2, -1)
        return Candidates(pairs[0], pairs[1], np.zeros(pairs.shape[1], np.int64))
    if not generated or not reference:
        nothing = np.empty(0, np.int64)
        return Candidates(nothing, nothing, nothing)
    distance = min(distance, MAX_LINE)  # no two lines are further apart, and more might not fit into an integer
    reference_groups = _grouped(reference)
    found = [
        _touching(ours, theirs, distance)
        for (path, side), ours in _grouped(generated).items()
        for theirs in _compatible(reference_groups, path, side)
    ]
    left = np.concatenate([pair[0] for pair in found]) if found else np.empty((0, 3), np.int64)
    right = np.concatenate([pair[1] for pair in found]) if found else np.empty((0, 3), np.int64)
    order = np.argsort(left[:, 0] * len(reference) + right[:, 0])  # no pair is there twice
    left, right = left[order], right[order]
    gap = np.maximum(0, np.maximum(right[:, 1] - left[:, 2], left[:, 1] - right[:, 2]))
    return Candidates(left[:, 0], right[:, 0], gap)


_Place = tuple[str | None, str | None]


def _grouped(comments: Sequence[Comment]) -> dict[_Place, Indices]:
    """(position, from, to) rows by (path, side), each group ordered by its first line."""
    rows: dict[_Place, list[tuple[int, int, int]]] = defaultdict(list)
    for position, comment in enumerate(comments):
        rows[normal_path(comment.path), normal_side(comment.side)].append((position, *comment.span))
    return {
        place: (table := np.array(group, np.int64))[np.argsort(table[:, 1], kind="stable")]
        for place, group in rows.items()
    }


def _compatible(groups: dict[_Place, Indices], path: str | None, side: str | None) -> list[Indices]:
    """The groups whose path and side agree with these; a direct look-up unless a field is missing here."""
    if path is not None and side is not None:
        places: list[_Place] = [(path, side), (path, None), (None, side), (None, None)]
        return [groups[place] for place in places if place in groups]
    return [group for place, group in groups.items() if _agree(path, place[0]) and _agree(side, place[1])]


def _touching(ours: Indices, theirs: Indices, distance: int) -> tuple[Indices, Indices]:
    """Row pairs of two groups whose ranges are at most `distance` apart.

    Stretch every range by `distance` at its end; the two then overlap, and that is so exactly where either theirs
    begins within ours, or ours begins within theirs, later than it. Both are runs of a sorted column.
    """
    begins_in_ours = _rows_beginning_within(theirs, ours[:, 1], ours[:, 2] + distance)
    begins_in_theirs = _rows_beginning_within(ours, theirs[:, 1] + 1, theirs[:, 2] + distance)
    left = np.concatenate([ours[begins_in_ours[0]], ours[begins_in_theirs[1]]])
    right = np.concatenate([theirs[begins_in_ours[1]], theirs[begins_in_theirs[0]]])
    return left, right


def _rows_beginning_within(rows: Indices, first: Indices, last: Indices) -> tuple[Indices, Indices]:
    """For each interval first..last, the rows that begin in it: (index of the interval, index of the row)."""
    low = np.searchsorted(rows[:, 1], first, side="left")
    high = np.maximum(low, np.searchsorted(rows[:, 1], last, side="right"))
    sizes = high - low
    interval = np.repeat(np.arange(len(first)), sizes)
    within = np.arange(len(interval)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return interval, low[interval] + within
