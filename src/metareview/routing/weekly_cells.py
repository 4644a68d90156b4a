"""Figures over pull requests that are counted together where they are worth the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metareview.routing.exact import Scale
from metareview.routing.weeks import PULL_REQUESTS, Place, Units, units_of

Table = NDArray[np.float64]
UnitRows = tuple[tuple[float, ...], ...]
"""A table, to be kept."""


class Cell(NamedTuple):
    """Pull requests of one place that are worth the same under every measure."""

    place: Place
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
        self._wholes = {worth: [*map(self._scale.whole, worth)] for worth in worths}
        self._columns = 1 + measures

    @cached_property
    def units(self) -> Units:
        """What chance is measured over."""
        prs: Counter[Place] = Counter()
        for place, _, _, number in self._cells:
            prs[place] += number
        return units_of(prs)

    def sums(self, *, observed: bool = False) -> Table:
        """The row of all; `observed`: of those with a truth only."""
        return np.array(self._row(cell for cell in self._cells if cell.observed or not observed))

    def by_unit(self) -> Table | None:
        """A row for each block of weeks in order of time, or for each repository in order of its name; None where each
        pull request is a unit."""
        if self.units.kind == PULL_REQUESTS:
            return None
        groups: dict[Place, list[Cell]] = {}
        for cell in self._cells:
            groups.setdefault(self.units.unit_of(cell.place), []).append(cell)
        return self._table([self._row(groups[unit]) for unit in sorted(groups)])

    def rows(self) -> Table:
        """A row for each unit."""
        by_unit = self.by_unit()
        if by_unit is not None:
            return by_unit
        # Rounding depends on the order of rows, which must depend on nothing.
        cells = sorted(self._cells)
        return np.repeat(self._table([[1.0, *cell.worth] for cell in cells]), [cell.prs for cell in cells], axis=0)

    def _row(self, cells: Iterable[Cell]) -> list[float]:
        sums = [0] * self._columns
        for _, _, worth, prs in cells:
            sums[0] += prs
            for column, whole in enumerate(self._wholes[worth], 1):
                sums[column] += whole * prs
        return [float(sums[0]), *map(self._scale.value, sums[1:])]

    def _table(self, rows: list[list[float]]) -> Table:
        return np.array(rows, np.float64).reshape(len(rows), self._columns)
