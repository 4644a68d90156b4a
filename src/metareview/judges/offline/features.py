"""The features of pairs: how alike two notes are, given the notes around them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.alignment import TableWords, WordWeights, alignments
from metareview.judges.offline.layout import Layout, Side, cut_rows
from metareview.judges.offline.notes import Floats, Ints, Notes
from metareview.judges.offline.terms import TableTerms, dense_block, overlaps

NAMES = ("words", "alignment", "meaning", "reference_length")
"""The features, in the order of the weights:

words             words and identifiers in common, weighted by how rare they are, at large and in this question
alignment         how near each word comes to some word of the other note by meaning, with the same weights, both ways
meaning           the cosine of the notes' summed word vectors
reference_length  the logarithm of the reference's number of words: what a given overlap is worth depends on it
"""
REPEATS = 8
"""The power of two comments' likeness: only one that repeats another almost word for word is no rival of it."""


class Rivals(Protocol):
    """Sums over the rivals of pairs. A rival counts with its distinctness from the pair's own note."""

    def other_comments(self, values: Floats) -> Floats:
        """For each pair the values of other comments on its reference, added up."""

    def other_references(self, values: Floats) -> Floats:
        """For each pair the values of its comment's other references, added up."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of comments and references."""

    notes: Notes
    layout: Layout
    comment: Ints
    """The slot of each pair's comment."""
    reference: Ints
    """The slot of each pair's reference."""

    def notes_of(self, place: Ints | slice) -> tuple[Ints, Ints]:
        """The texts of some pairs' comments and references, by their numbers in the batch."""
        return self.layout.left.note[self.comment[place]], self.layout.right.note[self.reference[place]]

    @cached_property
    def equal(self) -> NDArray[np.bool_]:
        """Which pairs' notes are the same but for white space."""
        return self.notes.equal(*self.notes_of(slice(None)))


@dataclass(frozen=True)
class Features:
    """The features of pairs, and the sums over their rivals."""

    pairs: Pairs
    values: Floats
    """(pairs, features), in the order of NAMES."""
    rivals: Rivals


class Weights(Protocol):
    """How much the terms and the words of some tables count."""

    def overlap(self) -> sp.csr_array:
        """(slots on the left, slots on the right): the overlap of their terms."""

    def of_words(self, words: TableWords, others: Side, presence: sp.csr_array) -> WordWeights:
        """The weights of the words on one side; `others` are the notes on the other, with the presence of terms."""


def table_features(notes: Notes, terms: TableTerms, weights: Weights) -> Floats:
    """(pairs, features): those of all pairs of some tables."""
    layout = terms.layout
    left, right = layout.left, layout.right
    words, other_words = TableWords(notes, left), TableWords(notes, right)
    word_weights = (weights.of_words(words, right, terms.right), weights.of_words(other_words, left, terms.left))
    values = np.empty((int(layout.start[-1]), len(NAMES)))
    values[:, 0] = terms.flat(weights.overlap())
    values[:, 1] = alignments(notes, layout, (words, other_words), word_weights)
    for table in np.flatnonzero(np.diff(layout.start)).tolist():
        ours, theirs = notes.meaning[left.note[left.slots(table)]], notes.meaning[right.note[right.slots(table)]]
        values[layout.pairs(table), 2] = (ours @ theirs.T).ravel()
    values[:, 3] = notes.log_length[right.note][layout.all_pairs()[1]]
    return values


class QuestionTerms(TableTerms):
    """The terms of the notes of some questions. A term counts more if it is rare, at large and in its question."""

    def __init__(self, notes: Notes, layout: Layout) -> None:
        super().__init__(notes, layout)
        sizes = layout.left.sizes + layout.right.sizes
        self.weight: Floats = np.sqrt(self.rarity) * np.log((sizes[self.table] + 1) / self.occurrences)

    def features(self, notes: Notes, tables: Layout, question: Ints) -> Floats:
        """The features of all pairs of some tables that are cut out of questions; `question` is that of each table."""
        terms = self if tables is self.layout else TableTerms(notes, tables)
        weight = self.weight if terms is self else self.weight[self.places(question[terms.table], terms.term)]
        return table_features(notes, terms, _QuestionWeights(terms, weight))


@dataclass(frozen=True)
class _QuestionWeights:
    """Weights that depend on the question alone."""

    terms: TableTerms
    weight: Floats

    def overlap(self) -> sp.csr_array:
        return overlaps(self.terms.left, self.terms.right, self.weight)

    def of_words(self, words: TableWords, others: Side, presence: sp.csr_array) -> WordWeights:
        weight = np.append(self.weight, 1.0)[self.terms.places(words.table, words.stem)]
        return lambda table: weight[words.own(table)]


def all_features(notes: Notes, layout: Layout) -> Features:
    """The features of all pairs of each question, scored or only rivals: each note is a rival of all others."""
    terms = QuestionTerms(notes, layout)
    values = terms.features(notes, *cut_rows(notes, layout))
    return Features(Pairs(notes, layout, *layout.all_pairs()), values, _AllRivals(terms))


def distinctness(likeness: Floats, power: int, is_itself: NDArray[np.bool_]) -> Floats:
    """How much of a rival's strength counts: 1 - likeness ^ power; nothing of a note beside itself."""
    distinct = 1 - (likeness if power == 1 else likeness**power)
    distinct[is_itself] = 0.0
    return distinct


class _AllRivals:
    """Sums over all other notes of a question."""

    def __init__(self, terms: TableTerms) -> None:
        self._layout = terms.layout
        self._comments = _distinct_notes(terms.left, terms.rarity, terms.layout.left, REPEATS)
        self._references = _distinct_notes(terms.right, terms.rarity, terms.layout.right, 1)

    def other_comments(self, values: Floats) -> Floats:
        added = np.zeros(len(values))
        for question, distinct in self._comments:
            pairs = self._layout.pairs(question)
            added[pairs] = (distinct @ values[pairs].reshape(len(distinct), -1)).ravel()
        return added

    def other_references(self, values: Floats) -> Floats:
        added = np.zeros(len(values))
        for question, distinct in self._references:
            pairs = self._layout.pairs(question)
            added[pairs] = (values[pairs].reshape(-1, len(distinct)) @ distinct).ravel()
        return added


def _distinct_notes(presence: sp.csr_array, rarity: Floats, side: Side, power: int) -> list[tuple[int, Floats]]:
    """The questions with several notes on a side; and of each how distinct these are from each other."""
    likeness = overlaps(presence, presence, rarity)
    found = []
    for question in np.flatnonzero(side.sizes > 1).tolist():
        slots = side.slots(question)
        block = dense_block(likeness, slots, slots)
        found.append((question, distinctness(block, power, np.eye(len(block), dtype=bool))))
    return found
