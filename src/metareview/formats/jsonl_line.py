"""A line of `jsonl`, decoded by type: nearly all lines need no more care than that.

A line that does not decode (an unknown field, a line number as text, half a surrogate pair, a range that ends before it
begins) is left to `Record`, which reads what can be read and says what is wrong.
"""

from __future__ import annotations

from sys import intern
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from metareview.model.comment import MAX_AMOUNT, MAX_LINE, Comment, Review

_LineNumber = Annotated[int, Meta(ge=1, le=MAX_LINE)] | None
_Amount = Annotated[int, Meta(ge=0, le=MAX_AMOUNT)] | Annotated[float, Meta(ge=0, le=MAX_AMOUNT)] | None
_DEEPEST = 5


class _Comment(Struct, forbid_unknown_fields=True, gc=False):
    note: str | None = None
    path: str | None = None
    side: str | None = None
    from_line: _LineNumber = None
    to_line: _LineNumber = None
    id: str | int | None = None
    category: str | None = None
    context: str | None = None
    severity: str | None = None
    author: str | None = None
    at: str | None = None
    commit: str | None = None
    in_reply_to: str | int | None = None
    resolved: bool | None = None
    outdated: bool | None = None
    reactions: dict[str, Annotated[int, Meta(ge=0)]] | None = None
    neutral: bool | None = None
    producer: str | None = None
    source_model: str | None = None
    is_ai_comment: bool | None = None
    meta: dict[str, Any] | None = None


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
    comments: list[_Comment] | None = None
    commits: None = None


_decode = msgspec.json.Decoder(_Line).decode


def review_of_line(line: bytes, source: str) -> Review | None:
    """The review of a line; None where it needs a closer look, or is blank."""
    try:
        found = _decode(line)
        comments = tuple(map(_comment, found.comments or ()))
    except (msgspec.MsgspecError, UnicodeError, RecursionError, _CloserLookError):
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


class _CloserLookError(Exception):
    pass


def _comment(found: _Comment) -> Comment:
    first, last = found.from_line, found.to_line
    if first is not None and last is not None and first > last:
        raise _CloserLookError
    if found.meta is not None and _is_deep(found.meta):
        raise _CloserLookError
    return Comment(
        found.note or "",
        None if found.path is None else intern(found.path),  # Many comments are on one file: its name is kept once.
        None if found.side is None else intern(found.side),
        first,
        last,
        _identifier(found.id),
        found.category,
        found.context,
        found.severity,
        found.author,
        found.at,
        found.commit,
        _identifier(found.in_reply_to),
        found.resolved,
        found.outdated,
        found.reactions,
        found.neutral,
        found.producer,
        found.source_model,
        found.is_ai_comment,
        found.meta,
    )


def _identifier(value: str | int | None) -> str | None:
    return str(value) if isinstance(value, int) else value


def _is_deep(value: Any, levels: int = _DEEPEST) -> bool:
    """Whether it is nested more than a few levels: then it may be nested too deeply."""
    if not isinstance(value, dict | list):
        return False
    items = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(item, levels - 1) for item in items)
