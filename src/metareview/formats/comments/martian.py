"""`martian`: Code Review Bench's golden comments and its tools' candidates. Golden comments have no location."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from metareview.errors import UsageError
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.model.comment import Comment, Review

_GOLDEN = {"note": "comment", "severity": "severity", "category": "category", "neutral": "neutral"}
_CANDIDATE = {"note": "text", "path": "path", "from_line": "line", "to_line": "line"}


def sniff(file: InputFile) -> bool:
    if not file.json.looks_like_json or not file.json.is_single:
        return False
    value = file.json.first.value
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict) and _is_golden(value[0])
    # Addresses as keys, and under each an object of tools: no other format has that shape.
    url, tools = next(iter(value.items()), ("", None)) if isinstance(value, dict) else ("", None)
    return "://" in url and isinstance(tools, dict) and all(isinstance(item, list) for item in tools.values())


def _is_golden(value: dict[str, Any]) -> bool:
    """`gh pr list --json url,comments` has these keys too, but its comments have a body, as GitHub's have."""
    comments = value.get("comments")
    first = comments[0] if isinstance(comments, list) and comments else None
    return {"url", "comments"} <= value.keys() and not (isinstance(first, dict) and "body" in first)


def read(file: InputFile) -> Iterator[Review]:
    for record in file.json.records("a pull request", depth=1):
        if record.path:  # in a list: golden comments
            url = record.required("url", "the pull request's address")
            golden = tuple(item.comment(_GOLDEN) for item in record.objects("comments", "a comment"))
            yield Review(url, golden, source=file.name)
            continue
        for url in record.value:
            if not url.strip():
                record.fail(url, "an empty address", "Give the pull request's address as the key.")
            tools = record.object(url, "a pull request")
            for tool in tools.value:
                candidates = tuple(item.comment(_CANDIDATE) for item in tools.objects(tool, "a candidate"))
                yield Review(url, candidates, tool, source=file.name)


def write(reviews: Iterable[Review]) -> dict[str, str]:
    """Candidates where the reviews have a reviewer, else golden comments."""
    reviews = list(reviews)
    if not any(review.reviewer for review in reviews):
        golden = [
            {"url": each.pr, "comments": [_golden_comment(each, one) for one in each.comments]} for each in reviews
        ]
        return {"": json.dumps(golden, ensure_ascii=False, indent=1) + "\n"}
    candidates: dict[str, dict[str, list[dict[str, str | int | None]]]] = {}
    for review in reviews:
        if not review.reviewer:
            raise UsageError(f"martian cannot hold candidates without a reviewer ({review.pr}). Use jsonl.")
        comments = candidates.setdefault(review.pr, {}).setdefault(review.reviewer, [])
        comments += [_candidate(review, comment) for comment in review.comments]
    return {"": json.dumps(candidates, ensure_ascii=False, indent=1) + "\n"}


def _golden_comment(review: Review, comment: Comment) -> dict[str, str | bool | None]:
    if comment.path or comment.side or comment.from_line or comment.to_line:
        raise UsageError(f"martian's golden comments have no location, and one here has ({review.pr}). Use jsonl.")
    golden: dict[str, str | bool | None] = {"comment": comment.note, "severity": comment.severity}
    return golden | {name: value for name in ("category", "neutral") if (value := comment[name]) is not None}


def _candidate(review: Review, comment: Comment) -> dict[str, str | int | None]:
    lines = {comment.from_line, comment.to_line} - {None}
    if len(lines) > 1 or comment.side:
        location = f"{comment.side or ''} {comment.from_line}-{comment.to_line}".strip()
        problem = f"martian's candidates have one line and no side, and cannot hold {location}"
        raise UsageError(f"{problem} ({review.pr}). Use jsonl.")
    return {"text": comment.note, "path": comment.path, "line": lines.pop() if lines else None}


SUMMARY = "Code Review Bench: golden [{url, comments: [{comment, severity}]}], candidates {url: {tool: [{text, …}]}}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write)
