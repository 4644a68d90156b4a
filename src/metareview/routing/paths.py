"""How much paths have in common, worked out once for each pair of folders.

A path's parts are its folders and its name. Two paths with different names have in common what their folders have, so
paths are held by *place*: the folder, with a name that equals nothing. A name that also occurs as a folder somewhere
could match there, so such a path is a place of its own, with the name as its last part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PREFIX, RUN, SUBSEQUENCE, SUFFIX = range(4)
_DEEPEST = 62  # A place's parts are the bits of one 64-bit word.
_STORED = 8_192  # Pairs of so many places are kept, 4 bytes each; beyond, they are worked out each time.
_FIRST = 64  # Room for places at the start.


def split_path(path: str) -> tuple[str, ...]:
    """The parts of a path. Below 62 folders the rest is one part.

    >>> split_path("src/app/main.c")
    ('src', 'app', 'main.c')
    """
    return tuple(path.split("/", _DEEPEST))


class Places:
    """Numbered places, and for any of them the common prefix, suffix, run and subsequence with all."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[bool, tuple[str, ...]], int] = {}
        self._tokens: dict[str, int] = {}
        self._count = 0
        # One column per place, its parts from the first on and from the last on; 0 is no part.
        self._parts: NDArray[np.int32] = np.zeros((8, _FIRST), dtype=np.int32)
        self._endings: NDArray[np.int32] = np.zeros((8, _FIRST), dtype=np.int32)
        self._lengths: NDArray[np.int64] = np.zeros(_FIRST, dtype=np.int64)
        self._named: NDArray[np.bool_] = np.zeros(_FIRST, dtype=bool)
        self._stored: NDArray[np.uint8] | None = np.zeros((4, _FIRST, _FIRST), dtype=np.uint8)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of parts of each place's paths, the name included."""
        return self._lengths[: self._count]

    @property
    def named(self) -> NDArray[np.bool_]:
        """Which places are whole paths, so that the last part is the name."""
        return self._named[: self._count]

    def number(self, parts: tuple[str, ...], *, named: bool) -> int:
        """The place of these parts: a folder, or (`named`) a whole path."""
        place = self._numbers.setdefault((named, parts), self._count)
        if place < self._count:
            return place
        self._make_room(len(parts))
        tokens = [self._tokens.setdefault(part, len(self._tokens) + 1) for part in parts]
        self._parts[: len(tokens), place] = tokens
        self._endings[: len(tokens), place] = tokens[::-1]
        self._lengths[place] = len(tokens) + (not named)
        self._named[place] = named
        self._count += 1
        if self._stored is not None:
            common = self._compare(place)
            self._stored[:, place, : self._count] = common
            self._stored[:, : self._count, place] = common
        return place

    def _make_room(self, depth: int) -> None:
        deep, wide = self._parts.shape
        deeper = max(0, depth - deep)
        wider = wide // 2 + 1 if self._count == wide else 0
        if deeper or wider:
            self._parts = np.pad(self._parts, ((0, deeper), (0, wider)))
            self._endings = np.pad(self._endings, ((0, deeper), (0, wider)))
        if wider:
            self._lengths, self._named = np.pad(self._lengths, (0, wider)), np.pad(self._named, (0, wider))
            if self._stored is not None:
                fits = wide + wider <= _STORED
                self._stored = np.pad(self._stored, ((0, 0), (0, wider), (0, wider))) if fits else None

    def common(self, places: Sequence[int]) -> NDArray[np.uint8]:
        """Common parts of each given place with every place: measure x given x all.

        The suffix is that of the parts alone; whether names join in is for the caller to know.
        """
        if self._stored is not None:
            return self._stored[:, places, : self._count]
        return np.stack([self._compare(place) for place in places], axis=1)

    def _compare(self, place: int) -> NDArray[np.uint8]:
        count, size = self._count, int(self._lengths[place]) - (not self._named[place])
        parts = self._parts[:, :count]
        result = np.zeros((4, count), dtype=np.uint8)
        own = self._parts[:size, place]
        result[PREFIX] = _shared(own, parts)
        result[SUFFIX] = _shared(own[::-1], self._endings[:, :count])
        # Bit i of a word stands for the place's part i; a word for each part of everyone says where it occurs.
        where = np.zeros(len(self._tokens) + 1, dtype=np.uint64)
        for bit, token in enumerate(own.tolist()):
            where[token] |= np.uint64(1 << bit)
        words = where[parts]
        result[SUBSEQUENCE] = _subsequence(words, size)
        result[RUN] = _run(words)
        return result


def _shared(own: NDArray[np.int32], parts: NDArray[np.int32]) -> NDArray[np.uint8]:
    """How many parts agree from the start on."""
    total = np.zeros(parts.shape[1], dtype=np.uint8)
    alive = np.arange(parts.shape[1])
    for token, row in zip(own.tolist(), parts, strict=False):
        alive = alive[row[alive] == token]
        total[alive] += 1
    return total


def _subsequence(words: NDArray[np.uint64], size: int) -> NDArray[np.uint8]:
    """The longest common subsequence, bit-parallel (Hyyrö 2004): its length is the number of cleared bits."""
    state = np.full(words.shape[1], np.uint64(2**64 - 1))
    for word in words:
        met = state & word
        state = (state + met) | (state - met)
    cleared = ~state & np.uint64((1 << size) - 1)
    bits = np.unpackbits(cleared.view(np.uint8).reshape(-1, 8), axis=1)
    return np.asarray(bits.sum(axis=1), dtype=np.uint8)


def _run(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The longest common run: a run of k ends where one of k - 1 ended a part earlier on both sides."""
    longest = np.zeros(words.shape[1], dtype=np.uint8)
    everyone = np.arange(words.shape[1])
    running = words
    while True:
        alive = running.any(axis=0)
        if not alive.any():
            return longest
        everyone, words, running = everyone[alive], words[:, alive], running[:, alive]
        longest[everyone] += 1
        running = words[1:] & (running[:-1] << np.uint64(1))
        words = words[1:]
