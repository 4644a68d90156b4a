"""What a run of outcomes keeps: one record per pull request and reviewer, with what became of each comment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from metareview.model.addressed import UNKNOWN, Addressed
from metareview.model.comment import Comment
from metareview.model.time import DAY, instant
from metareview.outcomes.finding import Finding

FINDINGS = ("lines_changed", "suggestion_taken", "resolved", "answered", "liked", "disliked", "repeated")
"""What the data tell of a comment without a model: fields of `CommentOutcome`."""
NOT_ASKED = Finding(None)


@dataclass(frozen=True, slots=True)
class Reply:
    """What somebody else answered in the comment's thread."""

    author: str | None
    at: str | None
    note: str


@dataclass(frozen=True, slots=True)
class CommentOutcome:
    """A comment, and what became of it."""

    position: int
    """Among the reviewer's comments on the pull request, from 0 in the order of the input."""
    comment: Comment
    lines_changed: Finding = NOT_ASKED
    suggestion_taken: Finding = NOT_ASKED
    resolved: Finding = NOT_ASKED
    answered: Finding = NOT_ASKED
    liked: Finding = NOT_ASKED
    disliked: Finding = NOT_ASKED
    repeated: Finding = NOT_ASKED
    repeats: int | None = None
    """The position of the comment that it says again."""
    changed_by: tuple[str, ...] = ()
    """The commits that changed its lines."""
    final_lines: tuple[int, int] | None = None
    """Where its lines are in the end, if they are still there and that is known."""
    code: str | None = None
    """The lines that it points at, with some around them, as far as patches show them."""
    later_change: str | None = None
    """What later commits did there, cut to a readable size; None where the data cannot tell."""
    replies: tuple[Reply, ...] = ()
    verdict: Addressed | None = None
    """Whether a later change did what it asks, where a model or a person was asked."""

    @property
    def addressed(self) -> str | None:
        """fully, partly or not; None where nobody was asked, nobody could tell, or it stayed undecided."""
        told = self.verdict.verdict if self.verdict else None
        return None if told == UNKNOWN else told

    @property
    def undecided(self) -> bool:
        return self.verdict is not None and self.verdict.verdict is None

    @property
    def week(self) -> str | None:
        """The ISO week in which it was made, in UTC: 2026-W07."""
        made = instant(self.comment.at)
        return None if made is None else week_name(made)


def week_name(instant: int) -> str:
    """
    >>> [week_name(instant(day) or 0) for day in ("2026-01-01", "2027-01-01")]
    ['2026-W01', '2026-W53']
    """
    year, week, _ = (date(1970, 1, 1) + timedelta(days=instant // DAY)).isocalendar()
    return f"{year}-W{week:02d}"


@dataclass(frozen=True, slots=True)
class OutcomeRecord:
    """One reviewer on one pull request: its comments that count, and what became of each."""

    pr: str
    reviewer: str
    author: str | None = None
    """Who wrote the pull request."""
    merged_at: str | None = None
    closed_at: str | None = None
    comments: Sequence[CommentOutcome] = field(default=())
    cost: float | None = None
    tokens: float | None = None
    seconds: float | None = None

    @property
    def key(self) -> tuple[str, str]:
        return (self.pr, self.reviewer)

    @property
    def undecided(self) -> int:
        """Comments that the judge could not decide."""
        return sum(comment.undecided for comment in self.comments)
