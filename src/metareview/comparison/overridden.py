"""Figures with labels in the place of the judge's verdicts: for display, since what was clicked is no random sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from metareview.comments.blocks import Position, countable, matching_number
from metareview.comments.records import CommentRecord, Pair


def overridden_matches(
    record: CommentRecord, pairs: Iterable[Pair], verdicts: Mapping[Position, bool], *, coverage: bool
) -> tuple[float, float]:
    """Matched comments and raised references of a record, with these verdicts put in; `pairs` are the record's. Of
    repeated runs, the means over them."""
    same: dict[str | None, list[Position]] = {}
    for pair in countable(record, pairs):
        if verdicts.get((pair.generated, pair.reference), pair.verdict.match):
            same.setdefault(pair.run, []).append((pair.generated, pair.reference))
    runs = max(1, len(record.runs))
    if not coverage:
        number = sum(map(matching_number, same.values())) / runs
        return number, number
    matched, covered = ([len({pair[side] for pair in of_run}) for of_run in same.values()] for side in (0, 1))
    return sum(matched) / runs, sum(covered) / runs
