"""`gitlab-code-quality`: GitLab's Code Quality report, a list of issues in Code Climate's format."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.formats.findings import first_object, review_of
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.model.comment import Comment, Review


def sniff(file: InputFile) -> bool:
    first = first_object(file.json.only_value)
    return {"description", "location"} <= first.keys() and any(
        key in first for key in ("check_name", "fingerprint", "severity")
    )


def read(file: InputFile) -> Iterator[Review]:
    yield review_of(file, map(_comment, file.json.records("an issue", depth=1)))


def _comment(record: Record) -> Comment:
    location = record.optional_object("location")
    start, end = location.optional_object("lines").lines("begin", "end")
    if start is None and end is None and location.value.get("positions") is not None:
        positions = location.optional_object("positions")
        first, last = (positions.optional_object(key).lines("line", None)[0] for key in ("begin", "end"))
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
