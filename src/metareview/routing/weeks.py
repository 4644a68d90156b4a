"""What chance is measured over: blocks of weeks, because pull requests of one week and of neighbouring weeks resemble
each other; repositories or pull requests where there are too few weeks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metareview.model.time import DAY
from metareview.model.words import plural
from metareview.stats import summed

FEWEST_WEEKS = 20
"""With fewer, there are no 10 blocks of 2 weeks."""
FEWEST_BLOCKS = 10
FEWEST_REPOSITORIES = 10
SHORTEST_BLOCK = 2
_LONG_BLOCK = 4

BLOCKS, REPOSITORIES, PULL_REQUESTS = "blocks of weeks", "repositories", "pull requests"

Place = tuple[int, str]
"""A pull request's week and its repository, which may be left empty where there are `FEWEST_WEEKS`."""


def week_of(instant: int) -> int:
    """The ISO week, in UTC, as the number of Mondays since that of 1 January 1970.

    >>> from metareview.model.time import parse_time
    >>> [week_of(parse_time(day)) for day in ("1970-01-01", "1970-01-04", "1970-01-05")]
    [0, 0, 1]
    """
    return (instant // DAY + 3) // 7


def span_of(weeks: Iterable[int]) -> int:
    """How many weeks there are from the first to the last, those without a pull request counted too."""
    held = set(weeks)
    return max(held) - min(held) + 1 if held else 0


def block_lengths(weeks: int) -> range:
    """The lengths of blocks to try over so many weeks, the one to prefer first.

    >>> list(block_lengths(52))
    [7, 6, 5, 4, 3, 2]
    """
    return range(max(_LONG_BLOCK, round(math.sqrt(weeks))), SHORTEST_BLOCK - 1, -1)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of `length` consecutive weeks from `first` on; the last one also takes the weeks that are left over."""

    first: int
    weeks: int
    length: int

    def block_of(self, week: int) -> int:
        """The number of the week's block.

        >>> [Blocks(0, 11, 3).block_of(week) for week in (0, 2, 3, 8, 10)]
        [0, 0, 1, 2, 2]
        """
        return min((week - self.first) // self.length, max(1, self.weeks // self.length) - 1)


@dataclass(frozen=True, slots=True)
class Units:
    """What the intervals and tests of some pull requests are over: `kind`, and how many of them there are."""

    kind: str
    n: int
    weeks: int
    """From the first with a pull request to the last."""
    blocks: Blocks | None = None

    @property
    def weeks_per_block(self) -> int | None:
        return self.blocks.length if self.blocks else None

    @property
    def words(self) -> str:
        """`10 blocks of 5 weeks`, `12 repositories`, `1 pull request`."""
        return self.counted(self.n)

    def to_dict(self) -> dict[str, str | int | None]:
        return {"kind": self.kind, "n": self.n, "weeks_per_block": self.weeks_per_block}

    def counted(self, number: int) -> str:
        """So many of these units, in words."""
        if self.blocks:
            return plural(number, f"block of {self.blocks.length} weeks", f"blocks of {self.blocks.length} weeks")
        if self.kind == REPOSITORIES:
            return plural(number, "repository", "repositories")
        return plural(number, "pull request")

    def unit_of(self, place: Place) -> Place:
        """The unit that the pull requests of a place belong to, unless each is its own."""
        week, repository = place
        return (self.blocks.block_of(week), "") if self.blocks else (0, repository)

    @property
    def warning(self) -> str | None:
        """What intervals and tests over these units do not know; None if there is no caveat."""
        few = f"the pull requests are from {plural(self.weeks, 'week')}, fewer than {FEWEST_WEEKS}"
        if self.kind == PULL_REQUESTS:
            return (
                f"{few}: intervals and tests take pull requests for independent, do not know how those of one week"
                " resemble each other, and say too much"
            )
        if self.kind == REPOSITORIES:
            return (
                f"{few}: intervals and tests take repositories for independent and do not know what weeks that they"
                " have in common do to all of them"
            )
        if self.n < FEWEST_BLOCKS:
            return (
                f"the pull requests of {self.weeks} weeks lie in {self.words} only: intervals are rough, and tests can"
                " show little"
            )
        if self.weeks_per_block == SHORTEST_BLOCK:
            return (
                f"the pull requests are from {self.weeks} weeks, enough for blocks of {SHORTEST_BLOCK} only: where"
                " neighbouring weeks resemble each other, tests call equal routers different in 7 to 11 % (correlation"
                " of weeks 0.3 to 0.5) or 22 % (0.8) of cases instead of 5 %"
            )
        return None


def units_of(prs: Mapping[Place, int]) -> Units:
    """The units of so many pull requests in each place.

    From `FEWEST_WEEKS` on blocks of weeks, as long as the root of the number of weeks (4 at least) if that leaves 10
    blocks, else shorter; those without a pull request are no units. With fewer weeks repositories, where there are 10,
    else pull requests.
    """
    weeks = {week for week, _ in prs}
    span = span_of(weeks)
    if span >= FEWEST_WEEKS:
        length = next(length for length in block_lengths(span) if span // length >= FEWEST_BLOCKS)
        blocks = Blocks(min(weeks), span, length)
        return Units(BLOCKS, len(set(map(blocks.block_of, weeks))), span, blocks)
    repositories = {repository for _, repository in prs}
    if len(repositories) >= FEWEST_REPOSITORIES:
        return Units(REPOSITORIES, len(repositories), span)
    return Units(PULL_REQUESTS, sum(prs.values()), span)


def by_unit(counts: NDArray[np.float64], places: Sequence[Place]) -> NDArray[np.float64]:
    """The rows of each unit summed, blocks in order of time, repositories in order of their names; the rows as they are
    where pull requests are the units.

    Sums are rounded once, so that they are those of `routing/weekly_cells.py` whatever the order of the rows.
    """
    units = units_of(Counter(places))
    return counts if units.kind == PULL_REQUESTS else summed(counts, [units.unit_of(place) for place in places])[1]
