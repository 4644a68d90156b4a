"""The features of each note by itself: its words, their stems, weights and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.words import STOP, PieceTable, runs, split, stem
from metareview.text.equality import equality_numbers

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_WORDS = 128  # how many distinct words of a note are compared by meaning: its first ones
IDENTIFIER_WEIGHT = 4.0  # the rarity that a whole identifier (`cacheKey`, `max_wait`) is counted with
# The length of a word vector. Its numbers are whole and its products below 2^24, so that 32 bits hold them exactly.
UNIT = 2000


@dataclass(frozen=True)
class Background:
    """The frequency of words in review comments at large, and their vectors."""

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
    their order then comes to the same in any batch.
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

    spelling: Spelling

    @cached_property
    def word_count(self) -> Ints:
        """Number of words of each note that are compared by meaning."""
        return np.array(list(map(len, self.words)), np.int64)

    @cached_property
    def log_length(self) -> Floats:
        return np.log(np.maximum(self.length, 1))

    @cached_property
    def _equality(self) -> Ints:
        return np.array(equality_numbers(self.texts), np.int64)

    def equal(self, left: Ints, right: Ints) -> NDArray[np.bool_]:
        """A mask of the pairs of notes that are the same but for white space; empty notes equal nothing."""
        equal: NDArray[np.bool_] = (self._equality[left] == self._equality[right]) & (self._equality[left] > 0)
        return equal

    def terms_of(self, note: int) -> frozenset[int]:
        """A note's terms; the lower its number, the rarer a term is."""
        found = self._terms_of.get(note)
        if found is None:
            start, end = self.terms.indptr[note : note + 2].tolist()
            found = self._terms_of[note] = frozenset(self.terms.indices[start:end].tolist())
        return found

    @cached_property
    def _terms_of(self) -> dict[int, frozenset[int]]:
        return {}

    def wording(self, note: int) -> Mapping[int, str]:
        """Each term of a note as the note first writes it."""
        wording = self._wordings.get(note)
        if wording is None:
            wording = self._wordings[note] = self.spelling.of(note, self.word_term)
        return wording

    @cached_property
    def _wordings(self) -> dict[int, Mapping[int, str]]:
        return {}

    @cached_property
    def identifiers(self) -> frozenset[int]:
        """The terms that are whole identifiers."""
        return frozenset(number for number, name in enumerate(self.term_name) if _is_identifier(name))


@dataclass(frozen=True)
class Spelling:
    """The words and identifiers of a batch as its notes write them, note after note; looked up only for reasons."""

    words: list[str]  # by number
    word: Ints  # the words of all notes, note after note
    word_end: Ints  # where each note's words begin; one more entry than notes
    identifiers: list[str]  # as they are written, by the number of their run
    identifier: Ints  # the runs of all notes that are whole identifiers, note after note
    identifier_term: Ints  # the term of each
    identifier_end: Ints  # where each note's begin; one more entry than notes

    def of(self, note: int, word_term: Ints) -> Mapping[int, str]:
        """Each term of a note as the note first writes it."""
        words = self.word[self.word_end[note] : self.word_end[note + 1]][::-1]  # the first is the last to be set
        wording = {term: self.words[word] for term, word in zip(word_term[words].tolist(), words.tolist(), strict=True)}
        own = slice(self.identifier_end[note], self.identifier_end[note + 1])
        runs_and_terms = zip(self.identifier[own].tolist(), self.identifier_term[own].tolist(), strict=True)
        return wording | {term: self.identifiers[run] for run, term in reversed(list(runs_and_terms))}


def _is_identifier(name: str) -> bool:
    return name.startswith("=")


class _Vocabulary(dict[str, int]):
    """A number for each run of the notes, which is read when it first occurs; words and terms are numbered, too, for
    the time being in the order in which they first occur."""

    def __init__(self) -> None:
        super().__init__()
        self.word: dict[str, int] = {"": 0}
        self.word_term = [-1]
        self.term: dict[str, int] = {}
        self.words_of_run: list[tuple[int, ...]] = []
        self.identifier_of_run: list[int] = []
        """The term of the whole; -1 where it is no identifier."""

    def __missing__(self, run: str) -> int:
        words, name = split(run)
        for word in words:
            if word not in self.word:
                self.word[word] = len(self.word)
                self.word_term.append(self._term(stem(word)))
        return self._keep(run, tuple(self.word[word] for word in words), -1 if name is None else self._term(name))

    def whole(self, text: str) -> int:
        """The number of a note without words, which is one identifier: itself."""
        known = self.get("=" + text)  # no run has such a sign
        return self._keep("=" + text, (), self._term("=" + text)) if known is None else known

    def _keep(self, run: str, words: tuple[int, ...], identifier: int) -> int:
        self.words_of_run.append(words)
        self.identifier_of_run.append(identifier)
        self[run] = number = len(self)
        return number

    def _term(self, name: str) -> int:
        return self.term.setdefault(name, len(self.term))


def read_notes(texts: Sequence[str], background: Background) -> Notes:
    """Read texts into words, terms and vectors: all that depends on a note alone."""
    vocabulary = _Vocabulary()
    run, run_end = _runs_of(texts, vocabulary)
    words_of_run, identifier_of_run = vocabulary.words_of_run, np.array(vocabulary.identifier_of_run, np.int64)
    terms_first_seen, words_first_seen = list(vocabulary.term), list(vocabulary.word)
    rarity = background.rarity(terms_first_seen)
    rarity[[_is_identifier(name) for name in terms_first_seen]] = IDENTIFIER_WEIGHT
    term_order = sorted(range(len(rarity)), key=lambda term: (-rarity[term], terms_first_seen[term]))
    word_order = sorted(range(len(words_first_seen)), key=words_first_seen.__getitem__)  # word 0, "", stays the first
    new_term, new_word = np.argsort(term_order), np.argsort(word_order)
    names = [terms_first_seen[term] for term in term_order]
    all_words = [words_first_seen[word] for word in word_order]
    word_term = np.array(vocabulary.word_term, np.int64)[word_order]
    word_term[1:] = new_term[word_term[1:]]

    counts = np.array(list(map(len, words_of_run)), np.int64)
    words_in_order = new_word[np.array([word for words in words_of_run for word in words], np.int64)]
    word = words_in_order[ranges(np.cumsum(counts)[run] - counts[run], counts[run])]
    word_end = np.concatenate([[0], np.cumsum(counts[run])])[run_end]
    identified = identifier_of_run[run] >= 0
    identifier = run[identified]
    identifier_end = np.concatenate([[0], np.cumsum(identified)])[run_end]
    identifier_term = new_term[identifier_of_run[identifier]]
    has_word, has_identifier = (np.repeat(np.arange(len(texts)), np.diff(end)) for end in (word_end, identifier_end))
    row = np.concatenate([has_word, has_identifier])
    column = np.concatenate([word_term[word], identifier_term])
    terms = sp.csr_array((np.ones(len(row)), (row, column)), shape=(len(texts), len(names)))
    terms.data[:] = 1  # however often a note has the term
    occurrences = sp.csr_array((np.ones(len(word)), word, word_end), shape=(len(texts), len(all_words)))
    word_sum, word_vector = _word_vectors(all_words, background.table)
    return Notes(
        texts=texts,
        terms=terms,
        term_name=names,
        rarity=rarity[term_order],
        length=np.diff(word_end),
        words=_content_words(word, has_word, all_words, len(texts)),
        word_term=word_term,
        word_vector=word_vector,
        meaning=_unit(np.asarray(occurrences @ word_sum)),
        spelling=Spelling(
            all_words,
            word,
            word_end,
            [name.removeprefix("=") for name in vocabulary],
            identifier,
            identifier_term,
            identifier_end,
        ),
    )


def _runs_of(texts: Sequence[str], vocabulary: _Vocabulary) -> tuple[Ints, Ints]:
    """The numbers of the runs of all texts, and where each text's begin, with one more entry than texts."""
    numbers: list[int] = []
    ends = [0]
    number_of, words_of_run = vocabulary.__getitem__, vocabulary.words_of_run
    for text in texts:
        numbers.extend(map(number_of, runs(text)))
        if not any(words_of_run[number] for number in numbers[ends[-1] :]) and (whole := text.strip()):
            numbers.append(vocabulary.whole(whole))
        ends.append(len(numbers))
    return np.array(numbers, np.int64), np.array(ends, np.int64)


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """The numbers from each start on, as many as its size says, one after another."""
    return np.arange(int(sizes.sum())) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)


def _content_words(word: Ints, note: Ints, names: Sequence[str], notes: int) -> list[Ints]:
    """The first MOST_WORDS distinct words of each note that are no stop words; word 0 where there are none."""
    stop = np.array([name in STOP for name in names], bool)
    content = np.flatnonzero(~stop[word])
    _, first = np.unique(note[content] * len(names) + word[content], return_index=True)
    kept = content[np.sort(first)]
    number = np.bincount(note[kept], minlength=notes)
    kept = kept[np.arange(len(kept)) - np.repeat(np.cumsum(number) - number, number) < MOST_WORDS]
    without = np.flatnonzero(number == 0)
    owner = np.concatenate([note[kept], without])
    order = np.argsort(owner, kind="stable")
    words = np.concatenate([word[kept], np.zeros(len(without), np.int64)])[order]
    ends = np.cumsum(np.bincount(owner, minlength=notes)).tolist()
    return [words[start:end] for start, end in pairwise([0, *ends])]


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
