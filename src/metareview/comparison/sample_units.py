"""What two samples of outcomes are compared over: blocks of weeks, or pull requests where there are too few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metareview.comparison.competitors import Competitor
from metareview.routing.weeks import (
    BLOCKS,
    FEWEST_BLOCKS,
    PULL_REQUESTS,
    SHORTEST_BLOCK,
    Blocks,
    Units,
    block_lengths,
    span_of,
)
from metareview.stats import summed
from metareview.unpaired import Sample

Weeks = Mapping[str, int]
"""The week of a pull request's first comment, where that is known, by key."""


@dataclass(frozen=True)
class TwoSamples:
    """Two samples whose rows are the units of their comparison."""

    a: Sample
    b: Sample
    units: Units

    @property
    def shared(self) -> int:
        """Units that both have."""
        return len({*self.a.keys} & {*self.b.keys})

    @property
    def warning(self) -> str | None:
        """What a test over pull requests does not know, and one over short blocks; None where nothing is to be said."""
        if self.units.kind == PULL_REQUESTS:
            why = (
                f"a side has fewer than {FEWEST_BLOCKS} blocks of weeks" if self.units.weeks else "comments lack a time"
            )
            return (
                f"{why}: the test takes pull requests for independent and does not know how those of one week resemble"
                " each other, so that a difference between weeks can look like one between the two"
            )
        if self.units.weeks_per_block == SHORTEST_BLOCK:
            return (
                f"the weeks are enough for blocks of {SHORTEST_BLOCK} only: where neighbouring weeks resemble each"
                " other, the test calls equals different in about 1 of 10 cases instead of 1 of 20"
            )
        return None


def in_units(a: Sample, b: Sample, weeks: Weeks) -> TwoSamples:
    """The samples by block of weeks, if each side has 10 of them, else by pull request.

    Blocks run from the first week of either side on, and one in which both have pull requests is a pair: all of them
    are where two bots work at the same time, one at most where one took over from the other. They are as long as
    `block_lengths` has it for the side with fewer weeks, and shorter where a side has no 10.
    """
    spoken = [{key for key, row in zip(each.keys, each.counts, strict=True) if row.any()} for each in (a, b)]
    known = all(key in weeks for key in spoken[0] | spoken[1])
    of_sides = [{weeks[key] for key in keys} for keys in spoken] if known else [set[int](), set[int]()]
    everything = of_sides[0] | of_sides[1]
    span = span_of(everything)
    for length in block_lengths(min(map(span_of, of_sides))):
        blocks = Blocks(min(everything, default=0), span, length)
        if all(len({blocks.block_of(week) for week in of_side}) >= FEWEST_BLOCKS for of_side in of_sides):
            ours, theirs = (_by_block(each, keys, weeks, blocks) for each, keys in zip((a, b), spoken, strict=True))
            return TwoSamples(ours, theirs, Units(BLOCKS, len({*ours.keys, *theirs.keys}), span, blocks))
    return TwoSamples(a, b, Units(PULL_REQUESTS, len({*a.keys, *b.keys}), span))


def weeks_of(*sides: Competitor) -> Weeks:
    """The week of each pull request's first comment by any of these."""
    weeks: dict[str, int] = {}
    for one in sides:
        for key, row in one.rows.items():
            if row.week is not None:
                weeks[key] = min(row.week, weeks.get(key, row.week))
    return weeks


def _by_block(sample: Sample, spoken: set[str], weeks: Weeks, blocks: Blocks) -> Sample:
    """The sums of each block in which there is a comment."""
    rows = [row for row, key in enumerate(sample.keys) if key in spoken]
    numbers, sums = summed(sample.counts[rows], [blocks.block_of(weeks[sample.keys[row]]) for row in rows])
    return Sample([f"block {number}" for number in numbers], sums, sample.extra)
