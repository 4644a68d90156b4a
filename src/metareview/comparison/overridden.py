"""Figures with labels in the place of the judge's verdicts: for display, since what was clicked is no random sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from metareview.comments.blocks import Position, countable, matching_number
from metareview.comments.records import CommentRecord, Pair


def overridden_matches(
    record: CommentRecord, pairs: Iterable[Pair], verdicts: Mapping[Position, bool], *, coverage: bool
) -> tuple[int, int]:
    """Matched comments and raised references of a record, with these verdicts put in; `pairs` are the record's."""
    same = [
        (pair.generated, pair.reference)
        for pair in countable(record, pairs)
        if verdicts.get((pair.generated, pair.reference), pair.verdict.match)
    ]
    if coverage:
        return len({generated for generated, _ in same}), len({reference for _, reference in same})
    number = matching_number(same)
    return number, number
