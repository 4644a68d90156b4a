"""Which comments say again what the same reviewer says elsewhere on the same pull request.

Where there are references, a comment that raises one for which another comment is counted says it again: the run's
judge has decided that already (`comments/outcome.py`). The others are compared with each other, here.

Two of its comments say the same where their notes are equal but for white space, or share their words in their order
(ROUGE-L recall, in both directions): most of them, or a third where both are on the same lines and the offline judge's
score without rivals, the mean of both directions, is at or over its threshold. What one reviewer says on one pull
request is about one change, so that the judge alone, which is made to tell a match from its rivals, would call much of
it the same. Where places are compared they must also match by place; between two commits lines move, and comments on
different ones are compared by path and side alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from metareview.comments.alike_notes import AlikeNotes
from metareview.comments.location import Indices, Places, near, numbered, same_file
from metareview.comments.records import ScoredComment
from metareview.model.comment import MAX_LINE, Comment
from metareview.model.time import parse_time

PAIRS, SCORED = 200_000, 20_000
"""How many pairs are compared by place, and about how many by meaning, at a time: bounds memory."""
LARGE = 50
"""Of groups of more comments, only those that share some of their rarest words are compared; in smaller ones it is
quicker to look at every pair."""
NEIGHBOURS = 32
"""Up to how many other comments per comment are looked at one by one, because they are near it."""
CELLS = 2_000_000
"""How many pairs of a large group are looked at for shared words at a time: bounds memory."""
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
    distance = min(line_distance, MAX_LINE)
    said = _Said(comments, asked, distance, location)
    for later, earlier in _firsts(said, distance, location):
        for one, other in zip(later.tolist(), earlier.tolist(), strict=True):
            found[said.review[one]][said.position[one]] = int(said.position[other])
    return found


def with_repeats(
    reviews: Sequence[Sequence[ScoredComment]], *, line_distance: int, location: bool
) -> list[tuple[Sequence[ScoredComment], int]]:
    """The comments of each review with those of the unmatched ones marked that say again what an earlier one says, and
    how many repeat another in all."""
    found = repeated(
        [[each.comment for each in review] for review in reviews],
        line_distance=line_distance,
        location=location,
        asked=[
            [each.reference is None and not each.left_out and each.repeats is None for each in review]
            for review in reviews
        ],
    )
    return [_marked(review, first) for review, first in zip(reviews, found, strict=True)]


def _marked(review: Sequence[ScoredComment], first: Sequence[int | None]) -> tuple[Sequence[ScoredComment], int]:
    if any(each is not None for each in first):
        review = tuple(
            each if earlier is None else replace(each, repeats=review[earlier].position)
            for each, earlier in zip(review, first, strict=True)
        )
    return review, sum(each.repeats is not None for each in review)


class _Said:
    """The comments that count of all reviews: review after review, in each those that may match by place together, and
    of these from the earliest on."""

    def __init__(
        self,
        reviews: Sequence[Sequence[Comment]],
        asked: Sequence[Sequence[bool]] | None,
        distance: int,
        location: bool,
    ) -> None:
        positions = [_in_time(review) if len(review) > 1 else [] for review in reviews]
        review = np.repeat(np.arange(len(reviews)), list(map(len, positions)))
        comments = [review[at] for review, in_time in zip(reviews, positions, strict=True) for at in in_time]
        places = Places.of(comments)
        commit = numbered(comment.commit for comment in comments)
        group = _groups(places, review, commit, distance) if location else review
        order = np.argsort(group, kind="stable")
        self.review, self.commit, self.places = review[order], commit[order], places.take(order)
        self.position = np.array(list(chain.from_iterable(positions)), np.int64)[order]
        self.comments = [comments[at] for at in order.tolist()]
        self.groups = np.flatnonzero(np.diff(group[order], prepend=-1, append=-1))
        """Where each group begins; one more entry than groups."""
        self.earlier = np.arange(len(comments)) - np.repeat(self.groups[:-1], np.diff(self.groups))
        """How many of its group each comment is to be compared with: those right before it."""
        if asked is not None:
            marks = [marks[at] for marks, in_time in zip(asked, positions, strict=True) for at in in_time]
            self.earlier *= np.array(marks, np.int64)[order]

    def notes(self, comments: Indices) -> AlikeNotes:
        return AlikeNotes([self.comments[at].note for at in comments.tolist()])

    def on_lines(self, comments: Indices) -> NDArray[np.bool_]:
        """Which of these comments are on lines of a file."""
        own = (self.comments[at] for at in comments.tolist())
        return np.array([bool(each.path and (each.from_line or each.to_line)) for each in own], bool)


def _groups(places: Places, review: Indices, commit: Indices, distance: int) -> Indices:
    """A number for each comment, in the order of reviews; those that may match by place have the same.

    A group is a run of lines of a file without a gap that is too wide. Whoever has no path may match anything of the
    review; where comments are on several commits, lines do not part them.
    """
    reviews = int(review.max(initial=-1)) + 1
    anywhere = np.bincount(review, places.path == 0, minlength=reviews) > 0
    moved = _with_several(review, commit, reviews)[review]
    path = np.where(anywhere[review], 0, places.path)
    first, last = np.where(moved, 1, places.first), np.where(moved, MAX_LINE, places.last)
    order = np.lexsort((first, path, review))
    file = np.cumsum(np.diff(review[order], prepend=0).astype(bool) | np.diff(path[order], prepend=0).astype(bool))
    reached = np.maximum.accumulate(file * (2 * MAX_LINE) + last[order])
    apart = np.ones(len(order), bool)
    apart[1:] = file[1:] * (2 * MAX_LINE) + first[order][1:] - reached[:-1] > distance
    apart[1:] |= np.diff(file) > 0
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(apart)
    return group


def _in_time(review: Sequence[Comment]) -> list[int]:
    """The positions of the comments that count, from the earliest on."""
    positions = [position for position, comment in enumerate(review) if comment.counted]
    if any(comment.at for comment in review):
        times, time = {}, _BEFORE_ALL
        for position in positions:
            with suppress(ValueError):  # one that is no time is as good as none
                time = parse_time(review[position].at or "")
            times[position] = time
        positions.sort(key=times.__getitem__)
    return positions


def _firsts(said: _Said, distance: int, location: bool) -> Iterator[tuple[Indices, Indices]]:
    """Comments and the first earlier ones that say the same, some comments at a time."""
    is_large = np.repeat(np.diff(said.groups) > LARGE, np.diff(said.groups))
    small = _all_pairs(np.where(is_large, 0, said.earlier))
    near_each_other = (_may_match(said, *pairs, distance) for pairs in small) if location else small
    for later, earlier in _together(near_each_other):
        place, of_comment = np.unique(np.concatenate([later, earlier]), return_inverse=True)
        one, other = of_comment[: len(later)], of_comment[len(later) :]
        yield _first(*_say_the_same(said, said.notes(place), (later, earlier), (one, other), location))
    for start, end in pairwise(said.groups.tolist()):
        if end - start > LARGE:
            yield from _firsts_of_group(said, start, end, distance, location)


def _firsts_of_group(
    said: _Said, start: int, end: int, distance: int, location: bool
) -> Iterator[tuple[Indices, Indices]]:
    """The same for a large group: of the few pairs that may match by place, or, where most of them may, of those that
    share some of their rarest words. These are looked for from the earliest comments on, in steps: whoever is found to
    repeat one of them need not be compared with later ones."""
    notes = said.notes(np.arange(start, end))
    left = start + np.flatnonzero(said.earlier[start:end])
    near_each_other = _near_each_other(said, start, end, distance) if location else None
    first, step = start, 1
    while len(left) and first < end:
        if near_each_other is not None:
            last, (later, earlier) = end, near_each_other
        else:
            last = min(first + step, end)
            left = left[left > first]
            step = max(1, min(2 * step, CELLS // max(1, len(left))))
            later, earlier = (each + start for each in notes.sharing(left - start, first - start, last - start))
            later, earlier = later[earlier < later], earlier[earlier < later]
        if location:
            later, earlier = _may_match(said, later, earlier, distance)
        for part in range(0, len(later), PAIRS):
            pairs = later[part : part + PAIRS], earlier[part : part + PAIRS]
            found = _first(*_say_the_same(said, notes, pairs, (pairs[0] - start, pairs[1] - start), location))
            new = np.isin(found[0], left)  # The pairs of a comment may be in two parts; and not all are asked about.
            yield found[0][new], found[1][new]
            left = np.setdiff1d(left, found[0], assume_unique=True)
        first = last


def _near_each_other(said: _Said, start: int, end: int, distance: int) -> tuple[Indices, Indices] | None:
    """The pairs of a group on lines that are near each other, by the later and then the earlier comment; None where
    they are more than NEIGHBOURS per comment, or lines of several commits."""
    if len(np.unique(said.commit[start:end][said.commit[start:end] > 0])) > 1:
        return None
    order = np.argsort(said.places.first[start:end], kind="stable")
    first, last = said.places.first[start:end][order], said.places.last[start:end][order]
    # Of two lines in this order, the second begins at the end of the first at the latest.
    following = np.searchsorted(first, last + distance, side="right") - np.arange(1, len(order) + 1)
    if following.sum() > NEIGHBOURS * len(order):
        return None
    one = np.repeat(np.arange(len(order)), following)
    other = np.arange(len(one)) - np.repeat(np.cumsum(following) - following, following) + one + 1
    later, earlier = np.maximum(order[one], order[other]), np.minimum(order[one], order[other])
    by_later = np.lexsort((earlier, later))
    return later[by_later] + start, earlier[by_later] + start


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


def _may_match(said: _Said, later: Indices, earlier: Indices, distance: int) -> tuple[Indices, Indices]:
    """Those of the pairs that may match by place."""
    ours, theirs = said.places.take(later), said.places.take(earlier)
    moved = _on_other_commits(said, later, earlier)
    close = np.where(moved, same_file(ours, theirs), near(ours, theirs, distance))
    return later[close], earlier[close]


def _on_other_commits(said: _Said, later: Indices, earlier: Indices) -> NDArray[np.bool_]:
    """Which pairs are known to be on two different commits."""
    one, other = said.commit[later], said.commit[earlier]
    moved: NDArray[np.bool_] = (one != other) & (one > 0) & (other > 0)
    return moved


def _say_the_same(
    said: _Said, notes: AlikeNotes, pairs: Sequence[Indices], at: Sequence[Indices], location: bool
) -> tuple[Indices, Indices]:
    """Those of the pairs, in their order, whose notes say the same; `at` says where in `notes` theirs are. What comes
    behind an equal note is left out."""
    (later, earlier), (one, other) = pairs, at
    equal = np.flatnonzero(notes.text[one] == notes.text[other])
    if len(equal):
        answered, first = np.unique(later[equal], return_index=True)
        until = np.full(len(said.comments), len(later))
        until[answered] = equal[first]
        wanted = np.arange(len(later)) <= until[later]
        later, earlier, one, other = (each[wanted] for each in (later, earlier, one, other))
    on_lines = np.full(len(later), location)
    if location:
        on_lines &= ~_on_other_commits(said, later, earlier)
        on_lines &= said.on_lines(later) & said.on_lines(earlier)
    same = notes.alike(one, other, on_lines)
    return later[same], earlier[same]


def _first(later: Indices, earlier: Indices) -> tuple[Indices, Indices]:
    """For each comment its first partner; both are in order."""
    distinct, first = np.unique(later, return_index=True)
    return distinct, earlier[first]
