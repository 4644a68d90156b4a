"""What comments say that no reference covers: unlisted issues, and which of them somebody is asked about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

CommentKey = tuple[str, int]
"""The reviewer and the position of the comment."""
STRATA = 3
"""Issues are drawn apart by how many reviewers say them: one, two, three or more."""


@dataclass(frozen=True)
class Issue:
    """Unmatched comments on one pull request, of one reviewer or of several, that raise the same issue."""

    id: str
    """Short, and the same for the same comments: a label holds for these notes and no others."""
    pr: str
    comments: tuple[CommentKey, ...]
    """In order of reviewer and position. The first is the one to read first."""
    known_invalid: bool = False
    """One of its comments repeats a negative: nobody needs to be asked."""

    @cached_property
    def reviewers(self) -> tuple[str, ...]:
        """Who says it, each once."""
        return tuple(dict.fromkeys(reviewer for reviewer, _ in self.comments))

    @property
    def stratum(self) -> int:
        return min(len(self.reviewers), STRATA) - 1


@dataclass(frozen=True)
class Unlisted:
    """The unlisted issues of a run, in its order, and which of them were drawn to be asked about."""

    seed: int
    budget: int
    issues: Sequence[Issue]
    drawn: Sequence[str]
    """Names of issues, in the order in which to ask: whoever stops early has asked about a random sample."""

    @cached_property
    def by_id(self) -> Mapping[str, Issue]:
        return {issue.id: issue for issue in self.issues}

    @cached_property
    def open(self) -> Sequence[Issue]:
        """Those that nothing is known of before somebody is asked."""
        return [issue for issue in self.issues if not issue.known_invalid]

    @property
    def queue(self) -> list[Issue]:
        """Those that were drawn, in the order in which to ask."""
        return [self.by_id[name] for name in self.drawn]


def issue_name(pr: str, comments: Iterable[tuple[str, int, str]]) -> str:
    """The name of the issue of these comments: reviewer, position and note of each."""
    text = json.dumps([pr, *comments])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
