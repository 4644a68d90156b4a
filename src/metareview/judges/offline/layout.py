"""The layout of a batch: all pairs of some tables in one flat array.

A table is the comments and the references of a question, or any notes on the left and on the right. Its pairs follow
one another row by row, where a row is a note on the left; and the tables follow one another. So a feature is one array
over all pairs of a batch, and most features take one sparse matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from metareview.judges.offline.notes import Ints, Notes, ranges
from metareview.judges.protocol import Question

WORD_PAIRS = 4_000_000
"""Pairs of words that are compared at a time: bounds memory."""
WASTE = 4
"""The most pairs that a table may have per requested pair: one pair by itself takes as long as some in a table."""


@dataclass(frozen=True)
class Side:
    """The notes on one side of all tables.

    A slot is a note at its place in a table: a note that a table has three times has three slots and one text.
    """

    note: Ints
    """Each slot's text, by its number in the batch."""
    start: Ints
    """Where each table's slots begin; one more entry than tables."""

    @classmethod
    def of(cls, tables: Sequence[Ints]) -> Side:
        """The notes of each table, by their numbers."""
        return cls(np.concatenate([np.zeros(0, np.int64), *tables]), np.cumsum([0, *map(len, tables)]))

    @property
    def sizes(self) -> Ints:
        """The number of slots of each table."""
        return np.diff(self.start)

    @property
    def table(self) -> Ints:
        """Each slot's table."""
        return np.repeat(np.arange(len(self.start) - 1), self.sizes)

    def slots(self, table: int) -> slice:
        """The slots of one table."""
        return slice(int(self.start[table]), int(self.start[table + 1]))


@dataclass(frozen=True)
class Layout:
    """The slots of some tables, and where the pairs of each table are in the flat array."""

    left: Side
    right: Side
    start: Ints
    """Where each table's pairs begin; one more entry than tables."""

    @classmethod
    def of(cls, left: Side, right: Side) -> Layout:
        return cls(left, right, np.concatenate([[0], np.cumsum(left.sizes * right.sizes)]))

    def pairs(self, table: int) -> slice:
        """Where the pairs of one table are."""
        return slice(int(self.start[table]), int(self.start[table + 1]))

    def places(self, left: Ints, right: Ints) -> Ints:
        """The places of pairs in the flat array, given by their slots."""
        table = self.left.table[left]
        row = left - self.left.start[table]
        return self.start[table] + row * self.right.sizes[table] + right - self.right.start[table]

    def all_pairs(self) -> tuple[Ints, Ints]:
        """The slots of each pair on the left and on the right."""
        table = self.left.table
        columns = self.right.sizes[table]
        return np.repeat(np.arange(len(table)), columns), ranges(self.right.start[table], columns)


def lay_out(questions: Sequence[Question]) -> tuple[list[str], Layout]:
    """The distinct texts of a batch's notes; and the layout of its questions, comments on the left."""
    numbers: dict[str, int] = {}
    comments, references = (
        Side.of([np.array([numbers.setdefault(note, len(numbers)) for note in notes], np.int64) for notes in side])
        for side in ([question.generated for question in questions], [question.reference for question in questions])
    )
    return list(numbers), Layout.of(comments, references)


def cut_rows(notes: Notes, layout: Layout) -> tuple[Layout, Ints]:
    """The tables in runs of rows that have at most WORD_PAIRS pairs of words, and the table that each run is cut from.

    All pairs keep their places in the flat array.
    """
    row_table = layout.left.table
    words, other_words = (np.append(0, np.cumsum(notes.word_count[each.note])) for each in (layout.left, layout.right))
    in_table = words[1:] - words[layout.left.start[row_table]]
    run = in_table * np.diff(other_words[layout.right.start])[row_table] // WORD_PAIRS
    if not run.any():
        return layout, np.arange(len(layout.start) - 1)
    first = np.flatnonzero(np.diff(run, prepend=-1) | np.diff(row_table, prepend=-1))
    table = row_table[first]
    sizes = layout.right.sizes[table]
    left = Side(layout.left.note, np.append(first, len(row_table)))
    right = Side(layout.right.note[ranges(layout.right.start[table], sizes)], np.append(0, np.cumsum(sizes)))
    return Layout.of(left, right), table


def cut_tables(notes: Notes, left: Ints, right: Ints) -> Iterator[tuple[Ints, Layout, Ints]]:
    """Tables that hold some pairs of notes and few others, with at most WORD_PAIRS pairs of words at a time.

    Gives which pairs they hold, their layout, and the place of each of these pairs in it.
    """
    order = np.lexsort((right, left))
    left, right = left[order], right[order]
    for ends in _ends_of_tables(notes, left, right):
        own = slice(ends[0], ends[-1])
        table = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        (ours, our_slots), (theirs, their_slots) = (_side(table, each[own], len(ends) - 1) for each in (left, right))
        layout = Layout.of(ours, theirs)
        yield order[own], layout, layout.places(our_slots, their_slots)


def _side(table: Ints, note: Ints, tables: int) -> tuple[Side, Ints]:
    """The distinct notes of each table, and the slot of each of the notes."""
    width = int(note.max(initial=0)) + 1
    key, slot = np.unique(table * width + note, return_inverse=True)
    return Side(key % width, np.searchsorted(key, np.arange(tables + 1) * width)), slot


def _ends_of_tables(notes: Notes, left: Ints, right: Ints) -> Iterator[list[int]]:
    """Where to cut pairs, which are in order, into tables: the ends of some tables at a time."""
    is_first = np.diff(left, prepend=-1) != 0
    row, words = np.cumsum(is_first), np.cumsum(np.where(is_first, notes.word_count[left], 0))
    words_before = words - notes.word_count[left]
    ends, total = [0], 0
    parts = [(0, len(left))] if len(left) else []
    while parts:
        start, end = parts.pop()
        rows, columns = int(row[end - 1] - row[start]) + 1, np.array(list(set(right[start:end].tolist())))
        size = int(words[end - 1] - words_before[start]) * int(notes.word_count[columns].sum())
        if end - start > 1 and (size > WORD_PAIRS or (rows > 1 and rows * len(columns) > WASTE * (end - start))):
            middle = (start + end) // 2
            if rows > 1:
                middle = start + int(np.searchsorted(row[start:end], row[start] + rows // 2))
            parts += [(middle, end), (start, middle)]
            continue
        if total + size > WORD_PAIRS and total:
            yield ends
            ends, total = [start], 0
        ends.append(end)
        total += size
    if total:
        yield ends
