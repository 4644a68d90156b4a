"""List questions: the notes of one reviewer and the references of one pull request in one message to a model.

A list holds the notes that occur in a pair to be decided, equal notes once. Its order, which gives the notes their ids,
is by a hash of its content: for any order of the notes, the request is the same but for its random code, and so is its
key in the cache. Notes are hostile input: JSON quotes them, and the instruction stands behind them too, so that no note
has the last word. What is too long for one list is cut into several, in which each pair occurs once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from metareview.judges.remote.pairs import Pair
from metareview.judges.remote.prompt import request_code, wording

VERSION = "list-2"
MOST_NOTES, MOST_CHARACTERS = 40, 60_000
"""Of each side, and of the user message. A single pair is a list of any length."""

_COMMENT, _REFERENCE = 0, 1  # the sides of a pair
_AROUND = len('{"id":10,"note":},')


@dataclass(frozen=True, slots=True)
class NoteList:
    """The notes of one request. The id of a note is its position; `pairs` are those whose verdicts are wanted."""

    references: tuple[str, ...]
    comments: tuple[str, ...]
    pairs: frozenset[Pair]

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> NoteList:
        """The list of the notes that occur in these pairs."""
        pairs = frozenset(pairs)
        comments, references = (sorted({pair[side] for pair in pairs}) for side in (_COMMENT, _REFERENCE))
        # By the whole content and the side too: a note is not always the first one, nor do equal notes stand side by
        # side.
        content = _hash(json.dumps([references, comments]))
        return cls(
            tuple(sorted(references, key=lambda note: _hash(f"reference {content} {note}"))),
            tuple(sorted(comments, key=lambda note: _hash(f"comment {content} {note}"))),
            pairs,
        )

    @property
    def content(self) -> tuple[str, ...]:
        """All that a model gets to read, for the cache key."""
        return (str(len(self.references)), *self.references, *self.comments)

    @property
    def code(self) -> str:
        """The code of the request, which the answer repeats."""
        return request_code(*self.content)

    @property
    def text(self) -> str:
        """The user message: one JSON object, whose last word is ours."""
        sides = {"references": self.references, "comments": self.comments}
        entries = {name: [{"id": id, "note": note} for id, note in enumerate(notes)] for name, notes in sides.items()}
        message = {**entries, "request": self.code, "task": closing_instruction()}
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"))

    def smaller(self, pairs: Collection[Pair]) -> list[NoteList]:
        """Lists for a part of the pairs, or for all of them, each with fewer notes than this one."""
        alone = NoteList.of(pairs)
        if len(alone.content) < len(self.content):
            return [alone]
        return [NoteList.of(half) for half in _Cutter.of(pairs).halves(pairs)]


def instruction() -> str:
    """The system message."""
    return wording(VERSION)["system"]


def closing_instruction() -> str:
    """The last words of the user message."""
    return wording(VERSION)["task"]


@cache
def _frame() -> int:
    """The characters of a message that are no notes."""
    return len(NoteList((), (), frozenset()).text)


def cut(pairs: Iterable[Pair]) -> list[NoteList]:
    """As few lists as are easily found that hold each of these pairs once, none of them too long.

    Pairs that are connected stay together where they can: a list with notes that no pair connects asks for nothing.
    """
    pairs = frozenset(pairs)
    cutter = _Cutter.of(pairs)
    lists: list[NoteList] = []
    parts: list[list[Pair]] = []
    for connected in cutter.components(pairs):
        pieces = list(cutter.pieces(connected))
        if len(pieces) > 1:
            lists += map(NoteList.of, pieces)
        elif part := next((part for part in parts if cutter.fits([*part, *connected])), None):
            part += connected
        else:
            parts.append(list(connected))
    return lists + list(map(NoteList.of, parts))


@dataclass(frozen=True, slots=True)
class _Cutter:
    """The notes of some pairs: the characters of a message that each takes at most, and its hash."""

    weights: Mapping[str, int]
    hashes: Mapping[str, str]

    @classmethod
    def of(cls, pairs: Collection[Pair]) -> _Cutter:
        notes = {note for pair in pairs for note in pair}
        weights = {note: len(json.dumps(note, ensure_ascii=False)) + _AROUND for note in notes}
        return cls(weights, {note: _hash(note) for note in notes})

    def weight(self, *sides: Iterable[str]) -> int:
        return sum(self.weights[note] for notes in sides for note in notes)

    def fits(self, pairs: Collection[Pair]) -> bool:
        """True if the notes of these pairs fit into one list."""
        notes = _sides(pairs)
        return max(map(len, notes)) <= MOST_NOTES and self.weight(*notes) + _frame() <= MOST_CHARACTERS

    def components(self, pairs: Collection[Pair]) -> list[list[Pair]]:
        """The pairs by connected component of their notes; ordered by content."""
        if not pairs:
            return []
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        numbers: dict[tuple[int, str], int] = {}
        ends = [[numbers.setdefault((side, note), len(numbers)) for side, note in enumerate(pair)] for pair in pairs]
        rows, columns = np.array(ends, np.int32).reshape(-1, 2).T
        graph = coo_array((np.ones(len(ends), np.int8), (rows, columns)), shape=(len(numbers), len(numbers)))
        labels = connected_components(graph, directed=False)[1]
        found: dict[int, list[Pair]] = {}
        for pair, label in zip(pairs, labels[rows].tolist(), strict=True):
            found.setdefault(label, []).append(pair)
        return sorted(found.values(), key=lambda each: min(self.hashes[reference] for _, reference in each))

    def pieces(self, pairs: Collection[Pair]) -> Iterator[Collection[Pair]]:
        """The pairs in pieces that each fit into a list."""
        notes = _sides(pairs)
        longer = max((_COMMENT, _REFERENCE), key=lambda side: len(notes[side]))
        if len(notes[longer]) > MOST_NOTES:
            pieces = _blocks(pairs, longer, _in_even_parts(self.ordered(notes[longer])))
        elif len(pairs) > 1 and not self.fits(pairs):
            pieces = self.halves(pairs)
        else:
            yield pairs
            return
        for piece in pieces:
            yield from self.pieces(piece)

    def halves(self, pairs: Collection[Pair]) -> list[list[Pair]]:
        """More than one pair in two: the side with more text is divided, where it has two notes to divide."""
        notes = _sides(pairs)
        side = max((_COMMENT, _REFERENCE), key=lambda side: (len(notes[side]) > 1, self.weight(notes[side])))
        ordered, half = self.ordered(notes[side]), self.weight(notes[side]) / 2
        size, weight = 1, self.weights[ordered[0]]
        while size < len(ordered) - 1 and weight + self.weights[ordered[size]] <= half:
            weight += self.weights[ordered[size]]
            size += 1
        return _blocks(pairs, side, [ordered[:size], ordered[size:]])

    def ordered(self, notes: Iterable[str]) -> list[str]:
        return sorted(notes, key=self.hashes.__getitem__)


def _blocks(pairs: Collection[Pair], side: int, blocks: Sequence[Sequence[str]]) -> list[list[Pair]]:
    """The pairs by the block that their note of this side is in."""
    block_of = {note: number for number, block in enumerate(blocks) for note in block}
    found: list[list[Pair]] = [[] for _ in blocks]
    for pair in pairs:
        found[block_of[pair[side]]].append(pair)
    return found


def _in_even_parts(notes: Sequence[str]) -> list[Sequence[str]]:
    count = -(-len(notes) // MOST_NOTES)
    ends = [len(notes) * number // count for number in range(count + 1)]
    return [notes[start:end] for start, end in pairwise(ends)]


def _sides(pairs: Collection[Pair]) -> tuple[set[str], set[str]]:
    return {comment for comment, _ in pairs}, {reference for _, reference in pairs}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
