"""`codex`: the JSON of Codex's review: findings with a title, a body, a priority and an absolute path."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.formats.findings import first_object, paragraphs, review_of
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.model.comment import Comment, Review


def sniff(file: InputFile) -> bool:
    value = file.json.only_value
    if not isinstance(value, dict) or not isinstance(value.get("findings"), list):
        return False
    first = first_object(value["findings"])
    return not value["findings"] or "code_location" in first or {"title", "body"} <= first.keys()


def read(file: InputFile) -> Iterator[Review]:
    """The reviews, with absolute paths: only the references tell what those are relative to."""
    for record in file.json.records("a review"):
        yield review_of(file, map(finding, record.objects("findings", "a finding")))


def finding(record: Record) -> Comment:
    """The comment of a finding."""
    location = record.optional_object("code_location")
    paths = (location.optional_text(key) for key in ("absolute_file_path", "path", "file_path", "file"))
    start, end = location.optional_object("line_range").lines("start", "end")
    return Comment(
        record.note_or_refusal(paragraphs(record.optional_text("title"), record.optional_text("body"))),
        path=next((path for path in paths if path), None),
        from_line=start,
        to_line=end,
        severity=_severity(record),
    )


def _severity(record: Record) -> str | None:
    """Priorities 0 to 3 as P0 to P3."""
    priority = record.value.get("priority")
    if type(priority) in (int, float) and priority in (0, 1, 2, 3):
        return f"P{int(priority)}"
    return record.optional_text("priority") or None


SUMMARY = "Codex's review: {findings: [{title, body, priority, code_location: {absolute_file_path, line_range}}]}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, by_tools=True)
