"""What the offline judge sees in a pair: how alike two notes are by themselves and among the notes around them.

All pairs of a batch lie in one flat array, question by question, a question's grid row by row (a row is one generated
note, a column one reference). So a feature is one array, and most take one sparse product over the whole batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from metareview.judges.offline_notes import Background, Floats, Ints, Notes, read_notes
from metareview.judges.protocol import Question

NAMES = ("words_here", "words", "sequence", "alignment", "meaning", "reference_length")
"""The features, in the order of the weights:

words_here        words in common, weighted by rarity at large and by how few notes of this pull request have them
words             words in common, weighted by rarity at large alone
sequence          ROUGE-L recall of the reference
alignment         each word's nearest in the other note by meaning, weighted as in words_here, both ways
meaning           cosine of the notes' summed word vectors
reference_length  logarithm of the reference's tokens: what a given overlap is worth depends on it
"""

BLOCK = 4_000_000
"""Word pairs that are aligned at a time: bounds memory."""


@dataclass(frozen=True)
class Grid:
    """Where each question's pairs lie in the flat arrays. Slots are a question's notes, repeats included."""

    generated: list[Ints]
    reference: list[Ints]
    """For each question: its notes' positions among the distinct ones."""
    start: Ints
    """Where each question's pairs begin; one more entry than questions."""
    row: Ints
    column: Ints
    """For each pair: its generated slot and its reference slot, counted over the whole batch."""
    row_start: Ints
    """Where each generated slot's pairs begin; one more entry than slots."""
    note: Ints
    reference_note: Ints
    """For each slot: its note's position among the distinct ones."""

    def matrix(self, values: Floats) -> sp.csr_array:
        """Pairs as a matrix of generated slots by reference slots; what is outside every question is not stored."""
        shape = (len(self.note), len(self.reference_note))
        return sp.csr_array((values, self.column, self.row_start), shape=shape)

    def gather(self, product: sp.csr_array) -> Floats:
        """The other way: such a matrix's values in the order of the pairs, 0 where it stores none."""
        out = np.zeros(len(self.row))
        if len(out):
            entries = sp.coo_array(product)
            first = self.column[np.minimum(self.row_start[:-1], len(out) - 1)]
            out[self.row_start[entries.row] + entries.col - first[entries.row]] = entries.data
        return out


def lay_out(questions: Sequence[Question]) -> tuple[list[str], Grid]:
    """The distinct notes of a batch, and the grid of all pairs of each question."""
    seen: dict[str, int] = {}
    generated = [np.array([seen.setdefault(n, len(seen)) for n in q.generated], np.int64) for q in questions]
    reference = [np.array([seen.setdefault(n, len(seen)) for n in q.reference], np.int64) for q in questions]
    high = np.array([len(g) for g in generated], np.int64)
    wide = np.array([len(r) for r in reference], np.int64)
    per_row = np.repeat(wide, high)
    row = np.repeat(np.arange(len(per_row)), per_row)
    row_start = np.concatenate([[0], np.cumsum(per_row)])
    first_column = np.repeat(np.cumsum(wide) - wide, high)
    column = np.arange(len(row)) - row_start[row] + first_column[row]
    none = np.zeros(0, np.int64)
    return list(seen), Grid(
        generated=generated,
        reference=reference,
        start=np.concatenate([[0], np.cumsum(high * wide)]),
        row=row,
        column=column,
        row_start=row_start,
        note=np.concatenate([none, *generated]),
        reference_note=np.concatenate([none, *reference]),
    )


@dataclass(frozen=True)
class Features:
    """The features of every pair of a batch."""

    notes: Notes
    grid: Grid
    values: Floats
    """(pairs, features), in the order of NAMES."""
    likeness: sp.csr_array
    """How alike references of one question are to each other (the feature `words`); nothing on the diagonal."""
    equal: NDArray[np.bool_]
    """Pairs whose notes are the same but for white space."""


def extract(questions: Sequence[Question], background: Background) -> Features:
    """Work out the features of every pair of each question, whether it is asked about or not."""
    texts, grid = lay_out(questions)
    notes = read_notes(texts, background)
    local = _Local(notes, grid)
    values = np.empty((len(grid.row), len(NAMES)))
    values[:, 0] = local.overlap(notes.rarity[local.term] ** 0.5 * local.spread)
    values[:, 1] = local.overlap(notes.rarity[local.term])
    values[:, 2] = _sequence(notes, grid)
    values[:, 3] = _alignment(notes, grid, local)
    values[:, 4] = _meaning(notes, grid)
    values[:, 5] = np.log(np.maximum(notes.tokens[grid.reference_note], 1))[grid.column]
    return Features(notes, grid, values, local.likeness(), _equal(texts, grid))


def _equal(texts: Sequence[str], grid: Grid) -> NDArray[np.bool_]:
    seen: dict[str, int] = {"": 0}
    bare = np.array([seen.setdefault(" ".join(text.split()), len(seen)) for text in texts], np.int64)
    generated = bare[grid.note][grid.row]
    return (generated == bare[grid.reference_note][grid.column]) & (generated > 0)


class _Local:
    """The terms of each slot, told apart by question, so that one sparse product stays within questions."""

    def __init__(self, notes: Notes, grid: Grid) -> None:
        high, wide = [len(g) for g in grid.generated], [len(r) for r in grid.reference]
        question = np.concatenate(
            [np.repeat(np.arange(len(high)), high), np.repeat(np.arange(len(wide)), wide)]
        )
        slots = notes.terms[np.concatenate([grid.note, grid.reference_note])]
        key = np.repeat(question, np.diff(slots.indptr)) * max(slots.shape[1], 1) + slots.indices
        self.keys, inverse, df = np.unique(key, return_inverse=True, return_counts=True)
        self.width = max(slots.shape[1], 1)
        self.term = self.keys % self.width
        around = np.array(high, np.int64) + np.array(wide, np.int64)
        self.spread: Floats = np.log((around[self.keys // self.width] + 1) / df)
        """How few of the question's notes have the term."""
        self._grid = grid
        self._notes = notes
        self._presence = sp.csr_array(
            (np.ones(len(key)), inverse, slots.indptr), shape=(slots.shape[0], len(self.keys))
        )
        self._cut = len(grid.note)

    def overlap(self, weight: Floats) -> Floats:
        """Weight of the shared terms over the geometric mean of both notes' weights, pair by pair."""
        grid = self._grid
        total = np.sqrt(self._presence @ weight)
        total[total == 0] = 1
        left, right = self._presence[: self._cut], self._presence[self._cut :]
        shared = grid.gather(sp.csr_array((left * weight) @ right.T))
        scale: Floats = total[grid.row] * total[self._cut + grid.column]
        return np.minimum(shared / scale, 1.0)

    def likeness(self) -> sp.csr_array:
        weight = self._notes.rarity[self.term]
        right = self._presence[self._cut :]
        total = np.sqrt(right @ weight)
        total[total == 0] = 1
        scaled = right.multiply(1 / total[:, None]).tocsr()
        product = sp.coo_array((scaled * weight) @ scaled.T)
        off = product.row != product.col
        return sp.csr_array((product.data[off], (product.row[off], product.col[off])), shape=product.shape)

    def weight_of(self, question: int, stems: Ints) -> Floats:
        """`words_here`'s weight of stems that occur in the question; 1 for none."""
        found = np.searchsorted(self.keys, question * self.width + np.maximum(stems, 0))
        found = np.minimum(found, max(len(self.keys) - 1, 0))
        weight = self._notes.rarity[self.term[found]] ** 0.5 * self.spread[found] if len(self.keys) else 1.0
        return np.where(stems >= 0, weight, 1.0)


def _sequence(notes: Notes, grid: Grid) -> Floats:
    """ROUGE-L recall of the reference, once for each distinct pair of notes."""
    many = max(len(notes.text), 1)
    pair, back = np.unique(grid.note[grid.row] * many + grid.reference_note[grid.column], return_inverse=True)
    common = cpdist(
        [notes.encoded[i] for i in pair // many],
        [notes.encoded[i] for i in pair % many],
        scorer=LCSseq.similarity,
        dtype=np.float64,
        workers=1,
    )
    recall: Floats = (common / np.maximum(notes.tokens[pair % many], 1))[back]
    return recall


def _meaning(notes: Notes, grid: Grid) -> Floats:
    out = np.empty(len(grid.row))
    step = 100_000
    for at in range(0, len(out), step):
        left = notes.meaning[grid.note[grid.row[at : at + step]]]
        right = notes.meaning[grid.reference_note[grid.column[at : at + step]]]
        out[at : at + step] = np.einsum("ij,ij->i", left, right)
    return out


def _alignment(notes: Notes, grid: Grid, local: _Local) -> Floats:
    """The harmonic mean of how well each note's words find a counterpart in the other."""
    length = np.linalg.norm(notes.word_vector, axis=1)
    inverse = (1 / np.maximum(length, 1e-9)).astype(np.float32)
    out = np.empty(len(grid.row))
    for q, (generated, reference) in enumerate(zip(grid.generated, grid.reference, strict=True)):
        if not len(generated) or not len(reference):
            continue
        right, right_start = _joined(notes, reference)
        right_weight = local.weight_of(q, notes.word_stem[right])
        grid_rows = []
        for part in _parts(notes, generated, len(right)):
            left, left_start = _joined(notes, part)
            left_weight = local.weight_of(q, notes.word_stem[left])
            near = notes.word_vector[left] @ notes.word_vector[right].T
            near *= inverse[left][:, None]
            near *= inverse[right][None]
            stems = notes.word_stem[left]
            near[(stems[:, None] == notes.word_stem[right][None]) & (stems >= 0)[:, None]] = 1
            np.clip(near, 0, 1, out=near)
            found = _weighted(np.maximum.reduceat(near, right_start, axis=1).T, left_weight, left_start).T
            held = _weighted(np.maximum.reduceat(near, left_start, axis=0), right_weight, right_start)
            grid_rows.append(2 * found * held / np.maximum(found + held, 1e-9))
        out[grid.start[q] : grid.start[q + 1]] = np.concatenate(grid_rows).ravel()
    return out


def _joined(notes: Notes, which: Ints) -> tuple[Ints, Ints]:
    """The words of several notes in a row, and where each note's begin."""
    words = [notes.words[i] for i in which]
    return np.concatenate(words), np.cumsum([0, *(len(w) for w in words[:-1])])


def _parts(notes: Notes, generated: Ints, width: int) -> list[Ints]:
    """The generated notes in runs whose words times the references' stay within BLOCK."""
    reach = np.cumsum([len(notes.words[i]) for i in generated]) * width // BLOCK
    return np.split(generated, np.flatnonzero(np.diff(reach)) + 1)


def _weighted(best: NDArray[np.float32], weight: Floats, start: Ints) -> Floats:
    """Weighted means over the second axis, note by note."""
    total = np.add.reduceat(best * weight, start, axis=1)
    mean: Floats = total / np.maximum(np.add.reduceat(weight, start), 1e-9)
    return mean
