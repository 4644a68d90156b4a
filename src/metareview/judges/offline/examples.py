"""What known verdicts on the same references add to a pair's score.

A comment that was found to raise a reference is a further wording of it. So a pair is also looked at through what is
known: how near its comment comes to a known wording of its reference, of another reference, and to a known comment that
raised none of them. Nearness is by shared words, weighted by how rare they are at large, and by the cosine of summed
word vectors; of several known comments the nearest counts. A second logistic regression weighs these against the score
that the pair has without them.

Pairs of which nothing is known keep their score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.examples import KnownNotes
from metareview.judges.offline.batches import batches
from metareview.judges.offline.features import BLOCK, Grid
from metareview.judges.offline.notes import Floats, Ints, Notes
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
"""What a pair is weighed by, in the order of the weights: the logit of its score without examples; the nearness to a
known wording of its reference, to one of another reference, to a known comment that raised none; whether there are
any such."""
WORDING, ELSEWHERE, NOISE = range(3)
_SURE = 1e-6


@dataclass(frozen=True)
class ExampleWeights:
    """What was learned about weighing a pair's score against known verdicts."""

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
    """Questions that share what is known of their references."""

    questions: Sequence[int]
    generated: Ints  # the texts of their generated notes, one question after another
    known: Ints  # the texts of the known notes
    match: NDArray[np.int8]


def boards(texts: Sequence[str], grid: Grid, known: Sequence[KnownNotes | None]) -> tuple[list[str], list[Board]]:
    """The texts with those of known notes behind them, each once; and the boards of the questions of which something is
    known."""
    numbers = {text: number for number, text in enumerate(texts)}
    sharing: dict[int, list[int]] = {}
    for question, each in enumerate(known):
        if each is not None and len(each.notes) and len(grid.generated[question]) and len(grid.reference[question]):
            sharing.setdefault(id(each.match), []).append(question)
    found = []
    for questions in sharing.values():
        shared = known[questions[0]]
        assert shared is not None
        of_known = np.array([numbers.setdefault(note, len(numbers)) for note in shared.notes], np.int64)
        generated = np.concatenate([grid.generated[question] for question in questions])
        found.append(Board(questions, generated, of_known, shared.match))
    return list(numbers), found


def nearness(notes: Notes, grid: Grid, known: Sequence[KnownNotes | None], found: Sequence[Board]) -> Nearness:
    """How near each pair comes to what is known; `found` are the boards, whose texts are those of `notes`."""
    size = len(grid.row)
    words, meaning, there = np.zeros((size, 3)), np.zeros((size, 3)), np.zeros((size, 3), bool)
    for some in batches(found, lambda board: len(board.generated) * len(board.known), BLOCK):
        by_words = _SharedWords(notes, [board.generated for board in some], [board.known for board in some])
        for number, board in enumerate(some):
            kinds = _kinds(board.match)
            row = 0
            for question in board.questions:
                each = known[question]
                out = np.array(each.left_out if each else (), np.int64)
                pairs, count = grid.pairs(question), len(grid.generated[question])
                there[pairs] = np.tile(kinds.sum(2) > kinds[:, :, out].sum(2), (count, 1))
                step = max(1, BLOCK // kinds.size)
                for part in range(row, row + count, step):
                    texts = board.generated[part : min(part + step, row + count)]
                    start = pairs.start + (part - row) * len(kinds)
                    rows = slice(start, start + len(texts) * len(kinds))
                    near = by_words.of(number, part, len(texts))
                    words[rows] = _nearest(near, kinds, out)
                    meaning[rows] = _nearest(notes.meaning[texts] @ notes.meaning[board.known].T, kinds, out)
                row += count
    return Nearness(words, meaning, there)


def nearness_of(notes: Notes, board: Board, known: KnownNotes, pairs: Ints) -> Nearness:
    """The same for some pairs of one question, in the order of their comments: (comment, reference) in each row."""
    kinds = _kinds(board.match)
    out = np.array(known.left_out, np.int64)
    words, meaning = np.zeros((len(pairs), 3)), np.zeros((len(pairs), 3))
    rows = max(1, BLOCK // max(1, len(board.known)))
    step = max(1, BLOCK // max(1, kinds[0].size))
    for first in range(0, len(board.generated), rows):
        texts = board.generated[first : first + rows]
        by_words = _SharedWords(notes, [texts], [board.known]).of(0, 0, len(texts))
        by_meaning = notes.meaning[texts] @ notes.meaning[board.known].T
        start, end = np.searchsorted(pairs[:, 0], [first, first + rows]).tolist()
        for part in range(start, end, step):
            own = slice(part, min(part + step, end))
            comment, reference = pairs[own, 0] - first, pairs[own, 1]
            words[own] = _nearest_of(by_words[comment], kinds[reference], out)
            meaning[own] = _nearest_of(by_meaning[comment], kinds[reference], out)
    there = kinds.sum(2) > kinds[:, :, out].sum(2)
    return Nearness(words, meaning, there[pairs[:, 1]])


class _SharedWords:
    """How many words generated notes share with the known notes of their board, weighted by rarity, from 0 to 1.

    One sparse product for many boards: each numbers its terms by itself, so that none meets another's notes.
    """

    def __init__(self, notes: Notes, generated: Sequence[Ints], known: Sequence[Ints]) -> None:
        self._rows, self._columns = (np.cumsum([0, *map(len, side)]) for side in (generated, known))
        keys, entries = [], []
        for side in (generated, known):
            slots = notes.terms[np.concatenate(side)]
            board = np.repeat(np.arange(len(side)), list(map(len, side)))
            keys.append(np.repeat(board, np.diff(slots.indptr)) * slots.shape[1] + slots.indices)
            weight = np.sqrt(notes.rarity)[slots.indices]
            length = np.sqrt(np.add.reduceat(np.append(weight**2, 0.0), slots.indptr[:-1]))
            length[np.diff(slots.indptr) == 0] = 1.0
            entries.append((weight / np.repeat(length, np.diff(slots.indptr)), slots.indptr))
        own = np.unique(keys[0])
        sides = []
        for key, (value, start) in zip(keys, entries, strict=True):
            at = np.searchsorted(own, key)
            met = at < len(own)
            met[met] = own[at[met]] == key[met]
            start = np.concatenate([[0], np.cumsum(met)])[start]
            sides.append(sp.csr_array((value[met], at[met], start), shape=(len(start) - 1, len(own))))
        self._shared = sp.csr_array(sides[0] @ sides[1].T)

    def of(self, board: int, row: int, count: int) -> Floats:
        """(generated notes, known notes) of a board: so many rows from `row` on."""
        first = self._rows[board] + row
        ends = self._shared.indptr[first : first + count + 1]
        stored = slice(ends[0], ends[-1])
        found = np.zeros((count, self._columns[board + 1] - self._columns[board]))
        at = np.repeat(np.arange(count), np.diff(ends)), self._shared.indices[stored] - self._columns[board]
        found[at] = self._shared.data[stored]
        return found


def _nearest(near: Floats, kinds: NDArray[np.bool_], left_out: Ints) -> Floats:
    """(pairs, kinds): the nearest known note of each kind to each reference, from 0 to 1."""
    near[:, left_out] = 0.0
    best: Floats = np.where(kinds, near[:, None, None, :], 0.0).max(axis=3)
    return np.clip(best, 0.0, 1.0).reshape(-1, 3)


def _nearest_of(near: Floats, kinds: NDArray[np.bool_], left_out: Ints) -> Floats:
    """The same where each row of `near` belongs to one pair, and `kinds` says what known notes are to its reference."""
    near[:, left_out] = 0.0
    best: Floats = np.where(kinds, near[:, None, :], 0.0).max(axis=2)
    return np.clip(best, 0.0, 1.0)


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
