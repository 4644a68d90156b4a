"""The offline judge's reasons, one short sentence a pair, put into words only when somebody reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from metareview.judges.offline.notes import Floats, Ints, Notes

CLEAR = 1.0
"""By how much a fit must exceed every rival's for a reason to say that it stands out."""


class Wording:
    """The terms of a batch's notes, rarest first, as they are shown."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._terms: dict[int, frozenset[int]] = {}

    @cached_property
    def _rank(self) -> list[int]:
        names = self._notes.term_name
        order = sorted(range(len(names)), key=lambda term: (-self._notes.rarity[term], names[term]))
        rank: list[int] = np.argsort(order).tolist()
        return rank

    def terms(self, note: int) -> frozenset[int]:
        if note not in self._terms:
            start, end = self._notes.terms.indptr[note : note + 2]
            self._terms[note] = frozenset(self._notes.terms.indices[start:end].tolist())
        return self._terms[note]

    def shared(self, a: int, b: int) -> str:
        """The rarest things that both notes name, identifiers before words, and how many words they share."""
        common = sorted(self.terms(a) & self.terms(b), key=self._rank.__getitem__)
        shown, name = self._notes.term_shown, self._notes.term_name
        words = [shown[term] for term in common if name[term][:1] != "="]
        told = [f"`{_short(shown[term])}`" for term in common if name[term][:1] == "="][:2]
        told += words[: 3 - len(told)]
        if not told:
            return "shares no word"
        return f"shares {', '.join(told)}" + (f" ({len(words)} words)" if len(words) > 1 else "")


def _short(name: str) -> str:
    return name if len(name) <= 60 else name[:59] + "…"


class Reasons(Sequence[str]):
    """For each pair asked about: what it shares, and how it stands among its rivals."""

    def __init__(
        self,
        wording: Wording,
        generated: Ints,
        reference: Ints,
        pairs: Ints,
        fit: Floats,
        score: Floats,
        equal: NDArray[np.bool_],
    ) -> None:
        self._wording, self._generated, self._reference = wording, generated, reference
        self._pairs, self._fit, self._score, self._equal = pairs, fit, score, equal

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        what = (
            "equal notes"
            if self._equal[index]
            else self._wording.shared(int(self._generated[index]), int(self._reference[index]))
        )
        return f"p {self._score[index]:.2f}: {what}; {self._standing[index]}"

    @cached_property
    def _standing(self) -> list[str]:
        """Whether a rival of each pair fits better."""
        at = self._pairs[:, 0], self._pairs[:, 1]
        own, comment, reference = (
            m[at] for m in (self._fit, _best_other(self._fit, 0), _best_other(self._fit, 1))
        )
        rival = np.maximum(comment, reference)
        said = np.select(
            [
                (comment > own) & (reference > own),
                comment > own,
                reference > own,
                np.isneginf(rival),
                own - rival >= CLEAR,
            ],
            [
                "another comment and another reference fit better",
                "another comment fits better",
                "another reference fits better",
                "has no rivals",
                "stands out from rivals",
            ],
            "rivals fit about as well",
        )
        return [str(text) for text in said]


def _best_other(fit: Floats, axis: int) -> Floats:
    """The highest of the others along an axis; minus infinity where there are none."""
    if fit.shape[axis] < 2:
        return np.full(fit.shape, -np.inf)
    high = np.sort(fit, axis=axis)
    second, first = np.split(np.take(high, [-2, -1], axis), 2, axis)
    return np.where(fit == first, second, first)
