"""The offline judge's reasons: one short sentence per pair, written only when it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from metareview.judges.offline.features import Pairs
from metareview.judges.offline.notes import Floats, Ints, Notes
from metareview.model.words import format_score

FEW = 1_000  # of so many pairs the reasons are kept once they are put into words
CLEAR = 1.0  # by how much a pair's fit must exceed every rival's for it to stand out from them


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

    Identifiers come before words.
    """
    shared = sorted(notes.terms_of(a) & notes.terms_of(b))  # from the rarest on
    if not shared:
        return "shares no word"
    wording = notes.wording(a)
    identifiers = [term for term in shared if term in notes.identifiers]
    words = [term for term in shared if term not in notes.identifiers] if identifiers else shared
    rarest = [f"`{_short(wording[term])}`" for term in identifiers[:2]]
    rarest += [_short(wording[term]) for term in words[: 3 - len(rarest)]]
    count = len(words)
    return f"shares {', '.join(rarest)}" + (f" ({count} words)" if count > 1 else "")


def _short(name: str) -> str:
    return name if len(name) <= 60 else name[:59] + "…"


@dataclass(frozen=True, eq=False)
class Standings:
    """The standing of each pair among its rivals, as the number of a phrase; worked out when it is first read."""

    fit: Floats
    pairs: Pairs

    @cached_property
    def phrase(self) -> NDArray[np.int8]:
        own, layout = self.fit, self.pairs.layout
        best_comment = _best_other(own, self.pairs.reference, len(layout.right.note))
        best_reference = _best_other(own, self.pairs.comment, len(layout.left.note))
        best_rival = np.maximum(best_comment, best_reference)
        alone = np.isneginf(best_rival)
        cases = [
            (best_comment > own) & (best_reference > own),
            best_comment > own,
            best_reference > own,
            alone,
            own - np.where(alone, 0, best_rival) >= CLEAR,
        ]
        return np.select(cases, range(len(cases)), len(cases)).astype(np.int8)


def _best_other(fit: Floats, group: Ints, groups: int) -> Floats:
    """For each entry: the highest of the others of its group; minus infinity where there are none."""
    order = np.lexsort((fit, group))
    size = np.bincount(group, minlength=groups)
    last = np.cumsum(size) - 1
    first, second = np.full(groups, -np.inf), np.full(groups, -np.inf)
    first[size > 0] = fit[order[last[size > 0]]]
    second[size > 1] = fit[order[last[size > 1] - 1]]
    return np.where(fit == first[group], second[group], first[group])


@dataclass(frozen=True, eq=False)
class Reasons(Sequence[str]):
    """The reason of each requested pair: what its notes share, and how it stands among its rivals."""

    standings: Standings
    place: Ints
    """The place of each requested pair among all pairs."""
    score: Floats
    nearest: NDArray[np.int8]
    """The kind of known comment that each pair comes nearest to; -1 where nothing is known of it."""

    def __len__(self) -> int:
        return len(self.place)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if len(self) <= FEW:
            return self._all[index]
        return self._texts(index) if isinstance(index, slice) else self._texts(slice(index, index + 1 or None))[0]

    @cached_property
    def _all(self) -> list[str]:
        """Of a few pairs: they are read once for the record and once for the pairs."""
        return self._texts(slice(None))

    def _texts(self, index: slice) -> list[str]:
        pairs, place = self.standings.pairs, self.place[index]
        notes = (note.tolist() for note in pairs.notes_of(place))
        phrases = pairs.equal[place].tolist(), self.standings.phrase[place].tolist()
        columns = (*notes, *phrases, self.score[index].tolist(), self.nearest[index].tolist())
        return [
            f"p {format_score(score)}: {'equal notes' if equal else _shared(pairs.notes, a, b)}; {_STANDINGS[phrase]}"
            f"{_NEAREST[kind]}"
            for a, b, equal, phrase, score, kind in zip(*columns, strict=True)
        ]
