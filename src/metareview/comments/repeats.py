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

from metareview.comments.location import Indices, Places, candidate_pairs, near, numbered, same_file
from metareview.comments.records import ScoredComment
from metareview.judges.protocol import judged_part
from metareview.model.comment import Comment
from metareview.model.time import parse_time
from metareview.text.equality import collapsed
from metareview.text.rouge import EncodedTexts

PAIRS, SCORED = 200_000, 20_000
"""How many pairs are compared by place, and about how many by meaning, at a time: bounds memory."""
LARGE = 50
"""Reviews of more comments are searched by place; in smaller ones it is quicker to look at every pair."""
WORDS = 0.7
"""The share of either note's words that the other must have, in order: the same as for the judge `rouge`."""
WORDS_ON_THE_LINES = 1 / 3
"""The same for two comments on the same lines that the offline judge calls the same. Of 66 pairs of AACR-Bench's
references that it does, 6 share so many words; the others are different issues."""
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
    """The comments that count of all reviews: review after review, and in each from the earliest on."""

    def __init__(self, reviews: Sequence[Sequence[Comment]], asked: Sequence[Sequence[bool]] | None) -> None:
        positions = [_in_time(review) if len(review) > 1 else [] for review in reviews]
        self.review = np.repeat(np.arange(len(reviews)), list(map(len, positions)))
        self.position = np.array(list(chain.from_iterable(positions)), np.int64)
        self.comments = [review[at] for review, in_time in zip(reviews, positions, strict=True) for at in in_time]
        self.places = Places.of(self.comments)
        self.commit = numbered(comment.commit for comment in self.comments)
        starts = np.searchsorted(self.review, self.review)
        self.earlier = np.arange(len(self.comments)) - starts
        """How many of its review each comment is to be compared with: those right before it."""
        if asked is not None:
            self.earlier *= np.array(
                [marks[at] for marks, in_time in zip(asked, positions, strict=True) for at in in_time], np.int64
            )

    def texts(self, comments: Indices) -> Indices:
        """A number for the note of each of these comments: the same for notes that are equal but for white space."""
        distinct, place = np.unique(comments, return_inverse=True)
        return numbered(collapsed(judged_part(self.comments[at].note)) for at in distinct.tolist())[place]

    def on_lines(self, comments: Indices) -> NDArray[np.bool_]:
        """Which of these comments are on lines of a file."""
        own = (self.comments[at] for at in comments.tolist())
        return np.array([bool(each.path and (each.from_line or each.to_line)) for each in own], bool)


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
    for later, earlier in _together(_near_each_other(said, distance) if location else _all_pairs(said.earlier)):
        yield _first(*_say_the_same(said, later, earlier, location))


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
    moved = _on_other_commits(said, later, earlier)
    return np.where(moved, same_file(ours, theirs), near(ours, theirs, distance))


def _on_other_commits(said: _Said, later: Indices, earlier: Indices) -> NDArray[np.bool_]:
    """Which pairs are known to be on two different commits."""
    one, other = said.commit[later], said.commit[earlier]
    moved: NDArray[np.bool_] = (one != other) & (one > 0) & (other > 0)
    return moved


def _say_the_same(said: _Said, later: Indices, earlier: Indices, location: bool) -> tuple[Indices, Indices]:
    """Those of the pairs, in their order, whose notes say the same. What comes behind an equal note is left out."""
    text, earlier_text = np.split(said.texts(np.concatenate([later, earlier])), 2)
    same = text == earlier_text
    equal = np.flatnonzero(same)
    if len(equal):
        answered, first = np.unique(later[equal], return_index=True)
        until = np.full(len(said.comments), len(later))
        until[answered] = equal[first]
        wanted = np.arange(len(later)) <= until[later]
        later, earlier, text, earlier_text, same = (each[wanted] for each in (later, earlier, text, earlier_text, same))
    unequal = np.flatnonzero(~same)
    if len(unequal):
        unlike = [each[unequal] for each in (later, earlier, text, earlier_text)]
        same[unequal] = _are_alike(said, unlike[:2], unlike[2:], location)
    return later[same], earlier[same]


def _are_alike(said: _Said, pairs: Sequence[Indices], texts: Sequence[Indices], location: bool) -> NDArray[np.bool_]:
    """Whether the notes of each pair share so many words that they say the same. Of a pair are given the later and the
    earlier comment, and the numbers of their notes."""
    later, earlier = pairs
    _, first, place = np.unique(np.concatenate(texts), return_index=True, return_inverse=True)
    notes = [judged_part(said.comments[at].note) for at in np.concatenate(pairs)[first].tolist()]
    one, other = place[: len(later)], place[len(later) :]
    shared = _shared_words(notes, one, other)
    alike: NDArray[np.bool_] = shared > WORDS
    doubtful = np.flatnonzero(location & ~alike & (shared > WORDS_ON_THE_LINES))
    doubtful = doubtful[~_on_other_commits(said, later[doubtful], earlier[doubtful])]
    doubtful = doubtful[said.on_lines(later[doubtful]) & said.on_lines(earlier[doubtful])]
    if len(doubtful):
        from metareview.judges.offline.alone import MutualScores  # reads the model's weights: only where there is need

        kept, position = np.unique(np.concatenate([one[doubtful], other[doubtful]]), return_inverse=True)
        scores = MutualScores([notes[at] for at in kept.tolist()])
        alike[doubtful] |= scores.same(position[: len(doubtful)], position[len(doubtful) :])
    return alike


def _shared_words(notes: Sequence[str], one: Indices, other: Indices) -> NDArray[np.float64]:
    """The lesser of the two shares of words that either note has in common with the other, in order."""
    encoded = EncodedTexts(notes)
    return np.minimum(
        encoded.recall_pairs(np.column_stack([one, other])), encoded.recall_pairs(np.column_stack([other, one]))
    )


def _first(later: Indices, earlier: Indices) -> tuple[Indices, Indices]:
    """For each comment its first partner; both are in order."""
    distinct, first = np.unique(later, return_index=True)
    return distinct, earlier[first]
