"""What the offline judge works out for each note once: its words, their stems, weights and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.words import RUN, STOP, PieceTable, split, stem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_WORDS = 128
"""Distinct words of a note that are aligned by meaning; the first ones count."""
IDENTIFIER_WEIGHT = 4.0
"""What a whole identifier (`cacheKey`, `max_wait`) counts, as if it were a word of that rarity."""
UNIT = 2000
"""The length of a word vector. Its numbers are whole and products below 2^24, so that these are exact."""


@dataclass(frozen=True)
class Background:
    """How common words are in review comments at large, and what they mean."""

    notes: int
    frequency: Mapping[str, int]
    """In how many of the background's notes a stem occurs; rare ones are left out."""
    table: PieceTable

    def rarity(self, stems: Sequence[str]) -> Floats:
        """log((n + 1) / (df + 1/2)), the weight of a word where nothing else is known."""
        df = np.fromiter((self.frequency.get(s, 0) for s in stems), np.float64, len(stems))
        rarity: Floats = np.log((self.notes + 1) / (df + 0.5))
        return rarity


@dataclass(frozen=True)
class Notes:
    """Distinct notes of a batch. Terms are stems and whole identifiers; words are lower case, not stemmed."""

    terms: sp.csr_array
    """(notes, terms): 1 where a note has the term."""
    term_name: list[str]
    """Stems as they are, identifiers behind a `=`."""
    term_shown: list[str]
    """Each term as it was first written."""
    rarity: Floats
    """The weight of each term."""
    length: Ints
    """How many words each note has, repeats and stop words included."""
    words: list[Ints]
    """Each note's distinct words without stop words; never empty: word 0 is like nothing, not even itself."""
    word_term: Ints
    """The stem of each word, as a term; -1 for word 0."""
    word_vector: NDArray[np.float32]
    """Each word's meaning, of length UNIT or 0."""
    meaning: Floats
    """(notes, dimensions): the sum of each note's word vectors, of length 1 or 0."""


class _Vocabulary:
    """Numbers for words and terms, in order of appearance."""

    def __init__(self) -> None:
        self.word: dict[str, int] = {"": 0}
        self.word_term = [-1]
        self.term: dict[str, int] = {}
        self.shown: list[str] = []
        self._run: dict[str, tuple[tuple[int, ...], int]] = {}

    def read(self, note: str, words: list[int], whole: list[int]) -> None:
        """Append the note's words and whole identifiers. A note without words is one identifier: itself."""
        before = len(words)
        for run in RUN.findall(note):
            known = self._run.get(run)
            if known is None:
                known = self._run[run] = self._learn(run)
            words.extend(known[0])
            if known[1] >= 0:
                whole.append(known[1])
        bare = note.strip()
        if len(words) == before and bare:
            whole.append(self._term("=" + bare, bare))

    def _learn(self, run: str) -> tuple[tuple[int, ...], int]:
        words, name = split(run)
        for word in words:
            if word not in self.word:
                self.word[word] = len(self.word)
                self.word_term.append(self._term(stem(word), word))
        return tuple(self.word[word] for word in words), -1 if name is None else self._term(name, run)

    def _term(self, name: str, shown: str) -> int:
        number = self.term.setdefault(name, len(self.term))
        if number == len(self.shown):
            self.shown.append(shown)
        return number


def read_notes(texts: Sequence[str], background: Background) -> Notes:
    """Work out everything that depends on a note alone."""
    vocabulary = _Vocabulary()
    spoken: list[int] = []
    named: list[int] = []
    ends = np.zeros((len(texts) + 1, 2), np.int64)
    for i, text in enumerate(texts):
        vocabulary.read(text, spoken, named)
        ends[i + 1] = len(spoken), len(named)
    word = np.array(spoken, np.int64)
    length = np.diff(ends[:, 0])
    owner = np.repeat(np.arange(len(texts)), length)
    word_term = np.array(vocabulary.word_term, np.int64)
    names = list(vocabulary.term)
    total, vector = _word_vectors(list(vocabulary.word), background.table)
    return Notes(
        terms=_presence(
            np.concatenate([owner, np.repeat(np.arange(len(texts)), np.diff(ends[:, 1]))]),
            np.concatenate([word_term[word], np.array(named, np.int64)]),
            (len(texts), len(names)),
        ),
        term_name=names,
        term_shown=vocabulary.shown,
        rarity=np.where([name[:1] == "=" for name in names], IDENTIFIER_WEIGHT, background.rarity(names)),
        length=length,
        words=_content(owner, word, len(texts), list(vocabulary.word)),
        word_term=word_term,
        word_vector=vector,
        meaning=_meaning(word, ends[:, 0], total),
    )


def _presence(row: Ints, column: Ints, shape: tuple[int, int]) -> sp.csr_array:
    matrix = sp.csr_array((np.ones(len(row)), (row, column)), shape=shape)
    matrix.data[:] = 1
    return matrix


def _content(owner: Ints, word: Ints, notes: int, names: list[str]) -> list[Ints]:
    """Each note's first MOST_WORDS distinct words that are no stop words, or word 0."""
    telling = np.array([name not in STOP for name in names])[word]
    owner, word = owner[telling], word[telling]
    key, first = np.unique(owner * len(names) + word, return_index=True)
    order = np.argsort(first)
    key = key[order]
    owner = key // len(names)
    start = np.searchsorted(owner, np.arange(notes + 1))
    kept = np.arange(len(key)) - start[owner] < MOST_WORDS
    owner, word = owner[kept], key[kept] % len(names)
    each = np.split(word, np.searchsorted(owner, np.arange(1, notes)))[:notes]
    nothing = np.zeros(1, np.int64)
    return [words if len(words) else nothing for words in each]


def _word_vectors(words: list[str], table: PieceTable) -> tuple[Floats, NDArray[np.float32]]:
    """Each word's pieces added up, and the same at length UNIT in whole numbers."""
    cuts = [table.cut(word) for word in words]
    flat = np.array([piece for cut in cuts for piece in cut], np.int64)
    start = np.cumsum([0, *(len(cut) for cut in cuts)])
    pick = sp.csr_array((np.ones(len(flat)), flat, start), shape=(len(words), len(table.vectors)))
    total: Floats = pick @ table.vectors.astype(np.float64)
    return total, np.rint(_unit(total) * UNIT).astype(np.float32)


def _meaning(word: Ints, start: Ints, total: Floats) -> Floats:
    bag = sp.csr_array((np.ones(len(word)), word, start), shape=(len(start) - 1, len(total)))
    return _unit(np.asarray(bag @ total))


def _unit(vectors: Floats) -> Floats:
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    unit: Floats = vectors / np.where(length > 0, length, 1)
    return unit
