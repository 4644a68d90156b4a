"""A merge request's discussions as `jsonl` records, read by the code that reads them from a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from metareview.errors import InputError
from metareview.formats.comments import gitlab
from metareview.formats.input_file import InputFile
from metareview.model.address import parse_address
from metareview.model.comment import Comment
from metareview.model.selection import Selection
from metareview.model.time import parse_time
from metareview.sources.node import Node, UnexpectedReply
from metareview.sources.records import JsonObject, Said, present, reviewer_records

_REVIEWED = ("approved this merge request", "requested changes")
"""What GitLab itself notes, in English on every server, where somebody reviewed and need not have written a word."""


def records(
    merge_request: Node,
    discussions: Sequence[Node],
    reviewers: Selection,
    commits: Callable[[list[JsonObject]], list[JsonObject]],
) -> tuple[list[JsonObject], int]:
    """One record per chosen reviewer, and how many fields of comments could not be read.

    Who approved, or requested changes, and wrote nothing has a record without comments: silence is an answer.
    """
    address = merge_request.required("web_url")
    if not parse_address(address):
        raise UnexpectedReply("web_url is the address of no merge request")
    text = json.dumps({"web_url": address, "discussions": [each.value for each in discussions]})
    file = InputFile.of_text(text, "discussions", strict=False)
    try:
        reviews = list(gitlab.read(file))
    except InputError:
        raise UnexpectedReply("a discussion is not what was asked for") from None
    refs = merge_request.child("diff_refs")
    latest = None if refs is None else refs.text("head_sha")
    said = [
        _said(comment, review.reviewer or gitlab.GHOST, latest)
        for review in reviews
        for comment in review.comments
        if comment.note.strip()
    ]
    # A tool's summary without a finding is no comment, but its author has reviewed.
    silent = [review.reviewer or gitlab.GHOST for review in reviews if not review.comments]
    about = {
        "pr": address,
        "author": _account(merge_request),
        "merged_at": _instant(merge_request, "merged_at"),
        "closed_at": _instant(merge_request, "closed_at"),
    }
    lines = reviewer_records(about, said, [*silent, *_reviewed(discussions)], reviewers, commits)
    return lines, file.fields_left_out


def _said(comment: Comment, reviewer: str, latest: str | None) -> Said:
    """GitLab moves a comment to the latest version for as long as its lines are there: one that stayed is outdated."""
    if comment.id is None or comment.at is None:
        raise UnexpectedReply("a note has no id, or no time")
    try:
        at = parse_time(comment.at)
    except ValueError:
        raise UnexpectedReply("created_at is no time") from None
    placed = comment.path is not None and comment.commit is not None
    fields = {
        **{name: comment[name] for name in ("id", "path", "side", "from_line", "to_line", "note")},
        "author": reviewer,
        **{name: comment[name] for name in ("at", "commit", "in_reply_to", "resolved")},
        "outdated": comment.commit != latest if placed and latest is not None else None,
        **{name: comment[name] for name in ("category", "severity", "reactions", "meta")},
    }
    return Said(at, reviewer, present(fields))


def _reviewed(discussions: Sequence[Node]) -> Iterator[str]:
    for discussion in discussions:
        for note in discussion.children("notes"):
            if note.value.get("system") is True and (note.text("body") or "").strip() in _REVIEWED:
                yield _account(note)


def _account(node: Node) -> str:
    author = node.child("author")
    if author is None:
        return gitlab.GHOST
    return gitlab.account_name(author.text("username"), is_bot=author.value.get("bot") is True)


def _instant(node: Node, name: str) -> str | None:
    return None if node.value.get(name) is None else node.instant(name)
