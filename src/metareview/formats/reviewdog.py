"""reviewdog's diagnostics, whether in one document or a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from metareview.formats.record import Record
from metareview.formats.source import Source
from metareview.model.comment import Comment, Review

SEVERITIES = ("UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO")
"""By number, as protocol buffers count them."""


def read_diagnostics(source: Source, records: Iterable[Record], whole: Record | None = None) -> Iterator[Review]:
    """A review for each tool that the diagnostics name; `whole` says what holds for those that say nothing."""
    common = severity = None
    if whole is not None:
        common, severity = whole.part("source").optional_text("name") or None, _severity(whole)
    reviews: dict[str | None, list[Comment]] = {}
    for record in records:
        tool = record.part("source").optional_text("name") or common
        comment = _comment(record)
        reviews.setdefault(tool, []).append(replace(comment, severity=comment.severity or severity))
    pr = source.required_pull_request()
    for tool, comments in (reviews or {common: []}).items():
        yield Review(pr, tuple(comments), tool, source=source.name)


def _comment(record: Record) -> Comment:
    location = record.part("location")
    start, end = _lines(location.part("range"))
    said = (record.optional_text(key) for key in ("message", "original_output", "originalOutput"))
    return Comment(
        next((text for text in said if text), ""),
        path=location.optional_text("path") or None,
        from_line=start,
        to_line=end,
        category=record.part("code").optional_text("value") or None,
        severity=_severity(record),
    )


def _lines(range_: Record) -> tuple[int | None, int | None]:
    """A range ends before its end: in column 1 of a line, with the line before it."""
    start, _ = range_.part("start").lines("line", None)
    last = range_.part("end")
    end, _ = last.lines("line", None)
    if start is None or end is None:
        return start, end or start
    if end > start and last.value.get("column") == 1:
        end -= 1
    return min(start, end), max(start, end)


def _severity(record: Record) -> str | None:
    value = record.value.get("severity")
    if type(value) is int and 0 <= value < len(SEVERITIES):
        value = SEVERITIES[value]
    elif not isinstance(value, str):
        return record.optional_text("severity")
    return None if value.strip().upper() in ("", SEVERITIES[0]) else record.clean("severity", value)
