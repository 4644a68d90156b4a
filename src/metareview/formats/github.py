"""`github`: what `gh api repos/O/R/pulls/N/comments --paginate` prints: one array, or pages of arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from metareview.errors import UsageError
from metareview.formats.aacr_text import pull_request_of_name
from metareview.formats.fields import Record
from metareview.formats.source import Document, JsonPath, Source
from metareview.model.comment import Comment, Review

NAME = "github"
SUMMARY = "pull request review comments of the REST API (pulls/N/comments): one array, or pages of arrays"

_API_ADDRESS = re.compile(r"^(https?://)(?:api\.)?([^/]+)(?:/api/v3)?/repos/([^/]+/[^/]+)/pulls/([0-9]+)$")


def sniff(source: Source) -> bool:
    if not source.looks_like_json:
        return False
    first: Any = source.documents[0].value
    while isinstance(first, list) and first:
        first = first[0]
    if first == []:
        return pull_request_of_name(source) is not None
    return (
        isinstance(first, dict) and "body" in first and ("diff_hunk" in first or "pull_request_url" in first)
    )


def read(source: Source) -> Iterator[Review]:
    """One review a pull request and login, in order of appearance; replies are conversation, not review."""
    found: dict[tuple[str, str], list[Comment]] = {}
    for record in _records(source):
        if record.value.get("in_reply_to_id") is not None:
            continue
        url = record.text("pull_request_url") or record.text("html_url") or pull_request_of_name(source)
        if not url:
            record.fail(
                "",
                "no pull_request_url, and the file's name does not tell the pull request",
                "Name the file comments_{repo}_{number}.json.",
            )
        found.setdefault((_web_address(url), _login(record)), []).append(_comment(record))
    for (url, login), comments in found.items():
        yield Review(pr=url, comments=tuple(comments), reviewer=login, source=source.name)
    pr = pull_request_of_name(source)
    if not found and pr:
        yield Review(pr=pr, source=source.name)


def _records(source: Source) -> Iterator[Record]:
    def walk(document: Document, path: JsonPath, value: Any) -> Iterator[Record]:
        if isinstance(value, list) and len(path) < 2:
            for index, item in enumerate(value):
                yield from walk(document, (*path, index), item)
        else:
            yield Record.of(source, document, path, value, "a review comment")

    for document in source.documents:
        yield from walk(document, (), document.value)


def _web_address(url: str) -> str:
    """https://api.github.com/repos/O/R/pulls/N -> https://github.com/O/R/pull/N"""
    return _API_ADDRESS.sub(r"\1\2/\3/pull/\4", url.split("#discussion")[0])


def _login(record: Record) -> str:
    user = record.value.get("user")
    if user is None:
        return "ghost"  # GitHub's own name for a deleted account
    inner = Record.of(record.source, record.document, (*record.path, "user"), user, "user")
    return inner.text("login") or "ghost"


def _comment(record: Record) -> Comment:
    outdated = record.value.get("line") is None
    prefix = "original_" if outdated else ""
    end = record.line_number(f"{prefix}line")
    first = record.line_number(f"{prefix}start_line")
    if first is not None and end is not None:
        first, end = record.ordered_lines(f"{prefix}start_line", f"{prefix}line")
    if record.value.get("subject_type") == "file":
        first = end = None
    return Comment(
        note=record.text("body") or "",
        path=record.text("path"),
        side=record.text("side"),
        from_line=first if first is not None else end,
        to_line=end,
        id=record.identifier("id"),
    )


def write(reviews: Iterable[Review]) -> dict[str, str]:
    comments = []
    for review in reviews:
        if not review.reviewer or not review.comments:
            raise UsageError(
                f"{NAME} cannot hold a review without reviewer or comments ({review.pr}). Use jsonl."
            )
        comments += [_record(review, comment) for comment in review.comments]
    return {"": json.dumps(comments, ensure_ascii=False, indent=1) + "\n"}


def _record(review: Review, comment: Comment) -> dict[str, Any]:
    last = comment.to_line if comment.to_line is not None else comment.from_line
    return {
        "id": comment.id,
        "pull_request_url": review.pr,
        "user": {"login": review.reviewer},
        "body": comment.note,
        "path": comment.path,
        "side": comment.side,
        "line": last,
        "start_line": comment.from_line if comment.from_line != last else None,
        "subject_type": "file" if last is None else "line",
    }
