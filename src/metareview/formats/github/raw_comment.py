"""One comment of GitHub's as the API has it, in any of its dialects, with REST's names for its fields."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from metareview.formats.conversation import PullRequestFacts
from metareview.formats.record import Record
from metareview.model.account import BOT

UNKNOWN = "?"
"""Stands for the unknown comment that a reply answers."""
_REACTIONS = {"THUMBS_UP": "+1", "THUMBS_DOWN": "-1"}
"""The reactions that REST does not call by GraphQL's name in small letters."""
_REST_NAMES = {
    "databaseId": "id",
    "fullDatabaseId": "id",
    "author": "user",
    "createdAt": "created_at",
    "submittedAt": "submitted_at",
    "updatedAt": "updated_at",
    "lastEditedAt": "updated_at",
    "startLine": "start_line",
    "originalLine": "original_line",
    "originalStartLine": "original_start_line",
    "diffSide": "side",
    "subjectType": "subject_type",
    "url": "html_url",
    "isOutdated": "outdated",
}
_OBJECTS = {"originalCommit": "original_commit_id", "commit": "commit_id"}
_ON_LINES = frozenset(
    ("path", "diff_hunk", "diffHunk", "pull_request_review_id", "in_reply_to_id", "original_line", "replyTo")
)
_THEIRS = frozenset((*_REST_NAMES, *_OBJECTS, "replyTo", "reactionGroups")) - {"url"}
"""Fields that only GraphQL and `gh` have."""
_OLD_NODE = re.compile(rb"[0-9]{2,4}:[A-Za-z]+([0-9]{1,20})")
STATES = frozenset(("APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"))


class CommentKind(StrEnum):
    """The kind of a comment on a pull request; ids are only unique within a kind."""

    REVIEW_COMMENT = "review comment"
    REVIEW = "review"
    ISSUE_COMMENT = "issue comment"


_ANCHORS = {
    "discussion_r": CommentKind.REVIEW_COMMENT,
    "pullrequestreview-": CommentKind.REVIEW,
    "issuecomment-": CommentKind.ISSUE_COMMENT,
}
_ANCHOR = re.compile(rf"#({'|'.join(_ANCHORS)})([0-9]{{1,20}})")
_PREFIXES = {kind: prefix for prefix, kind in _ANCHORS.items()}


@dataclass(frozen=True, slots=True)
class RawComment:
    """A review comment, a review or an issue comment. The record's fields have REST's names."""

    kind: CommentKind
    record: Record
    about: PullRequestFacts
    deleted: bool = False


def is_review(value: Mapping[str, Any]) -> bool:
    state = value.get("state")
    return (isinstance(state, str) and state.upper() in STATES) or "submitted_at" in value or "submittedAt" in value


def kind_of(value: Mapping[str, Any]) -> CommentKind:
    """The kind that its address names, else the one whose fields it has."""
    if anchor := _anchor_of(value):
        return _ANCHORS[anchor[1]]
    if not _ON_LINES.isdisjoint(value):
        return CommentKind.REVIEW_COMMENT
    if is_review(value):
        return CommentKind.REVIEW
    return CommentKind.REVIEW_COMMENT if "pull_request_url" in value else CommentKind.ISSUE_COMMENT


def with_rest_names(value: dict[str, Any]) -> dict[str, Any]:
    """The fields of a GraphQL or `gh` object by the names that REST has for them; REST's own as they are."""
    if _THEIRS.isdisjoint(value) and type(value.get("id")) is int:
        return value
    named = dict(value)
    for theirs, ours in _REST_NAMES.items():
        if named.get(theirs) is not None and (ours == "id" or named.get(ours) is None):
            named[ours] = named[theirs]
    for theirs, ours in _OBJECTS.items():
        if isinstance(named.get(theirs), dict) and named.get(ours) is None:
            named[ours] = named[theirs].get("oid")
    reply = named.get("replyTo")
    if isinstance(reply, dict) and named.get("in_reply_to_id") is None:
        named["in_reply_to_id"] = identifier_of(reply) or UNKNOWN
    if (identifier := identifier_of(named)) is not None:
        named["id"] = identifier
    if isinstance(named.get("reactionGroups"), list) and named.get("reactions") is None:
        named["reactions"] = _counts(named["reactionGroups"])
    return named


def identifier_of(value: Mapping[str, Any]) -> int | str | None:
    """The number that REST gives a thing, whichever way it is written; else the text that identifies it."""
    for name in ("fullDatabaseId", "databaseId", "id"):
        found = value.get(name)
        if type(found) is int:
            return found
        if isinstance(found, str) and found and name != "id":
            return int(found) if re.fullmatch("[0-9]{1,20}", found) else found
    node, anchor = value.get("id"), _anchor_of(value)
    text = node if isinstance(node, str) and node else None
    number = (text and number_of_node(text)) or (anchor and anchor[2])
    return int(number) if number else text


def comment_id(kind: CommentKind, identifier: object) -> object:
    """The id of a comment: the end of its address, where GitHub's number is known; a text stays as it is.

    >>> [comment_id(kind, 12) for kind in CommentKind], comment_id(CommentKind.REVIEW, "12")
    (['discussion_r12', 'pullrequestreview-12', 'issuecomment-12'], '12')
    """
    return f"{_PREFIXES[kind]}{identifier}" if type(identifier) is int else identifier


def rest_id(comment_id: str | None) -> int | str | None:
    """The number of a review comment, as REST has it; any other id as it is."""
    number = (comment_id or "").removeprefix(_PREFIXES[CommentKind.REVIEW_COMMENT])
    return int(number) if number != comment_id and re.fullmatch("0|[1-9][0-9]{,19}", number) else comment_id


def _anchor_of(value: Mapping[str, Any]) -> re.Match[str] | None:
    """The end of its address, as kind and number."""
    addresses = (value[name] for name in ("html_url", "url") if isinstance(value.get(name), str))
    return next((anchor for address in addresses if (anchor := _ANCHOR.search(address))), None)


def number_of_node(node: str) -> str | None:
    """The number within a GraphQL node's id, which is the number that REST has for the same object.

    >>> number_of_node("MDEyOklzc3VlQ29tbWVudDQy"), number_of_node("IC_kwDOAAAAB84AAAAq")
    ('42', '42')
    """
    prefix, mark, packed = node.rpartition("_")
    packed = packed if mark and prefix.isupper() else node
    try:
        data = urlsafe_b64decode(packed + "=" * (-len(packed) % 4)) if packed.isascii() and len(node) < 200 else b""
    except (Base64Error, ValueError):
        return None
    if old := _OLD_NODE.fullmatch(data):
        return old[1].decode()
    for mark_byte, size in ((0xCE, 4), (0xCF, 8)):  # MessagePack's whole numbers of four and eight bytes
        if mark and len(data) > size + 1 and data[0] in (0x92, 0x93) and data[-size - 1] == mark_byte:
            return str(int.from_bytes(data[-size:], "big"))
    return None


def login_of(user: object) -> str | None:
    """The login of an account; that of a bot ends in `[bot]`, as REST writes it."""
    login = user.get("login") if isinstance(user, dict) else None
    if not isinstance(user, dict) or not isinstance(login, str) or not login:
        return None
    is_bot = "Bot" in (user.get("type"), user.get("__typename")) or user.get("is_bot") is True
    login = login.removeprefix("app/") if is_bot else login
    return login + BOT if is_bot and not login.endswith(BOT) else login


def _counts(groups: list[Any]) -> dict[str, int]:
    """GraphQL's reactions as REST has them."""
    counts: dict[str, int] = {}
    for group in groups:
        content = group.get("content") if isinstance(group, dict) else None
        people = (group.get("users") or group.get("reactors")) if isinstance(group, dict) else None
        count = people.get("totalCount") if isinstance(people, dict) else None
        if isinstance(content, str) and type(count) is int and count > 0:
            counts[_REACTIONS.get(content, content.lower())] = count
    return counts
