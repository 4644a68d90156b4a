"""`open-code-review`: one object with a list of comments, each with path, content and lines."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.formats.findings import first_object, review_of
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.model.comment import Review

_SAME = {"path": "path", "category": "category", "severity": "severity"}
_KEYS = _SAME | {"note": "content", "from_line": "start_line", "to_line": "end_line"}


def sniff(file: InputFile) -> bool:
    value = file.json.only_value
    if not isinstance(value, dict) or not isinstance(value.get("comments"), list):
        return False
    if not value["comments"]:
        only_texts = all(key == "comments" or isinstance(other, str | None) for key, other in value.items())
        return only_texts and not value.keys() & {"pr", "githubPrUrl", "url"}
    return {"path", "content"} <= first_object(value["comments"]).keys()


def read(file: InputFile) -> Iterator[Review]:
    for record in file.json.records("a review"):
        yield review_of(file, (each.comment(_KEYS) for each in record.objects("comments", "a comment")))


SUMMARY = "open-code-review: {comments: [{path, content, start_line, end_line, category, severity}]}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, by_tools=True)
