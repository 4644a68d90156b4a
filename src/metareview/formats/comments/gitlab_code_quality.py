"""`gitlab-code-quality`: GitLab's Code Quality report, a list of issues as Code Climate writes them."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.formats.findings import first_object, only_document, review_of
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.formats.source import Source
from metareview.model.comment import Comment, Review


def sniff(source: Source) -> bool:
    first = first_object(only_document(source))
    return {"description", "location"} <= first.keys() and any(
        key in first for key in ("check_name", "fingerprint", "severity")
    )


def read(source: Source) -> Iterator[Review]:
    yield review_of(source, map(_comment, source.records("an issue", depth=1)))


def _comment(record: Record) -> Comment:
    location = record.part("location")
    start, end = location.part("lines").lines("begin", "end")
    if start is None and end is None and location.value.get("positions") is not None:
        positions = location.part("positions")
        first, last = (positions.part(key).lines("line", None)[0] for key in ("begin", "end"))
        start, end = (first, last) if None in (first, last) else sorted((first or 1, last or 1))
    return Comment(
        record.note_or_refusal(record.optional_text("description")),
        path=location.optional_text("path") or None,
        from_line=start,
        to_line=end or start,
        id=record.optional_text("fingerprint") or None,
        category=record.optional_text("check_name") or None,
        severity=record.optional_text("severity") or None,
    )


SUMMARY = "GitLab's Code Quality report: [{description, check_name, fingerprint, severity, location}]"
PLUGIN = CommentFormat(SUMMARY, sniff, read, by_tools=True)
