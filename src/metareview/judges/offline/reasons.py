"""The offline judge's reasons: one short sentence per pair, put into words only when somebody reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from metareview.judges.offline.notes import Floats, Ints, Notes

CLEAR = 1.0  # by how much a pair's fit must exceed every rival's for its reason to say that it stands out


_STANDINGS = (
    "another comment and another reference fit better",
    "another comment fits better",
    "another reference fits better",
    "has no rivals",
    "stands out from rivals",
    "rivals fit about as well",
)
_NEAREST = (
    "; like a known comment on it",
    "; more like a known comment on another reference",
    "; more like a known comment that raises none of them",
    "",
)
"""By the kind of known comment that a pair comes nearest to; the last where nothing is known."""


def _shared(notes: Notes, a: int, b: int) -> str:
    """The rarest things that both notes name, as the first writes them, and how many words they share.

    Identifiers come before words. The lower a term's bit, the rarer it is.
    """
    words, identifiers = notes.stems_of[a] & notes.stems_of[b], notes.identifiers_of[a] & notes.identifiers_of[b]
    if not words and not identifiers:
        return "shares no word"
    wording = notes.wording(a)
    rarest = [f"`{_short(wording[term])}`" for term in _lowest(identifiers, 2)]
    rarest += [wording[term] for term in _lowest(words, 3 - len(rarest))]
    count = words.bit_count()
    return f"shares {', '.join(rarest)}" + (f" ({count} words)" if count > 1 else "")


def _lowest(bits: int, most: int) -> Iterator[int]:
    """The numbers of the lowest bits."""
    while bits and most:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
        most -= 1


def _short(name: str) -> str:
    return name if len(name) <= 60 else name[:59] + "…"


@dataclass(frozen=True, eq=False)
class Reasons(Sequence[str]):
    """For each pair asked about: what its notes share, and how it stands among its rivals."""

    notes: Notes
    generated: Ints  # each pair's generated note, by its number in the batch
    reference: Ints  # each pair's reference, by its number in the batch
    pairs: Ints  # both, by their numbers in the question
    fit: Floats  # the matrix of all the question's pairs
    score: Floats  # each pair's score
    equal: NDArray[np.bool_]  # whether a pair's notes are equal
    nearest: NDArray[np.int8] | None = None  # the kind of known comment that it comes nearest to, with examples

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if not isinstance(index, slice):
            return self[index : index + 1 or None][0]
        nearest = np.full(len(self), -1, np.int8) if self.nearest is None else self.nearest
        columns = (self.generated, self.reference, self.score, self.equal, self._standing, nearest)
        return [
            f"p {score:.2f}: {'equal notes' if equal else _shared(self.notes, a, b)}; {_STANDINGS[standing]}"
            f"{_NEAREST[known]}"
            for a, b, score, equal, standing, known in zip(*(column[index].tolist() for column in columns), strict=True)
        ]

    @cached_property
    def _standing(self) -> NDArray[np.int8]:
        """For each pair: whether a rival fits better, as the number of a phrase."""
        own, best_comment, best_reference = (
            fits[self.pairs[:, 0], self.pairs[:, 1]]
            for fits in (self.fit, _best_other(self.fit, 0), _best_other(self.fit, 1))
        )
        best_rival = np.maximum(best_comment, best_reference)
        cases = [
            (best_comment > own) & (best_reference > own),
            best_comment > own,
            best_reference > own,
            np.isneginf(best_rival),
            own - best_rival >= CLEAR,
        ]
        return np.select(cases, range(len(cases)), len(cases)).astype(np.int8)


def _best_other(fit: Floats, axis: int) -> Floats:
    """For each entry: the highest of the others along an axis; minus infinity where there are none."""
    if fit.shape[axis] < 2:
        return np.full(fit.shape, -np.inf)
    ascending = np.partition(fit, [-2, -1], axis=axis)
    second, first = np.split(np.take(ascending, [-2, -1], axis), 2, axis)
    return np.where(fit == first, second, first)
