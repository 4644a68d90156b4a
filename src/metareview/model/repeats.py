"""One comment that several files give: the answers of an API overlap, and so do two downloads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from metareview.model.comment import Comment, Review, merged, normal_path
from metareview.model.words import plural


def merged_once(reviews: Iterable[Review]) -> tuple[dict[tuple[str, str | None], Review], int]:
    """Reviews by (pull request, reviewer), each comment once, and how many were given again."""
    by_key = merged(reviews)
    once = {key: replace(review, comments=said_once(review.comments)) for key, review in by_key.items()}
    return once, sum(len(review.comments) - len(once[key].comments) for key, review in by_key.items())


def given_again(repeated: int) -> str:
    """A warning for whoever reads the figures."""
    return (
        plural(
            repeated,
            "comment is given again under its id; it counts",
            "comments are given again under their ids; each counts",
        )
        + " once"
    )


def said_once(comments: Sequence[Comment]) -> tuple[Comment, ...]:
    """The comments of one review, each once: two of the same id on the same file are one where the notes are equal,
    or where both were made at the same instant (then it was edited in between). It stands where it stood first, and
    what only one of the two has, such as whether it was resolved, is kept; else the later counts.

    Without ids, equal notes are as many comments as they are; an id with another note is another comment's, because
    files number as they like.
    """
    ids = [comment.id for comment in comments if comment.id]
    if len(set(ids)) == len(ids):
        return tuple(comments)
    once: list[Comment] = []
    positions: dict[str, list[int]] = {}
    for comment in comments:
        earlier = positions.setdefault(comment.id, []) if comment.id else []
        same = next((position for position in earlier if _are_one(once[position], comment)), None)
        if same is None:
            earlier.append(len(once))
            once.append(comment)
        else:
            once[same] = joined(once[same], comment)
    return tuple(once)


def _are_one(first: Comment, second: Comment) -> bool:
    if normal_path(first.path) != normal_path(second.path) or (first.author or second.author) != (
        second.author or first.author
    ):
        return False
    return first.note.split() == second.note.split() or (first.at is not None and first.at == second.at)


def joined(first: Comment, second: Comment) -> Comment:
    """Both as one: what the second says, and whatever only the first does. Lines go together."""
    lines = second if second.from_line or second.to_line else first
    told = {**second.to_dict(), "from_line": lines.from_line, "to_line": lines.to_line}
    return replace(first, **told)
