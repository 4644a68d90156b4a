"""Chao's lower bound of the issues that no source found, from those that one source and that two sources found.

Sources are the reference set and each reviewer. The bound takes sources for independent and issues for equally easy to
find; where reviewers miss the same issues, as they do, more are missing than it says: it is a floor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from metareview.comments.records import CommentRecord
from metareview.model.unlisted import Issue


@dataclass(frozen=True, slots=True)
class Unseen:
    """How many references and valid issues one source and two sources found, and what follows from it."""

    by_one: float
    by_two: float
    sources: int
    without: Mapping[str, float] = field(default_factory=dict)
    """The floor with each reviewer left out of the pool."""

    @property
    def floor(self) -> float:
        """Chao's estimate with its correction for few sources and for few issues: (m - 1) / m · f1 (f1 - 1) / (2 (f2 +
        1)) for m sources."""
        pairs = max(0.0, self.by_one * (self.by_one - 1))
        return (self.sources - 1) / self.sources * pairs / (2 * (max(0.0, self.by_two) + 1))


def unseen_issues(
    records: Sequence[CommentRecord], issues: Iterable[Issue], values: Mapping[str, float], reviewers: Sequence[str]
) -> Unseen:
    """From the references that reviewers raised and the issues that are valid, as estimated."""
    raised: dict[tuple[str, int], set[str]] = {}
    for record in records:
        for reference in record.references:
            if reference.kept:
                found_by = raised.setdefault((record.pr, reference.position), set())
                if reference.covered:
                    found_by.add(record.reviewer)
    found = [(1.0, 1, found_by) for found_by in raised.values()]
    found += [(values[issue.id], 0, set(issue.reviewers)) for issue in issues]

    def by(sources: int, left_out: str) -> float:
        return float(sum(value for value, other, by in found if other + len(by - {left_out}) == sources))

    def without(left_out: str) -> float:
        return Unseen(by(1, left_out), by(2, left_out), len(reviewers)).floor

    floors = {name: without(name) for name in reviewers} if len(reviewers) > 1 else {}
    return Unseen(by(1, ""), by(2, ""), len(reviewers) + 1, floors)
