"""From verdicts to pairs: which comment counts as having raised which reference.

`optimal` is a maximum matching: the most pairs, then the highest sum of scores, then the first by content. References
are rows, comments are columns, and it takes four steps:

1. Number rows and columns by content, so that the order of the input cannot matter.
2. Find one best matching, as an assignment problem: a pair is worth its score and, on top, more than all scores
   together. Scores are whole numbers of a tiny unit, so that no rounding decides a tie.
3. Describe all best matchings by dual values: one value, 0 or more, for each row and column, so that no pair is worth
   more than its row and column together. A pair worth exactly that much is tight. The best matchings are those of
   tight pairs that leave only rows and columns of value 0 alone.
4. Row by row, exchange columns until the row has the first column that a best matching can give it, all rows before
   it keeping theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from metareview.comments.small_matching import MOST, first_best_pairs, parts_of
from metareview.model.comment import Comment

Mode = Literal["optimal", "coverage", "greedy"]
MODES: tuple[Mode, ...] = ("optimal", "coverage", "greedy")

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
_FINEST_UNIT = 10**9
FEW = 200
"""Up to so many edges a graph is first taken apart."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges between comments and references: `generated[i]` and `reference[i]` with `score[i]`."""

    generated: Indices
    reference: Indices
    score: Floats

    def only(self, keep: NDArray[np.bool_]) -> Graph:
        return self.take(np.flatnonzero(keep))

    def take(self, edges: Indices) -> Graph:
        return Graph(self.generated[edges], self.reference[edges], self.score[edges])

    def pairs(self) -> Indices:
        """Shape (n, 2): generated, reference."""
        pairs = np.empty((len(self.generated), 2), np.int64)
        pairs[:, 0], pairs[:, 1] = self.generated, self.reference
        return pairs

    def __len__(self) -> int:
        return len(self.generated)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The pairs that count; one-to-one but for `coverage`, where they are all edges."""

    pairs: tuple[tuple[int, int], ...]
    """(generated, reference), in order of the reference."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Alignment:
        return cls(tuple(sorted(pairs, key=itemgetter(1, 0))))

    @property
    def matched(self) -> set[int]:
        """Comments that count as matched."""
        return {generated for generated, _ in self.pairs}

    @property
    def covered(self) -> set[int]:
        """References that count as raised."""
        return {reference for _, reference in self.pairs}


def align(mode: Mode, graph: Graph, generated: Sequence[Comment], reference: Sequence[Comment]) -> Alignment:
    """Align one graph by `optimal` or `coverage`; for `greedy` see `align_greedy`, which needs both graphs."""
    if mode == "coverage" or not len(graph):
        return Alignment.of(_pairs(graph))
    whole = _unit(len(reference) + len(generated)) == _FINEST_UNIT
    if whole and len(graph) <= FEW:
        return Alignment.of(_matched_part_by_part(graph, generated, reference))
    return Alignment.of(_matched([graph] if whole else _components(graph), generated, reference))


def _matched(
    parts: Sequence[Graph], generated: Sequence[Comment], reference: Sequence[Comment]
) -> Iterator[tuple[int, int]]:
    """The best matching of each of some graphs that share no vertex."""
    columns, rows = _by_content(generated), _by_content(reference)
    column_rank, row_rank = np.argsort(columns), np.argsort(rows)
    for part in parts:
        matching = _first_best_matching(Graph(column_rank[part.generated], row_rank[part.reference], part.score))
        yield from zip(columns[matching[1]].tolist(), rows[matching[0]].tolist(), strict=True)


def _matched_part_by_part(
    graph: Graph, generated: Sequence[Comment], reference: Sequence[Comment]
) -> Iterator[tuple[int, int]]:
    """The same of a graph with few edges, most of which have no vertex in common."""
    ours, theirs = graph.generated.tolist(), graph.reference.tolist()
    if len(set(ours)) == len(ours) == len(set(theirs)):
        yield from zip(ours, theirs, strict=True)
        return
    scores = np.rint(graph.score * _FINEST_UNIT).astype(np.int64).tolist()
    for part in parts_of(list(zip(ours, theirs, scores, strict=True))):
        if len(part) <= MOST:
            yield from first_best_pairs(part, _FINEST_UNIT, generated, reference)
        else:
            comments = np.array([edge[0] for edge in part], np.int64)
            yield from _matched([graph.only(np.isin(graph.generated, comments))], generated, reference)


def align_greedy(line: Graph, full: Graph | None) -> tuple[Alignment, Alignment]:
    """AACR's procedure, both alignments at once: comments in input order, references in input order.

    A comment takes the first free reference that means the same, and stops; every reference that it touches by
    location on the way is used up for lines, though it counts once. Where meaning is not asked (`full` is None)
    nothing stops it, so that the first comment uses up a whole crowd of references, and the rest find none: that is
    why the references of AACR-Bench, scored against themselves by location alone, find 1243 of 1505.
    """
    means_the_same = set() if full is None else set(_pairs(full))
    used_by_line: set[int] = set()
    line_pairs: list[tuple[int, int]] = []
    pairs: dict[int, int] = {}  # by reference
    for generated, edges in groupby(sorted(_pairs(line)), itemgetter(0)):
        touched = []
        for _, reference in edges:
            if reference not in used_by_line:
                touched.append(reference)
            if reference not in pairs and (generated, reference) in means_the_same:
                pairs[reference] = generated
                break
        used_by_line.update(touched)
        line_pairs += [(generated, reference) for reference in touched[:1]]
    by_line = Alignment.of(line_pairs)
    return by_line, by_line if full is None else Alignment.of((g, r) for r, g in pairs.items())


def _pairs(graph: Graph) -> Iterable[tuple[int, int]]:
    return zip(graph.generated.tolist(), graph.reference.tolist(), strict=True)


def _by_content(comments: Sequence[Comment]) -> Indices:
    """The positions in order of content; equal comments in order of position."""
    keys = [comment.content_key for comment in comments]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)


def _unit(size: int) -> int:
    """Into how many units a score of 1 is cut so that all sums over `size` rows and columns are exact in a double."""
    return min(_FINEST_UNIT, 2**52 // (size * (size + 1)))


def _components(graph: Graph) -> list[Graph]:
    """The connected parts. Each can be matched on its own, and the smaller it is, the finer its unit may be."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    width = int(graph.generated.max()) + 1
    size = width + int(graph.reference.max()) + 1
    # Of 32 bits: older versions of SciPy take no others here.
    ends = graph.generated.astype(np.int32), (graph.reference + width).astype(np.int32)
    joined = coo_array((np.ones(len(graph)), ends), shape=(size, size))
    label = connected_components(joined, directed=False)[1][graph.generated]
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    return [graph.take(edges) for edges in np.split(order, cuts)]


def _first_best_matching(graph: Graph) -> Indices:
    """The best matching that comes first: its rows, and the column of each. Vertices of the graph are ranks."""
    from scipy.optimize import linear_sum_assignment

    rows, row = _compact(graph.reference)
    columns, column = _compact(graph.generated)
    n_rows, n_columns = len(rows), len(columns)
    unit = _unit(n_rows + n_columns)
    worth = np.zeros((n_rows, n_columns))  # 0: no edge; who is assigned such a pair is left alone
    worth[row, column] = unit * (min(n_rows, n_columns) + 1) + np.rint(graph.score * unit)
    paired_rows, paired_columns = linear_sum_assignment(worth, maximize=True)
    real = worth[paired_rows, paired_columns] > 0
    paired_rows, paired_columns = paired_rows[real], paired_columns[real]
    row_value, column_value = _dual_values(worth, paired_rows, paired_columns)

    # All best matchings have equally many pairs, so they leave equally many rows and columns alone. Give each of
    # these a substitute, and the best matchings are the perfect matchings of one square graph.
    side = n_rows + n_columns - len(paired_rows)
    tight = np.zeros((side, side), bool)
    tight[row, column] = worth[row, column] == row_value[row] + column_value[column]
    tight[:n_rows, n_columns:] = row_value[:, None] == 0
    tight[n_rows:, :n_columns] = column_value == 0
    column_of = np.empty(side, np.int64)
    column_of[paired_rows] = paired_columns
    column_of[np.delete(np.arange(n_rows), paired_rows)] = np.arange(n_columns, side)
    column_of[n_rows:] = np.delete(np.arange(n_columns), paired_columns)

    first = np.array(_first_perfect_matching(tight, column_of.tolist(), n_rows))
    paired = np.flatnonzero(first < n_columns)
    return np.array([rows[paired], columns[first[paired]]])


def _compact(values: Indices) -> tuple[Indices, Indices]:
    """The distinct values in order, and for each value its position among them."""
    present = np.bincount(values) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[values]


def _dual_values(worth: Floats, paired_rows: Indices, paired_columns: Indices) -> tuple[Floats, Floats]:
    """The values of rows and of columns for a best matching, those of columns as low as possible.

    At first a row has all the worth of its pair. Where another pair of the row is worth more than its two values, the
    column's value is raised to make up for it; the row paired with that column keeps less, and is looked at again.
    """
    row_value, column_value = np.zeros(worth.shape[0]), np.zeros(worth.shape[1])
    row_value[paired_rows] = worth[paired_rows, paired_columns]
    # Only paired columns are ever raised: to raise another would be to have found a better matching.
    row_of = np.empty(worth.shape[1], np.int64)
    row_of[paired_columns] = paired_rows
    changed = np.arange(worth.shape[0])
    while len(changed):
        needed = (worth[changed] - row_value[changed, None]).max(axis=0)
        raised = np.flatnonzero(needed > column_value)
        column_value[raised] = needed[raised]
        changed = row_of[raised]
        row_value[changed] = worth[changed, raised] - column_value[raised]
    return row_value, column_value


def _first_perfect_matching(tight: NDArray[np.bool_], column_of: list[int], n_rows: int) -> list[int]:
    """The columns of the first `n_rows` rows in the perfect matching that comes first, made from any other.

    Sets of columns are the bits of a number. `unsettled` are those that no earlier row has for good.
    """
    may_have = [int.from_bytes(bits.tobytes(), "little") for bits in np.packbits(tight, 1, "little")]
    row_of = np.argsort(column_of).tolist()
    unsettled = (1 << len(column_of)) - 1
    for row in range(n_rows):
        while better := may_have[row] & unsettled & ((1 << column_of[row]) - 1):
            start = (better & -better).bit_length() - 1
            path, reached = _exchange(may_have, row_of, start, column_of[row], unsettled)
            if path:
                takers = [row, *(row_of[column] for column in path[:-1])]
                for column, taker in zip(path, takers, strict=True):
                    column_of[taker], row_of[column] = column, taker
            else:
                # The rows that have the columns reached can have no others, so no other row can ever have these.
                for other, column in enumerate(column_of):
                    if not reached >> column & 1:
                        may_have[other] &= ~reached
        unsettled ^= 1 << column_of[row]
    return column_of[:n_rows]


def _exchange(may_have: list[int], row_of: list[int], start: int, goal: int, unsettled: int) -> tuple[list[int], int]:
    """A path of columns from start to goal, where the row that has one of them may have the next one instead.

    If there is none: an empty path, and the columns that can be reached.
    """
    path = [start]
    unseen = unsettled ^ 1 << start
    while path:
        onward = may_have[row_of[path[-1]]]
        if onward >> goal & 1:
            return [*path, goal], 0
        onward &= unseen
        if onward:
            path.append((onward & -onward).bit_length() - 1)
            unseen ^= 1 << path[-1]
        else:
            path.pop()
    return [], unsettled & ~unseen
