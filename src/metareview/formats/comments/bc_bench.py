"""`bc-bench`: BC-Bench's codereview.jsonl, a diff a line with the comments that are expected on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from metareview.formats.protocol import CommentFormat
from metareview.formats.source import Source
from metareview.model.comment import Review

_KEYS = {
    "note": "body",
    "path": "file",
    "from_line": "line_start",
    "to_line": "line_end",
    "severity": "severity",
    "category": "domain",
}


def sniff(source: Source) -> bool:
    value = source.documents[0].value if source.looks_like_json else None
    return isinstance(value, dict) and {"instance_id", "expected_comments"} <= value.keys()


def read(source: Source) -> Iterator[Review]:
    """Expected comments are references; what to ignore counts neither for nor against, and so is neutral."""
    for record in source.records("an instance"):
        expected = [item.comment(_KEYS) for item in record.children("expected_comments", "a comment")]
        ignored = [item.comment(_KEYS) for item in record.children("ignored_comments", "a comment")]
        repo, commit = record.optional_text("repo"), record.optional_text("base_commit")
        yield Review(
            pr=record.required("instance_id", "the name of the instance"),
            comments=(*expected, *(replace(comment, neutral=True) for comment in ignored)),
            pr_category=record.part("metadata").optional_text("area") or None,
            source=source.name,
            other_names=(f"{repo}@{commit}",) if repo and commit else (),
        )


SUMMARY = "BC-Bench: {instance_id, repo, base_commit, expected_comments: [{file, line_start, body, …}]} a line"
PLUGIN = CommentFormat(SUMMARY, sniff, read)
