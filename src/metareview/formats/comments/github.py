"""`github`: what `gh api repos/O/R/pulls/N/comments --paginate` prints: one array, or pages of arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from metareview.errors import UsageError
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.formats.source import Source
from metareview.model.comment import Comment, Review

_API_ADDRESS = re.compile(r"^(https?://)(?:api\.)?([^/]+)(?:/api/v3)?/repos/([^/]+/[^/]+)/pulls/([0-9]+)$")
GHOST = "ghost"
"""GitHub's own name for a deleted account."""
_KEYS = {"note": "body", "path": "path", "side": "side", "id": "id"}


def sniff(source: Source) -> bool:
    if not source.looks_like_json:
        return False
    first: Any = source.documents[0].value
    while isinstance(first, list) and first:
        first = first[0]
    if first == []:
        return source.pull_request is not None
    return isinstance(first, dict) and "body" in first and ("diff_hunk" in first or "pull_request_url" in first)


def read(source: Source) -> Iterator[Review]:
    """One review per pull request and login, in order of appearance; replies are conversation, not review."""
    named = source.pull_request
    reviews: dict[tuple[str, str], list[Comment]] = {}
    for record in source.records("a review comment", depth=2):
        if record.value.get("in_reply_to_id") is not None:
            continue
        url = record.text("pull_request_url") or record.text("html_url") or named
        if not url:
            problem = "no pull_request_url, and the file's name does not tell the pull request"
            record.fail(None, problem, "Name the file comments_{repo}_{number}.json.")
        # https://api.github.com/repos/O/R/pulls/N -> https://github.com/O/R/pull/N
        address = _API_ADDRESS.sub(r"\1\2/\3/pull/\4", url.split("#discussion")[0])
        login = None if record.value.get("user") is None else record.child("user", "user").text("login")
        reviews.setdefault((address, login or GHOST), []).append(_comment(record))
    for (url, login), comments in reviews.items():
        yield Review(pr=url, comments=tuple(comments), reviewer=login, source=source.name)
    if not reviews and named:
        yield Review(pr=named, source=source.name)


def _comment(record: Record) -> Comment:
    prefix = "original_" if record.value.get("line") is None else ""  # null where the comment is outdated
    comment = record.comment(_KEYS | {"from_line": f"{prefix}start_line", "to_line": f"{prefix}line"})
    if record.value.get("subject_type") == "file":
        return replace(comment, from_line=None, to_line=None)
    return replace(comment, from_line=comment.from_line or comment.to_line)


def write(reviews: Iterable[Review]) -> dict[str, str]:
    comments = []
    for review in reviews:
        if not review.reviewer or not review.comments:
            raise UsageError(f"github cannot hold a review without reviewer or comments ({review.pr}). Use jsonl.")
        comments += [_record(review, comment) for comment in review.comments]
    return {"": json.dumps(comments, ensure_ascii=False, indent=1) + "\n"}


def _record(review: Review, comment: Comment) -> dict[str, object]:
    last = comment.to_line or comment.from_line
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


SUMMARY = "pull request review comments of the REST API (pulls/N/comments): one array, or pages of arrays"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write)
