"""Pull requests of one week resemble each other, so a week is what chance is measured over."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metareview.model.time import DAY
from metareview.model.words import plural

FEWEST_WEEKS = 8
"""With fewer, a week left out in turn says nothing reliable, and pull requests are the units."""


def week_of(cutoff: int) -> int:
    """The ISO week, in UTC, as the number of Mondays since that of 1 January 1970.

    >>> from metareview.model.time import parse_time
    >>> [week_of(parse_time(day)) for day in ("1970-01-01", "1970-01-04", "1970-01-05")]
    [0, 0, 1]
    """
    return (cutoff // DAY + 3) // 7


def by_week(counts: NDArray[np.float64], weeks: Sequence[int]) -> NDArray[np.float64]:
    """The rows of each week summed, in order of time; the rows as they are where there are too few weeks.

    Sums are rounded once, so that they are those of `routing/weekly_cells.py` whatever the order of the rows.
    """
    held = np.asarray(weeks, np.int64)
    distinct, starts = np.unique(np.sort(held), return_index=True)
    if len(distinct) < FEWEST_WEEKS:
        return counts
    of_weeks = np.split(counts[np.argsort(held, kind="stable")], starts[1:])
    return np.array([[math.fsum(column) for column in rows.T.tolist()] for rows in of_weeks])


def week_warning(weeks: Sequence[int]) -> str | None:
    """What to know of intervals and tests over so few weeks that pull requests were their units."""
    held = len(set(weeks))
    if held >= FEWEST_WEEKS:
        return None
    return (
        f"the pull requests are from {plural(held, 'week')}, and those of one week resemble each other: with fewer than"
        f" {FEWEST_WEEKS} weeks, intervals and tests take pull requests for independent and say too much"
    )
