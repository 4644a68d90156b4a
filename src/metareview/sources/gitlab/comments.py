"""A merge request's discussions as `jsonl` records, read by the code that reads them from a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from metareview.errors import InputError
from metareview.formats.comments import gitlab
from metareview.formats.source import Source
from metareview.model.address import parse_address
from metareview.model.comment import Comment
from metareview.model.selection import Selection
from metareview.model.time import parse_time
from metareview.sources.gitlab.api import GitLabApi
from metareview.sources.node import Node, Unexpected
from metareview.sources.records import JsonObject, Said, present, reviewer_records

_REVIEWED = ("approved this merge request", "requested changes")
"""What GitLab itself notes, in English on every server, where somebody reviewed and need not have written a word."""
_MOST_FILES = 1_000
"""GitLab shows no more of a commit, unless its administrator says so: with as many there may be others."""


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
        raise Unexpected("web_url is the address of no merge request")
    text = json.dumps({"web_url": address, "discussions": [each.value for each in discussions]})
    source = Source.of_text(text, "discussions", strict=False)
    try:
        reviews = list(gitlab.read(source))
    except InputError:
        raise Unexpected("a discussion is not what was asked for") from None
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
    return lines, len(source.all_warnings())


def _said(comment: Comment, reviewer: str, latest: str | None) -> Said:
    """GitLab moves a comment to the latest version for as long as its lines are there: one that stayed is outdated."""
    if comment.id is None or comment.at is None:
        raise Unexpected("a note has no id, or no time")
    try:
        at = parse_time(comment.at)
    except ValueError:
        raise Unexpected("created_at is no time") from None
    placed = comment.path is not None and comment.commit is not None
    fields = {
        "id": _anchor(comment.id),
        **{name: comment[name] for name in ("path", "side", "from_line", "to_line", "note")},
        "author": reviewer,
        **{name: comment[name] for name in ("at", "commit")},
        "in_reply_to": None if comment.in_reply_to is None else _anchor(comment.in_reply_to),
        "resolved": comment.resolved,
        "outdated": comment.commit != latest if placed and latest is not None else None,
        **{name: comment[name] for name in ("category", "severity", "reactions", "meta")},
    }
    return Said(at, reviewer, present(fields))


def _anchor(identifier: str) -> str:
    """What stands behind the `#` of the note's address."""
    return f"note_{identifier}"


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


def commit_of(node: Node) -> JsonObject:
    """A commit as a merge request lists it: nearly always without its parents, which GitLab does not keep there."""
    fields = {
        "sha": node.required("id"),
        "at": node.instant("committed_date"),
        "author": node.text("author_name"),
        "parents": parents_of(node) or None,
    }
    return present(fields)


def parents_of(node: Node) -> list[str]:
    found = node.value.get("parent_ids")
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def files_of_commit(api: GitLabApi, path: str) -> list[JsonObject] | None:
    """What the commit at a path changed against its first parent; None where GitLab does not have it, or not all."""
    files = api.whole(f"{path}/diff", _MOST_FILES)
    return None if files is None or len(files) >= _MOST_FILES else [_file(each) for each in files]


def commit_path(project: str, sha: str) -> str:
    return f"{project}/repository/commits/{quote(sha, safe='')}"


def _file(node: Node) -> JsonObject:
    """In GitHub's words. A diff that GitLab cut, or that is no text, is left out: nobody can tell what changed."""
    kinds = {"new_file": "added", "deleted_file": "removed", "renamed_file": "renamed"}
    status = next((status for flag, status in kinds.items() if node.flag(flag)), "modified")
    diff = node.text("diff") or ""
    cut = node.flag("too_large") or node.flag("collapsed")
    fields = {
        "path": node.required("new_path"),
        "previous_path": node.required("old_path") if status == "renamed" else None,
        "status": status,
        "patch": diff if diff.startswith("@@") and not cut else None,
    }
    return present(fields)
