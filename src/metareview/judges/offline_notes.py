"""What the offline judge works out for each note once: its words, their stems, weights and vectors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LONGEST_NOTE = 20_000
"""Characters of a note that are judged; the rest is left out."""
MOST_WORDS = 256
"""Distinct words of a note that are aligned by meaning; the first ones count."""
IDENTIFIER_WEIGHT = 4.0
"""What a whole identifier (`cacheKey`, `max_wait`) counts, as if it were a word of that rarity."""

RUN = re.compile(r"[A-Za-z0-9_$]+|[^\W\d_a-zA-Z]")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]")
"""The words of a run: identifiers come apart (`getUserId` -> get, User, Id); a letter of another script is a word."""
MOST_TOKENS = 0x10FFFF
"""As many characters as there are; a batch with more distinct tokens lets some share one."""
PLAIN = re.compile(r"[a-z0-9]+")

STOP = frozenset(
    ["a", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could", "do", "does", "for", "from", "has", "have", "if", "in", "instead", "into", "is", "it", "its", "may", "not", "of", "on", "only", "or", "should", "so", "such", "than", "that", "the", "then", "there", "this", "to", "use", "used", "using", "was", "were", "when", "which", "will", "with", "would"]
)
"""Words that say nothing about which issue is meant; left out of the alignment by meaning."""

SUFFIXES = tuple(
    pair.split(":")
    for pair in ["ization:iz", "ational:at", "iveness:iv", "fulness:", "ations:at", "ation:at", "ators:at", "ator:at", "ities:", "ity:", "ments:", "ment:", "ness:", "ings:", "ing:", "ies:y", "ied:y", "ated:at", "ates:at", "ate:at", "izes:iz", "ized:iz", "ize:iz", "ers:", "er:", "ed:", "es:", "ly:", "ions:", "ion:", "able:", "ible:", "s:"]
)


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """One light step of suffix stripping, enough to bring `validates` and `validation` together.

    >>> stem("validates"), stem("validation"), stem("caches"), stem("caching")
    ('validat', 'validat', 'cach', 'cach')
    """
    if len(word) <= 3 or word[0].isdigit():
        return word
    for suffix, instead in SUFFIXES:
        if word.endswith(suffix):
            kept = word[: len(word) - len(suffix)] + instead
            if len(kept) >= 3 and not (suffix == "s" and word.endswith("ss")):
                word = kept
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


@lru_cache(maxsize=200_000)
def split(run: str) -> tuple[tuple[str, ...], str | None]:
    """The words of a run in lower case, and the whole if it is an identifier of several.

    >>> split("getUser_id"), split("cache")
    ((('get', 'user', 'id'), '=getuserid'), (('cache',), None))
    """
    words = tuple(part.lower() for part in PART.findall(run))
    return words, "=" + run.replace("_", "").lower() if len(words) > 1 else None


class PieceTable:
    """Vectors of word pieces, one byte a dimension. A word that is not in it is cut, longest piece first."""

    def __init__(self, pieces: Sequence[str], vectors: NDArray[np.int8]) -> None:
        self._index = {piece: i for i, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces), default=0)
        self.vectors = vectors

    @classmethod
    def read(cls, file: Path) -> PieceTable:
        with np.load(file, allow_pickle=False) as stored:
            return cls(stored["pieces"].tobytes().decode("ascii").split("\n"), stored["vectors"])

    def cut(self, word: str) -> list[int]:
        """Positions of the pieces that make up the word; what no piece fits is skipped."""
        whole = self._index.get(word)
        if whole is not None:
            return [whole]
        found = []
        start = 0
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = self._index.get(word[start:end])
                if piece is not None:
                    found.append(piece)
                    start = end
                    break
            else:
                start += 1
        return found


@dataclass(frozen=True)
class Background:
    """How common words are in review comments at large, and what they mean."""

    notes: int
    frequency: Mapping[str, int]
    """In how many of the background's notes a stem occurs; unseen ones are left out."""
    table: PieceTable

    def rarity(self, stems: Sequence[str]) -> Floats:
        """log((n + 1) / (df + 1/2)), the weight of a word where nothing else is known."""
        df = np.fromiter((self.frequency.get(s, 0) for s in stems), np.float64, len(stems))
        return np.log((self.notes + 1) / (df + 0.5))


@dataclass(frozen=True)
class Notes:
    """Distinct notes of a batch. Terms are stems and whole identifiers; words are as written, in lower case."""

    text: list[str]
    terms: sp.csr_array
    """(notes, terms): 1 where a note has the term."""
    term_name: list[str]
    """Stems as they are, identifiers behind a `=`."""
    shown: list[str]
    """Each term as it was first written."""
    rarity: Floats
    words: list[Ints]
    """Each note's distinct words without stop words; never empty: word 0 is like nothing, not even itself."""
    word_stem: Ints
    """The term of each word."""
    word_vector: NDArray[np.float32]
    """Small whole numbers, so that products are exact whatever the order."""
    meaning: Floats
    """(notes, dimensions): the sum of each note's word vectors, of length 1; zeros where nothing is known."""
    encoded: list[str]
    """Runs of [a-z0-9] in lower case, one character a token."""
    tokens: Ints
    """How many those are."""


def terms(note: str) -> tuple[list[str], dict[str, str]]:
    """A note's words in order, and its whole identifiers as they were written. A note without either is one term:
    itself."""
    words: list[str] = []
    whole: dict[str, str] = {}
    for run in RUN.findall(note):
        parts, name = split(run)
        words.extend(parts)
        if name is not None:
            whole.setdefault(name, run)
    if not words and note.strip():
        whole["=" + note.strip()] = note.strip()
    return words, whole


def read_notes(texts: Sequence[str], background: Background) -> Notes:
    """Work out everything that depends on a note alone."""
    texts = [text[:LONGEST_NOTE] for text in texts]
    word_id: dict[str, int] = {"": 0}
    term_id: dict[str, int] = {}
    token_id: dict[str, int] = {}
    word_term = [-1]
    shown: dict[int, str] = {}
    indices: list[int] = []
    starts = [0]
    counts: list[Counter[int]] = []
    words: list[Ints] = []
    encoded = []
    tokens = np.zeros(len(texts), np.int64)
    for at, text in enumerate(texts):
        spoken, whole = terms(text)
        ids = []
        for word in spoken:
            number = word_id.get(word)
            if number is None:
                number = word_id[word] = len(word_id)
                word_term.append(term_id.setdefault(stem(word), len(term_id)))
                shown.setdefault(word_term[-1], word)
            ids.append(number)
        count = Counter(ids)
        counts.append(count)
        named = {term_id.setdefault(key, len(term_id)): name for key, name in whole.items()}
        for term, name in named.items():
            shown.setdefault(term, name)
        indices.extend({word_term[i] for i in count} | named.keys())
        starts.append(len(indices))
        kept = [i for word, i in zip(spoken, ids, strict=True) if word not in STOP]
        words.append(np.array(list(dict.fromkeys(kept))[:MOST_WORDS] or [0], np.int64))
        plain = PLAIN.findall(text.lower())
        tokens[at] = len(plain)
        encoded.append(
            "".join([chr(1 + token_id.setdefault(token, len(token_id)) % MOST_TOKENS) for token in plain])
        )
    names = list(term_id)
    rarity = np.where(
        np.fromiter((name[0] == "=" for name in names), bool, len(names)),
        IDENTIFIER_WEIGHT,
        background.rarity(names),
    )
    vector, pieces = _word_vectors(list(word_id), background.table)
    return Notes(
        text=texts,
        terms=sp.csr_array(
            (np.ones(len(indices)), np.array(indices, np.int64), np.array(starts, np.int64)),
            shape=(len(texts), len(names)),
        ),
        term_name=names,
        shown=[shown[i] for i in range(len(names))],
        rarity=rarity,
        words=words,
        word_stem=np.array(word_term, np.int64),
        word_vector=vector,
        meaning=_meanings(counts, vector, pieces),
        encoded=encoded,
        tokens=tokens,
    )


def _word_vectors(words: list[str], table: PieceTable) -> tuple[NDArray[np.float32], Floats]:
    """Each word's mean over its pieces, rounded to whole numbers, and how many pieces it has."""
    cuts = [table.cut(word) for word in words]
    pieces = np.array([len(cut) for cut in cuts], np.float64)
    owner = np.repeat(np.arange(len(words)), pieces.astype(np.int64))
    flat = np.array([piece for cut in cuts for piece in cut], np.int64)
    pick = sp.csr_array(
        (np.ones(len(flat), np.float32), (owner, np.arange(len(flat)))), (len(words), len(flat))
    )
    total = pick @ table.vectors[flat].astype(np.float32)
    return np.rint(total / np.maximum(pieces, 1)[:, None]).astype(np.float32), pieces


def _meanings(counts: list[Counter[int]], vector: NDArray[np.float32], pieces: Floats) -> Floats:
    starts = np.cumsum([0, *(len(count) for count in counts)])
    index = np.fromiter((i for count in counts for i in count), np.int64, starts[-1])
    times = np.fromiter((n for count in counts for n in count.values()), np.float64, starts[-1])
    bag = sp.csr_array((times * pieces[index], index, starts), shape=(len(counts), len(vector)))
    total = bag @ vector.astype(np.float64)
    return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9)
