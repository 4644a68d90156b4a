"""Lines of `jsonl` that need no care: a review of which every field can be taken as it is."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from metareview.formats.line_comments import facts_of_values
from metareview.formats.long_lines import is_dense
from metareview.formats.plain_comments import is_plain
from metareview.model.comment import MAX_AMOUNT, Comment, Review, checked_review
from metareview.model.facts import CommentFacts

_ABSENT = type(None)
_AMOUNTS = ("cost", "tokens", "seconds")
_TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("reviewer", "language", "pr_category", "author"), (str, _ABSENT)),
    **dict.fromkeys(_AMOUNTS, (int, float, _ABSENT)),
    **dict.fromkeys(("merged_at", "closed_at", "meta", "commits"), (_ABSENT,)),
    "pr": (str,),
    "run": (str, int, _ABSENT),
    "comments": (list, _ABSENT),
}
"""The types of fields that can be taken as they are; whatever else a line has is looked at with care."""
_NO_FACTS = CommentFacts()


_Text = str | None
_Amount = float | None
PlainHead = tuple[str, _Text, _Text, _Text, _Text, _Text, _Amount, _Amount, _Amount]
"""What a line says of the review itself: the pull request, reviewer, language, category, run, author, cost, tokens and
seconds."""
IndexedLine = tuple[int, int, PlainHead | None, CommentFacts, bool]
"""What is known of a line without holding it: its length, its checksum, its head, the facts of its comments, and
whether it is blank. Without a head it is blank, or needs care. Plain tuples: a worker sends one for each line."""


def plain_value(line: bytes) -> dict[str, Any] | None:
    """The object of a line, if no message can be due about it."""
    if is_dense(line):
        return None
    try:
        value = orjson.loads(line)
    except ValueError:  # blank, broken, or something of which only the other parser makes sense
        return None
    if type(value) is not dict or not value.get("pr"):
        return None
    for name, each in value.items():
        if type(each) not in _TYPES.get(name, ()):
            return None
    if any(name in value and not 0 <= (value[name] or 0) <= MAX_AMOUNT for name in _AMOUNTS):
        return None
    return value if all(map(is_plain, value.get("comments") or ())) else None


def is_blank(line: bytes) -> bool:
    return not line.strip(b" \t\r\n")


def head_of(value: Mapping[str, Any]) -> PlainHead:
    get = value.get
    run = get("run")
    return (
        value["pr"],
        get("reviewer") or None,
        get("language"),
        get("pr_category"),
        str(run) if type(run) is int else run,
        get("author"),
        get("cost"),
        get("tokens"),
        get("seconds"),
    )


def plain_review(head: PlainHead, comments: Sequence[Comment], source: str) -> Review:
    pr, reviewer, language, pr_category, run, author, cost, tokens, seconds = head
    return checked_review(
        pr,
        comments,
        reviewer,
        language,
        pr_category,
        source,
        run=run,
        author=author,
        cost=cost,
        tokens=tokens,
        seconds=seconds,
    )


def index_lines(file: str, block: tuple[int, int]) -> list[IndexedLine]:
    """What is known of each line between two places of a file."""
    start, end = block
    known: dict[CommentFacts, CommentFacts] = {}  # Nearly all lines share theirs with others, and so they are sent.
    with Path(file).open("rb") as stream:
        stream.seek(start)
        return [_indexed(line, known) for line in io.BytesIO(stream.read(end - start))]


def _indexed(line: bytes, known: dict[CommentFacts, CommentFacts]) -> IndexedLine:
    value = plain_value(line)
    if value is None:
        return len(line), 0, None, _NO_FACTS, is_blank(line)
    facts = facts_of_values(value.get("comments") or ())
    return len(line), zlib.crc32(line), head_of(value), known.setdefault(facts, facts), False
