"""From verdicts to pairs: who is counted as having said what.

`optimal` is a maximum matching: most pairs, then the highest sum of scores, then the first by content. The first two
are one assignment problem in whole numbers, so no rounding can decide a tie. All its solutions are known from the
dual values: they are the matchings that use tight edges only and leave no vertex with a positive value free. Among
these the first is built reference by reference, each taking the first comment that some solution gives it; a search
along alternating paths over bit sets tells which those are. Components of the graph are independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from metareview.model.comment import Comment

Mode = Literal["optimal", "coverage", "greedy"]
MODES: tuple[Mode, ...] = ("optimal", "coverage", "greedy")

Indices = NDArray[np.int64]
_SCORE_UNIT = 10**9


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges between comments and references: `generated[i]` and `reference[i]` with `score[i]`."""

    generated: Indices
    reference: Indices
    score: NDArray[np.float64]

    def only(self, keep: NDArray[np.bool_]) -> Graph:
        return Graph(self.generated[keep], self.reference[keep], self.score[keep])

    def pairs(self) -> Indices:
        """Shape (n, 2): generated, reference."""
        return np.column_stack([self.generated, self.reference])

    def __len__(self) -> int:
        return len(self.generated)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The pairs that count; one-to-one but for `coverage`, where they are all edges."""

    pairs: tuple[tuple[int, int], ...]
    """(generated, reference), in order of the reference."""

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
    if mode == "coverage":
        edges = zip(graph.reference.tolist(), graph.generated.tolist(), strict=True)
        return Alignment(tuple((g, r) for r, g in sorted(edges)))
    if not len(graph):
        return Alignment(())
    rank_generated, rank_reference = _ranks(generated), _ranks(reference)
    ranked = Graph(rank_generated[graph.generated], rank_reference[graph.reference], graph.score)
    back_generated, back_reference = np.argsort(rank_generated), np.argsort(rank_reference)
    # Bit sets carry a whole graph of equal scores; only sums of scores need small parts.
    equal = bool((graph.score == graph.score[0]).all())
    pairs = [pair for part in ([ranked] if equal else _components(ranked)) for pair in _optimal(part)]
    named = [(int(back_generated[g]), int(back_reference[r])) for g, r in pairs]
    return Alignment(tuple(sorted(named, key=lambda pair: (pair[1], pair[0]))))


def align_greedy(line: Graph, full: Graph | None) -> tuple[Alignment, Alignment]:
    """AACR's procedure, both alignments at once: comments in input order, references in input order.

    A comment takes the first free reference that means the same, and stops; every reference that it touches by place
    on the way is used up for lines, though it counts once. Where meaning is not asked (`full` is None) nothing stops
    it, so that the first comment uses up a whole crowd of references, and the rest find none: that is why the
    references of AACR-Bench, scored against themselves by place alone, find 1243 of 1505.
    """
    means_the_same = set() if full is None else set(zip(full.generated.tolist(), full.reference.tolist(), strict=True))
    used_by_line: set[int] = set()
    used: set[int] = set()
    line_pairs: list[tuple[int, int]] = []
    pairs: list[tuple[int, int]] = []
    for generated, references in sorted(_neighbours(line).items()):
        touched: int | None = None
        for reference in sorted(references):
            if reference not in used_by_line:
                used_by_line.add(reference)
                touched = reference if touched is None else touched
            if reference not in used and (generated, reference) in means_the_same:
                used.add(reference)
                pairs.append((generated, reference))
                break
        if touched is not None:
            line_pairs.append((generated, touched))
    by_line = Alignment(tuple(sorted(line_pairs, key=lambda pair: pair[1])))
    if full is None:
        return by_line, by_line
    return by_line, Alignment(tuple(sorted(pairs, key=lambda pair: pair[1])))


def _neighbours(graph: Graph) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for generated, reference in zip(graph.generated.tolist(), graph.reference.tolist(), strict=True):
        found[generated].append(reference)
    return found


def _ranks(comments: Sequence[Comment]) -> Indices:
    """Each comment's rank by content, equal ones by position."""
    order = sorted(range(len(comments)), key=lambda position: comments[position].content_key)
    ranks = np.empty(len(comments), np.int64)
    ranks[order] = np.arange(len(comments))
    return ranks


def _components(graph: Graph) -> list[Graph]:
    """The connected parts. A pair that stands alone, the commonest part, needs no further thought."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    width = int(graph.generated.max()) + 1
    size = width + int(graph.reference.max()) + 1
    edges = coo_array((np.ones(len(graph), np.int8), (graph.generated, graph.reference + width)), shape=(size, size))
    count, labels = connected_components(edges, directed=False)
    if count == 1:
        return [graph]
    label = labels[graph.generated]
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    return [Graph(graph.generated[part], graph.reference[part], graph.score[part]) for part in np.split(order, cuts)]


def _optimal(graph: Graph) -> list[tuple[int, int]]:
    """The first of the best matchings of one component; positions are ranks by content."""
    if len(graph) == 1:
        return [(int(graph.generated[0]), int(graph.reference[0]))]
    columns, column = np.unique(graph.generated, return_inverse=True)
    rows, row = np.unique(graph.reference, return_inverse=True)
    size = len(rows) + len(columns)
    # The finest unit for which all sums below stay exact in a double: 1e-9 up to two thousand comments.
    unit = min(_SCORE_UNIT, 2**52 // (size * (size + 1)))
    score = np.rint(graph.score * unit)
    if (score == score[0]).all():
        solutions = _by_number(row, column, len(rows), len(columns))
    else:
        solutions = _by_score(row, column, score, unit, len(rows), len(columns))
    mates = _first_solution(solutions, len(rows))
    return [(int(columns[c]), int(rows[r])) for r, c in enumerate(mates) if c < len(columns)]


@dataclass(slots=True)
class _Solutions:
    """All best matchings of a component, as the perfect matchings of a slightly larger graph, and one of them.

    Every row gets a column of its own and every column a row of its own, for being left out; these extra rows and
    columns may take each other. Bit c of `tight[r]`: some best matching may pair row r and column c.
    """

    tight: list[int]
    mate_of_row: list[int]
    mate_of_column: list[int]

    @classmethod
    def of(
        cls, tight: list[int], mates: Sequence[int], n_columns: int, free_rows: int, free_columns: int
    ) -> _Solutions:
        """From the tight edges, one matching (-1: alone), and who may be left out (bit sets)."""
        n_rows = len(tight)
        extra_columns = ((1 << n_rows) - 1) << n_columns
        wide = [edges | (free_rows >> r & 1) << (n_columns + r) for r, edges in enumerate(tight)]
        wide += [extra_columns | (free_columns >> c & 1) << c for c in range(n_columns)]
        mate_of_row = [c if c >= 0 else n_columns + r for r, c in enumerate(mates)] + [-1] * n_columns
        mate_of_column = [-1] * (n_columns + n_rows)
        for r, c in enumerate(mate_of_row[:n_rows]):
            mate_of_column[c] = r
        unused = iter([c for c in range(n_columns, n_columns + n_rows) if mate_of_column[c] < 0])
        for c in range(n_columns):
            partner = c if mate_of_column[c] < 0 else next(unused)
            mate_of_row[n_rows + c], mate_of_column[partner] = partner, n_rows + c
        return cls(wide, mate_of_row, mate_of_column)


def _by_number(row: Indices, column: Indices, n_rows: int, n_columns: int) -> _Solutions:
    """All scores equal: a maximum matching by augmenting paths, and König's cover as its dual."""
    edges = _bit_rows(row, column, n_rows, n_columns)
    mate_of_row, mate_of_column = [-1] * n_rows, [-1] * n_columns
    free = (1 << n_columns) - 1
    reached = 0  # columns on alternating paths from rows that stay alone: no path to a free column leads through them
    for start in range(n_rows):
        tried, taken = _augment(start, edges, mate_of_row, mate_of_column, reached, free)
        reached |= tried
        free &= ~taken
    free_rows = 0
    for r, c in enumerate(mate_of_row):
        if c < 0 or reached >> c & 1:
            free_rows |= 1 << r
    tight = [edges[r] if free_rows >> r & 1 else edges[r] & ~reached for r in range(n_rows)]
    return _Solutions.of(tight, mate_of_row, n_columns, free_rows, ~reached & ((1 << n_columns) - 1))


def _augment(
    start: int, edges: list[int], mate_of_row: list[int], mate_of_column: list[int], dead: int, free: int
) -> tuple[int, int]:
    """Match one more row if a path leads to a free column.

    Answers (columns that were tried in vain, the free column that was taken), as bits; one of the two is 0.
    """
    came_from: dict[int, int] = {}
    seen = dead
    queue = [start]
    for r in queue:
        found = edges[r] & free
        if found:
            taken = found & -found
            c = taken.bit_length() - 1
            while True:
                mate_of_column[c] = r
                mate_of_row[r], c = c, mate_of_row[r]
                if c < 0:
                    return 0, taken
                r = came_from[c]
        new = edges[r] & ~seen
        seen |= new
        while new:
            low = new & -new
            new ^= low
            c = low.bit_length() - 1
            came_from[c] = r
            queue.append(mate_of_column[c])
    return seen & ~dead, 0


def _by_score(
    row: Indices, column: Indices, score: NDArray[np.float64], unit: int, n_rows: int, n_columns: int
) -> _Solutions:
    """Most pairs first, then the highest sum, in whole units."""
    from scipy.optimize import linear_sum_assignment

    pair = float(unit * (min(n_rows, n_columns) + 1))  # outweighs any sum of scores
    wide = np.full((n_rows, n_columns + n_rows), -np.inf)
    wide[row, column] = pair + score
    every_row = np.arange(n_rows)
    wide[every_row, n_columns + every_row] = 0.0  # a row may stay alone, which is worth nothing
    _, chosen = linear_sum_assignment(wide, maximize=True)
    column_value = _column_values(wide, chosen)
    row_value = wide[every_row, chosen] - column_value[chosen]
    tight_row, tight_column = np.nonzero(wide == row_value[:, None] + column_value[None, :])
    real = tight_column < n_columns
    return _Solutions.of(
        _bit_rows(tight_row[real], tight_column[real], n_rows, n_columns),
        [int(c) if c < n_columns else -1 for c in chosen],
        n_columns,
        _bits(np.flatnonzero(row_value == 0)),
        _bits(np.flatnonzero(column_value[:n_columns] == 0)),
    )


def _column_values(wide: NDArray[np.float64], chosen: NDArray[np.intp]) -> NDArray[np.float64]:
    """Dual values: the least column values under which no row would rather have another column than its own."""
    own = wide[np.arange(len(chosen)), chosen]
    value = np.zeros(wide.shape[1])
    while True:
        raised = np.maximum(value, (wide + (value[chosen] - own)[:, None]).max(axis=0))
        if (raised == value).all():
            return value
        value = raised


def _first_solution(found: _Solutions, n_rows: int) -> list[int]:
    """Of all best matchings the one whose pairs, by row and then column, come first."""
    settled = 0
    for r in range(n_rows):
        failed = settled  # columns from which no path leads to the one that r holds now
        choices = found.tight[r] & ~settled
        while choices:
            low = choices & -choices
            choices ^= low
            c = low.bit_length() - 1
            if found.mate_of_row[r] == c:
                break
            if not failed & low:
                failed = _exchange(found, r, c, failed | low)
                if not failed:
                    break
        settled |= 1 << found.mate_of_row[r]
    return found.mate_of_row[:n_rows]


def _exchange(found: _Solutions, r: int, c: int, seen: int) -> int:
    """Give row r column c, and whoever loses by it another, along an alternating path to the column that r gives up.

    Answers 0 when that is done; else nothing was changed, and the columns that were tried are added to `seen`.
    """
    tight, mate_of_row, mate_of_column = found.tight, found.mate_of_row, found.mate_of_column
    goal = mate_of_row[r]
    path = [mate_of_column[c]]
    taken: list[int] = []
    while path:
        edges = tight[path[-1]]
        if edges >> goal & 1:
            for loser, column in zip(path, [*taken, goal], strict=True):
                mate_of_row[loser], mate_of_column[column] = column, loser
            mate_of_row[r], mate_of_column[c] = c, r
            return 0
        new = edges & ~seen
        if new:
            low = new & -new
            seen |= low
            taken.append(low.bit_length() - 1)
            path.append(mate_of_column[taken[-1]])
        else:
            path.pop()
            if taken:
                taken.pop()
    return seen


def _bit_rows(row: Indices, column: Indices, n_rows: int, n_columns: int) -> list[int]:
    """For each row its columns as the bits of one number."""
    if len(row) < 8 * n_rows:
        rows = [0] * n_rows
        for r, c in zip(row.tolist(), column.tolist(), strict=True):
            rows[r] |= 1 << c
        return rows
    order = np.argsort(row, kind="stable")
    columns = column[order]
    cuts = np.searchsorted(row[order], np.arange(n_rows + 1))
    rows = []
    for r in range(n_rows):
        flags = np.zeros(n_columns, np.uint8)
        flags[columns[cuts[r] : cuts[r + 1]]] = 1
        rows.append(int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little"))
    return rows


def _bits(positions: NDArray[np.intp]) -> int:
    return sum(1 << int(position) for position in positions)
