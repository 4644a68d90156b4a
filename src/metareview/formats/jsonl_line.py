"""A line of `jsonl`, decoded by type: nearly all lines need no more care than that.

A line that does not decode (an unknown field, a line number as text, half a surrogate pair, a range that ends before it
begins) is left to `Record`, which reads what can be read and says what is wrong.
"""

from __future__ import annotations

from sys import intern
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from metareview.errors import InputError
from metareview.model.comment import MAX_AMOUNT, Comment, Review

_Amount = Annotated[int, Meta(ge=0, le=MAX_AMOUNT)] | Annotated[float, Meta(ge=0, le=MAX_AMOUNT)] | None
_DEEPEST = 5


class _Line(Struct, forbid_unknown_fields=True, gc=False):
    """The fields that need no further check; a line with times or commits is left to `Record`."""

    pr: Annotated[str, Meta(min_length=1)]
    reviewer: str | None = None
    language: str | None = None
    pr_category: str | None = None
    run: str | int | None = None
    author: str | None = None
    merged_at: None = None
    closed_at: None = None
    cost: _Amount = None
    tokens: _Amount = None
    seconds: _Amount = None
    meta: None = None
    comments: tuple[Comment, ...] | None = None
    commits: None = None


_decode = msgspec.json.Decoder(_Line).decode


def review_of_line(line: bytes, source: str) -> Review | None:
    """The review of a line; None where it needs a closer look, or is blank."""
    try:
        found = _decode(line)
    except (msgspec.MsgspecError, InputError, UnicodeError, RecursionError):
        return None
    comments = found.comments or ()
    for comment in comments:
        # Few values among many comments: each text is held once.
        if comment.path:
            force_setattr(comment, "path", intern(comment.path))
        if comment.side:
            force_setattr(comment, "side", intern(comment.side))
        if comment.category or comment.context or comment.severity:
            for name in ("category", "context", "severity"):
                if text := getattr(comment, name):
                    force_setattr(comment, name, intern(text))
        if comment.meta and _is_deep(comment.meta):
            return None
    return Review(
        pr=found.pr,
        comments=comments,
        reviewer=found.reviewer or None,
        language=found.language,
        pr_category=found.pr_category,
        source=source,
        run=_identifier(found.run),
        author=found.author,
        cost=found.cost,
        tokens=found.tokens,
        seconds=found.seconds,
    )


def _identifier(value: str | int | None) -> str | None:
    return str(value) if isinstance(value, int) else value


def _is_deep(value: Any, levels: int = _DEEPEST) -> bool:
    """True if it is nested more than a few levels: then it may be nested too deeply."""
    if not isinstance(value, dict | list):
        return False
    items = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(item, levels - 1) for item in items)
