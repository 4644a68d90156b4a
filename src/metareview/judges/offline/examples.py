"""What known verdicts on the same references add to a pair's score.

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


def numbered(texts: Sequence[str], known: Sequence[KnownNotes | None]) -> tuple[list[str], list[Ints]]:
    """The texts with those of known notes behind them, each once; and for each question its known notes' numbers."""
    numbers = {text: number for number, text in enumerate(texts)}
    found = [
        np.array([numbers.setdefault(note, len(numbers)) for note in each.notes] if each else [], np.int64)
        for each in known
    ]
    return list(numbers), found


def nearness(notes: Notes, grid: Grid, known: Sequence[KnownNotes | None], numbers: Sequence[Ints]) -> Nearness:
    """How near each pair comes to what is known; `numbers` are those of the known notes among `notes`."""
    size = len(grid.row)
    words, meaning, there = np.zeros((size, 3)), np.zeros((size, 3)), np.zeros((size, 3), bool)
    for first, last in _runs(grid, numbers):
        by_words = _SharedWords(notes, grid.generated[first:last], numbers[first:last])
        for question in range(first, last):
            each, number, columns = known[question], numbers[question], len(grid.reference[question])
            if each is None or not len(number) or not columns:
                continue
            kinds = _kinds(each.match)
            step = max(1, BLOCK // kinds.size)
            for row in range(0, len(grid.generated[question]), step):
                generated = grid.generated[question][row : row + step]
                start = grid.start[question] + row * columns
                pairs = slice(start, start + len(generated) * columns)
                near = by_words.of(question - first, row, len(generated))
                words[pairs] = _nearest(near, kinds)
                meaning[pairs] = _nearest(notes.meaning[generated] @ notes.meaning[number].T, kinds)
                there[pairs] = np.tile(kinds.any(2), (len(generated), 1))
    return Nearness(words, meaning, there)


def _runs(grid: Grid, numbers: Sequence[Ints]) -> Iterator[tuple[int, int]]:
    """Questions one after another, as many at a time as compare BLOCK notes with known ones."""
    first = total = 0
    for question, (generated, known) in enumerate(zip(grid.generated, numbers, strict=True)):
        compared = len(generated) * len(known)
        if total and total + compared > BLOCK:
            yield first, question
            first, total = question, 0
        total += compared
    if total:
        yield first, len(numbers)


class _SharedWords:
    """How many words generated notes share with the known notes of their question, weighted by rarity, from 0 to 1.

    One sparse product for many questions: each numbers its terms by itself, so that none meets another's notes.
    """

    def __init__(self, notes: Notes, generated: Sequence[Ints], known: Sequence[Ints]) -> None:
        self._rows, self._columns = (np.cumsum([0, *map(len, side)]) for side in (generated, known))
        keys, entries = [], []
        for side in (generated, known):
            slots = notes.terms[np.concatenate(side)]
            question = np.repeat(np.arange(len(side)), list(map(len, side)))
            keys.append(np.repeat(question, np.diff(slots.indptr)) * slots.shape[1] + slots.indices)
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

    def of(self, question: int, row: int, count: int) -> Floats:
        """(generated notes, known notes) of a question: so many rows from `row` on."""
        first = self._rows[question] + row
        ends = self._shared.indptr[first : first + count + 1]
        stored = slice(ends[0], ends[-1])
        found = np.zeros((count, self._columns[question + 1] - self._columns[question]))
        at = np.repeat(np.arange(count), np.diff(ends)), self._shared.indices[stored] - self._columns[question]
        found[at] = self._shared.data[stored]
        return found


def _nearest(near: Floats, kinds: NDArray[np.bool_]) -> Floats:
    """(pairs, kinds): the nearest known note of each kind to each reference, from 0 to 1."""
    best: Floats = np.where(kinds, near[:, None, None, :], 0.0).max(axis=3)
    return np.clip(best, 0.0, 1.0).reshape(-1, 3)


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
