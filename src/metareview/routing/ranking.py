"""Rankings of many people as arrays, and the order of equal scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class People:
    """Everybody met so far, numbered in order of first appearance."""

    def __init__(self) -> None:
        self.logins: list[str] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.logins)

    def number(self, login: str) -> int:
        """The person's number; a new one at first sight."""
        number = self._numbers.setdefault(login, len(self.logins))
        if number == len(self.logins):
            self.logins.append(login)
        return number

    def find(self, login: str) -> int | None:
        """The person's number, if met."""
        return self._numbers.get(login)


class Numbered(Sequence[tuple[str, float]]):
    """Candidates by their numbers: reads as a list of (login, score), but of thousands only what is asked for is made.

    Whoever answers many pull requests wants the first few, how many there are, and the place of one or two.
    """

    people: People

    @abstractmethod
    def first(self, count: int) -> tuple[list[int], list[float]]:
        """The best ones in order, and their scores."""

    @abstractmethod
    def place(self, number: int) -> int:
        """Where this person is, from 0; -1: nowhere."""

    @abstractmethod
    def without(self, left_out: NDArray[np.bool_]) -> Self:
        """The others, by what each number of the people is."""

    def __getitem__(self, index: int | slice) -> Any:
        return list(self)[index]

    def __iter__(self) -> Iterator[tuple[str, float]]:
        numbers, scores = self.first(len(self))
        return zip(map(self.people.logins.__getitem__, numbers), scores, strict=True)


@dataclass(frozen=True, eq=False)
class Scored(Numbered):
    """Everybody in order, with their scores."""

    people: People
    numbers: Numbers
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.numbers)

    def first(self, count: int) -> tuple[list[int], list[float]]:
        return self.numbers[:count].tolist(), self.scores[:count].tolist()

    def place(self, number: int) -> int:
        is_it = self.numbers == number
        at = int(is_it.argmax()) if len(is_it) else 0
        return at if len(is_it) and is_it[at] else -1

    def without(self, left_out: NDArray[np.bool_]) -> Self:
        kept = ~left_out[self.numbers]
        return replace(self, numbers=self.numbers[kept], scores=self.scores[kept])


def best_first(
    scores: NDArray[np.float64], later: NDArray[np.int64] | None = None, name: Callable[[int], str] | None = None
) -> NDArray[np.int64]:
    """Positions by falling score; equal scores by falling `later`, then by name, then by position.

    Scores within a rounding error of each other are equal: the order of a sum decides nothing.
    """
    order = np.argsort(-scores, kind="stable") if later is None else np.lexsort((-later, -scores))
    if len(order) < 2:
        return order
    falling = scores[order]
    gaps = falling[:-1] - falling[1:]
    apart = gaps > 1e-12 * max(abs(falling[0]), abs(falling[-1]))
    if np.count_nonzero(apart) != np.count_nonzero(gaps):  # Some are equal but for rounding.
        group = np.zeros(len(order), dtype=np.int64)
        np.cumsum(apart, out=group[1:])
        order = order[np.lexsort((order, group) if later is None else (order, -later[order], group))]
    if later is not None and name is not None:
        when = later[order]
        same = when[:-1] == when[1:]
        if np.count_nonzero(same) and np.count_nonzero(same := same & ~apart):
            # Each run of positions that `same` joins, sorted by name.
            edges = np.flatnonzero(np.diff(same, prepend=False, append=False))
            for start, end in edges.reshape(-1, 2).tolist():
                run = order[start : end + 1].tolist()
                order[start : end + 1] = sorted(run, key=lambda position: name(position).casefold())
    return order
