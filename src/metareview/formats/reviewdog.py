"""reviewdog's diagnostics, in one document or one per line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from metareview.formats.input_file import InputFile
from metareview.formats.record import Record
from metareview.model.comment import Comment, Review
from metareview.model.words import plural

_BACKTICKS = re.compile("`+")
SEVERITIES = ("UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO")
"""By their numbers in the protocol buffer."""


def read_diagnostics(file: InputFile, records: Iterable[Record], whole: Record | None = None) -> Iterator[Review]:
    """A review for each tool; `whole` has the tool and the severity of diagnostics without their own."""
    common = severity = None
    if whole is not None:
        common, severity = whole.optional_object("source").optional_text("name") or None, _severity(whole)
    reviews: dict[str | None, list[Comment]] = {}
    left_out = 0
    for record in records:
        tool = record.optional_object("source").optional_text("name") or common
        comment, unfit = _with_suggestions(_comment(record), record)
        left_out += unfit
        reviews.setdefault(tool, []).append(comment.replace(severity=comment.severity or severity))
    if left_out:
        why = "for parts of lines, or other lines than the diagnostic's"
        what = plural(left_out, "suggestion left out: it is", "suggestions left out: they are")
        file.warnings.add_sentence(f"{file.name}: {what} {why}")
    pr = file.required_pull_request()
    for tool, comments in (reviews or {common: []}).items():
        yield Review(pr, tuple(comments), tool, source=file.name)


def _comment(record: Record) -> Comment:
    location = record.optional_object("location")
    start, end = _lines(location.optional_object("range"))
    texts = (record.optional_text(key) for key in ("message", "original_output", "originalOutput"))
    return Comment(
        record.note_or_refusal(next(filter(None, texts), None)),
        path=location.optional_text("path") or None,
        from_line=start,
        to_line=end,
        category=record.optional_object("code").optional_text("value") or None,
        severity=_severity(record),
    )


def _with_suggestions(comment: Comment, record: Record) -> tuple[Comment, int]:
    """The comment with a block for each suggestion that replaces its lines, and the number of the other suggestions,
    which cannot be shown without the file.
    """
    found = [_suggested(each, comment) for each in record.optional_objects("suggestions")]
    blocks = [block for block in found if block is not None]
    note = "\n\n".join(text for text in (comment.note, *blocks) if text)
    return comment.replace(note=note) if blocks else comment, len(found) - len(blocks)


def _suggested(suggestion: Record, comment: Comment) -> str | None:
    """The suggestion as a block of Markdown; None where it is not for the comment's lines."""
    range_ = suggestion.optional_object("range")
    first, last = (range_.optional_object(end).value.get("column") or 0 for end in ("start", "end"))
    text = suggestion.optional_text("text") or ""
    whole = first == last == 0 or (first in (0, 1) and last == 1 and (not text or text.endswith("\n")))
    lines = _lines(range_)
    if not whole or None in lines or lines != (comment.from_line, comment.to_line):
        return None
    body = text if not text or text.endswith("\n") else f"{text}\n"
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}suggestion\n{body}{fence}"


def _lines(range_: Record) -> tuple[int | None, int | None]:
    """The first and last line of a range, whose end is exclusive: column 1 of a line is the end of the line before."""
    start, _ = range_.optional_object("start").lines("line", None)
    last = range_.optional_object("end")
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
    return None if value.strip().upper() in ("", SEVERITIES[0]) else value
