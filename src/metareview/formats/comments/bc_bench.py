"""`bc-bench`: BC-Bench's codereview.jsonl, a diff per line with the expected comments."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.model.comment import Review

_PLACE = {"path": "file", "from_line": "line_start", "to_line": "line_end"}
_KEYS = _PLACE | {"note": "body", "severity": "severity", "category": "domain"}


def sniff(file: InputFile) -> bool:
    value = file.json.first.value if file.json.looks_like_json else None
    return isinstance(value, dict) and {"instance_id", "expected_comments"} <= value.keys()


def read(file: InputFile) -> Iterator[Review]:
    """Expected comments are references; comments to ignore count neither for nor against, and so are neutral."""
    for record in file.json.records("an instance"):
        expected = [item.comment(_KEYS) for item in record.objects("expected_comments", "a comment")]
        ignored = [item.comment(_KEYS) for item in record.objects("ignored_comments", "a comment")]
        repo, commit = record.optional_text("repo"), record.optional_text("base_commit")
        yield Review(
            pr=record.required("instance_id", "the name of the instance"),
            comments=(*expected, *(comment.replace(neutral=True) for comment in ignored)),
            pr_category=record.optional_object("metadata").optional_text("area") or None,
            source=file.name,
            other_names=(f"{repo}@{commit}",) if repo and commit else (),
        )


SUMMARY = "BC-Bench: {instance_id, repo, base_commit, expected_comments: [{file, line_start, body, …}]} a line"
PLUGIN = CommentFormat(SUMMARY, sniff, read)
