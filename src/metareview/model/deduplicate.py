"""One comment that several files give: the answers of an API overlap, and so do two downloads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from metareview.model.comment import Comment, Review, merged, normal_path
from metareview.model.words import plural

# How the address of a comment of GitHub or GitLab ends; the number alone is its id in other files.
_ANCHOR = re.compile(r"(?:discussion_r|pullrequestreview-|issuecomment-|note_)(\d+)", re.ASCII)


def number_of(known_as: str) -> str:
    """The number of an id that is the end of an address; any other id as it is."""
    return anchor[1] if (anchor := _ANCHOR.fullmatch(known_as)) else known_as


def merge_without_duplicates(reviews: Iterable[Review]) -> tuple[dict[tuple[str, str | None], Review], int]:
    """Reviews by (pull request, reviewer), each comment once, and how many were given again."""
    by_key = merged(reviews)
    repeated = 0
    for key, review in by_key.items():
        comments = deduplicated(review.comments)
        if len(comments) < len(review.comments):
            repeated += len(review.comments) - len(comments)
            by_key[key] = replace(review, comments=comments)
    return by_key, repeated


def duplicates_warning(repeated: int) -> str:
    """The warning about comments that were given more than once."""
    return (
        plural(
            repeated,
            "comment is given again under its id; it counts",
            "comments are given again under their ids; each counts",
        )
        + " once"
    )


def deduplicated(comments: Sequence[Comment]) -> tuple[Comment, ...]:
    """The comments of one review, each once: two of the same id on the same file are one where the notes are equal,
    or where both were made at the same instant (then it was edited in between). It stands where it stood first, and
    what only one of the two has, such as whether it was resolved, is kept; else the later counts.

    Without ids, equal notes are as many comments as they are; an id with another note is another comment's, because
    files number as they like. `discussion_r12` and `12` are one id.
    """
    ids = [number_of(comment.id) for comment in comments if comment.id]
    if len(set(ids)) == len(ids):
        return tuple(comments)
    once: list[Comment] = []
    positions: dict[tuple[str | None, ...], dict[int, None]] = {}
    for comment in comments:
        earlier = [positions.setdefault(shared, {}) for shared in _shared_by_repeats(comment)]
        found = sorted({position for each in earlier for position in each})
        same = next((position for position in found if _are_one(once[position], comment)), len(once))
        if same == len(once):
            once.append(comment)
        else:
            once[same] = joined(once[same], comment)
        for each in earlier:
            each[same] = None
    return tuple(once)


def _shared_by_repeats(comment: Comment) -> Iterator[tuple[str | None, ...]]:
    """Keys of which equal comments share one: compared with all of its id, a file in which every
    comment has the same id would take for ever."""
    if comment.id:
        number, path = number_of(comment.id), normal_path(comment.path)
        yield number, path, "note", *comment.note.split()
        if comment.at is not None:
            yield number, path, "at", comment.at


def _are_one(first: Comment, second: Comment) -> bool:
    """Of two with the same number. Ends of addresses say of what kind, and those of two kinds are two."""
    if first.id != second.id and number_of(first.id or "") != first.id and number_of(second.id or "") != second.id:
        return False
    if normal_path(first.path) != normal_path(second.path) or (first.author or second.author) != (
        second.author or first.author
    ):
        return False
    return first.note.split() == second.note.split() or (first.at is not None and first.at == second.at)


def joined(first: Comment, second: Comment) -> Comment:
    """Both as one: what the second says, and whatever only the first does. Lines go together, and with the commit that
    they are lines of."""
    lines, other = (second, first) if second.from_line or second.to_line else (first, second)
    commit = lines.commit
    if commit is None and ((other.from_line, other.to_line) in ((None, None), (lines.from_line, lines.to_line))):
        commit = other.commit
    fields = {**second.to_dict(), "from_line": lines.from_line, "to_line": lines.to_line, "commit": commit}
    fields["id"] = max(first.id or "", second.id or "", key=len) or None  # the end of an address, if either is one
    return first.replace(**fields)
