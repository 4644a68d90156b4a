"""The similarity of two notes with nothing around them: the offline judge's score of a pair without rivals.

By definition it is the score in a question of one note each way. With no other notes around, a term counts by whether
one or both of the two notes have it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.alignment import TableWords, WordWeights
from metareview.judges.offline.features import table_features
from metareview.judges.offline.layout import Layout, Side, cut_tables
from metareview.judges.offline.model import shipped
from metareview.judges.offline.notes import Floats, Ints, read_notes
from metareview.judges.offline.terms import TableTerms, overlap, shared_weight
from metareview.text.equality import composed

IN_ONE, IN_BOTH = math.log(3 / 1), math.log(3 / 2)
"""The weight of a term by how many of the two notes have it: log((notes + 1) / notes that have it)."""


class NoteSimilarity:
    """Similarities of some notes, given by their positions: the mean of both directions, since either note could be
    called the reference."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._model = shipped()
        self.threshold: float = self._model.threshold
        self._notes = read_notes(list(map(composed, texts)), self._model.background)

    def similar(self, one: Ints, other: Ints) -> NDArray[np.bool_]:
        """A mask of the pairs of notes that score at or over the judge's threshold."""
        similar: NDArray[np.bool_] = self.of_pairs(one, other) >= self.threshold
        return similar

    def of_pairs(self, one: Ints, other: Ints) -> Floats:
        """The score of each pair of notes; equal pairs are scored once."""
        size = max(len(self._notes.texts), 1)
        distinct, place = np.unique(np.minimum(one, other) * size + np.maximum(one, other), return_inverse=True)
        left, right = np.divmod(distinct, size)
        scores = np.empty(len(distinct))
        for pairs, layout, cells in cut_tables(self._notes, left, right):
            scores[pairs] = self._scores(layout, cells, left[pairs], right[pairs])
        return scores[place]

    def _scores(self, layout: Layout, cells: Ints, left: Ints, right: Ints) -> Floats:
        """The scores of the pairs in these cells of some tables."""
        notes, terms = self._notes, TableTerms(self._notes, layout)
        values = table_features(notes, terms, _PairWeights(terms))[cells]
        equal, added = notes.equal(left, right), np.zeros(len(cells))
        for reference in (right, left):
            values[:, 3] = notes.log_length[reference]
            added += self._model.score_alone(values, equal)
        return (added / 2).round(9)


class _PairWeights:
    """Weights that depend on the two notes of a pair alone."""

    def __init__(self, terms: TableTerms) -> None:
        self._terms, self._root_rarity = terms, np.sqrt(terms.rarity)

    def overlap(self) -> sp.csr_array:
        left, right = self._terms.left, self._terms.right
        found = shared_weight(left, right, self._root_rarity)
        row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        less = (IN_ONE - IN_BOTH) * found.data
        totals = (left @ self._root_rarity)[row], (right @ self._root_rarity)[found.indices]
        found.data = overlap(IN_BOTH * found.data, *(np.sqrt(IN_ONE * total - less) for total in totals))
        return found

    def of_words(self, words: TableWords, others: Side, presence: sp.csr_array) -> WordWeights:
        place = self._terms.places(words.table, words.stem)
        in_one, in_both = IN_ONE * self._root_rarity, IN_BOTH * self._root_rarity

        def weights(table: int) -> Floats:
            terms, slots = self._terms.own(table), others.slots(table)
            ends = presence.indptr[slots.start : slots.stop + 1]
            stored = presence.indices[ends[0] : ends[-1]]
            of_terms = np.ones((len(ends) - 1, terms.stop - terms.start + 1))  # a word without a stem has the last
            of_terms[:, :-1] = in_one[terms]
            of_terms[np.repeat(np.arange(len(of_terms)), np.diff(ends)), stored - terms.start] = in_both[stored]
            of_word = place[words.own(table)]
            return of_terms[:, np.where(of_word < 0, -1, of_word - terms.start)]

        return weights
