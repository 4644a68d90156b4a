"""From a JSON record to a Comment: how all comment formats that are JSON read one."""

from __future__ import annotations

import json
from collections.abc import Mapping

from metareview.formats.record import Record
from metareview.formats.source import Source
from metareview.model.comment import Comment

_TEXTS = ("note", "path", "side", "category", "context", "severity")
_OWN_NAMES: Mapping[str, str] = {name: name for name in (*_TEXTS, "from_line", "to_line", "id")}


def read_comment(record: Record, keys: Mapping[str, str] = _OWN_NAMES) -> Comment:
    """The comment in this record; `keys` says what the format calls each field that it has."""
    texts = {name: record.text(keys[name]) for name in _TEXTS if name in keys}
    start, end = ordered_lines(record, keys["from_line"], keys["to_line"]) if "to_line" in keys else (None, None)
    return Comment(
        note=texts.pop("note", None) or "",
        from_line=start,
        to_line=end,
        id=record.identifier(keys["id"]) if "id" in keys else None,
        **texts,
    )


def ordered_lines(record: Record, from_key: str, to_key: str) -> tuple[int | None, int | None]:
    """First and last line; swapped, with a warning, where the range ends before it begins."""
    start, end = record.line_number(from_key), record.line_number(to_key)
    if start is None or end is None or start <= end:
        return start, end
    kind, detail = "a range that ends before it begins; swapped", f"{from_key} {start} is after {to_key} {end}; swapped"
    record.source.warn(kind, lambda: record.line_of(from_key), detail)
    return end, start


def comment_of(value: object) -> Comment:
    """A comment from a dictionary that no file holds; the same checks."""
    text = json.dumps(dict(value) if isinstance(value, Mapping) else value, default=str)
    [record] = Source.of_text(text, "comment").records("a comment")
    return read_comment(record)
