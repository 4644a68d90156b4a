"""Numbers of which many may be equal, whose order does not matter: added up by concatenation, and never rounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from metareview.routing.exact import Scale


@dataclass(frozen=True, slots=True, eq=False)
class Multiset:
    """Each number once, rising, and how often it is there: 16 bytes at most for each that was put in."""

    values: NDArray[Any]
    counts: NDArray[np.int64]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Multiset)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def total(self) -> int:
        """How many numbers there are, equal ones counted each."""
        return int(self.counts.sum())

    def items(self) -> Iterable[tuple[Any, int]]:
        """Each number and its count, in rising order."""
        return zip(self.values.tolist(), self.counts.tolist(), strict=True)

    def mean(self) -> float | None:
        """The sum, rounded once, over the number of numbers. None for none."""
        scale = Scale(self.values.tolist())
        total = sum(scale.whole(value) * count for value, count in self.items())
        return scale.value(total) / self.total if len(self.values) else None

    def median(self) -> float | None:
        """The middle one, or the mean of the two in the middle. None for none."""
        if not len(self.values):
            return None
        ends, total = np.cumsum(self.counts), self.total
        low, high = (self.values[np.searchsorted(ends, at, "right")] for at in ((total - 1) // 2, total // 2))
        return float(low if total % 2 else (low + high) / 2)


def multiset(values: ArrayLike, kind: DTypeLike, counts: ArrayLike | None = None) -> Multiset:
    """Of these numbers, each once unless their counts are given."""
    held = np.asarray(values, kind)
    if counts is None:
        distinct, numbers = np.unique(held, return_counts=True)
        return Multiset(distinct, numbers.astype(np.int64))
    order = np.argsort(held, kind="stable")  # which finds what is in order already, and only merges it
    distinct, starts = np.unique(held[order], return_index=True)
    if not len(distinct):
        return Multiset(distinct, np.empty(0, np.int64))
    return Multiset(distinct, np.add.reduceat(np.asarray(counts, np.int64)[order], starts))


def merged_multisets(parts: Sequence[Multiset], kind: DTypeLike) -> Multiset:
    """The numbers of all parts."""
    if len(parts) == 1:
        return parts[0]
    values = np.concatenate([np.empty(0, kind), *(part.values for part in parts)])
    return multiset(values, kind, np.concatenate([np.empty(0, np.int64), *(part.counts for part in parts)]))
