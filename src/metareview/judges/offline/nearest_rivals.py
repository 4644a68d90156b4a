"""Questions with so many notes that not every pair of them can be scored.

Of a question with up to PAIRS pairs and NOTES notes on a side, each note is a rival of all others, and every pair is
scored. In a larger one, a hundred times the size of any review that people write, each pair has RIVALS rival comments
and as many rival references at most: the distinct notes that come nearest to its reference and to its comment, by
shared words and by meaning. Only they and the requested pairs are scored. So memory and time grow with the
requested pairs; only the search for the nearest notes compares all, in blocks of matrix products.

A pair's score does not depend on the order of the notes: they are sorted by their text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from metareview.judges.offline.features import NAMES, REPEATS, Features, Pairs, QuestionTerms, distinctness
from metareview.judges.offline.layout import Layout, cut_tables
from metareview.judges.offline.notes import Floats, Ints, Notes
from metareview.judges.offline.terms import overlap, overlaps, root_weight
from metareview.judges.protocol import Question

PAIRS = 250_000
NOTES = 1_000
RIVALS = 16
CELLS = 1_000_000
"""Pairs of notes that are compared at a time in the search for the nearest: bounds memory."""


def is_crowded(question: Question) -> bool:
    """True if only the nearest notes of a question count as rivals."""
    ours, theirs = len(question.generated), len(question.reference)
    return ours * theirs > PAIRS or max(ours, theirs) > NOTES


def distinct_notes(question: Question) -> Question:
    """A copy with each distinct note once, in alphabetical order; its pairs keep their order."""
    generated, reference = sorted(set(question.generated)), sorted(set(question.reference))
    pairs = np.asarray(question.pairs, np.int64).reshape(-1, 2).copy()
    for column, (before, after) in enumerate(((question.generated, generated), (question.reference, reference))):
        number = {note: position for position, note in enumerate(after)}
        pairs[:, column] = np.array([number[note] for note in before], np.int64)[pairs[:, column]]
    return replace(question, generated=generated, reference=reference, pairs=pairs, generated_at=(), reference_at=())


def nearest_rivals_features(notes: Notes, layout: Layout, requested: Ints, weight: Floats) -> tuple[Features, Ints]:
    """The features of the requested pairs, (comment, reference), of one question of distinct notes and of all pairs of
    their rivals; and the places of the requested pairs among them.

    `weight` is the weight of each feature. Sums over other references are those of the requested pairs alone.
    """
    terms = QuestionTerms(notes, layout)
    comments = _Candidates(terms.left, notes.meaning[layout.left.note], terms)
    references = _Candidates(terms.right, notes.meaning[layout.right.note], terms)
    size = len(layout.left.note)
    requested_key: Ints = requested[:, 1] * size + requested[:, 0]
    own, place = np.unique(requested_key, return_inverse=True)
    rows: Ints = np.unique(requested[:, 0])
    of_rows: Ints = references.nearest_to(comments, rows, weight) * size + rows[:, None]
    columns: Ints = np.unique(np.concatenate([own, of_rows.ravel()]) // size)
    of_columns: Ints = columns[:, None] * size + comments.nearest_to(references, columns, weight)
    key = np.unique(np.concatenate([own, of_rows.ravel(), of_columns.ravel()]))
    reference, comment = np.divmod(key, size)
    at = np.searchsorted(key, own)
    by_comment = at[np.argsort(comment[at], kind="stable")]
    rivals = _NearestRivals(
        _RivalSums(comments, REPEATS, np.arange(len(key)), reference, comment, np.searchsorted(key, of_columns)),
        _RivalSums(references, 1, by_comment, comment, reference, np.searchsorted(key, of_rows)),
    )
    values = np.empty((len(key), len(NAMES)))
    for pairs, tables, cells in cut_tables(notes, layout.left.note[comment], layout.right.note[reference]):
        values[pairs] = terms.features(notes, tables, np.zeros(len(tables.start), np.int64))[cells]
    return Features(Pairs(notes, layout, comment, reference), values, rivals), at[place]


class _Candidates:
    """The comments or the references of a question, of which each pair has its nearest as rivals."""

    def __init__(self, presence: sp.csr_array, meaning: Floats, terms: QuestionTerms) -> None:
        self._presence, self._meaning, self._terms = presence, meaning, terms
        self._root_rarity = root_weight(presence, terms.rarity)
        self._of_rivals = np.zeros((presence.shape[1], RIVALS))  # filled for one call, and emptied again

    def nearest_to(self, others: _Candidates, chosen: Ints, weight: Floats) -> Ints:
        """(chosen, RIVALS): the nearest to each of the notes chosen on the other side, by words and meaning."""
        size = len(self._meaning)
        if size <= RIVALS:
            return np.tile(np.arange(size), (len(chosen), 1))
        by_words, _, by_meaning, _ = weight
        found = np.empty((len(chosen), RIVALS), np.int64)
        step = max(1, CELLS // size)
        for start in range(0, len(chosen), step):
            part = chosen[start : start + step]
            near = overlaps(others._presence[part], self._presence, self._terms.weight).toarray()
            near *= by_words
            near += by_meaning * (others._meaning[part] @ self._meaning.T)
            nearest = np.argpartition(near, size - RIVALS, axis=1)[:, -RIVALS:]
            found[start : start + step] = np.sort(nearest, axis=1)
        return found

    def likeness(self, notes: Ints, rivals: Ints) -> Floats:
        """(notes, rivals): the overlap of their terms, weighted by rarity at large."""
        others = self._presence[rivals]
        cells = others.indices, np.repeat(np.arange(len(rivals)), np.diff(others.indptr))
        self._of_rivals[cells] = self._terms.rarity[others.indices]
        shared = (self._presence[notes] @ self._of_rivals)[:, : len(rivals)]
        self._of_rivals[cells] = 0.0
        return overlap(shared, self._root_rarity[notes][:, None], self._root_rarity[rivals])


@dataclass(frozen=True)
class _RivalSums:
    """Sums over the nearest rivals, for groups of pairs that have the same rivals."""

    side: _Candidates
    power: int
    pairs: Ints
    """The pairs that have a sum, group by group."""
    group: Ints
    """Each pair's note on the other side, which all pairs of a group have."""
    member: Ints
    """Each pair's note on this side."""
    rival_pairs: Ints
    """(groups, RIVALS): the pairs that the rivals have with the group's note."""

    def of(self, values: Floats) -> Floats:
        """For each pair the values of its rivals added up, each times its distinctness; 0 for pairs without a sum."""
        added = np.zeros(len(values))
        ends = [0, *(np.flatnonzero(np.diff(self.group[self.pairs])) + 1).tolist(), len(self.pairs)]
        for (start, end), rival_pairs in zip(pairwise(ends), self.rival_pairs, strict=True):
            own = self.pairs[start:end]
            members, rivals = self.member[own], self.member[rival_pairs]
            likeness = self.side.likeness(members, rivals)
            added[own] = distinctness(likeness, self.power, members[:, None] == rivals) @ values[rival_pairs]
        return added


@dataclass(frozen=True)
class _NearestRivals:
    comments: _RivalSums
    references: _RivalSums

    def other_comments(self, values: Floats) -> Floats:
        return self.comments.of(values)

    def other_references(self, values: Floats) -> Floats:
        return self.references.of(values)
