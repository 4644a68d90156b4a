"""Unmatched comments grouped into issues: pooled over all reviewers of a run, pull request by pull request.

Two comments may be of one issue where they may match by place, as the run compares places, and where the offline
judge's score without rivals, the mean of both directions, reaches its own threshold. It is always the offline judge,
whatever judged the run: that is free, and the same every time. Issues are grouped by complete linkage, so that every
two comments of an issue pass this test. Comments with the same note at the same place are one to begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metareview.comments.location import candidate_pairs
from metareview.comments.records import CommentRecord
from metareview.comments.repeats import repeated
from metareview.comparison.linkage import Indices, complete_linkage
from metareview.errors import UsageError
from metareview.judges.offline.similarity import NoteSimilarity
from metareview.judges.protocol import judged_part
from metareview.model.comment import Comment, normal_path, normal_side
from metareview.model.unlisted import Issue, issue_name, note_digest
from metareview.runs.run import AnyRun, CommentsRun, is_comments

Progress = Callable[[int, int], None]
_ROWS, _PAIRS = 64, 500_000
"""How many comments, and how many pairs, are compared by place at a time: bounds memory."""
_EDGES = 1_000_000
"""Distinct comments on a pull request with more pairs that score at or over the threshold are grouped in two halves, in
the order of their places: bounds memory and time."""


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A comment that matches no reference."""

    reviewer: str
    position: int
    comment: Comment
    is_negative: bool = False
    """It matches a negative."""
    is_repeat: bool = False
    """It repeats another comment of its reviewer, by the strict rule of `comments/repeats.py`."""

    @property
    def content(self) -> tuple[str, int, int, str, str]:
        comment = self.comment
        return normal_path(comment.path) or "", *comment.span, normal_side(comment.side) or "", comment.note


def group_run(run: CommentsRun, progress: Progress | None = None) -> list[Issue]:
    """All unlisted issues, pull request by pull request in the order of the run. Comments that a filter or a neutral
    reference leaves out of the figures are in none."""
    config = run.result.config
    reviews: dict[str, list[CommentRecord]] = {}
    for record in records_of(run):
        reviews.setdefault(record.pr, []).append(record)
    issues: list[Issue] = []
    for done, (pr, records) in enumerate(reviews.items(), 1):
        pool = _unmatched(records, config.line_distance, location=config.location)
        issues += group_pool(pr, pool, config.line_distance, anywhere=not config.location)
        if progress is not None:
            progress(done, len(reviews))
    return issues


def records_of(run: AnyRun) -> Iterable[CommentRecord]:
    """The records of a run of comments; UsageError for any other."""
    if not is_comments(run):
        raise UsageError(f"{run.label} is a run of routers: it has no comments. Name one of metareview comments.")
    return run.read_records()


def _unmatched(records: Sequence[CommentRecord], distance: int, *, location: bool) -> list[Unmatched]:
    """The pool of one pull request, review by review."""
    chosen = [[not each.matched and not each.left_out for each in record.comments] for record in records]
    comments = [[each.comment for each in record.comments] for record in records]
    earlier = repeated(comments, line_distance=distance, location=location, asked=chosen)
    return [
        Unmatched(record.reviewer, each.position, each.comment, each.negative is not None, first is not None)
        for record, marks, firsts in zip(records, chosen, earlier, strict=True)
        for each, wanted, first in zip(record.comments, marks, firsts, strict=True)
        if wanted
    ]


def group_pool(pr: str, pool: Sequence[Unmatched], distance: int, *, anywhere: bool) -> list[Issue]:
    """The issues of one pull request. The order of the pool changes nothing."""
    by_content: dict[tuple[str, int, int, str, str], list[Unmatched]] = {}
    for each in sorted(pool, key=lambda each: each.content):  # what may match by place then lies close together
        by_content.setdefault(each.content, []).append(each)
    distinct = [same[0].comment for same in by_content.values()]
    groups: dict[int, list[Unmatched]] = {}
    for number, same in zip(_linked(distinct, distance, anywhere).tolist(), by_content.values(), strict=True):
        groups.setdefault(number, []).extend(same)
    return sorted((_issue(pr, members) for members in groups.values()), key=lambda issue: issue.comments)


def _issue(pr: str, members: Sequence[Unmatched]) -> Issue:
    in_order = sorted(members, key=lambda each: (each.reviewer, each.position))
    return Issue(
        issue_name(pr, [(each.reviewer, each.position, each.comment.note) for each in in_order]),
        pr,
        tuple((each.reviewer, each.position) for each in in_order),
        any(each.is_negative for each in in_order),
        repeats=frozenset((each.reviewer, each.position) for each in in_order if each.is_repeat),
        notes=tuple(note_digest(each.comment.note) for each in in_order),
    )


def _linked(comments: Sequence[Comment], distance: int, anywhere: bool) -> Indices:
    """For each of some distinct comments the first one of its group."""
    edges = _edges(comments, distance, anywhere)
    if edges is not None:
        return complete_linkage(len(comments), *edges)
    middle = len(comments) // 2
    halves = [_linked(part, distance, anywhere) for part in (comments[:middle], comments[middle:])]
    return np.concatenate([halves[0], halves[1] + middle])


def _edges(
    comments: Sequence[Comment], distance: int, anywhere: bool
) -> tuple[Indices, Indices, NDArray[np.float64]] | None:
    """The pairs that may be of one issue, with their scores; None where they are too many."""
    nothing = np.empty(0, np.int64)
    found: list[tuple[Indices, Indices, NDArray[np.float64]]] = [(nothing, nothing, np.empty(0, np.float64))]
    numbers: dict[str, int] = {}
    text = np.array([numbers.setdefault(judged_part(each.note), len(numbers)) for each in comments], np.int64)
    rows = max(1, min(_ROWS, _PAIRS // max(1, len(comments))))
    scores: NoteSimilarity | None = None
    edges = 0
    for start in range(0, len(comments), rows):
        near = candidate_pairs(comments[start : start + rows], comments[start:], distance, anywhere=anywhere)
        later = near.generated < near.reference
        if later.any():
            scores = scores or NoteSimilarity(list(numbers))
            one, other = near.generated[later] + start, near.reference[later] + start
            score = scores.of_pairs(text[one], text[other])
            alike = score >= scores.threshold
            found.append((one[alike], other[alike], score[alike]))
            edges += int(alike.sum())
        if edges > _EDGES:
            return None
    one, other, score = map(np.concatenate, zip(*found, strict=True))
    return one, other, score
