"""How alike two notes are with nothing around them: the offline judge's score of a pair without rivals.

A question of one note each way would tell the same, but each costs a millisecond. Without rivals and without other
notes in the question, all features are sums over words that the two share and words that they do not, so that a few
matrix products give the scores of some thousand pairs at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.model import shipped
from metareview.judges.offline.notes import UNIT, Floats, Ints, read_notes

_IN_ONE, _IN_BOTH = math.log(3 / 1), math.log(3 / 2)
"""What a term counts by how many of the two notes have it: log((notes + 1) / notes that have it)."""
WORDS = 3_000
"""How many words of either side are compared at a time: bounds memory."""


class MutualScores:
    """Scores of pairs of some notes: the mean of both directions, since either could be called the reference."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._model = shipped()
        self.threshold: float = self._model.threshold
        notes = self._notes = read_notes(texts, self._model.background)
        self._root_rarity: Floats = np.sqrt(notes.rarity)
        self._terms = sp.csr_array(notes.terms)
        self._total = np.asarray(self._terms @ self._root_rarity)
        self._length = np.log(np.maximum(notes.length, 1))
        self._word_count = np.array([len(words) for words in notes.words], np.int64)
        numbers: dict[str, int] = {"": 0}
        collapsed = [numbers.setdefault(" ".join(text.split()), len(numbers)) for text in texts]
        self._collapsed = np.array(collapsed, np.int64)

    def between(self, left: Ints, right: Ints) -> Floats:
        """(left, right): the score of each of some notes and each of others, all given by their positions."""
        scores = np.empty((len(left), len(right)))
        for rows in self._tiles(left):
            for columns in self._tiles(right):
                scores[rows, columns] = self._tile(left[rows], right[columns])
        return scores

    def _tiles(self, notes: Ints) -> Iterator[slice]:
        """Runs of notes that have at most WORDS words together; a note has far fewer."""
        tile = np.cumsum(self._word_count[notes]) // WORDS
        ends = [0, *(np.flatnonzero(np.diff(tile)) + 1).tolist(), len(notes)]
        return (slice(start, end) for start, end in pairwise(ends) if end > start)

    def _tile(self, left: Ints, right: Ints) -> Floats:
        shared = ((self._terms[left] * self._root_rarity) @ self._terms[right].T).toarray()
        meaning = self._notes.meaning[left] @ self._notes.meaning[right].T
        symmetric = [self._overlap(shared, left, right), self._alignment(left, right), meaning]
        equal = (self._collapsed[left][:, None] == self._collapsed[right]) & (self._collapsed[left] > 0)[:, None]
        added = np.zeros(shared.size)
        for length in (np.broadcast_to(self._length[right], shared.shape), self._length[left][:, None] + 0 * shared):
            values = np.column_stack([each.ravel() for each in (*symmetric, length)])
            added += self._model.score_alone(values, equal.ravel())
        return (added / 2).round(9).reshape(shared.shape)

    def _overlap(self, shared: Floats, left: Ints, right: Ints) -> Floats:
        """The weight of the terms that both have over the geometric mean of both notes' weights."""

        def weight(total: Floats) -> Floats:
            of_note = _IN_ONE * total - (_IN_ONE - _IN_BOTH) * shared
            return np.where(total > 0, of_note, 1.0)

        scale = np.sqrt(weight(self._total[left][:, None])) * np.sqrt(weight(self._total[right][None]))
        overlap: Floats = np.minimum(_IN_BOTH * shared / scale, 1.0)
        return overlap

    def _alignment(self, left: Ints, right: Ints) -> Floats:
        """The harmonic mean of how well the words of each note find a counterpart in the other."""
        ours, theirs = _Words.of(self._notes.words, left), _Words.of(self._notes.words, right)
        near = self._notes.word_vector[ours.distinct] @ self._notes.word_vector[theirs.distinct].T
        left_in_right = self._found(ours, theirs, np.ascontiguousarray(near.T), right)
        right_in_left = self._found(theirs, ours, near, left).T
        product: Floats = 2 * left_in_right * right_in_left
        return product / np.maximum(left_in_right + right_in_left, 1e-9)

    def _found(self, words: _Words, others: _Words, near: NDArray[np.float32], other_notes: Ints) -> Floats:
        """(notes, other notes): how near each note's words come to some word of the other's, weighted.

        `near` is how near each of the other notes' distinct words comes to each of these notes'.
        """
        stem = self._notes.word_term[words.distinct]
        has_stem = stem >= 0
        best = np.maximum.reduceat(near[others.index], others.start, axis=0).astype(np.float64) / UNIT**2
        # A stem may be shared beyond the words that are compared by meaning; it weighs less, and is not found.
        nearest = np.where(self._have_words(others, stem) & has_stem, 1.0, np.clip(best, 0.0, 1.0))
        stemmed = stem[has_stem]
        in_other = self._terms[other_notes][:, stemmed].toarray() > 0
        weight = np.ones(nearest.shape)
        weight[:, has_stem] = np.where(in_other, _IN_BOTH, _IN_ONE) * self._root_rarity[stemmed]
        found: Floats = (words.presence @ (weight * nearest).T) / (words.presence @ weight.T)
        return found

    def _have_words(self, notes: _Words, stem: Ints) -> NDArray[np.bool_]:
        """(notes, stems): whether a note has a word of the stem among those that are compared by meaning."""
        stems_of = self._notes.word_term[notes.distinct]
        same = (stems_of[:, None] == stem).astype(np.float32)
        have: NDArray[np.bool_] = notes.presence.astype(np.float32) @ same > 0
        return have


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of some notes that are compared by meaning: each distinct one once, and which note has it."""

    distinct: Ints
    index: Ints
    """For each word of each note, note after note, its position in `distinct`."""
    start: Ints
    """Where each note's words begin in `index`."""
    presence: Floats
    """(notes, distinct words): 1 where the note has the word."""

    @classmethod
    def of(cls, words: Sequence[Ints], notes: Ints) -> _Words:
        words_of = [words[note] for note in notes]
        counts = np.array([len(each) for each in words_of], np.int64)
        distinct, index = np.unique(np.concatenate(words_of), return_inverse=True)
        presence = np.zeros((len(notes), len(distinct)))
        presence[np.repeat(np.arange(len(notes)), counts), index] = 1.0
        return cls(distinct, index, np.cumsum(counts) - counts, presence)
