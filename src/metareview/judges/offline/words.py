"""Words as the offline judge sees them: cut out of notes, brought to a stem, and given a vector."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RUN = re.compile(r"[A-Za-z0-9_$]+|[^\W\d_a-zA-Z]")
"""A run of a note: a word or an identifier; a letter of another script is a run of its own."""
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]")
"""A word of a run: identifiers are taken apart (`getUserId` -> get, User, Id)."""

_STOP = """
a all also an and any are as at be been being but by can could do does for from has have if in instead into is
it its may not of on only or should so such than that the then there this to use used using was were when
which will with would
"""
STOP = frozenset(_STOP.split())
"""Words that say nothing about which issue is meant; left out of the alignment by meaning."""

_SUFFIXES = """
ization:iz ational:at iveness:iv fulness: ations:at ation:at ators:at ator:at ities: ity: ments: ment: ness:
ings: ing: ies:y ied:y ated:at ates:at ate:at izes:iz ized:iz ize:iz ers: er: ed: es: ly: ions: ion: able:
ible: s:
"""
SUFFIXES = tuple(pair.split(":") for pair in _SUFFIXES.split())
"""(ending, what replaces it): the first ending that a word has is replaced."""


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
    """The words of a run in lower case; and, if there are several, the name of the whole identifier behind a `=`.

    >>> split("getUser_id"), split("cache")
    ((('get', 'user', 'id'), '=getuserid'), (('cache',), None))
    """
    words = tuple(part.lower() for part in PART.findall(run))
    return words, "=" + run.replace("_", "").lower() if len(words) > 1 else None


class PieceTable:
    """Vectors of word pieces, one byte per dimension. A word that is not in it is cut up, longest piece first."""

    def __init__(self, pieces: Sequence[str], vectors: NDArray[np.int8]) -> None:
        self._index = {piece: i for i, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces), default=0)
        self.vectors = vectors

    @classmethod
    def read(cls, file: Path) -> PieceTable:
        with np.load(file, allow_pickle=False) as stored:
            return cls(stored["pieces"].tobytes().decode("ascii").split("\n"), stored["vectors"])

    def cut(self, word: str) -> list[int]:
        """The numbers of the pieces that make up the word; what no piece fits is skipped."""
        if word in self._index:
            return [self._index[word]]
        pieces = []
        start = 0
        while start < len(word):
            ends = range(min(len(word), start + self._longest), start, -1)
            end = next((end for end in ends if word[start:end] in self._index), None)
            if end is not None:
                pieces.append(self._index[word[start:end]])
            start = end or start + 1
        return pieces
