"""Unlisted issues: what comments say that no reference covers, and which of these issues were drawn to be labelled."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

CommentKey = tuple[str, int]
"""The reviewer and the position of the comment."""
MOST_SOURCES = 3
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
    """One of its comments matches a negative, so that it needs no label."""
    repeats: frozenset[CommentKey] = frozenset()
    """Its comments that repeat another comment of the same reviewer by the strict rule of `comments/repeats.py`.
    Several comments of a reviewer may be of one issue without repeating each other."""
    notes: tuple[str, ...] = ()
    """For each comment a digest of its note."""
    stratum: int | None = None
    """The stratum of the sample, as of the draw in which the issue first was; None where it is in none."""

    @cached_property
    def reviewers(self) -> tuple[str, ...]:
        """The reviewers that say it, each once."""
        return tuple(dict.fromkeys(reviewer for reviewer, _ in self.comments))

    @property
    def sources(self) -> int:
        """How many reviewers say it, as strata count them."""
        return min(len(self.reviewers), MOST_SOURCES)

    @cached_property
    def counted(self) -> Mapping[str, int]:
        """For each of its reviewers how many of these comments are no repeats."""
        kept = Counter(key[0] for key in self.comments if key not in self.repeats)
        return {name: kept[name] for name in self.reviewers}


@dataclass(frozen=True)
class Unlisted:
    """The unlisted issues of a run, in its order, and the stratified sample that was drawn from them."""

    seed: int
    budget: int
    issues: Sequence[Issue]
    drawn: Sequence[str]
    """Names of issues, in the order of asking: the first ones of each stratum are a random sample of it, too."""
    strata: Sequence[int] = ()
    """Per stratum, how many reviewers raised its issues at the draw. Later groupings have their own strata."""

    @cached_property
    def by_id(self) -> Mapping[str, Issue]:
        return {issue.id: issue for issue in self.issues}

    @cached_property
    def by_comment(self) -> Mapping[tuple[str, str, int], Issue]:
        """The issue of each comment: by pull request, reviewer and position."""
        return {(issue.pr, *key): issue for issue in self.issues for key in issue.comments}

    @cached_property
    def open(self) -> Sequence[Issue]:
        """The issues whose validity is not known without a label."""
        return [issue for issue in self.issues if not issue.known_invalid]

    @property
    def queue(self) -> list[Issue]:
        """The drawn issues in the order of asking."""
        return [self.by_id[name] for name in self.drawn]


def issue_name(pr: str, comments: Iterable[tuple[str, int, str]]) -> str:
    """The name of the issue of these comments: reviewer, position and note of each."""
    return _digest(json.dumps([pr, *comments]))


def note_digest(note: str) -> str:
    """Tells whether a comment still has the note that was labelled."""
    return _digest(json.dumps(note))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
