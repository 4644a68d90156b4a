"""Which reviewers the data can tell apart on F1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.measures import f1, table
from metareview.comments.records import CommentRecord
from metareview.stats import Array, pairwise_tests, tie_letters

ALPHA = 0.05
MOST_REVIEWERS = 20
"""Beyond this there are too many pairs for a test of each to be worth much, and to wait for."""


@dataclass(frozen=True)
class Ties:
    """`letters`: two reviewers that share one cannot be told apart; `p`: Holm's p value of each pair."""

    letters: Mapping[str, str]
    p: Mapping[tuple[str, str], float | None]


def ties(records: Iterable[CommentRecord], names: Sequence[str]) -> Ties | None:
    """Each pair of reviewers tested on the pull requests that both have; None where there is nothing to test."""
    if not 2 <= len(names) <= MOST_REVIEWERS:
        return None
    tables: dict[str, dict[str, Array]] = {name: {} for name in names}
    for record in records:
        if not record.skipped:
            tables[record.reviewer][record.pr] = table([record.counts])[0]
    p = {pair: test.p_holm for pair, test in pairwise_tests(tables, f1).items()}
    separated = [pair for pair, value in p.items() if value is not None and value <= ALPHA]
    return Ties(tie_letters(names, separated), p)
