"""`martian`: Code Review Bench's golden comments and its tools' candidates. Golden comments have no places."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from metareview.errors import UsageError
from metareview.formats.fields import Record
from metareview.formats.source import Document, Source
from metareview.model.comment import Comment, Review

NAME = "martian"
SUMMARY = "Code Review Bench: golden [{url, comments: [{comment, severity}]}], candidates {url: {tool: [{text, …}]}}"

_GOLDEN = {"note": "comment", "severity": "severity"}
_CANDIDATE = {"note": "text", "path": "path", "from_line": "line", "to_line": "line"}


def sniff(source: Source) -> bool:
    if not source.looks_like_json or len(source.documents) != 1:
        return False
    value = source.documents[0].value
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict) and {"url", "comments"} <= value[0].keys()
    # Whole addresses as keys, and under each an object of tools: nothing else here has that shape.
    return isinstance(value, dict) and any(
        "://" in url and isinstance(tools, dict) and all(isinstance(said, list) for said in tools.values())
        for url, tools in list(value.items())[:1]
    )


def read(source: Source) -> Iterator[Review]:
    for document in source.documents:
        if isinstance(document.value, list):
            yield from _golden(source, document)
        else:
            yield from _candidates(source, document)


def _golden(source: Source, document: Document) -> Iterator[Review]:
    for index, value in enumerate(document.value):
        record = Record.of(source, document, (index,), value, "a pull request")
        url = record.text("url")
        if not url:
            record.fail("url", "a pull request without url", "Give its address.")
        comments = (
            Record.of(source, document, (index, "comments", i), item, "a comment")
            for i, item in enumerate(record.items("comments"))
        )
        yield Review(
            pr=url, comments=tuple(comment.comment(_GOLDEN) for comment in comments), source=source.name
        )


def _candidates(source: Source, document: Document) -> Iterator[Review]:
    whole = Record.of(source, document, (), document.value, "the file")
    for url, tools in whole.value.items():
        record = Record.of(source, document, (url,), tools, "a pull request")
        for tool in tools:
            comments = (
                Record.of(source, document, (url, tool, i), item, "a candidate")
                for i, item in enumerate(record.items(tool))
            )
            yield Review(
                pr=whole.clean(url, url),
                comments=tuple(comment.comment(_CANDIDATE) for comment in comments),
                reviewer=record.clean(tool, tool),
                source=source.name,
            )


def write(reviews: Iterable[Review]) -> dict[str, str]:
    """Candidates where the reviews have a reviewer, else golden comments."""
    reviews = list(reviews)
    if not any(review.reviewer for review in reviews):
        golden = [
            {"url": review.pr, "comments": [_golden_comment(review, comment) for comment in review.comments]}
            for review in reviews
        ]
        return {"": json.dumps(golden, ensure_ascii=False, indent=1) + "\n"}
    candidates: dict[str, dict[str, list[dict[str, object]]]] = {}
    for review in reviews:
        if not review.reviewer:
            raise UsageError(f"{NAME} cannot hold candidates without a reviewer ({review.pr}). Use jsonl.")
        said = candidates.setdefault(review.pr, {}).setdefault(review.reviewer, [])
        said += [_candidate(review, comment) for comment in review.comments]
    return {"": json.dumps(candidates, ensure_ascii=False, indent=1) + "\n"}


def _golden_comment(review: Review, comment: Comment) -> dict[str, object]:
    if comment.path or comment.side or comment.from_line is not None or comment.to_line is not None:
        raise UsageError(
            f"{NAME}'s golden comments have no place, and one here has ({review.pr}). Use jsonl."
        )
    return {"comment": comment.note, "severity": comment.severity}


def _candidate(review: Review, comment: Comment) -> dict[str, object]:
    lines = {line for line in (comment.from_line, comment.to_line) if line is not None}
    if len(lines) > 1 or comment.side:
        place = f"{comment.side or ''} {comment.from_line}-{comment.to_line}".strip()
        raise UsageError(
            f"{NAME}'s candidates have one line and no side, and cannot hold {place} ({review.pr}). Use jsonl."
        )
    return {"text": comment.note, "path": comment.path, "line": lines.pop() if lines else None}
