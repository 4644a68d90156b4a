"""`jsonl`: metareview's own, one line per pull request and reviewer. Holds everything that a review can have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from metareview.formats.protocol import CommentFormat
from metareview.formats.source import Source
from metareview.model.comment import Review


def sniff(source: Source) -> bool:
    if not source.looks_like_json:
        return False
    value = source.documents[0].value
    return isinstance(value, dict) and "pr" in value


def read(source: Source) -> Iterator[Review]:
    for record in source.records("a line"):
        yield Review(
            pr=record.required("pr", "the pull request's address"),
            comments=tuple(item.comment() for item in record.children("comments", "a comment")),
            reviewer=record.text("reviewer") or None,
            language=record.text("language"),
            pr_category=record.text("pr_category"),
            source=source.name,
        )


def write(reviews: Iterable[Review]) -> dict[str, str]:
    lines = []
    for review in reviews:
        line = {
            "pr": review.pr,
            "reviewer": review.reviewer,
            "language": review.language,
            "pr_category": review.pr_category,
            "comments": [comment.to_dict() for comment in review.comments],
        }
        lines.append(json.dumps({k: v for k, v in line.items() if v is not None}, ensure_ascii=False) + "\n")
    return {"": "".join(lines)}


SUMMARY = "metareview's own, a line per review: {pr, reviewer, language, pr_category, comments: [{note, path, …}]}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write)
