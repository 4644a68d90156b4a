"""Which comments say again what the same reviewer said before on the same pull request.

Two of its comments say the same where they may match by place, as the run compares places, and where the offline
judge's score without rivals, the mean of both directions, is at or over its threshold. It is always the offline judge,
whatever judged the run: that is free, and the same every time. Notes that are equal but for white space score so high
whatever they are. Between two commits lines move: comments on different ones are compared by path and side alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from metareview.comments.location import Indices, Places, candidate_pairs, near, numbered, same_file
from metareview.comments.records import CommentRecord
from metareview.judges.protocol import judged_part
from metareview.model.comment import Comment
from metareview.model.time import parse_time

PAIRS, SCORED = 200_000, 20_000
"""How many pairs are compared by place, and about how many by meaning, at a time: bounds memory."""
LARGE = 50
"""Reviews of more comments are searched by place; in smaller ones it is quicker to look at every pair."""
_BEFORE_ALL = -(2**63)


def repeated(
    comments: Sequence[Sequence[Comment]],
    *,
    line_distance: int = 1,
    location: bool = True,
    asked: Sequence[Sequence[bool]] | None = None,
) -> list[list[int | None]]:
    """For each comment of each review the position, in its review, of the first earlier one that says the same.

    None where none does. A review is what one reviewer said on one pull request. A comment is earlier by its time; one
    without a time stands behind the comment that it follows in the review, and so do comments of the same time. What is
    not counted, such as a reply, neither repeats nor is repeated. With `asked`, only the comments that it marks are
    answered for.
    """
    found: list[list[int | None]] = [[None] * len(review) for review in comments]
    said = _Said(comments, asked)
    for later, earlier in _firsts(said, min(line_distance, 2**31), location):
        for one, other in zip(later.tolist(), earlier.tolist(), strict=True):
            found[said.review[one]][said.position[one]] = int(said.position[other])
    return found


def with_repeats(records: Sequence[CommentRecord], *, line_distance: int, location: bool) -> list[CommentRecord]:
    """The records with those of their unmatched comments marked that say again what an earlier one says."""
    found = repeated(
        [[each.comment for each in record.comments] for record in records],
        line_distance=line_distance,
        location=location,
        asked=[[not each.matched and not each.left_out for each in record.comments] for record in records],
    )
    return [record if record.skipped else _marked(record, of) for record, of in zip(records, found, strict=True)]


def _marked(record: CommentRecord, first: Sequence[int | None]) -> CommentRecord:
    number = sum(each is not None for each in first)
    if not number:
        return replace(record, repeated=0)
    comments = tuple(
        each if earlier is None else replace(each, repeats=record.comments[earlier].position)
        for each, earlier in zip(record.comments, first, strict=True)
    )
    return replace(record, comments=comments, repeated=number)


class _Said:
    """The comments that count of all reviews: review after review, and in each from the earliest on."""

    def __init__(self, reviews: Sequence[Sequence[Comment]], asked: Sequence[Sequence[bool]] | None) -> None:
        rows = [(number, at) for number, review in enumerate(reviews) for at in _in_time(review) if len(review) > 1]
        self.review = np.array([review for review, _ in rows], np.int64)
        self.position = np.array([position for _, position in rows], np.int64)
        self.comments = [reviews[review][position] for review, position in rows]
        self.places = Places.of(self.comments)
        self.commit = numbered(comment.commit for comment in self.comments)
        self.text = numbered(" ".join(judged_part(comment.note).split()) for comment in self.comments)
        starts = np.searchsorted(self.review, self.review)
        self.earlier = np.arange(len(rows)) - starts
        """How many of its review each comment is to be compared with: those right before it."""
        if asked is not None:
            self.earlier *= np.array([asked[review][position] for review, position in rows], np.int64)


def _in_time(review: Sequence[Comment]) -> list[int]:
    """The positions of the comments that count, from the earliest on."""
    positions = [position for position, comment in enumerate(review) if comment.counted]
    if any(review[position].at for position in positions):
        times, time = {}, _BEFORE_ALL
        for position in positions:
            with suppress(ValueError):  # one that is no time is as good as none
                time = parse_time(review[position].at or "")
            times[position] = time
        positions.sort(key=times.__getitem__)
    return positions


def _firsts(said: _Said, distance: int, location: bool) -> Iterator[tuple[Indices, Indices]]:
    """Comments and the first earlier ones that say the same, some comments at a time."""
    for later, earlier in _together(_near_each_other(said, distance) if location else _all_pairs(said.earlier)):
        yield _first(*_say_the_same(said, later, earlier))


def _together(parts: Iterable[tuple[Indices, Indices]]) -> Iterator[tuple[Indices, Indices]]:
    """The same pairs, few parts as one: reading notes takes about as long for one as for a hundred."""
    held: list[tuple[Indices, Indices]] = []
    for part in parts:
        held.append(part)
        if sum(len(later) for later, _ in held) >= SCORED:
            yield _joined(held)
            held = []
    yield _joined(held)


def _joined(parts: Sequence[tuple[Indices, Indices]]) -> tuple[Indices, Indices]:
    nothing = np.empty(0, np.int64)
    return np.concatenate([nothing, *(part[0] for part in parts)]), np.concatenate(
        [nothing, *(part[1] for part in parts)]
    )


def _near_each_other(said: _Said, distance: int) -> Iterator[tuple[Indices, Indices]]:
    """The pairs that may match by place, by the later and then the earlier comment."""
    sizes = np.bincount(said.review, minlength=1)
    several_commits = _with_several(said.review, said.commit, len(sizes))
    large = (sizes > LARGE) & ~several_commits
    for later, earlier in _all_pairs(np.where(large[said.review], 0, said.earlier)):
        close = _may_match(said, later, earlier, distance)
        yield later[close], earlier[close]
    for review in np.flatnonzero(large).tolist():
        start, end = np.searchsorted(said.review, [review, review + 1]).tolist()
        asked = start + np.flatnonzero(said.earlier[start:end])
        rows = max(1, PAIRS // (end - start))
        for part in (asked[at : at + rows] for at in range(0, len(asked), rows)):
            found = candidate_pairs([said.comments[at] for at in part.tolist()], said.comments[start:end], distance)
            later, earlier = part[found.generated], found.reference + start
            yield later[earlier < later], earlier[earlier < later]


def _with_several(review: Indices, commit: Indices, reviews: int) -> NDArray[np.bool_]:
    """Which reviews have comments on several commits."""
    known = np.unique(np.column_stack([review, commit])[commit > 0], axis=0)
    several: NDArray[np.bool_] = np.bincount(known[:, 0], minlength=reviews) > 1
    return several


def _all_pairs(numbers: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Each comment with as many of those right before it."""
    part = np.cumsum(numbers) // PAIRS
    cuts = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(part)]
    for start, end in pairwise(cuts):
        sizes = numbers[start:end]
        later = np.repeat(np.arange(start, end), sizes)
        yield later, np.arange(len(later)) - np.repeat(np.cumsum(sizes), sizes) + later


def _may_match(said: _Said, later: Indices, earlier: Indices, distance: int) -> NDArray[np.bool_]:
    ours, theirs = said.places.take(later), said.places.take(earlier)
    one, other = said.commit[later], said.commit[earlier]
    moved = (one != other) & (one > 0) & (other > 0)
    return np.where(moved, same_file(ours, theirs), near(ours, theirs, distance))


def _say_the_same(said: _Said, later: Indices, earlier: Indices) -> tuple[Indices, Indices]:
    """Those of the pairs, in their order, whose notes say the same. What comes behind an equal note is left out."""
    equal = np.flatnonzero(said.text[later] == said.text[earlier])
    if len(equal):
        answered, first = np.unique(later[equal], return_index=True)
        until = np.full(len(said.text), len(later))
        until[answered] = equal[first]
        wanted = np.arange(len(later)) <= until[later]
        later, earlier = later[wanted], earlier[wanted]
    same = said.text[later] == said.text[earlier]
    unequal = np.flatnonzero(~same)
    if len(unequal):
        same[unequal] = _score_as_same(said, later[unequal], earlier[unequal])
    return later[same], earlier[same]


def _score_as_same(said: _Said, later: Indices, earlier: Indices) -> NDArray[np.bool_]:
    from metareview.judges.offline.alone import MutualScores  # reads the model's weights: only where there is need

    texts, place = np.unique(np.concatenate([said.text[later], said.text[earlier]]), return_inverse=True)
    note_of = dict(zip(said.text.tolist(), said.comments, strict=True))
    scores = MutualScores([judged_part(note_of[text].note) for text in texts.tolist()])
    return scores.same(place[: len(later)], place[len(later) :])


def _first(later: Indices, earlier: Indices) -> tuple[Indices, Indices]:
    """For each comment its first partner; both are in order."""
    distinct, first = np.unique(later, return_index=True)
    return distinct, earlier[first]
