"""The offline judge's reasons: one short sentence per pair, put into words only when somebody reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from metareview.judges.offline.notes import Floats, Ints, Notes

CLEAR = 1.0  # by how much a pair's fit must exceed every rival's for its reason to say that it stands out


def _shared(notes: Notes, a: int, b: int) -> str:
    """The rarest things that both notes name, identifiers before words, and how many words they share."""
    common = sorted(notes.terms_of[a] & notes.terms_of[b], key=notes.rank.__getitem__)
    shown, name = notes.term_shown, notes.term_name
    words = [shown[term] for term in common if name[term][:1] != "="]
    rarest = [f"`{_short(shown[term])}`" for term in common if name[term][:1] == "="][:2]
    rarest += words[: 3 - len(rarest)]
    if not rarest:
        return "shares no word"
    return f"shares {', '.join(rarest)}" + (f" ({len(words)} words)" if len(words) > 1 else "")


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

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        generated, reference = int(self.generated[index]), int(self.reference[index])
        shared = "equal notes" if self.equal[index] else _shared(self.notes, generated, reference)
        return f"p {self.score[index]:.2f}: {shared}; {self._standing[index]}"

    @cached_property
    def _standing(self) -> list[str]:
        """For each pair: whether a rival fits better."""
        own, best_comment, best_reference = (
            fits[self.pairs[:, 0], self.pairs[:, 1]]
            for fits in (self.fit, _best_other(self.fit, 0), _best_other(self.fit, 1))
        )
        best_rival = np.maximum(best_comment, best_reference)
        cases = {
            "another comment and another reference fit better": (best_comment > own) & (best_reference > own),
            "another comment fits better": best_comment > own,
            "another reference fits better": best_reference > own,
            "has no rivals": np.isneginf(best_rival),
            "stands out from rivals": own - best_rival >= CLEAR,
        }
        return list(map(str, np.select(list(cases.values()), list(cases), "rivals fit about as well")))


def _best_other(fit: Floats, axis: int) -> Floats:
    """For each entry: the highest of the others along an axis; minus infinity where there are none."""
    if fit.shape[axis] < 2:
        return np.full(fit.shape, -np.inf)
    ascending = np.sort(fit, axis=axis)
    second, first = np.split(np.take(ascending, [-2, -1], axis), 2, axis)
    return np.where(fit == first, second, first)
