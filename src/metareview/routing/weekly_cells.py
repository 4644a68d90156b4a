"""Figures over pull requests that are counted together where they are worth the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metareview.routing.exact import as_whole, sum_of
from metareview.routing.weeks import FEWEST_WEEKS

Table = NDArray[np.float64]


class Cell(NamedTuple):
    """Pull requests of one week that are worth the same under every measure."""

    week: int
    observed: bool
    worth: tuple[float, ...]
    prs: int


class WeeklyCells:
    """Cells in one order, whatever order they came in, so that no figure depends on it.

    A row of what this gives holds a number of pull requests, and then what they are worth under each measure.
    """

    def __init__(self, cells: Iterable[Cell], measures: int) -> None:
        self._cells = sorted(cells)
        self._measures = measures
        self._whole = cache(as_whole)

    def sums(self, *, observed: bool = False) -> Table:
        """The row of all; `observed`: of those with a truth only."""
        return np.array(self._row([cell for cell in self._cells if cell.observed or not observed]))

    def by_week(self) -> Table:
        """A row for each week, in order of time."""
        rows = [self._row(list(cells)) for _, cells in groupby(self._cells, lambda cell: cell.week)]
        return np.array(rows, np.float64).reshape(len(rows), 1 + self._measures)

    def units(self) -> Table:
        """What chance is measured over: weeks, or where there are too few, a row for each pull request."""
        if len({cell.week for cell in self._cells}) >= FEWEST_WEEKS:
            return self.by_week()
        rows = np.array([(1.0, *cell.worth) for cell in self._cells], np.float64)
        return np.repeat(rows.reshape(len(rows), 1 + self._measures), [cell.prs for cell in self._cells], axis=0)

    def _row(self, cells: Sequence[Cell]) -> list[float]:
        columns = zip(*(cell.worth for cell in cells), strict=True) if cells else [()] * self._measures
        prs = [cell.prs for cell in cells]
        return [float(sum(prs)), *(sum_of(zip(map(self._whole, column), prs, strict=True)) for column in columns)]
