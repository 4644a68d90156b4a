"""`claude-code`: the findings of Claude Code's review, a list of objects with file, line and summary."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.formats.findings import first_object, paragraphs, review_of
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.model.comment import Comment, Review

_KEYS = {"path": "file", "from_line": "line", "category": "category", "severity": "severity"}
NOTE = ("summary", "failure_scenario")


def sniff(file: InputFile) -> bool:
    first = first_object(file.json.only_value)
    return "file" in first and any(key in first for key in NOTE)


def read(file: InputFile) -> Iterator[Review]:
    yield review_of(file, map(finding, file.json.records("a finding", depth=1)))


def finding(record: Record) -> Comment:
    """The comment of a finding."""
    comment = record.comment(_KEYS, paragraphs(*(record.optional_text(key) for key in NOTE)))
    return comment.replace(to_line=comment.to_line or comment.from_line)


SUMMARY = "Claude Code's review: [{file, line, summary, failure_scenario, category}]"
PLUGIN = CommentFormat(SUMMARY, sniff, read, by_tools=True)
