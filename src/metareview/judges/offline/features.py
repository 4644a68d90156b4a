"""What the offline judge sees in a pair: how alike two notes are, given the notes around them.

All pairs of a batch are laid out in one flat array: question after question, and within a question row after row, where
a row is a generated note and a column a reference. So a feature is one array over all pairs, and most features take one
sparse matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.notes import UNIT, Background, Floats, Ints, Notes, read_notes
from metareview.judges.protocol import Question

NAMES = ("words", "alignment", "meaning", "reference_length")
"""The features, in the order of the weights:

words             words and identifiers in common, weighted by how rare they are, at large and in this question
alignment         how near each word comes to some word of the other note by meaning, with the same weights, both ways
meaning           the cosine of the notes' summed word vectors
reference_length  the logarithm of the reference's number of words: what a given overlap is worth depends on it
"""

# The power of two comments' likeness: only one that repeats another almost word for word is no rival of it.
REPEATS = 8
BLOCK = 4_000_000  # how many pairs of words, or of notes of one side, are compared at a time: bounds memory
CROWDED = 10_000  # from how many pairs on a question's likenesses are multiplied as a dense matrix: 30 times as quick


@dataclass(frozen=True)
class Grid:
    """Where each question's pairs are in the flat arrays.

    A slot is a note at its place in a question: a note that occurs three times has three slots, and one text. Slots
    and texts are numbered over the whole batch.
    """

    generated: list[Ints]  # for each question: the texts of its generated notes
    reference: list[Ints]  # for each question: the texts of its references
    start: Ints  # where each question's pairs begin; one more entry than questions
    row_start: Ints  # where each generated slot's pairs begin; one more entry than slots
    note: Ints  # each generated slot's text
    reference_note: Ints  # each reference slot's text

    @cached_property
    def row(self) -> Ints:
        """Each pair's generated slot."""
        return np.repeat(np.arange(len(self.note)), np.diff(self.row_start))

    @cached_property
    def column(self) -> Ints:
        """Each pair's reference slot."""
        rows, columns = (np.array(list(map(len, side)), np.int64) for side in (self.generated, self.reference))
        first_column = np.repeat(np.cumsum(columns) - columns, rows)
        return np.arange(len(self.row)) - self.row_start[self.row] + first_column[self.row]

    @cached_property
    def crowded(self) -> list[int]:
        """The questions with more than CROWDED pairs."""
        return np.flatnonzero(np.diff(self.start) > CROWDED).tolist()

    def pairs(self, question: int) -> slice:
        """Where a question's pairs are."""
        return slice(int(self.start[question]), int(self.start[question + 1]))

    def matrix(self, values: Floats) -> sp.csr_array:
        """One value per pair, as a matrix of generated slots by reference slots; without those of crowded questions."""
        shape = (len(self.note), len(self.reference_note))
        if not self.crowded:
            return sp.csr_array((values, self.column, self.row_start), shape=shape)
        keep = np.ones(len(values), bool)
        for question in self.crowded:
            keep[self.pairs(question)] = False
        row_start = np.concatenate([[0], np.cumsum(keep)])[self.row_start]
        return sp.csr_array((values[keep], self.column[keep], row_start), shape=shape)

    def gather(self, product: sp.csr_array) -> Floats:
        """The other way: the values of such a matrix in the order of the pairs, 0 where it stores none."""
        values = np.zeros(len(self.row))
        if len(values):
            entries = sp.coo_array(product)
            first_column = self.column[np.minimum(self.row_start[:-1], len(values) - 1)]
            values[self.row_start[entries.row] + entries.col - first_column[entries.row]] = entries.data
        return values


def lay_out(questions: Sequence[Question]) -> tuple[list[str], Grid]:
    """The distinct texts of a batch's notes, and the grid of all pairs of each question."""
    numbers: dict[str, int] = {}
    generated, reference = (
        [np.array([numbers.setdefault(note, len(numbers)) for note in side], np.int64) for side in sides]
        for sides in ([q.generated for q in questions], [q.reference for q in questions])
    )
    rows, columns = (np.array(list(map(len, side)), np.int64) for side in (generated, reference))
    nothing = np.zeros(0, np.int64)
    return list(numbers), Grid(
        generated=generated,
        reference=reference,
        start=np.concatenate([[0], np.cumsum(rows * columns)]),
        row_start=np.concatenate([[0], np.cumsum(np.repeat(columns, rows))]),
        note=np.concatenate([nothing, *generated]),
        reference_note=np.concatenate([nothing, *reference]),
    )


@dataclass(frozen=True)
class Features:
    """The features of every pair of a batch."""

    notes: Notes
    grid: Grid
    values: Floats  # (pairs, features), in the order of NAMES
    alike_references: sp.csr_array
    """(reference slots, reference slots): how alike two references of a question are, by the terms that they share,
    weighted by their rarity at large. 1 for equal ones; nothing on the diagonal."""
    alike_comments: sp.csr_array  # the same for two generated notes, to the power of REPEATS
    equal: NDArray[np.bool_]  # pairs whose notes are the same but for white space

    def repeated_by_comments(self, values: Floats) -> Floats:
        """For each pair: the values of the reference's other comments added up, each times its likeness to this one."""
        grid = self.grid
        added = grid.gather(sp.csr_array(self.alike_comments @ grid.matrix(values)))
        for question in grid.crowded:
            pairs, size = grid.pairs(question), len(grid.generated[question])
            first = int(grid.row[pairs.start])
            added[pairs] = _times(self.alike_comments, first, values[pairs].reshape(size, -1)).ravel()
        return added

    def repeated_by_references(self, values: Floats) -> Floats:
        """For each pair: the values of the comment's other references added up, each times its likeness to this one."""
        grid = self.grid
        added = grid.gather(sp.csr_array(grid.matrix(values) @ self.alike_references))
        for question in grid.crowded:
            pairs, size = grid.pairs(question), len(grid.reference[question])
            first = int(grid.column[pairs.start])
            added[pairs] = _times(self.alike_references, first, values[pairs].reshape(-1, size).T).T.ravel()
        return added


def _times(alike: sp.csr_array, first: int, matrix: Floats) -> Floats:
    """The square of `alike` from the slot `first` on times a matrix, as many rows at a time as BLOCK allows.

    Notes of one question are mostly alike at least a little, so that the square is no longer sparse.
    """
    size = len(matrix)
    product = np.empty(matrix.shape)
    step = max(1, BLOCK // size)
    for start in range(first, first + size, step):
        ends = alike.indptr[start : min(start + step, first + size) + 1]
        rows = np.zeros((len(ends) - 1, size))
        stored = slice(ends[0], ends[-1])
        rows[np.repeat(np.arange(len(rows)), np.diff(ends)), alike.indices[stored] - first] = alike.data[stored]
        product[start - first : start - first + len(rows)] = rows @ matrix
    return product


def extract(questions: Sequence[Question], background: Background) -> Features:
    """The features of every pair of each question, whether it is asked about or not."""
    texts, grid = lay_out(questions)
    return extract_from(texts, read_notes(texts, background), grid)


def extract_from(texts: Sequence[str], notes: Notes, grid: Grid) -> Features:
    """The same from texts that were read and laid out before."""
    terms = QuestionTerms(notes, grid)
    length = np.log(np.maximum(notes.length[grid.reference_note], 1))[grid.column]
    values = np.column_stack([terms.overlap(), _alignment(notes, grid, terms), _meaning(notes, grid), length])
    comments, references = terms.alike(terms.generated), terms.alike(terms.reference)
    comments.data **= REPEATS
    return Features(notes, grid, values, references, comments, _equal(texts, grid))


def _equal(texts: Sequence[str], grid: Grid) -> NDArray[np.bool_]:
    """Whether a pair's notes are the same but for white space; empty notes equal nothing."""
    numbers: dict[str, int] = {"": 0}
    collapsed = np.array([numbers.setdefault(" ".join(text.split()), len(numbers)) for text in texts], np.int64)
    generated, reference = collapsed[grid.note][grid.row], collapsed[grid.reference_note][grid.column]
    equal: NDArray[np.bool_] = (generated == reference) & (generated > 0)
    return equal


class QuestionTerms:
    """The terms of each slot, numbered anew for each question, so that one sparse product stays within questions."""

    def __init__(self, notes: Notes, grid: Grid) -> None:
        rows, columns = (np.array(list(map(len, side)), np.int64) for side in (grid.generated, grid.reference))
        question = np.concatenate([np.repeat(np.arange(len(side)), side) for side in (rows, columns)])
        slots = notes.terms[np.concatenate([grid.note, grid.reference_note])]
        self._width = max(slots.shape[1], 1)
        key = np.repeat(question, np.diff(slots.indptr)) * self._width + slots.indices
        self._keys, inverse, occurrences = np.unique(key, return_inverse=True, return_counts=True)
        self.term: Ints = (self._keys % self._width).astype(np.int64)
        spread = np.log(((rows + columns)[self._keys // self._width] + 1) / occurrences)
        self.rarity: Floats = notes.rarity[self.term]
        # What each term counts in its question: more if it is rare, at large and among the question's notes.
        self.weight: Floats = np.sqrt(self.rarity) * spread
        self._grid = grid
        shape = (slots.shape[0], len(self._keys))
        presence = sp.csr_array((np.ones(len(key)), inverse, slots.indptr), shape=shape)
        self.generated, self.reference = presence[: len(grid.note)], presence[len(grid.note) :]

    def overlap(self) -> Floats:
        """For each pair: the weight of the shared terms over the geometric mean of both notes' weights."""
        grid = self._grid
        generated, reference = (np.sqrt(sums(side, self.weight)) for side in (self.generated, self.reference))
        shared = grid.gather(sp.csr_array((self.generated * self.weight) @ self.reference.T))
        scale: Floats = generated[grid.row] * reference[grid.column]
        return np.minimum(shared / scale, 1.0)

    def alike(self, presence: sp.csr_array) -> sp.csr_array:
        """How alike the notes of one side are to each other."""
        shared = sp.coo_array((presence * self.rarity) @ presence.T)
        total = sums(presence, self.rarity)
        off_diagonal = shared.row != shared.col
        row, column = shared.row[off_diagonal], shared.col[off_diagonal]
        likeness = np.minimum(shared.data[off_diagonal] / np.sqrt(total[row] * total[column]), 1.0)
        return sp.csr_array((likeness, (row, column)), shape=shared.shape)

    def weight_of(self, question: Ints, term: Ints) -> Floats:
        """What each of some terms counts in a question that has it; 1 for no term, which is -1."""
        place = np.searchsorted(self._keys, question * self._width + term)
        return np.where(term >= 0, np.append(self.weight, 1.0)[place], 1.0)


def sums(presence: sp.csr_array, weight: Floats) -> Floats:
    """The weight of each row's terms; 1 for a row without any, which shares nothing."""
    total = np.asarray(presence @ weight)
    total[total == 0] = 1
    return total


def _meaning(notes: Notes, grid: Grid) -> Floats:
    cosine = np.empty(len(grid.row))
    for question, (generated, reference) in enumerate(zip(grid.generated, grid.reference, strict=True)):
        cosine[grid.pairs(question)] = (notes.meaning[generated] @ notes.meaning[reference].T).ravel()
    return cosine


def _alignment(notes: Notes, grid: Grid, terms: QuestionTerms) -> Floats:
    """For each pair: the harmonic mean of how well the words of each note find a counterpart in the other."""
    values = np.empty(len(grid.row))
    left, right = (
        _Words(notes, terms, slots, np.array(list(map(len, of_question)), np.int64))
        for slots, of_question in ((grid.note, grid.generated), (grid.reference_note, grid.reference))
    )
    starts = grid.start.tolist()
    for question, (start, end) in enumerate(pairwise(starts)):
        if end > start:
            theirs = right.side(question)
            # In runs of generated notes whose words times the references' stay within BLOCK.
            rows = [_counterparts(notes, ours, theirs) for ours in left.sides(question, len(theirs.word))]
            values[start:end] = np.concatenate(rows).ravel() if len(rows) > 1 else rows[0].ravel()
    return values


class _Words:
    """The words that are compared by meaning, of all notes of one side of a batch: each distinct one once per question,
    and which slot has it. Questions follow one another, and in them slots."""

    def __init__(self, notes: Notes, terms: QuestionTerms, slots: Ints, slots_of_question: Ints) -> None:
        words_of = [notes.words[text] for text in slots.tolist()]
        counts = np.array(list(map(len, words_of)), np.int64)
        question = np.repeat(np.arange(len(slots_of_question)), slots_of_question)
        self._slot = np.repeat(np.arange(len(slots)), counts)  # of each word of each slot
        width = len(notes.word_term)
        key = question[self._slot] * width + np.concatenate([np.zeros(0, np.int64), *words_of])
        distinct, inverse = np.unique(key, return_inverse=True)
        of_question, self._word = np.divmod(distinct, width)
        distinct_start = np.searchsorted(of_question, np.arange(len(slots_of_question) + 1))
        # For each word of each slot its place among the question's distinct ones.
        self._index = inverse - distinct_start[question[self._slot]]
        self._stem = notes.word_term[self._word]
        self._weight = terms.weight_of(of_question, self._stem)
        self._slot_start: list[int] = np.concatenate([[0], np.cumsum(slots_of_question)]).tolist()
        self._word_start = np.concatenate([[0], np.cumsum(counts)])  # where the words of each slot begin
        self._distinct_start: list[int] = distinct_start.tolist()

    def side(self, question: int) -> _Side:
        """All of a question's notes."""
        return self._part(question, self._slot_start[question], self._slot_start[question + 1])

    def sides(self, question: int, others: int) -> list[_Side]:
        """The same in runs of notes whose words times so many others stay within BLOCK."""
        first, last = self._slot_start[question : question + 2]
        words = self._word_start[first : last + 1] - self._word_start[first]
        if words[-1] * others <= BLOCK:
            return [self.side(question)]
        cuts = (np.flatnonzero(np.diff(words[1:] * others // BLOCK)) + 1 + first).tolist()
        return [self._part(question, *ends).narrowed() for ends in pairwise([first, *cuts, last])]

    def _part(self, question: int, first: int, last: int) -> _Side:
        distinct = slice(*self._distinct_start[question : question + 2])
        starts = self._word_start[first : last + 1]
        own = slice(starts[0], starts[-1])
        return _Side(
            self._word[distinct],
            self._index[own],
            starts[:-1] - starts[0],
            self._slot[own] - first,
            self._stem[distinct],
            self._weight[distinct],
        )


@dataclass(frozen=True, slots=True)
class _Side:
    """The words of some notes of a question."""

    word: Ints  # the distinct ones
    index: Ints  # for each word of each note, note after note, its place among them
    start: Ints  # where each note's words begin in `index`
    note: Ints  # whose each of them is
    stem: Ints  # of each distinct word; -1 where it has none
    weight: Floats  # of each distinct word in the question

    def narrowed(self) -> _Side:
        """Without the words that none of these notes has."""
        kept, index = np.unique(self.index, return_inverse=True)
        return _Side(self.word[kept], index, self.start, self.note, self.stem[kept], self.weight[kept])

    def share(self) -> Floats:
        """(notes, words): the weight of each word in each note; a note's weights add up to 1."""
        share = np.zeros((len(self.start), len(self.word)))
        share[self.note, self.index] = self.weight[self.index]
        share /= share.sum(1, keepdims=True)
        return share

    def nearest(self, near: NDArray[np.float32]) -> Floats:
        """(notes, other side's words): how near some word of each note comes to each."""
        best = np.maximum.reduceat(near[self.index], self.start, axis=0).astype(np.float64)
        best /= UNIT**2
        return np.minimum(np.maximum(best, 0.0, out=best), 1.0, out=best)


def _counterparts(notes: Notes, left: _Side, right: _Side) -> Floats:
    """(left notes, right notes): the harmonic mean of both directions. Words of equal stems are as near as can be."""
    near = notes.word_vector[left.word] @ notes.word_vector[right.word].T
    near[(left.stem[:, None] == right.stem) & (right.stem >= 0)] = UNIT**2
    right_in_left = left.nearest(near) @ right.share().T
    left_in_right = (right.nearest(np.ascontiguousarray(near.T)) @ left.share().T).T
    product: Floats = 2 * left_in_right * right_in_left
    return product / np.maximum(left_in_right + right_in_left, 1e-9)
