"""The alignment of two notes: how near each word of one comes to some word of the other by meaning, both ways."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from metareview.judges.offline.layout import Layout, Side
from metareview.judges.offline.notes import UNIT, Floats, Ints, Notes, ranges

WIDE = 200
"""From how many words on the maxima over a note's words are quicker note by note than all at once."""

WordWeights = Callable[[int], Floats]
"""The weights of a table's distinct words on one side: (words,), or (notes on the other side, words) where the weight
of a word depends on the other note."""


class TableWords:
    """The words that are compared by meaning, of all notes on one side of some tables: each table's distinct ones."""

    def __init__(self, notes: Notes, side: Side) -> None:
        counts = notes.word_count[side.note]
        words_of = [notes.words[note] for note in side.note.tolist()]
        width = len(notes.word_term)
        key = np.repeat(side.table, counts) * width + np.concatenate([np.zeros(0, np.int64), *words_of])
        distinct, index = np.unique(key, return_inverse=True)
        self.table, self.word = np.divmod(distinct, width)
        self.stem = notes.word_term[self.word]
        self.start: list[int] = np.searchsorted(self.table, np.arange(len(side.start))).tolist()
        """Where each table's distinct words begin; one more entry than tables."""
        self._index = index
        self._note_start = np.concatenate([[0], np.cumsum(counts)])
        self._slot: list[int] = side.start.tolist()

    def own(self, table: int) -> slice:
        """Where the distinct words of one table are."""
        return slice(self.start[table], self.start[table + 1])

    def notes_of(self, table: int) -> tuple[Ints, Ints]:
        """The words of a table's notes, by their places among its distinct ones; and where each note's begin."""
        ends = self._note_start[self._slot[table] : self._slot[table + 1] + 1]
        return self._index[ends[0] : ends[-1]] - self.start[table], ends[:-1] - ends[0]


def alignments(
    notes: Notes, layout: Layout, words: tuple[TableWords, TableWords], weights: tuple[WordWeights, WordWeights]
) -> Floats:
    """For each pair of the layout the harmonic mean of both directions, each a weighted mean over a note's words.

    Words of equal stems are as near as can be.
    """
    (left, right), (left_weight, right_weight) = words, weights
    values = np.empty(int(layout.start[-1]))
    ours, theirs = _equal_stems(left, right)
    cuts = np.searchsorted(ours, left.start).tolist()
    for table in np.flatnonzero(np.diff(layout.start)).tolist():
        own, other = left.own(table), right.own(table)
        near = notes.word_vector[left.word[own]] @ notes.word_vector[right.word[other]].T
        equal = slice(cuts[table], cuts[table + 1])
        near[ours[equal] - own.start, theirs[equal] - other.start] = UNIT**2
        our_words, their_words = left.notes_of(table), right.notes_of(table)
        right_in_left = _mean(_nearest(near, *our_words), right_weight(table), *their_words)
        left_in_right = _mean(_nearest(np.ascontiguousarray(near.T), *their_words), left_weight(table), *our_words).T
        product: Floats = 2 * left_in_right * right_in_left
        product /= np.maximum(left_in_right + right_in_left, 1e-9)
        values[layout.pairs(table)] = product.ravel()
    return values


def _equal_stems(left: TableWords, right: TableWords) -> tuple[Ints, Ints]:
    """The places of all words on the left and on the right of a table that have the same stem."""
    width = int(max(left.stem.max(initial=0), right.stem.max(initial=0))) + 2
    ours, theirs = (words.table * width + words.stem + 1 for words in (left, right))
    order = np.argsort(theirs)
    in_order = theirs[order]
    first = np.searchsorted(in_order, ours)
    count = np.where(left.stem >= 0, np.searchsorted(in_order, ours, side="right") - first, 0)
    return np.repeat(np.arange(len(ours)), count), order[ranges(first, count)]


def _nearest(near: NDArray[np.float32], index: Ints, start: Ints) -> NDArray[np.float32]:
    """(notes, other words): how near some word of each note comes to each other word, from 0 to UNIT^2."""
    if near.shape[1] < WIDE:
        nearest = np.maximum.reduceat(near[index], start, axis=0)
    else:
        nearest = np.empty((len(start), near.shape[1]), np.float32)
        for note, (first, last) in enumerate(pairwise([*start.tolist(), len(index)])):
            np.maximum.reduce(near[index[first:last]], axis=0, out=nearest[note])
    np.maximum(nearest, 0, out=nearest)
    np.minimum(nearest, UNIT**2, out=nearest)
    return nearest


def _mean(nearest: NDArray[np.float32], weight: Floats, index: Ints, start: Ints) -> Floats:
    """(other notes, notes): how near the other note comes to each note's words, from 0 to 1: their weighted mean."""
    found: Floats = np.add.reduceat((nearest * weight)[:, index], start, axis=1)
    found /= np.add.reduceat(weight[..., index], start, axis=-1) * UNIT**2
    return found
