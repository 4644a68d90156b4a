"""What the offline judge works out for each note once: its words, their stems, weights and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.words import STOP, PieceTable, runs, split, stem

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

    A word is in lower case and not stemmed; word 0 stands for no word. A term is a stem or a whole identifier. Words
    are numbered by the alphabet, terms from the rarest on, equally rare ones by the alphabet: what is added up in
    their order then comes to the same whatever else is in the batch.
    """

    texts: Sequence[str]
    terms: sp.csr_array  # (notes, terms): 1 where a note has the term
    term_name: list[str]  # a stem as it is, an identifier behind a `=`
    rarity: Floats  # how rare each term is at large: its weight where nothing else is known
    length: Ints  # how many words each note has, repeats and stop words included
    words: list[Ints]
    """Each note's distinct words without stop words. Never empty: a note without any has word 0, which is like nothing,
    not even itself."""
    word_term: Ints  # the stem of each word, as a term; -1 for word 0
    word_vector: NDArray[np.float32]  # each word's meaning, of length UNIT or 0
    meaning: Floats  # (notes, dimensions): the sum of each note's word vectors, of length 1 or 0

    @cached_property
    def stems_of(self) -> list[int]:
        """For each note: those of its terms that are stems, as the bits of a number."""
        return self._terms_of(identifiers=False)

    @cached_property
    def identifiers_of(self) -> list[int]:
        """For each note: those of its terms that are whole identifiers, as the bits of a number."""
        return self._terms_of(identifiers=True)

    def _terms_of(self, identifiers: bool) -> list[int]:
        chosen = np.array([_is_identifier(name) == identifiers for name in self.term_name], bool)[self.terms.indices]
        indices, ends = self.terms.indices[chosen], np.concatenate([[0], np.cumsum(chosen)])[self.terms.indptr]
        return [sum(1 << term for term in indices[start:end].tolist()) for start, end in pairwise(ends.tolist())]

    def wording(self, note: int) -> Mapping[int, str]:
        """Each term of a note as the note first writes it."""
        wording = self._wordings.get(note)
        if wording is None:
            first = _wording(self.texts[note])
            terms = self.terms.indices[self.terms.indptr[note] : self.terms.indptr[note + 1]].tolist()
            wording = self._wordings[note] = {term: first[self.term_name[term]] for term in terms}
        return wording

    @cached_property
    def _wordings(self) -> dict[int, dict[int, str]]:
        return {}


def _is_identifier(name: str) -> bool:
    return name.startswith("=")


def _wording(note: str) -> dict[str, str]:
    """Each term of a note, by its name, as the note first writes it."""
    wording: dict[str, str] = {}
    for run in runs(note):
        words, name = split(run)
        for word in words:
            wording.setdefault(stem(word), word)
        if name is not None:
            wording.setdefault(name, run)
    text = note.strip()
    return wording or {"=" + text: text}


class _Vocabulary:
    """Numbers for words and terms, for the time being in the order in which they first occur."""

    def __init__(self) -> None:
        self.word: dict[str, int] = {"": 0}
        self.word_term = [-1]
        self.term: dict[str, int] = {}
        self._runs: dict[str, tuple[tuple[int, ...], int]] = {}

    def read(self, note: str, words: list[int], identifiers: list[int]) -> None:
        """Appends the note's words and whole identifiers. A note without words is one identifier: itself."""
        before = len(words)
        for run in runs(note):
            numbers = self._runs.get(run)
            if numbers is None:
                numbers = self._runs[run] = self._learn(run)
            words.extend(numbers[0])
            if numbers[1] >= 0:
                identifiers.append(numbers[1])
        text = note.strip()
        if len(words) == before and text:
            identifiers.append(self._term("=" + text))

    def _learn(self, run: str) -> tuple[tuple[int, ...], int]:
        """The numbers of the run's words, and that of the whole identifier; -1 where it is none."""
        words, name = split(run)
        for word in words:
            if word not in self.word:
                self.word[word] = len(self.word)
                self.word_term.append(self._term(stem(word)))
        return tuple(self.word[word] for word in words), -1 if name is None else self._term(name)

    def _term(self, name: str) -> int:
        return self.term.setdefault(name, len(self.term))


def read_notes(texts: Sequence[str], background: Background) -> Notes:
    """Everything that depends on a note alone."""
    vocabulary = _Vocabulary()
    words: list[int] = []
    identifiers: list[int] = []
    ends = np.zeros((len(texts) + 1, 2), np.int64)
    for number, text in enumerate(texts):
        vocabulary.read(text, words, identifiers)
        ends[number + 1] = len(words), len(identifiers)
    terms_first_seen, words_first_seen = list(vocabulary.term), list(vocabulary.word)
    rarity = background.rarity(terms_first_seen)
    rarity[[_is_identifier(name) for name in terms_first_seen]] = IDENTIFIER_WEIGHT
    term_order = sorted(range(len(rarity)), key=lambda term: (-rarity[term], terms_first_seen[term]))
    word_order = sorted(range(len(words_first_seen)), key=words_first_seen.__getitem__)  # word 0, "", stays the first
    new_term, new_word = np.argsort(term_order), np.argsort(word_order)
    names = [terms_first_seen[term] for term in term_order]
    all_words = [words_first_seen[word] for word in word_order]
    word = new_word[np.array(words, np.int64)]
    word_term = np.array(vocabulary.word_term, np.int64)[word_order]
    word_term[1:] = new_term[word_term[1:]]
    has_word, has_identifier = (np.repeat(np.arange(len(texts)), counts) for counts in np.diff(ends, axis=0).T)
    row = np.concatenate([has_word, has_identifier])
    column = np.concatenate([word_term[word], new_term[np.array(identifiers, np.int64)]])
    terms = sp.csr_array((np.ones(len(row)), (row, column)), shape=(len(texts), len(names)))
    terms.data[:] = 1  # however often a note has the term
    occurrences = sp.csr_array((np.ones(len(word)), word, ends[:, 0]), shape=(len(texts), len(all_words)))
    stop = {number for number, name in enumerate(all_words) if name in STOP}

    def content_words(words: list[int]) -> Ints:
        distinct = dict.fromkeys(word for word in words if word not in stop)
        return np.array([*islice(distinct, MOST_WORDS)] or [0], np.int64)

    word_sum, word_vector = _word_vectors(all_words, background.table)
    numbers = word.tolist()
    return Notes(
        texts=texts,
        terms=terms,
        term_name=names,
        rarity=rarity[term_order],
        length=np.diff(ends[:, 0]),
        words=[content_words(numbers[start:end]) for start, end in pairwise(ends[:, 0].tolist())],
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
