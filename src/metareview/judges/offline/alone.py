"""How alike two notes are with nothing around them: the offline judge's score of a pair without rivals.

A question of one note each way would tell the same, but each costs a millisecond. Without rivals and without other
notes in the question, all features are sums over words that the two share and words that they do not, so that a few
matrix products give the scores of some thousand pairs at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.model import shipped
from metareview.judges.offline.notes import UNIT, Floats, Ints, read_notes
from metareview.text.equality import collapsed, composed

_IN_ONE, _IN_BOTH = math.log(3 / 1), math.log(3 / 2)
"""What a term counts by how many of the two notes have it: log((notes + 1) / notes that have it)."""
WORDS = 3_000
"""How many words of either side are compared at a time: bounds memory."""
CELLS = 500_000
"""How many pairs of words are compared at a time where pairs of notes are scored one by one: bounds memory."""
SPARSE = 4
"""How many times as long a pair takes by itself as in a table of some notes against others."""


class MutualScores:
    """Scores of pairs of some notes: the mean of both directions, since either could be called the reference."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._model = shipped()
        self.threshold: float = self._model.threshold
        notes = self._notes = read_notes(list(map(composed, texts)), self._model.background)
        self._root_rarity: Floats = np.sqrt(notes.rarity)
        self._terms = sp.csr_array(notes.terms)
        self._total = np.asarray(self._terms @ self._root_rarity)
        self._length = np.log(np.maximum(notes.length, 1))
        self._word_count = np.array([len(words) for words in notes.words], np.int64)
        numbers: dict[str, int] = {"": 0}
        equal = [numbers.setdefault(collapsed(text), len(numbers)) for text in texts]
        self._collapsed = np.array(equal, np.int64)

    def same(self, one: Ints, other: Ints) -> NDArray[np.bool_]:
        """For each of some pairs of notes, given by their positions, whether both say the same: the score of the two
        is at or over the judge's threshold."""
        alike: NDArray[np.bool_] = self.of_pairs(one, other) >= self.threshold
        return alike

    def of_pairs(self, one: Ints, other: Ints) -> Floats:
        """The score of each of some pairs of notes, given by their positions; equal pairs are worked out once."""
        size = len(self._word_count)
        distinct, pair = np.unique(np.minimum(one, other) * size + np.maximum(one, other), return_inverse=True)
        first, second = np.divmod(distinct, max(size, 1))
        (left, row), (right, column) = (np.unique(each, return_inverse=True) for each in (first, second))
        in_table = len(left) * len(right) <= SPARSE * len(distinct)
        scores = self.between(left, right)[row, column] if in_table else self._one_by_one(first, second)
        return scores[pair]

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
        scores = self._scores(left[:, None], right[None], shared, self._alignment(left, right), meaning)
        return scores.reshape(shared.shape)

    def _one_by_one(self, one: Ints, other: Ints) -> Floats:
        """The score of each pair, where few of all that these notes could form are asked for."""
        scores = np.empty(len(one))
        words = np.maximum(self._word_count[one], self._word_count[other])
        order = np.argsort(words, kind="stable")  # so that the pairs of a part have about as many words
        for part in np.split(order, _part_ends(words[order] ** 2)):
            left, right = one[part], other[part]
            shared = np.asarray((self._terms[left] * self._terms[right]) @ self._root_rarity)
            meaning = np.einsum("ij,ij->i", self._notes.meaning[left], self._notes.meaning[right])
            scores[part] = self._scores(left, right, shared, self._aligned(left, right), meaning)
        return scores

    def _scores(self, left: Ints, right: Ints, shared: Floats, alignment: Floats, meaning: Floats) -> Floats:
        """The scores of pairs from their features, flat; the shapes of `left` and `right` go together as `shared`."""
        features = [each.ravel() for each in (self._overlap(shared, left, right), alignment, meaning)]
        equal = (self._collapsed[left] == self._collapsed[right]) & (self._collapsed[left] > 0)
        added = np.zeros(shared.size)
        for reference in (right, left):
            length = np.broadcast_to(self._length[reference], shared.shape).ravel()
            added += self._model.score_alone(np.column_stack([*features, length]), equal.ravel())
        return (added / 2).round(9)

    def _overlap(self, shared: Floats, left: Ints, right: Ints) -> Floats:
        """The weight of the terms that both have over the geometric mean of both notes' weights."""

        def weight(total: Floats) -> Floats:
            of_note = _IN_ONE * total - (_IN_ONE - _IN_BOTH) * shared
            return np.where(total > 0, of_note, 1.0)

        scale = np.sqrt(weight(self._total[left])) * np.sqrt(weight(self._total[right]))
        overlap: Floats = np.minimum(_IN_BOTH * shared / scale, 1.0)
        return overlap

    def _alignment(self, left: Ints, right: Ints) -> Floats:
        """The harmonic mean of how well the words of each note find a counterpart in the other."""
        ours, theirs = _Words.of(self._notes.words, left), _Words.of(self._notes.words, right)
        near = self._notes.word_vector[ours.distinct] @ self._notes.word_vector[theirs.distinct].T
        left_in_right = self._found(ours, theirs, np.ascontiguousarray(near.T), right)
        return _harmonic_mean(left_in_right, self._found(theirs, ours, near, left).T)

    def _aligned(self, left: Ints, right: Ints) -> Floats:
        """The same for each pair by itself."""
        ours, theirs = self._padded(left), self._padded(right)
        near = self._vector_or_none[ours] @ self._vector_or_none[theirs].transpose(0, 2, 1)
        left_in_right = self._found_each(ours, near.max(axis=2), right)
        return _harmonic_mean(left_in_right, self._found_each(theirs, near.max(axis=1), left))

    def _padded(self, notes: Ints) -> Ints:
        """(notes, words): the words of each that are compared by meaning, and -1 behind them."""
        counts = self._word_count[notes]
        table = np.full((len(notes), int(counts.max(initial=0))), -1, np.int64)
        table[np.arange(table.shape[1]) < counts[:, None]] = np.concatenate([self._notes.words[note] for note in notes])
        return table

    def _found_each(self, words: Ints, best: NDArray[np.float32], other_notes: Ints) -> Floats:
        """For each row of words how near they come to some word of the other note, weighted, as in `_found`."""
        stem = self._notes.word_term[words]
        has_stem = (stem >= 0) & (words >= 0)
        wanted = (other_notes * self._terms.shape[1])[:, None] + stem
        compared = has_stem & _among(self._compared_stems, wanted)
        nearest = np.where(compared, 1.0, np.clip(best.astype(np.float64) / UNIT**2, 0.0, 1.0))
        in_other = compared | (has_stem & _among(self._note_terms, wanted))
        rarity = np.append(self._root_rarity, 1.0)[stem]  # of a word without a stem the last
        weight = np.where(has_stem, np.where(in_other, _IN_BOTH, _IN_ONE), words >= 0) * rarity
        found: Floats = (weight * nearest).sum(axis=1) / weight.sum(axis=1)
        return found

    @cached_property
    def _vector_or_none(self) -> NDArray[np.float32]:
        """The vector of each word, and last, at -1, that of no word: it is like nothing."""
        vectors = self._notes.word_vector
        return np.concatenate([vectors, np.zeros((1, vectors.shape[1]), np.float32)])

    @cached_property
    def _note_terms(self) -> Ints:
        """note * number of terms + term for all that notes have, in order."""
        note = np.repeat(np.arange(len(self._word_count)), np.diff(self._terms.indptr))
        return np.sort(note * self._terms.shape[1] + self._terms.indices)

    @cached_property
    def _compared_stems(self) -> Ints:
        """The same of the words that are compared by meaning."""
        note = np.repeat(np.arange(len(self._word_count)), self._word_count)
        stem = self._notes.word_term[np.concatenate(self._notes.words)]
        return np.sort((note * self._terms.shape[1] + stem)[stem >= 0])

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


def _harmonic_mean(one: Floats, other: Floats) -> Floats:
    product: Floats = 2 * one * other
    return product / np.maximum(one + other, 1e-9)


def _among(values: Ints, wanted: Ints) -> NDArray[np.bool_]:
    """Which of the wanted are among the values, which are in order."""
    if not len(values):
        return np.zeros(wanted.shape, bool)
    among: NDArray[np.bool_] = values[np.minimum(np.searchsorted(values, wanted), len(values) - 1)] == wanted
    return among


def _part_ends(cells: Ints) -> Ints:
    """Where to cut some pairs, in this order, so that each part has at most CELLS cells, or is one pair."""
    part = np.cumsum(cells) // CELLS
    return np.flatnonzero(np.diff(part)) + 1


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
