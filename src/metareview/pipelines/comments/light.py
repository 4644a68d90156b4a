"""What the figures need of a record, as it goes from one process to another: small, and quick to make again.

Of a hundred thousand records most share their counts and slices with others; so do those that are made again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any

from metareview.comments.costs import Spent
from metareview.comments.measures import Counts
from metareview.comments.records import CommentRecord, Tally

LightRow = tuple[Any, ...]

_BEFORE = ("pr", "reviewer", "language", "pr_category", "references_before_filters", "references_after_filters")
_before = attrgetter(*_BEFORE, "skip_reason")
_after = attrgetter("left_out", "judged_pairs", "run", "repeated")
_counts = attrgetter(*(field.name for field in fields(Counts)))
_tally = attrgetter(*(field.name for field in fields(Tally)))
_spent = attrgetter(*(field.name for field in fields(Spent)))


def packed(record: CommentRecord) -> LightRow:
    """The record without its notes."""
    bounds = None if record.bounds is None else tuple(map(_counts, record.bounds))
    slices = tuple(
        (name, tuple((value, *_tally(tally)) for value, tally in tallies.items()))
        for name, tallies in record.slices.items()
    )
    rates = None if record.run is None else dict(record.rates)  # Only means over repeated runs look at them.
    spent = _spent(record.spent) if record.spent.known else None
    return (*_before(record), _counts(record.counts), rates, slices, bounds, *_after(record), spent)


def unpacked(row: LightRow) -> CommentRecord:
    """The record of a row."""
    pr, reviewer, language, category, before, after, skip_reason, counts, rates, slices, *rest = row
    bounds, left_out, judged_pairs, run, repeated, spent = rest
    return CommentRecord(
        pr,
        reviewer,
        language,
        category,
        before,
        after,
        skip_reason,
        _shared_counts(*counts),
        rates or {},
        left_out,
        judged_pairs,
        _shared_slices(slices),
        bounds=None if bounds is None else (Counts(*bounds[0]), Counts(*bounds[1])),
        run=run,
        repeated=repeated,
        spent=_NOTHING if spent is None else Spent(*spent),
    )


_NOTHING = Spent()
_shared_counts = lru_cache(maxsize=65_536, typed=True)(Counts)
_shared_tally = lru_cache(maxsize=65_536, typed=True)(Tally)


@lru_cache(maxsize=65_536)
def _shared_slices(rows: tuple[tuple[str, tuple[tuple[Any, ...], ...]], ...]) -> Mapping[str, Mapping[str, Tally]]:
    return {name: {value: _shared_tally(*tally) for value, *tally in tallies} for name, tallies in rows}
