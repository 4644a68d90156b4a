"""Words as the offline judge sees them: cut out of notes, brought to a stem, and given a vector."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metareview.text.normalisation import normalise
from metareview.text.tokens import WordCharacters, belongs_to_words, cut, joined

RUN = re.compile(r"[A-Za-z0-9_$]+|[^\W\d_a-zA-Z]")
"""A run of an ASCII note: a word or an identifier. `runs` knows those of any note."""
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]")
"""A word of a run: identifiers are taken apart (`getUserId` -> get, User, Id)."""
_PART_BEYOND_ASCII = re.compile("[0-9]+|[^0-9_$]+")

_STOP = """
a all also an and any are as at be been being but by can could do does for from has have if in instead into is
it its may not of on only or should so such than that the then there this to use used using was were when
which will with would
"""
STOP = frozenset(_STOP.split())
"""Words that do not identify an issue; left out of the alignment by meaning."""

_SUFFIXES = """
ization:iz ational:at iveness:iv fulness: ations:at ation:at ators:at ator:at ities: ity: ments: ment: ness:
ings: ing: ies:y ied:y ated:at ates:at ate:at izes:iz ized:iz ize:iz ers: er: ed: es: ly: ions: ion: able:
ible: s:
"""
SUFFIXES = tuple(pair.split(":") for pair in _SUFFIXES.split())
"""(ending, what replaces it): the first ending that a word has is replaced."""


class _RunCharacters(WordCharacters):
    """The characters of runs: `_` and `$` belong to words, and a number like `²` is one by itself."""

    def kept(self, character: str) -> str:
        if character in "_$" or belongs_to_words(character):
            return character
        return f" {character} " if character.isalnum() else " "


_SEPARATORS_AS_SPACES = _RunCharacters()
_OTHER_ASCII_AS_SPACES = "".join(chr(code) if RUN.match(chr(code)) else " " for code in range(128))
_ACCENTS = re.compile("[\u0300-\u036f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_KEPT, _KEPT_SYLLABLES = 4, 2
"""Letters of a word in another alphabet, and syllables of a Korean one, that make its stem."""


def runs(note: str) -> list[str]:
    """The runs of a note in order. In a note beyond ASCII, too, letters that stand together are one, and a character of
    a script without spaces is one by itself; Latin letters lose their accents.

    >>> runs("Naïve cacheKey: ключ 缓存")
    ['Naive', 'cacheKey', 'ключ', '缓', '存']
    """
    if note.isascii():
        return note.translate(_OTHER_ASCII_AS_SPACES).split()  # as RUN finds them, in a third of the time
    return [_plain(run) for run in cut(joined(normalise("NFC", note).translate(_SEPARATORS_AS_SPACES)))]


def _plain(run: str) -> str:
    """The run without its accents if that leaves ASCII alone, else in one form however it was encoded."""
    if run.isascii() or (len(run) == 1 and not (run.isalpha() or run.isdecimal())):
        return run
    plain = _ACCENTS.sub("", normalise("NFKD", run).replace("ß", "ss"))
    return plain if plain.isascii() and plain else normalise("NFKC", run)


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """One light step of suffix stripping, enough to bring `validates` and `validation` together.

    >>> stem("validates"), stem("validation"), stem("caches"), stem("caching")
    ('validat', 'validat', 'cach', 'cach')
    """
    if not word.isascii():  # no endings are known of other languages: most of a word's meaning is in its beginning
        return word[: _KEPT_SYLLABLES if _HANGUL.match(word) else _KEPT]
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
    words = tuple(part.lower() for part in (PART if run.isascii() else _PART_BEYOND_ASCII).findall(run))
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
