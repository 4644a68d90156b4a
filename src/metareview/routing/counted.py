"""People by how often and how lately they were active, as one whole number for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from metareview.model.event import fold
from metareview.routing.ranking import Numbered, Numbers, People

INSTANT_BITS = 40  # for a trillion instants, and eight million events of one person
ONE = 1 << INSTANT_BITS
"""One event in a key: the count, and below it the latest instant, numbered as instants come."""


class Counted(Numbered):
    """People by how many events they have, and how late the latest is; whoever has none is not in it.

    Nothing is sorted before it is asked for.
    """

    def __init__(self, people: People, keys: Numbers) -> None:
        self.people = people
        self.keys = keys
        self._active = int(np.count_nonzero(keys >= ONE))

    def __len__(self) -> int:
        return self._active

    def first(self, count: int) -> tuple[list[int], list[float]]:
        """The same order as `best_first` by count, latest and login: whole numbers need no care for rounding."""
        keys = self.keys
        least = np.partition(keys, -count)[-count] if 0 < count < self._active else ONE
        found = (keys >= least).nonzero()[0]
        rising = keys[found]
        order = rising.argsort(kind="stable")[::-1]  # Quicker than the usual sort, for some hundreds.
        falling, numbers = rising[order], found[order].tolist()
        scores = (falling >> INSTANT_BITS).astype(np.float64).tolist()
        if len(set(falling.tolist())) < len(numbers):
            place = dict(zip(numbers, falling.tolist(), strict=True))
            numbers.sort(key=lambda number: (-place[number], fold(self.people.logins[number]), number))
        return numbers[:count], scores[:count]

    def place(self, number: int) -> int:
        keys = self.keys
        key = keys[number] if number < len(keys) else 0  # Who was met since is not in it.
        if key < ONE:
            return -1
        better = int(np.count_nonzero(keys > key))
        if np.count_nonzero(keys >= key) == better + 1:
            return better
        return self.first(self._active)[0].index(number)

    def without(self, left_out: NDArray[np.bool_]) -> Self:
        return type(self)(self.people, np.where(left_out[: len(self.keys)], 0, self.keys))


class Asked(NamedTuple):
    """One ranking, who is not eligible for it besides bots, and who is looked for."""

    candidates: Counted
    author: str | None
    targets: Sequence[str]


class Found(NamedTuple):
    """The first ones, their scores, how many there are in all, and the ranks of the targets, rising."""

    numbers: list[int]
    scores: list[float]
    listed: int
    ranks: tuple[int, ...]


def find_together(asked: Sequence[Asked], bots: NDArray[np.bool_], count: int) -> list[Found | None]:
    """What is found in each of many rankings of the same people, at a fraction of what one by one costs.

    None for a ranking in which some are equal, so that their names decide: that is for its `first` and `place` to say.
    """
    width = max(len(each.candidates.keys) for each in asked)
    keys = np.zeros((len(asked), width), np.int64)
    for row, each in zip(keys, asked, strict=True):
        row[: len(each.candidates.keys)] = each.candidates.keys
    keys[:, bots[:width]] = 0
    find = asked[0].candidates.people.find
    rows, numbers = _cells([(at, find(each.author)) for at, each in enumerate(asked) if each.author is not None], width)
    keys[rows, numbers] = 0
    listed = np.count_nonzero(keys >= ONE, axis=1)
    count = min(count, width)
    top = np.argpartition(keys, width - count, axis=1)[:, width - count :]
    best = np.take_along_axis(keys, top, axis=1)
    order = best.argsort(axis=1)[:, ::-1]
    best, top = np.take_along_axis(best, order, axis=1), np.take_along_axis(top, order, axis=1)
    least = np.maximum(best[:, -1:], ONE)
    equal = ((best[:, 1:] == best[:, :-1]) & (best[:, 1:] >= ONE)).any(axis=1)
    equal |= np.count_nonzero(keys >= least, axis=1) > count
    rows, numbers = _cells([(at, find(target)) for at, each in enumerate(asked) for target in each.targets], width)
    theirs = keys[rows, numbers]
    not_worse = np.count_nonzero(keys[rows] >= theirs[:, None], axis=1)
    not_better = np.count_nonzero(keys[rows] <= theirs[:, None], axis=1)
    there = theirs >= ONE
    equal[rows[there & (not_worse + not_better > width + 1)]] = True
    ranks: list[list[int]] = [[] for _ in asked]
    for at, rank in sorted(zip(rows[there].tolist(), not_worse[there].tolist(), strict=True)):
        ranks[at].append(rank)
    scores = (best >> INSTANT_BITS).astype(np.float64)
    columns = (top.tolist(), scores.tolist(), listed.tolist(), map(tuple, ranks), equal.tolist())
    return [
        None if tied else Found(first[:number], worth[:number], number, of_targets)
        for first, worth, number, of_targets, tied in zip(*columns, strict=True)
    ]


def _cells(found: Iterable[tuple[int, int | None]], width: int) -> tuple[Numbers, Numbers]:
    """The rows and the columns of those who are known."""
    cells = np.array([(row, number) for row, number in found if number is not None and number < width], np.int64)
    rows, numbers = cells.reshape(-1, 2).T
    return rows, numbers
