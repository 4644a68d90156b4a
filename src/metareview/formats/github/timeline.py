"""A pull request's timeline as events for routing: with the time of each.

GitHub gives back the present state and a timeline. The state at opening is derived from them: the title before its
first change, the text before its first edit, the draft state before its first change. Some things it does not keep;
docs/github.md says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from metareview.formats.api_node import Node, UnexpectedReply
from metareview.formats.github.raw_comment import CommentKind, comment_id, identifier_of, login_of
from metareview.model.event import Event
from metareview.model.time import parse_time

_SIMPLE = {
    "ReadyForReviewEvent": "ready_for_review",
    "ConvertToDraftEvent": "converted_to_draft",
    "ReopenedEvent": "reopened",
    "HeadRefForcePushedEvent": "pushed",
    "MergedEvent": "merged",
    "ClosedEvent": "closed",
}
_POSTS = {
    "review_submitted": CommentKind.REVIEW,
    "comment": CommentKind.ISSUE_COMMENT,
    "review_comment": CommentKind.REVIEW_COMMENT,
}
_REQUESTS = {"ReviewRequestedEvent": "review_requested", "ReviewRequestRemovedEvent": "review_request_removed"}


def events(node: Node, repository: str) -> list[Event]:
    """All events of a pull request."""
    number = node.number("number")
    if number is None:
        raise UnexpectedReply("a pull request has no number")
    found = (_opened(node), *_edits(node), *_timeline(node), *_review_comments(node))
    return [event._replace(repo=repository, pr=number) for event in found]


def _opened(node: Node) -> Event:
    items = node.nodes("timelineItems")
    drafts = [
        kind for item in items if (kind := item.text("__typename")) in ("ReadyForReviewEvent", "ConvertToDraftEvent")
    ]
    draft = drafts[0] == "ReadyForReviewEvent" if drafts else node.flag("isDraft")
    renamed = [item for item in items if item.text("__typename") == "RenamedTitleEvent"]
    title = renamed[0].text("previousTitle") if renamed else node.text("title")
    files = None if node.child("files") is None else tuple(file.required("path") for file in node.nodes("files"))
    more = {
        "title": title,
        "body": _first_body(node),
        "files": files,
        "draft": draft,
        "base_sha": node.text("baseRefOid"),
    }
    return _event("opened", node.instant("createdAt"), node.child("author"), node.required("id"), more)


def _versions(node: Node) -> list[Node]:
    """The versions of the text that GitHub keeps, oldest first."""
    return sorted(node.nodes("userContentEdits"), key=lambda edit: parse_time(edit.instant("editedAt")))


def _first_body(node: Node) -> str | None:
    """The text at opening; None where it was edited and the first version is gone."""
    versions = _versions(node)
    if not versions:
        return node.text("body")
    return versions[0].text("diff") if node.flag("includesCreatedEdit") else None


def _edits(node: Node) -> Iterator[Event]:
    versions = _versions(node)
    later = versions[1:] if node.flag("includesCreatedEdit") else versions
    for version in later:
        body = node.text("body") if version is later[-1] else version.text("diff")
        yield _event(
            "edited", version.instant("editedAt"), version.child("editor"), version.required("id"), {"body": body}
        )


def _timeline(node: Node) -> Iterator[Event]:
    items = node.nodes("timelineItems")
    created = parse_time(node.instant("createdAt"))
    merged = node.text("mergedAt")
    dismissed = {
        review.required("id"): item.text("previousReviewState")
        for item in items
        if item.text("__typename") == "ReviewDismissedEvent" and (review := item.child("review")) is not None
    }
    for item in items:
        kind = item.text("__typename") or ""
        if kind == "ClosedEvent" and merged and parse_time(item.instant("createdAt")) >= parse_time(merged):
            continue  # a merge closes as well
        if kind in _SIMPLE:
            yield _of_item(_SIMPLE[kind], item, {})
        elif kind in _REQUESTS:
            yield _of_item(_REQUESTS[kind], item, {"target": _target(item.child("requestedReviewer"))})
        elif kind == "RenamedTitleEvent":
            yield _of_item("edited", item, {"title": item.text("currentTitle")})
        elif kind == "PullRequestReview" and item.text("state") != "PENDING":
            state = dismissed.get(item.required("id")) or item.text("state")
            more = {"state": state, "body": item.text("body") or None}
            yield _posted("review_submitted", item, "submittedAt", more)
        elif kind == "IssueComment":
            yield _posted("comment", item, "createdAt")
        elif kind == "PullRequestCommit":
            yield from _pushed(item, created)


def _pushed(item: Node, created: int) -> Iterator[Event]:
    """A commit later than the pull request. GitHub keeps when it was made, not when it was pushed."""
    commit = item.child("commit")
    if commit is None:
        return
    at = commit.instant("committedDate")
    if parse_time(at) > created:
        author = commit.child("author")
        yield _event("pushed", at, None if author is None else author.child("user"), item.required("id"), {})


def _review_comments(node: Node) -> Iterator[Event]:
    for thread in node.nodes("reviewThreads"):
        for comment in thread.nodes("comments"):
            if comment.text("state") != "PENDING":
                # Written earlier, but seen by others only since its review was submitted.
                yield _posted("review_comment", comment, "publishedAt" if comment.text("publishedAt") else "createdAt")


def _posted(kind: str, node: Node, at: str, more: Mapping[str, Any] | None = None) -> Event:
    node.required("id")
    name = str(comment_id(_POSTS[kind], identifier_of(node.value)))
    return _event(kind, node.instant(at), node.child("author"), name, more or {"body": node.text("body") or None})


def _of_item(kind: str, item: Node, more: Mapping[str, Any]) -> Event:
    return _event(kind, item.instant("createdAt"), item.child("actor"), item.required("id"), more)


def _target(reviewer: Node | None) -> str | None:
    """A login, or for a team `organization/team`."""
    return None if reviewer is None else _login(reviewer) or reviewer.text("combinedSlug")


def _login(actor: Node | None) -> str | None:
    return None if actor is None or actor.text("login") is None else login_of(actor.value)


def _event(kind: str, at: str, actor: Node | None, name: str, more: Mapping[str, Any]) -> Event:
    kind_of_actor = None if actor is None else actor.text("__typename")
    return Event("", 0, parse_time(at), kind, _login(actor), kind_of_actor, name, **more)
