"""Figures over pull requests that are counted together where they are worth the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metareview.routing.exact import Scale
from metareview.routing.weeks import FEWEST_WEEKS

Table = NDArray[np.float64]
WeeklyRows = tuple[tuple[float, ...], ...]
"""What `by_week` gives, to be kept."""


class Cell(NamedTuple):
    """Pull requests of one week that are worth the same under every measure."""

    week: int
    observed: bool
    worth: tuple[float, ...]
    prs: int


class WeeklyCells:
    """Cells, of which no sum depends on the order that they came in.

    A row of what this gives holds a number of pull requests, and then what they are worth in all under each measure.
    """

    def __init__(self, cells: Iterable[Cell], measures: int) -> None:
        self._cells = list(cells)
        worths = {cell.worth for cell in self._cells}
        self._scale = Scale(value for worth in worths for value in worth)
        wholes = {worth: [*map(self._scale.whole, worth)] for worth in worths}
        self._columns = 1 + measures
        self._sums: dict[tuple[int, bool], list[int]] = {}
        """By week and whether there is a truth."""
        for week, observed, worth, prs in self._cells:
            sums = self._sums.setdefault((week, observed), [0] * self._columns)
            sums[0] += prs
            for column, whole in enumerate(wholes[worth], 1):
                sums[column] += whole * prs

    def sums(self, *, observed: bool = False) -> Table:
        """The row of all; `observed`: of those with a truth only."""
        return np.array(self._row(sums for (_, has_truth), sums in self._sums.items() if has_truth or not observed))

    def by_week(self) -> Table:
        """A row for each week, in order of time."""
        weeks: dict[int, list[list[int]]] = {}
        for (week, _), sums in sorted(self._sums.items()):
            weeks.setdefault(week, []).append(sums)
        return self._table([self._row(of_week) for of_week in weeks.values()])

    @property
    def enough_weeks(self) -> bool:
        """Whether chance is measured over weeks."""
        return len({week for week, _ in self._sums}) >= FEWEST_WEEKS

    def units(self) -> Table:
        """What chance is measured over: weeks, or where there are too few, a row for each pull request."""
        if self.enough_weeks:
            return self.by_week()
        cells = sorted(self._cells)  # rounding depends on the order of rows, which must depend on nothing
        return np.repeat(self._table([[1.0, *cell.worth] for cell in cells]), [cell.prs for cell in cells], axis=0)

    def _row(self, parts: Iterable[list[int]]) -> list[float]:
        prs, *totals = map(sum, zip([0] * self._columns, *parts, strict=True))
        return [float(prs), *map(self._scale.value, totals)]

    def _table(self, rows: list[list[float]]) -> Table:
        return np.array(rows, np.float64).reshape(len(rows), self._columns)
