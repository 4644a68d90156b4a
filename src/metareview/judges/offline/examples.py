"""Scores of pairs, adjusted by known verdicts on the same references.

A comment that was found to raise a reference is a further wording of it. So a pair is also looked at through what is
known: how near its comment comes to a known wording of its reference, of another reference, and to a known comment that
raised none of them. Nearness is by shared words, weighted by how rare they are at large, and by the cosine of summed
word vectors; of several known comments the nearest counts. A second logistic regression weighs these against the score
that the pair has without them.

Pairs of which nothing is known keep their score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.examples import KnownNotes
from metareview.judges.offline.batches import batches
from metareview.judges.offline.features import Pairs
from metareview.judges.offline.layout import Side
from metareview.judges.offline.notes import Floats, Ints, Notes, ranges
from metareview.judges.offline.terms import dense_block, overlaps
from metareview.judges.protocol import DIFFERENT, SAME

NAMES = (
    "score",
    "wording_words",
    "wording_meaning",
    "elsewhere_words",
    "elsewhere_meaning",
    "noise_words",
    "noise_meaning",
    "has_wording",
    "has_elsewhere",
    "has_noise",
)
"""The inputs of the adjustment, in the order of the weights: the logit of its score without examples; the nearness to a
known wording of its reference, to one of another reference, to a known comment that raised none; whether there are
any such."""
WORDING, ELSEWHERE, NOISE = range(3)
BLOCK = 500_000
"""Pairs of notes that are compared at a time: bounds memory."""
_SURE = 1e-6


@dataclass(frozen=True)
class ExampleWeights:
    """The learned numbers for weighing a pair's score against known verdicts."""

    mean: Floats
    scale: Floats
    weight: Floats
    intercept: float

    def rescored(self, score: Floats, near: Nearness) -> Floats:
        """The probability of each pair, given what is known."""
        values = inputs(score, near)
        logit: Floats = np.full(len(score), self.intercept)
        for column, mean, scale, weight in zip(values.T, self.mean, self.scale, self.weight, strict=True):
            logit += (column - mean) / scale * weight  # pair by pair, as in the model's fit
        return np.where(near.known.any(1), 1 / (1 + np.exp(-logit)), score).round(9)


@dataclass(frozen=True)
class Nearness:
    """For each pair of a batch: how near its comment comes to each kind of known comment."""

    words: Floats  # (pairs, 3): wording, elsewhere, noise; 0 where there are none
    meaning: Floats
    known: NDArray[np.bool_]  # (pairs, 3): whether there are any

    @property
    def nearest(self) -> NDArray[np.int8]:
        """For each pair: the kind of known comment that it comes nearest to; -1 where nothing is known of it."""
        both = np.where(self.known, self.words + self.meaning, -np.inf)
        return np.where(self.known.any(1), both.argmax(1), -1).astype(np.int8)


def inputs(score: Floats, near: Nearness) -> Floats:
    """(pairs, features), in the order of NAMES."""
    score = np.clip(score, _SURE, 1 - _SURE)
    between = np.stack([near.words, near.meaning], axis=2).reshape(len(score), 6)
    return np.column_stack([np.log(score / (1 - score)), between, near.known])


@dataclass(frozen=True)
class Board:
    """The questions that share the known verdicts on their references."""

    questions: Ints
    known: Ints
    """The texts of the known notes."""
    match: NDArray[np.int8]


def boards(texts: Sequence[str], known: Sequence[KnownNotes | None]) -> tuple[list[str], list[Board]]:
    """The distinct texts with those of known notes behind them; and the boards of questions with known notes."""
    numbers = {text: number for number, text in enumerate(texts)}
    sharing: dict[int, list[int]] = {}
    for question, each in enumerate(known):
        if each is not None and len(each.notes) and len(each.match.T):
            sharing.setdefault(id(each.match), []).append(question)
    found = []
    for questions in sharing.values():
        shared = known[questions[0]]
        assert shared is not None
        of_known = np.array([numbers.setdefault(note, len(numbers)) for note in shared.notes], np.int64)
        found.append(Board(np.array(questions, np.int64), of_known, shared.match))
    return list(numbers), found


@dataclass(frozen=True)
class _BoardRows:
    """Some comments of a board's questions."""

    board: Board
    slots: Ints
    question: Ints
    """Each slot's question, by its place among the board's."""


def nearness(pairs: Pairs, chosen: Ints, known: Sequence[KnownNotes | None], found: Sequence[Board]) -> Nearness:
    """The nearness of the chosen pairs to the known notes; `found` are the boards, whose texts are those of `pairs`."""
    near = Nearness(np.zeros((len(chosen), 3)), np.zeros((len(chosen), 3)), np.zeros((len(chosen), 3), bool))
    by_comment = np.argsort(pairs.comment[chosen], kind="stable")
    comment = pairs.comment[chosen][by_comment]
    left, right = pairs.layout.left, pairs.layout.right
    pieces = (rows for board in found for rows in _cut(board, left))
    terms = pairs.notes.terms.shape[1]
    for part in batches(pieces, lambda rows: len(rows.slots) * len(rows.board.known) + terms, BLOCK):
        for rows, by_words, by_meaning in _compare(pairs.notes, left, part):
            kinds, is_example = _kinds(rows.board.match), _is_example(rows.board, known)
            there = (is_example @ kinds.reshape(-1, kinds.shape[2]).T).reshape(-1, *kinds.shape[:2])
            first, last = np.searchsorted(comment, rows.slots), np.searchsorted(comment, rows.slots, side="right")
            own, row = by_comment[ranges(first, last - first)], np.repeat(np.arange(len(first)), last - first)
            question = rows.question[row]
            reference = pairs.reference[chosen[own]] - right.start[rows.board.questions][question]
            near.known[own] = there[question, reference]
            for values, nearest in ((near.words, by_words), (near.meaning, by_meaning)):
                nearest *= is_example[rows.question]
                for some in _parts(len(own), kinds[0].size):
                    of_kinds = np.where(kinds[reference[some]], nearest[row[some], None], 0.0)
                    values[own[some]] = of_kinds.max(axis=2)
    return near


def _cut(board: Board, left: Side) -> Iterator[_BoardRows]:
    """The comments of a board, with at most BLOCK pairs of a comment and a known note at a time."""
    sizes = left.sizes[board.questions]
    slots, question = ranges(left.start[board.questions], sizes), np.repeat(np.arange(len(sizes)), sizes)
    for part in _parts(len(slots), len(board.known)):
        yield _BoardRows(board, slots[part], question[part])


def _parts(number: int, size: int) -> Iterator[slice]:
    """Slices of so many rows, each with BLOCK cells at most; a row has `size`."""
    step = max(1, BLOCK // size)
    return (slice(start, start + step) for start in range(0, number, step))


def _compare(notes: Notes, left: Side, part: Sequence[_BoardRows]) -> Iterator[tuple[_BoardRows, Floats, Floats]]:
    """(comments, known notes): how near they are by shared words and by meaning, from 0 to 1. One product for all."""
    ours, theirs = Side.of([left.note[rows.slots] for rows in part]), Side.of([rows.board.known for rows in part])
    shared = overlaps(_terms_by_board(notes, ours), _terms_by_board(notes, theirs), np.tile(notes.rarity, len(part)))
    for table, rows in enumerate(part):
        slots = ours.slots(table)
        meaning = np.clip(notes.meaning[ours.note[slots]] @ notes.meaning[rows.board.known].T, 0.0, 1.0)
        yield rows, dense_block(shared, slots, theirs.slots(table)), meaning


def _terms_by_board(notes: Notes, side: Side) -> sp.csr_array:
    """The terms of notes in columns of their board's own, so that no product leaves a board."""
    presence = notes.terms[side.note]
    width, boards = presence.shape[1], len(side.start) - 1
    column = np.repeat(side.table * width, np.diff(presence.indptr)) + presence.indices
    return sp.csr_array((presence.data, column, presence.indptr), shape=(len(side.note), boards * width))


def _is_example(board: Board, known: Sequence[KnownNotes | None]) -> NDArray[np.bool_]:
    """(questions, known notes): True where a known note is an example for a question."""
    is_example = np.ones((len(board.questions), len(board.known)), bool)
    for row, question in enumerate(board.questions.tolist()):
        each = known[question]
        is_example[row, list(each.left_out) if each else []] = False
    return is_example


def _kinds(match: NDArray[np.int8]) -> NDArray[np.bool_]:
    """(references, kinds, notes): what a known note is to each reference."""
    yes, no = match.T == SAME, match.T == DIFFERENT
    raises = yes.any(0)
    noise = np.broadcast_to(~raises & no.any(0), yes.shape)
    return np.stack([yes, raises & ~yes, noise], axis=1)


def read_weights(stored: dict[str, Any]) -> ExampleWeights:
    """The `examples` of a weights file."""
    features = {feature["name"]: feature for feature in stored["features"]}
    numbers = {key: np.array([features[name][key] for name in NAMES]) for key in ("mean", "scale", "weight")}
    return ExampleWeights(**numbers, intercept=stored["intercept"])
