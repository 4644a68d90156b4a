"""What the offline judge sees in a pair: how alike two notes are, given the notes around them.

All pairs of a batch lie in one flat array, question by question, a question's grid row by row (a row is one
generated note, a column one reference). So a feature is one array, and most take one sparse product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.notes import UNIT, Background, Floats, Ints, Notes, read_notes
from metareview.judges.protocol import Question

NAMES = ("words", "alignment", "meaning", "reference_length")
"""The features, in the order of the weights:

words             words and identifiers in common, weighted by how rare they are at large and in this question
alignment         each word's nearest in the other note by meaning, with the same weights, both ways
meaning           cosine of the notes' summed word vectors
reference_length  logarithm of the reference's words: what a given overlap is worth depends on it
"""

REPEATS = 8
"""Power of two comments' likeness: only one that repeats another almost word for word is no rival of it."""
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
        """Pairs as a matrix of generated slots by reference slots; none is stored outside questions."""
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
    alike_references: sp.csr_array
    """How far two references of a question say the same: their common words' weight, each as rare as it is at
    large. 1 for equal ones, nothing on the diagonal."""
    alike_comments: sp.csr_array
    """The same of two generated notes, to the power of REPEATS."""
    equal: NDArray[np.bool_]
    """Pairs whose notes are the same but for white space."""


def extract(questions: Sequence[Question], background: Background) -> Features:
    """Work out the features of every pair of each question, whether it is asked about or not."""
    texts, grid = lay_out(questions)
    return extract_from(texts, read_notes(texts, background), grid)


def extract_from(texts: Sequence[str], notes: Notes, grid: Grid) -> Features:
    """The part of that which depends on pairs."""
    local = _Local(notes, grid)
    values = np.empty((len(grid.row), len(NAMES)))
    values[:, 0] = local.overlap(_here(notes, local))
    values[:, 1] = _alignment(notes, grid, local)
    values[:, 2] = _meaning(notes, grid)
    values[:, 3] = np.log(np.maximum(notes.length[grid.reference_note], 1))[grid.column]
    comments, references = local.likeness()
    comments.data **= REPEATS
    return Features(notes, grid, values, references, comments, _equal(texts, grid))


def _equal(texts: Sequence[str], grid: Grid) -> NDArray[np.bool_]:
    seen: dict[str, int] = {"": 0}
    bare = np.array([seen.setdefault(" ".join(text.split()), len(seen)) for text in texts], np.int64)
    generated = bare[grid.note][grid.row]
    equal: NDArray[np.bool_] = (generated == bare[grid.reference_note][grid.column]) & (generated > 0)
    return equal


class _Local:
    """The terms of each slot, told apart by question, so that one sparse product stays within questions."""

    def __init__(self, notes: Notes, grid: Grid) -> None:
        high, wide = [len(g) for g in grid.generated], [len(r) for r in grid.reference]
        question = np.concatenate(
            [np.repeat(np.arange(len(high)), high), np.repeat(np.arange(len(wide)), wide)]
        )
        slots = notes.terms[np.concatenate([grid.note, grid.reference_note])]
        key = np.repeat(question, np.diff(slots.indptr)) * max(slots.shape[1], 1) + slots.indices
        self._keys, inverse, df = np.unique(key, return_inverse=True, return_counts=True)
        self._width = max(slots.shape[1], 1)
        self.term: Ints = (self._keys % self._width).astype(np.int64)
        around = np.array(high, np.int64) + np.array(wide, np.int64)
        self.spread: Floats = np.log((around[self._keys // self._width] + 1) / df)
        """How few of the question's notes have the term."""
        self._grid = grid
        self._notes = notes
        self._presence = sp.csr_array(
            (np.ones(len(key)), inverse, slots.indptr), shape=(slots.shape[0], len(self._keys))
        )
        self._cut = len(grid.note)

    def overlap(self, weight: Floats) -> Floats:
        """Weight of the shared terms over the geometric mean of both notes' weights, pair by pair."""
        grid = self._grid
        total = np.sqrt(_sums(self._presence, weight))
        left, right = self._presence[: self._cut], self._presence[self._cut :]
        shared = grid.gather(sp.csr_array((left * weight) @ right.T))
        scale: Floats = total[grid.row] * total[self._cut + grid.column]
        return np.minimum(shared / scale, 1.0)

    def likeness(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Of generated notes to each other, and of references to each other."""
        weight = self._notes.rarity[self.term]
        return self._alike(self._presence[: self._cut], weight), self._alike(
            self._presence[self._cut :], weight
        )

    @staticmethod
    def _alike(presence: sp.csr_array, weight: Floats) -> sp.csr_array:
        shared = sp.coo_array((presence * weight) @ presence.T)
        total = _sums(presence, weight)
        off = shared.row != shared.col
        row, column = shared.row[off], shared.col[off]
        value = np.minimum(shared.data[off] / np.sqrt(total[row] * total[column]), 1.0)
        return sp.csr_array((value, (row, column)), shape=shared.shape)

    def keys_of(self, question: int) -> slice:
        """Where the question's terms lie in `term` and `spread`, in the order of their numbers."""
        ends = np.searchsorted(self._keys, np.array([question, question + 1]) * self._width)
        return slice(int(ends[0]), int(ends[1]))


def _sums(presence: sp.csr_array, weight: Floats) -> Floats:
    """The weight of each row's terms; 1 for a row without any, which shares nothing."""
    total = np.asarray(presence @ weight)
    total[total == 0] = 1
    return total


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
    out = np.empty(len(grid.row))
    weight = _here(notes, local)
    for q, (generated, reference) in enumerate(zip(grid.generated, grid.reference, strict=True)):
        if len(generated) and len(reference):
            keys = local.keys_of(q)
            there = _Side(notes, reference, local.term[keys], weight[keys])
            rows = [
                _counterparts(notes, _Side(notes, part, local.term[keys], weight[keys]), there)
                for part in _parts(notes, generated, len(there.word))
            ]
            out[grid.start[q] : grid.start[q + 1]] = np.concatenate(rows).ravel()
    return out


class _Side:
    """The words of some notes of a question: each distinct one once, and which note has it."""

    def __init__(self, notes: Notes, which: Ints, terms: Ints, weight: Floats) -> None:
        each = [notes.words[i] for i in which]
        flat = np.concatenate(each)
        self.word, self.place = np.unique(flat, return_inverse=True)
        self.start = np.cumsum([0, *(len(words) for words in each[:-1])])
        stems = notes.word_term[self.word]
        self.stem = np.searchsorted(terms, stems)
        """Position of each word's stem among the question's terms."""
        self.known = stems >= 0
        worth = np.ones(len(stems))
        worth[self.known] = weight[self.stem[self.known]]
        owner = np.repeat(np.arange(len(each)), [len(words) for words in each])
        self.worth = np.zeros((len(each), len(self.word)))
        self.worth[owner, self.place] = worth[self.place]
        self.worth /= self.worth.sum(1, keepdims=True)
        self.stems = np.zeros((len(each), len(terms) + 1), bool)
        self.stems[owner, self.stem[self.place]] = self.known[self.place]

    def nearest(self, near: NDArray[np.float32], other: _Side) -> Floats:
        """(notes, other side's words): how near some word of each note comes to each; 1 for equal stems."""
        best = np.maximum.reduceat(near[self.place], self.start, axis=0).astype(np.float64) / UNIT**2
        same = self.stems[:, other.stem] & other.known
        found: Floats = np.where(same, 1.0, np.clip(best, 0.0, 1.0))
        return found


def _counterparts(notes: Notes, left: _Side, right: _Side) -> Floats:
    near = notes.word_vector[left.word] @ notes.word_vector[right.word].T
    held = left.nearest(near, right) @ right.worth.T
    found = right.nearest(np.ascontiguousarray(near.T), left) @ left.worth.T
    both: Floats = 2 * found.T * held / np.maximum(found.T + held, 1e-9)
    return both


def _here(notes: Notes, local: _Local) -> Floats:
    """A term's weight in a question: rare at large and here."""
    weight: Floats = np.sqrt(notes.rarity[local.term]) * local.spread
    return weight


def _parts(notes: Notes, generated: Ints, width: int) -> list[Ints]:
    """The generated notes in runs whose words times the references' stay within BLOCK."""
    reach = np.cumsum([len(notes.words[i]) for i in generated]) * width // BLOCK
    return np.split(generated, np.flatnonzero(np.diff(reach)) + 1)
