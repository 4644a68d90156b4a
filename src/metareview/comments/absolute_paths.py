"""Paths that begin at the root of a machine: some tools write where the checkout was, references never do."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from metareview.model.comment import Comment, Review, normal_path

_ABSOLUTE = re.compile(r"(?:/|[A-Za-z]:[\\/]|file:/)")


def relative_to(review: Review, known: Collection[str]) -> tuple[Review, int]:
    """The review with each absolute path cut to its longest suffix that is one of the known paths, and how many were
    cut. A path that has none stays as it is, and is the path of no reference.
    """
    found = ((position, _known_suffix(comment, known)) for position, comment in enumerate(review.comments))
    cut = {position: path for position, path in found if path is not None}
    if not cut:
        return review, 0
    comments = (each.replace(path=cut.get(at, each.path)) for at, each in enumerate(review.comments))
    return replace(review, comments=tuple(comments)), len(cut)


def is_absolute(comment: Comment) -> bool:
    """Whether its path begins at the root of a machine."""
    return comment.path is not None and _ABSOLUTE.match(comment.path.strip()) is not None


def _known_suffix(comment: Comment, known: Collection[str]) -> str | None:
    """What a path must be cut to; None where nothing needs to be, or can be, cut."""
    if not is_absolute(comment):
        return None
    path = normal_path(comment.path) or ""
    return None if path in known else next((suffix for suffix in _suffixes(path) if suffix in known), None)


def _suffixes(path: str) -> Iterator[str]:
    """Of whole parts, the longest first, the path itself left out."""
    while path := path.partition("/")[2]:
        yield path
