"""Extract raw comments from any of GitHub's answers: arrays and pages of REST, GraphQL's responses, the output of `gh`,
logs of webhooks, and objects that a user put several of these into.

Everything is recognised by its fields, not by its position, so that any mixture is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from metareview.formats.api_reply import member, nodes
from metareview.formats.conversation import NO_PULL_REQUEST, PullRequestFacts
from metareview.formats.github.raw_comment import (
    UNKNOWN,
    CommentKind,
    RawComment,
    identifier_of,
    is_review,
    kind_of,
    login_of,
    with_rest_names,
)
from metareview.formats.input_file import InputFile
from metareview.formats.record import Record
from metareview.model.address import parse_address
from metareview.model.time import time_text

_LISTS = frozenset(
    (
        *("nodes", "edges", "pullRequests", "reviewThreads", "review_threads", "threads", "reviews", "latestReviews"),
        *("comments", "review_comments", "reviewComments", "issue_comments", "issueComments"),
    )
)
_OBJECTS = frozenset(("data", "repository", "pullRequest", "pull_request", "node", "resource", "search"))
_WRAPPINGS = _LISTS | _OBJECTS
_PARTS = frozenset(("pullRequest", "pullRequests", "reviewThreads", "reviews"))
_POSTED = ("comment", "review", "thread")
_OF_THREAD = (
    *("path", "line", "startLine", "originalLine", "originalStartLine", "diffSide", "subjectType", "isOutdated"),
)
_SHAPE = "a review comment"
_FIX = "Give what pulls/N/comments, pulls/N/reviews, issues/N/comments or GraphQL's reviewThreads answer."
_DEEPEST = 16


def raw_comments(file: InputFile) -> Iterator[RawComment]:
    """All raw comments of the file, in order."""
    for document in file.json:
        yield from comments_in(document)


def looks_like_github(file: InputFile) -> bool | None:
    """True if the first value in the file that is neither empty nor a wrapping is one of GitHub's; None: all empty."""
    for document in file.json:
        value: Any = document.value
        for _ in range(2 * _DEEPEST):
            if isinstance(value, list):
                value = next((item for item in value if item not in (None, [], {})), None)
            elif not isinstance(value, dict):
                break
            elif _is_github(value):
                return True
            elif (inner := _inner(value)) or any(key in _WRAPPINGS for key in value):
                value = next((value[key] for key in inner if value[key]), None)
            else:
                return False
        if value is not None:
            return False
    return None


def _is_github(value: Mapping[str, Any]) -> bool:
    """True if the object itself could only be GitHub's."""
    if _is_delivery(value) or _is_delivery(value.get("payload")) or "isResolved" in value or "reviewThreads" in value:
        return True
    people = [value[key] for key in ("user", "author") if isinstance(value.get(key), dict)]
    if "body" in value and not _is_titled(value):
        placed = any(key in value for key in ("diff_hunk", "diffHunk", "pull_request_url"))
        return placed or any("login" in person for person in people)
    return all(isinstance(value.get(key), list) for key in ("comments", "reviews"))


def _is_titled(value: Mapping[str, Any]) -> bool:
    """A pull request or an issue; its body is a description, not a comment on it."""
    return "title" in value or "number" in value


def _is_delivery(value: object) -> bool:
    """True for what GitHub sends to a webhook about a comment or a review."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("action"), str)
        and ("pull_request" in value or "issue" in value)
        and any(isinstance(value.get(name), dict) for name in _POSTED)
    )


def comments_in(
    record: Record, about: PullRequestFacts = NO_PULL_REQUEST, arrays: int = 2, depth: int = 0
) -> Iterator[RawComment]:
    """All raw comments in a value, in order."""
    if isinstance(record.value, list) and arrays:
        for item in record.items():
            yield from comments_in(item, about, arrays - 1, depth)
    else:
        yield from _in_object(record.as_object(_SHAPE, _FIX), about, depth)


def _in_object(record: Record, about: PullRequestFacts, depth: int) -> Iterator[RawComment]:
    value = record.value
    if depth > _DEEPEST:
        record.fail(None, f"nested more than {_DEEPEST} levels deep", _FIX)
    if isinstance(value.get("payload"), dict):
        yield from _in_delivery(record.object("payload", "payload"), about)
    elif _is_delivery(value):
        yield from _in_delivery(record, about)
    elif "isResolved" in value or "isOutdated" in value or ("path" in value and "comments" in value):
        yield from _in_thread(record, about)
    elif is_review(value):
        yield _raw(record, about)
        if value.get("comments"):
            yield from _in_member(record, "comments", about, depth)
    elif _inner(value):
        yield from _in_members(record, pull_request_around(value, about), depth)
    elif not _is_titled(value) and ("body" in value or kind_of(value) is not CommentKind.ISSUE_COMMENT):
        yield _raw(record, about)
    elif depth == 0 and not any(key in value for key in (*_WRAPPINGS, "event", "action", "title")):
        record.fail(None, "neither a review comment, a review, an issue comment nor a thread", _FIX)
    elif not _is_titled(value):
        record.note_or_refusal(None)


def _inner(value: Mapping[str, Any]) -> list[str]:
    """The keys behind which comments may stand; a query may call a repository or a pull request as it likes."""
    return [
        key
        for key, each in value.items()
        if (key in _LISTS and isinstance(each, list))
        or (isinstance(each, dict) and (key in _WRAPPINGS or not _PARTS.isdisjoint(each)))
    ]


def _in_members(record: Record, about: PullRequestFacts, depth: int) -> Iterator[RawComment]:
    """The comments of an object: a response, a pull request, a page, or what a user put together."""
    value = record.value
    for key in _inner(value):
        yield from _in_member(record, key, about, depth)
    if isinstance(value.get("errors"), list) and value["errors"]:
        kind = "GitHub's answer has errors: something may be missing"
        record.file.warn(kind, lambda: record.line_of("errors"), kind)


def _in_member(record: Record, key: str, about: PullRequestFacts, depth: int) -> Iterator[RawComment]:
    for item in member(record, key).items():
        if isinstance(item.value, list):
            yield from comments_in(item, about, arrays=1, depth=depth + 1)
        elif item.value is not None:  # GraphQL has null for what it could not give
            yield from _in_object(item.as_object(_SHAPE, _FIX), about, depth + 1)


def _in_thread(record: Record, about: PullRequestFacts) -> Iterator[RawComment]:
    """The comments of a thread: the first begins it, the others answer."""
    thread = record.value
    shared = {key: thread[key] for key in _OF_THREAD if key in thread}
    first = None
    for node in nodes(record, "comments", _SHAPE, _FIX):
        value = with_rest_names({**shared, **_known(node.value)})
        value["resolved"] = thread.get("isResolved")
        if first is not None and value.get("in_reply_to_id") in (None, UNKNOWN):
            value["in_reply_to_id"] = first
        first = first or identifier_of(value) or UNKNOWN
        yield RawComment(CommentKind.REVIEW_COMMENT, node._replace(value=value), about)


def _known(value: Mapping[str, Any]) -> dict[str, Any]:
    """A comment's own fields, but for those that only its thread has."""
    return {key: each for key, each in value.items() if each is not None or key not in _OF_THREAD}


def _in_delivery(record: Record, about: PullRequestFacts) -> Iterator[RawComment]:
    """The comments of a webhook's delivery: one was posted, changed or deleted, or its thread resolved."""
    payload = record.value
    if not _is_delivery(payload):
        return
    issue = payload.get("issue")
    if "pull_request" not in payload and not (isinstance(issue, dict) and issue.get("pull_request")):
        return  # posted on an issue
    outer = {key: payload[key] for key in ("repository", "pull_request") if key in payload}
    about = pull_request_around(outer if "pull_request" in payload else {**outer, "pull_request": issue}, about)
    action = payload["action"]
    if isinstance(payload.get("thread"), dict):
        resolved = {"resolved": True, "unresolved": False}.get(action)
        for item in record.object("thread", "thread").objects("comments", _SHAPE):
            raw = _raw(item, about, CommentKind.REVIEW_COMMENT)
            yield replace(raw, record=raw.record._replace(value={**raw.record.value, "resolved": resolved}))
        return
    name = "comment" if isinstance(payload.get("comment"), dict) else "review"
    kind = (
        CommentKind.REVIEW
        if name == "review"
        else CommentKind.REVIEW_COMMENT
        if "pull_request" in payload
        else CommentKind.ISSUE_COMMENT
    )
    yield replace(_raw(record.object(name, name), about, kind), deleted=action == "deleted")


def _raw(record: Record, about: PullRequestFacts, kind: CommentKind | None = None) -> RawComment:
    value = record.value
    return RawComment(kind or kind_of(value), record._replace(value=with_rest_names(value)), about)


def pull_request_around(value: Mapping[str, Any], about: PullRequestFacts) -> PullRequestFacts:
    """The pull request that everything in an object is about, as far as the object has it."""
    repository = value.get("repository")
    for each in (value, repository if isinstance(repository, dict) else {}):
        about = replace(about, repository=_repository(each) or about.repository)
    inner = next((value[key] for key in ("pull_request", "pullRequest") if isinstance(value.get(key), dict)), value)
    address = _address(inner, about)
    if address is None:
        return about
    author = login_of(inner.get("author") or inner.get("user"))
    merged, closed = (
        next((time for name in names if (time := time_text(inner.get(name)))), None)
        for names in (("merged_at", "mergedAt"), ("closed_at", "closedAt"))
    )
    return replace(about, address=address, author=author, merged_at=merged, closed_at=closed)


def _address(value: Mapping[str, Any], about: PullRequestFacts) -> str | None:
    for name in ("html_url", "url", "permalink"):
        found = value.get(name)
        if isinstance(found, str) and parse_address(found):
            return found
    number = value.get("number")
    if type(number) is int and number > 0 and about.repository:
        return f"{about.repository}/pull/{number}"
    return None


def _repository(value: Mapping[str, Any]) -> str | None:
    for name in ("nameWithOwner", "full_name"):
        found = value.get(name)
        if isinstance(found, str) and found.count("/") == 1:
            address = _text(value, "html_url", "url") or ""
            own = address.endswith(f"/{found}") and "/repos/" not in address
            return address if own else f"https://github.com/{found}"
    owner = value.get("owner")
    if isinstance(owner, dict) and isinstance(owner.get("login"), str) and isinstance(value.get("name"), str):
        return f"https://github.com/{owner['login']}/{value['name']}"
    return None


def _text(value: Mapping[str, Any], *names: str) -> str | None:
    return next((value[name] for name in names if isinstance(value.get(name), str)), None)
