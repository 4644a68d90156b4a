"""Which pairs of comments may match by location.

The definition is `may_match`: paths equal, sides equal, and at most `distance` lines between the ranges; a field
that either side lacks is not compared. `candidate_pairs` gives exactly the pairs that it allows, without looking at
the others: comments are grouped by (path, side), and within a group two sorted arrays answer which ranges touch, so
the cost is n log n plus the number of pairs found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metareview.model.comment import MAX_LINE, Comment, normal_path, normal_side

Indices = NDArray[np.int64]

FEW = 400
"""Up to so many pairs it is quicker to look at each than to sort."""


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


def near(ours: Places, theirs: Places, distance: int) -> NDArray[np.bool_]:
    """The definition for each pair of a row here and the row there."""
    gap = np.maximum(theirs.first - ours.last, ours.first - theirs.last)
    near: NDArray[np.bool_] = (gap <= distance) & same_file(ours, theirs)
    return near


def same_file(ours: Places, theirs: Places) -> NDArray[np.bool_]:
    """Which of these pairs have paths and sides that agree."""
    return _codes_agree(ours.path, theirs.path) & _codes_agree(ours.side, theirs.side)


def _codes_agree(a: Indices, b: Indices) -> NDArray[np.bool_]:
    agree: NDArray[np.bool_] = (a == b) | (a == 0) | (b == 0)
    return agree


@dataclass(frozen=True, slots=True)
class Places:
    """Where some comments point, one row each; paths and sides as numbers, 0 for none."""

    path: Indices
    side: Indices
    first: Indices
    last: Indices

    @classmethod
    def of(cls, comments: Sequence[Comment]) -> Places:
        path = numbered(map(normal_path, [comment.path for comment in comments]))
        side = numbered(map(normal_side, [comment.side for comment in comments]))
        given = np.array([(comment.from_line or 0, comment.to_line or 0) for comment in comments], np.int64)
        first, last = given.reshape(-1, 2).T
        # As `Comment.span` has it, where 0 is no line.
        return cls(
            path,
            side,
            np.where(first > 0, first, np.maximum(last, 1)),
            np.where(last > 0, last, np.where(first > 0, first, MAX_LINE)),
        )

    def take(self, rows: Indices) -> Places:
        return Places(self.path[rows], self.side[rows], self.first[rows], self.last[rows])


def numbered(values: Iterable[str | None]) -> Indices:
    """Equal values have equal numbers, from 1 on; None has 0."""
    listed = list(values)
    distinct = dict.fromkeys([None, *listed])
    numbers = dict(zip(distinct, range(len(distinct)), strict=True))
    return np.array(list(map(numbers.__getitem__, listed)), np.int64)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs that may match, ordered by generated, then reference position, with the lines between them."""

    generated: Indices
    reference: Indices
    gap: Indices

    def __len__(self) -> int:
        return len(self.generated)

    def only(self, keep: NDArray[np.bool_]) -> Candidates:
        kept = np.flatnonzero(keep)  # by index, three look-ups are quicker than by mask
        return Candidates(self.generated[kept], self.reference[kept], self.gap[kept])

    def pairs(self) -> Indices:
        """Shape (n, 2): generated, reference."""
        pairs = np.empty((len(self.generated), 2), np.int64)
        pairs[:, 0], pairs[:, 1] = self.generated, self.reference
        return pairs

    def edges(self, generated: Collection[int], reference: Collection[int]) -> list[int]:
        """The positions of pairs that are among them."""
        if len(self) <= FEW:
            pairs = zip(self.generated.tolist(), self.reference.tolist(), strict=True)
            position = {pair: edge for edge, pair in enumerate(pairs)}
            return [position[pair] for pair in zip(generated, reference, strict=True)]
        width = int(self.reference.max(initial=0)) + 1
        wanted = np.array([*generated], np.int64) * width + np.array([*reference], np.int64)
        edges: list[int] = np.searchsorted(self.generated * width + self.reference, wanted).tolist()
        return edges


def candidate_pairs(
    generated: Sequence[Comment], reference: Sequence[Comment], distance: int, *, anywhere: bool = False
) -> Candidates:
    """All pairs that may match by location; every pair where locations are not compared (`anywhere`)."""
    if anywhere:
        pairs = np.indices((len(generated), len(reference))).reshape(2, -1)
        return Candidates(pairs[0], pairs[1], np.zeros(pairs.shape[1], np.int64))
    nothing = np.empty(0, np.int64)
    if not generated or not reference:
        return Candidates(nothing, nothing, nothing)
    if len(generated) * len(reference) <= FEW:
        return _pair_by_pair(generated, reference, distance)
    # No two lines are further apart than MAX_LINE, and more might not fit into an integer.
    distance = min(distance, MAX_LINE)
    our_rows, their_rows, width = _rows(generated), _rows(reference), len(reference)
    their_groups = _grouped(reference, their_rows)
    touching = [
        _touching(ours, theirs, distance, width)
        for (path, side), ours in _grouped(generated, our_rows).items()
        for theirs in _compatible(their_groups, path, side)
    ]
    pairs = _in_order(np.concatenate(touching) if touching else nothing, len(generated) * width)
    ours = pairs // width
    theirs = pairs - ours * width
    # Lines fit into 32 bits, and so does what lies between them: arrays of half the size, built in half the time.
    (_, our_first, our_last), (_, their_first, their_last) = (our_rows.T.astype("i4"), their_rows.T.astype("i4"))
    gap = their_first[theirs]
    gap -= our_last[ours]
    gap_before = our_first[ours]
    gap_before -= their_last[theirs]
    np.maximum(gap, gap_before, out=gap)
    return Candidates(ours, theirs, np.maximum(gap, 0, out=gap).astype(np.int64))


def count_candidate_pairs(
    generated: Sequence[Comment], reference: Sequence[Comment], distance: int, *, anywhere: bool = False
) -> int:
    """How many pairs may match by location, without making them: there may be more than memory holds."""
    if anywhere or not generated or not reference:
        return len(generated) * len(reference)
    distance = min(distance, MAX_LINE)
    their_groups = _grouped(reference, _rows(reference))
    return sum(
        int((high - low).sum())
        for (path, side), ours in _grouped(generated, _rows(generated)).items()
        for theirs in _compatible(their_groups, path, side)
        for low, high in _touching_runs(ours, theirs, distance)
    )


def _pair_by_pair(generated: Sequence[Comment], reference: Sequence[Comment], distance: int) -> Candidates:
    """The same by looking at every pair: where they are few, the arrays of an index take longer to make."""
    places = [
        (other, normal_path(comment.path), normal_side(comment.side), *comment.span)
        for other, comment in enumerate(reference)
    ]
    in_file: dict[str | None, list[tuple[int, str | None, str | None, int, int]]] = {None: places}
    ours: list[int] = []
    theirs: list[int] = []
    gaps: list[int] = []
    for position, comment in enumerate(generated):
        path, side, (first, last) = normal_path(comment.path), normal_side(comment.side), comment.span
        if path not in in_file:
            in_file[path] = [place for place in places if place[1] == path or place[1] is None]
        for other, _, their_side, their_first, their_last in in_file[path]:
            gap = their_first - last if their_first > last else first - their_last
            if gap <= distance and (side == their_side or side is None or their_side is None):
                ours.append(position)
                theirs.append(other)
                gaps.append(gap if gap > 0 else 0)
    return Candidates(np.array(ours, np.int64), np.array(theirs, np.int64), np.array(gaps, np.int64))


def _in_order(pairs: Indices, limit: int) -> Indices:
    """Distinct numbers below the limit, sorted; where they are dense, marking them is quicker than comparing them."""
    if limit > 8 * len(pairs):
        return np.sort(pairs)
    marked = np.zeros(limit, bool)
    marked[pairs] = True
    return np.flatnonzero(marked)


_Location = tuple[str | None, str | None]
_Runs = tuple[Indices, Indices]
"""Runs of rows, by the first and by what is behind the last of each."""


def _rows(comments: Sequence[Comment]) -> Indices:
    """(position, from, to) of each."""
    return np.array([(position, *comment.span) for position, comment in enumerate(comments)], np.int64)


def _grouped(comments: Sequence[Comment], rows: Indices) -> dict[_Location, Indices]:
    """The rows by (path, side), each group ordered by its first line."""
    groups: dict[_Location, list[int]] = defaultdict(list)
    for position, comment in enumerate(comments):
        groups[normal_path(comment.path), normal_side(comment.side)].append(position)
    return {
        location: (group := rows[positions])[np.argsort(group[:, 1], kind="stable")]
        for location, positions in groups.items()
    }


def _compatible(groups: dict[_Location, Indices], path: str | None, side: str | None) -> list[Indices]:
    """The groups whose path and side agree with these; a direct look-up unless a field is missing here."""
    if path is not None and side is not None:
        locations: list[_Location] = [(path, side), (path, None), (None, side), (None, None)]
        return [groups[location] for location in locations if location in groups]
    return [
        group
        for (their_path, their_side), group in groups.items()
        if _agree(path, their_path) and _agree(side, their_side)
    ]


def _touching(ours: Indices, theirs: Indices, distance: int, width: int) -> Indices:
    """The pairs of two groups whose ranges are at most `distance` apart, each as our position * width + theirs.

    Stretch every range by `distance` at its end; the two then overlap, and that is so exactly where either theirs
    begins within ours, or ours begins within theirs, later than it. Both are runs of a sorted column.
    """
    within_ours, within_theirs = _touching_runs(ours, theirs, distance)
    sizes, rows = _indices(*within_ours)
    begin_in_ours = np.repeat(ours[:, 0] * width, sizes)
    begin_in_ours += theirs[:, 0][rows]
    sizes, rows = _indices(*within_theirs)
    begin_in_theirs = np.repeat(theirs[:, 0], sizes)
    begin_in_theirs += (ours[:, 0] * width)[rows]
    return np.concatenate([begin_in_ours, begin_in_theirs])


def _touching_runs(ours: Indices, theirs: Indices, distance: int) -> tuple[_Runs, _Runs]:
    """For each of ours the rows of theirs that begin within it, and for each of theirs those of ours."""
    return (
        _beginning_within(theirs, ours[:, 1], ours[:, 2] + distance),
        _beginning_within(ours, theirs[:, 1] + 1, theirs[:, 2] + distance),
    )


def _beginning_within(rows: Indices, first: Indices, last: Indices) -> _Runs:
    """For each interval first..last the run of rows that begin in it."""
    low = np.searchsorted(rows[:, 1], first, side="left")
    return low, np.maximum(low, np.searchsorted(rows[:, 1], last, side="right"))


def _indices(low: Indices, high: Indices) -> tuple[Indices, Indices]:
    """How many rows each run has, and the indices of these rows, one after another."""
    sizes = high - low
    ends = np.cumsum(sizes)
    return sizes, np.arange(ends[-1]) + np.repeat(high - ends, sizes)
