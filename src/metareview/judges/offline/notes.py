"""What the offline judge works out for each note once: its words, their stems, weights and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.words import RUN, STOP, PieceTable, split, stem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_WORDS = 128  # how many distinct words of a note are compared by meaning: its first ones
IDENTIFIER_WEIGHT = 4.0  # the rarity that a whole identifier (`cacheKey`, `max_wait`) is counted with
# The length of a word vector. Its numbers are whole and its products below 2^24, so that 32 bits hold them exactly.
UNIT = 2000


@dataclass(frozen=True)
class Background:
    """How common words are in review comments at large, and what they mean."""

    notes: int
    frequency: Mapping[str, int]  # in how many of the background's notes a stem occurs; rare ones are left out
    table: PieceTable

    def rarity(self, stems: Sequence[str]) -> Floats:
        """log((n + 1) / (f + 1/2)) for a stem that f of the background's n notes have."""
        frequency = np.fromiter((self.frequency.get(stem, 0) for stem in stems), np.float64, len(stems))
        return np.log((self.notes + 1) / (frequency + 0.5))


@dataclass(frozen=True)
class Notes:
    """The distinct notes of a batch.

    A word is in lower case and not stemmed; word 0 stands for no word. A term is a stem or a whole identifier.
    """

    terms: sp.csr_array  # (notes, terms): 1 where a note has the term
    term_name: list[str]  # a stem as it is, an identifier behind a `=`
    term_shown: list[str]  # each term as it was first written
    rarity: Floats  # how rare each term is at large: its weight where nothing else is known
    length: Ints  # how many words each note has, repeats and stop words included
    words: list[Ints]
    """Each note's distinct words without stop words. Never empty: a note without any has word 0, which is like nothing,
    not even itself."""
    word_term: Ints  # the stem of each word, as a term; -1 for word 0
    word_vector: NDArray[np.float32]  # each word's meaning, of length UNIT or 0
    meaning: Floats  # (notes, dimensions): the sum of each note's word vectors, of length 1 or 0

    @cached_property
    def terms_of(self) -> list[frozenset[int]]:
        return [frozenset(self.terms.indices[start:end].tolist()) for start, end in pairwise(self.terms.indptr)]

    @cached_property
    def rank(self) -> dict[int, int]:
        """For each term: how many are rarer, or as rare and earlier in the alphabet."""
        order = sorted(range(len(self.term_name)), key=lambda term: (-self.rarity[term], self.term_name[term]))
        return {term: rank for rank, term in enumerate(order)}


class _Vocabulary:
    """Numbers for words and terms, in the order in which they first occur."""

    def __init__(self) -> None:
        self.word: dict[str, int] = {"": 0}
        self.word_term = [-1]
        self.term: dict[str, int] = {}
        self.shown: list[str] = []
        self._runs: dict[str, tuple[tuple[int, ...], int]] = {}

    def read(self, note: str, words: list[int], identifiers: list[int]) -> None:
        """Appends the note's words and whole identifiers. A note without words is one identifier: itself."""
        before = len(words)
        for run in RUN.findall(note):
            numbers = self._runs.get(run)
            if numbers is None:
                numbers = self._runs[run] = self._learn(run)
            words.extend(numbers[0])
            if numbers[1] >= 0:
                identifiers.append(numbers[1])
        text = note.strip()
        if len(words) == before and text:
            identifiers.append(self._term("=" + text, text))

    def _learn(self, run: str) -> tuple[tuple[int, ...], int]:
        """The numbers of the run's words, and that of the whole identifier; -1 where it is none."""
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
    """Everything that depends on a note alone."""
    vocabulary = _Vocabulary()
    words: list[int] = []
    identifiers: list[int] = []
    ends = np.zeros((len(texts) + 1, 2), np.int64)
    for number, text in enumerate(texts):
        vocabulary.read(text, words, identifiers)
        ends[number + 1] = len(words), len(identifiers)
    word = np.array(words, np.int64)
    word_term = np.array(vocabulary.word_term, np.int64)
    names = list(vocabulary.term)
    has_word, has_identifier = (np.repeat(np.arange(len(texts)), counts) for counts in np.diff(ends, axis=0).T)
    row = np.concatenate([has_word, has_identifier])
    column = np.concatenate([word_term[word], np.array(identifiers, np.int64)])
    terms = sp.csr_array((np.ones(len(row)), (row, column)), shape=(len(texts), len(names)))
    terms.data[:] = 1  # however often a note has the term
    occurrences = sp.csr_array((np.ones(len(word)), word, ends[:, 0]), shape=(len(texts), len(vocabulary.word)))
    stop = {number for name, number in vocabulary.word.items() if name in STOP}

    def content_words(words: list[int]) -> Ints:
        distinct = dict.fromkeys(word for word in words if word not in stop)
        return np.array([*islice(distinct, MOST_WORDS)] or [0], np.int64)

    word_sum, word_vector = _word_vectors(list(vocabulary.word), background.table)
    return Notes(
        terms=terms,
        term_name=names,
        term_shown=vocabulary.shown,
        rarity=np.where([name[:1] == "=" for name in names], IDENTIFIER_WEIGHT, background.rarity(names)),
        length=np.diff(ends[:, 0]),
        words=[content_words(words[start:end]) for start, end in pairwise(ends[:, 0].tolist())],
        word_term=word_term,
        word_vector=word_vector,
        meaning=_unit(np.asarray(occurrences @ word_sum)),
    )


def _word_vectors(words: list[str], table: PieceTable) -> tuple[Floats, NDArray[np.float32]]:
    """The vectors of each word's pieces added up; and the same at length UNIT, in whole numbers."""
    pieces_of = [table.cut(word) for word in words]
    piece = np.array([piece for pieces in pieces_of for piece in pieces], np.int64)
    start = np.cumsum([0, *(len(pieces) for pieces in pieces_of)])
    pieces = sp.csr_array((np.ones(len(piece)), piece, start), shape=(len(words), len(table.vectors)))
    word_sum: Floats = pieces @ table.vectors.astype(np.float64)
    return word_sum, np.rint(_unit(word_sum) * UNIT).astype(np.float32)


def _unit(vectors: Floats) -> Floats:
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return vectors / np.where(length > 0, length, 1)
