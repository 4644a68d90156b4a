"""`jsonl`: metareview's own, one line a pull request and reviewer. Holds everything that a review can have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from metareview.formats.fields import Record
from metareview.formats.source import Source
from metareview.model.comment import Review

NAME = "jsonl"
SUMMARY = (
    "metareview's own, a line a review: {pr, reviewer, language, pr_category, comments: [{note, path, …}]}"
)


def sniff(source: Source) -> bool:
    if not source.looks_like_json:
        return False
    value = source.documents[0].value
    return isinstance(value, dict) and "pr" in value


def read(source: Source) -> Iterator[Review]:
    for document in source.documents:
        record = Record.of(source, document, (), document.value, "a line")
        pr = record.text("pr")
        if not pr:
            record.fail("pr", "a review without pr", "Give the pull request's address.")
        comments = (
            Record.of(source, document, ("comments", i), item, "a comment")
            for i, item in enumerate(record.items("comments"))
        )
        yield Review(
            pr=pr,
            comments=tuple(comment.comment() for comment in comments),
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
