"""A pull request's timeline as events for routing: with the time of each.

GitHub gives back the present state and a timeline. The state at opening is derived from them: the title before its
first change, the text before its first edit, the draft state before its first change. Some things it does not keep;
docs/github.md says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from metareview.formats.api_reply import nodes, number_at, time_at
from metareview.formats.github.raw_comment import CommentKind, comment_id, identifier_of, login_of
from metareview.formats.record import Record
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
_ID = "its id"
_REQUESTS = {"ReviewRequestedEvent": "review_requested", "ReviewRequestRemovedEvent": "review_request_removed"}


def events(pull_request: Record, repository: str) -> list[Event]:
    """All events of a pull request."""
    number = number_at(pull_request, "number", "pull request")
    found = (_opened(pull_request), *_edits(pull_request), *_timeline(pull_request), *_review_comments(pull_request))
    return [event._replace(repo=repository, pr=number) for event in found]


def _opened(pull_request: Record) -> Event:
    items = nodes(pull_request, "timelineItems")
    drafts = [
        kind for item in items if (kind := item.text("__typename")) in ("ReadyForReviewEvent", "ConvertToDraftEvent")
    ]
    renamed = [item for item in items if item.text("__typename") == "RenamedTitleEvent"]
    has_files = pull_request.value.get("files") is not None
    return _event(
        "opened",
        time_at(pull_request, "createdAt"),
        pull_request.optional_object("author"),
        pull_request.required("id", _ID),
        title=renamed[0].text("previousTitle") if renamed else pull_request.text("title"),
        body=_first_body(pull_request),
        files=tuple(file.required("path", "a path") for file in nodes(pull_request, "files")) if has_files else None,
        draft=drafts[0] == "ReadyForReviewEvent" if drafts else bool(pull_request.flag("isDraft")),
        base_sha=pull_request.text("baseRefOid"),
    )


def _versions(pull_request: Record) -> list[Record]:
    """The versions of the text that GitHub keeps, oldest first."""
    return sorted(nodes(pull_request, "userContentEdits"), key=lambda edit: parse_time(time_at(edit, "editedAt")))


def _first_body(pull_request: Record) -> str | None:
    """The text at opening; None where it was edited and the first version is gone."""
    versions = _versions(pull_request)
    if not versions:
        return pull_request.text("body")
    return versions[0].text("diff") if pull_request.flag("includesCreatedEdit") else None


def _edits(pull_request: Record) -> Iterator[Event]:
    versions = _versions(pull_request)
    later = versions[1:] if pull_request.flag("includesCreatedEdit") else versions
    for version in later:
        body = pull_request.text("body") if version is later[-1] else version.text("diff")
        editor, name = version.optional_object("editor"), version.required("id", _ID)
        yield _event("edited", time_at(version, "editedAt"), editor, name, body=body)


def _timeline(pull_request: Record) -> Iterator[Event]:
    items = nodes(pull_request, "timelineItems")
    created = parse_time(time_at(pull_request, "createdAt"))
    merged = pull_request.text("mergedAt") and parse_time(time_at(pull_request, "mergedAt"))
    dismissed = {
        review.required("id", _ID): item.text("previousReviewState")
        for item in items
        if item.text("__typename") == "ReviewDismissedEvent" and (review := item.optional_object("review")).value
    }
    for item in items:
        kind = item.text("__typename") or ""
        if kind == "ClosedEvent" and merged and parse_time(time_at(item, "createdAt")) >= merged:
            continue  # a merge closes as well
        if kind in _SIMPLE:
            yield _of_item(_SIMPLE[kind], item)
        elif kind in _REQUESTS:
            yield _of_item(_REQUESTS[kind], item, target=_target(item.optional_object("requestedReviewer")))
        elif kind == "RenamedTitleEvent":
            yield _of_item("edited", item, title=item.text("currentTitle"))
        elif kind == "PullRequestReview" and item.text("state") != "PENDING":
            state = dismissed.get(item.required("id", _ID)) or item.text("state")
            yield _posted("review_submitted", item, "submittedAt", state=state)
        elif kind == "IssueComment":
            yield _posted("comment", item, "createdAt")
        elif kind == "PullRequestCommit":
            yield from _pushed(item, created)


def _pushed(item: Record, created: int) -> Iterator[Event]:
    """A commit later than the pull request. GitHub keeps when it was made, not when it was pushed."""
    commit = item.optional_object("commit")
    at = time_at(commit, "committedDate") if commit.value else None
    if at is not None and parse_time(at) > created:
        yield _event("pushed", at, commit.optional_object("author").optional_object("user"), item.required("id", _ID))


def _review_comments(pull_request: Record) -> Iterator[Event]:
    for thread in nodes(pull_request, "reviewThreads"):
        for comment in nodes(thread, "comments"):
            if comment.text("state") != "PENDING":
                # Written earlier, but seen by others only since its review was submitted.
                yield _posted("review_comment", comment, "publishedAt" if comment.text("publishedAt") else "createdAt")


def _posted(kind: str, record: Record, at: str, **more: Any) -> Event:
    record.required("id", _ID)
    name = str(comment_id(_POSTS[kind], identifier_of(record.value)))
    body = record.text("body") or None
    return _event(kind, time_at(record, at), record.optional_object("author"), name, body=body, **more)


def _of_item(kind: str, item: Record, **more: Any) -> Event:
    return _event(kind, time_at(item, "createdAt"), item.optional_object("actor"), item.required("id", _ID), **more)


def _target(reviewer: Record) -> str | None:
    """A login, or for a team `organization/team`."""
    return _login(reviewer) or reviewer.text("combinedSlug")


def _login(actor: Record) -> str | None:
    return None if actor.text("login") is None else login_of(actor.value)


def _event(kind: str, at: str, actor: Record, name: str, **more: Any) -> Event:
    return Event("", 0, parse_time(at), kind, _login(actor), actor.text("__typename"), name, **more)
