"""How much paths have in common, worked out once for each pair of folders.

A path's parts are its folders and its name. Two paths with different names have in common what their folders have, so
paths are held by *place*: the folder, with a name that equals nothing. A name that also occurs as a folder somewhere
could match there, so such a path is a place of its own, with the name as its last part.

Places are held as a tree of their parts, level by level. What a place has in common with another so far, from the root
on, is worked out once for all that go on below: with 16,000 folders, most of the work is a step for each of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PREFIX, RUN, SUBSEQUENCE, SUFFIX = range(4)
_DEEPEST = 62  # A place's parts are the bits of one 64-bit word.
_STORED = 8_192  # Pairs of so many places are kept, 4 bytes each; beyond, they are worked out each time.
_FIRST = 64  # Room for places at the start.
_BITS = np.array([number.bit_count() for number in range(256)], dtype=np.uint8)


def split_path(path: str) -> tuple[str, ...]:
    """The parts of a path. Below 62 folders the rest is one part.

    >>> split_path("src/app/main.c")
    ('src', 'app', 'main.c')
    """
    return tuple(path.split("/", _DEEPEST))


class _Level:
    """The nodes of the tree at one depth: the part that each adds, and the number of its parent one level up."""

    __slots__ = ("_parents", "_tokens", "numbers")

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, int], int] = {}
        self._parents, self._tokens = array("q"), array("i")

    def number(self, parent: int, token: int) -> int:
        node = self.numbers.setdefault((parent, token), len(self._tokens))
        if node == len(self._tokens):
            self._parents.append(parent)
            self._tokens.append(token)
        return node

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Parents and tokens without a copy: drop them before the next number."""
        return np.frombuffer(self._parents, dtype=np.int64), np.frombuffer(self._tokens, dtype=np.int32)


class Places:
    """Numbered places, and for any of them the common prefix, suffix, run and subsequence with all."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[bool, tuple[str, ...]], int] = {}
        self._tokens: dict[str, int] = {}
        self._count = 0
        self._levels: list[_Level] = []
        # Where each place is in the tree: the level, 0 for the root, and the node there.
        self._depths: NDArray[np.int64] = np.zeros(_FIRST, dtype=np.int64)
        self._nodes: NDArray[np.int64] = np.zeros(_FIRST, dtype=np.int64)
        # One column per place, its parts from the last on; 0 is no part.
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
        self._depths[place], self._nodes[place] = len(tokens), (self._path(tokens) or [0])[-1]
        self._endings[: len(tokens), place] = tokens[::-1]
        self._lengths[place] = len(tokens) + (not named)
        self._named[place] = named
        self._count += 1
        if self._stored is not None:
            common = self._compare(place)
            self._stored[:, place, : self._count] = common
            self._stored[:, : self._count, place] = common
        return place

    def _path(self, tokens: Sequence[int]) -> list[int]:
        """The nodes of these parts, one of each level from the first on; they are made where they are missing."""
        path: list[int] = []
        for depth, token in enumerate(tokens):
            if depth == len(self._levels):
                self._levels.append(_Level())
            path.append(self._levels[depth].number(path[-1] if path else 0, token))
        return path

    def _make_room(self, depth: int) -> None:
        deep, wide = self._endings.shape
        deeper = max(0, depth - deep)
        wider = wide // 2 + 1 if self._count == wide else 0
        if deeper or wider:
            self._endings = np.pad(self._endings, ((0, deeper), (0, wider)))
        if wider:
            self._lengths, self._named = np.pad(self._lengths, (0, wider)), np.pad(self._named, (0, wider))
            self._depths, self._nodes = np.pad(self._depths, (0, wider)), np.pad(self._nodes, (0, wider))
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
        count, size = self._count, int(self._depths[place])
        own = self._endings[:size, place][::-1]
        result = np.zeros((4, count), dtype=np.uint8)
        found, of_nodes = self._with_nodes(own)
        starts = np.cumsum([0, 1, *(len(level.numbers) for level in self._levels)])
        result[:SUFFIX] = found[:, of_nodes[starts[self._depths[:count]] + self._nodes[:count]]]
        result[SUFFIX] = _shared(own[::-1], self._endings[:, :count])
        return result

    def _with_nodes(self, own: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The common prefix, run and subsequence of these parts with those of every node, level by level from the root.

        A node whose part does not occur here has what its parent has. So the figures are columns for the others alone,
        the first for the root, and with them comes the column of each node.

        Bit i of a word stands for part i here; the word of a node says where its part occurs. The subsequence is
        bit-parallel (Hyyrö 2004): its length is the number of cleared bits. A run of k parts ends where one of k - 1
        ended a part earlier on both sides.
        """
        where = np.zeros(len(self._tokens) + 1, dtype=np.uint64)
        for bit, token in enumerate(own.tolist()):
            where[token] |= np.uint64(1 << bit)
        path = self._path(own.tolist())
        prefix, longest = np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.uint8)
        state: NDArray[np.uint64] = np.full(1, np.uint64(2**64 - 1))
        columns: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        runs: list[NDArray[np.uint64]] = []  # that end in the columns of the level before: of one part, of two …
        first = 0  # of these columns
        for depth, level in enumerate(self._levels):
            parents, tokens = level.columns()
            words = where[tokens]
            column = columns[-1][parents]
            columns.append(column)
            hit = np.flatnonzero(words)
            if not len(hit):
                runs = []
                continue
            word, above = words[hit], column[hit]
            met = state[above] & word
            run, ending = longest[above], [word]
            np.maximum(run, 1, out=run)
            goes_on = above >= first  # where the parent is among the columns of the level before
            at = np.maximum(above - first, 0)
            for before in runs:
                longer = np.where(goes_on, word & (before[at] << np.uint64(1)), np.uint64(0))
                if not longer.any():
                    break
                ending.append(longer)
                np.maximum(run, len(ending), out=run, where=longer != 0)
            runs, first = ending, len(state)
            column[hit] = first + np.arange(len(hit))
            state = np.concatenate([state, (state[above] + met) | (state[above] - met)])
            longest = np.concatenate([longest, run])
            prefix = np.concatenate([prefix, prefix[above]])
            if depth < len(path):
                prefix[column[path[depth]]] = depth + 1
        cleared = ~state & np.uint64((1 << len(own)) - 1)
        bits = _BITS[cleared.view(np.uint8).reshape(-1, 8)].sum(axis=1, dtype=np.uint8)
        return np.stack([prefix, longest, bits]), np.concatenate(columns)


def _shared(own: NDArray[np.int32], parts: NDArray[np.int32]) -> NDArray[np.uint8]:
    """How many parts agree from the start on."""
    total = np.zeros(parts.shape[1], dtype=np.uint8)
    alive: slice | NDArray[np.int64] = slice(None)
    for token, row in zip(own.tolist(), parts, strict=False):
        agrees = row[alive] == token
        alive = np.flatnonzero(agrees) if isinstance(alive, slice) else alive[agrees]
        total[alive] += 1
    return total
