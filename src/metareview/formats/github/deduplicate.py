"""GitHub's raw comments as comments, each once, however often a file gives it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from metareview.formats.bodies import comments_of
from metareview.formats.conversation import PullRequestFacts
from metareview.formats.github.addresses import is_named, names_of, own_address
from metareview.formats.github.raw_comment import CommentKind, RawComment, comment_id, login_of
from metareview.formats.input_file import InputFile
from metareview.model.account import BOT, GHOST
from metareview.model.address import address_of_issue, pull_request_key, web_address
from metareview.model.comment import Comment
from metareview.model.deduplicate import joined
from metareview.model.words import plural

_SAME = ("path", "side", "id", "reactions", "resolved", "outdated")
_KEYS = {"note": "body", "in_reply_to": "in_reply_to_id", **{name: name for name in _SAME}}
_OF_BODIES = {name: _KEYS[name] for name in ("note", "id", "reactions")}


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment, its author and its pull request. The body of a review is still whole."""

    kind: CommentKind
    comment: Comment
    login: str
    about: PullRequestFacts
    address: str | None
    """None: only the number of an issue is known, or not even that."""
    on_issue: str | None = None
    changed_at: str = ""
    deleted: bool = False
    decided: bool = False
    """It approves, or requests changes: then its author has reviewed, even without a word."""

    @property
    def identity(self) -> tuple[str, str, str, str] | None:
        """As far as all dialects agree on it; None without an id."""
        if not self.comment.id:
            return None
        return self.kind, self.comment.id, self.login.removesuffix(BOT), pull_request_key(self.address or "")

    def joined(self, later: PostedComment) -> PostedComment:
        """Both as one: of two versions the one that was changed last, with whatever only the other has."""
        older, newer = (later, self) if self.changed_at > later.changed_at else (self, later)
        return replace(
            newer,
            comment=joined(older.comment, newer.comment),
            login=max(older.login, newer.login, key=len),  # `gh` does not mark bots
            about=older.about.joined(newer.about),
            deleted=self.deleted or later.deleted,  # for good, in whichever order events arrive
        )


def deduplicated(raw_comments: Iterable[RawComment], file: InputFile, named: str | None) -> list[PostedComment]:
    """The comments that were not deleted, in order of appearance, each with the address of its pull request.

    `named` is the pull request of those that do not have their own.
    """
    everything = [posted for raw in raw_comments if (posted := posted_comment(raw, named)) is not None]
    addresses = {posted.address for posted in everything if posted.address and posted.address != named}
    name = names_of([named] if named else ())
    known = names_of(addresses) | name
    # One name for what has several: the address that the file itself has, rather than the file's name.
    own = next((address for address in sorted(addresses) if is_named(address, name)), named)
    found: dict[object, PostedComment] = {}
    repeated = strays = 0
    for number, posted in enumerate(everything):
        if posted.on_issue and not is_named(posted.on_issue, known):
            strays += 1
            continue
        posted = replace(posted, address=posted.on_issue or own) if posted.address in (None, named) else posted
        key = posted.identity or number
        if earlier := found.get(key):
            repeated += bool(posted.comment.note)
            posted = earlier.joined(posted)
        found[key] = posted
    deleted = sum(posted.deleted for posted in found.values())
    warn(file, repeated, "comment is given again; it counts once", "comments are given again; each counts once")
    warn(file, deleted, "comment was deleted; left out", "comments were deleted; left out")
    one, many = "comment on an issue that is no pull request", "comments on issues that are no pull requests"
    warn(file, strays, f"{one}; left out", f"{many}; left out")
    return [posted for posted in found.values() if not posted.deleted]


def warn(file: InputFile, count: int, one: str, many: str) -> None:
    if count:
        file.warnings.add_sentence(f"{file.name}: {plural(count, one, many)}")


def posted_comment(raw: RawComment, named: str | None = None) -> PostedComment | None:
    """The comment of a raw one; None for a review that was never submitted, which only its author has seen."""
    record = raw.record
    value = record.value
    if isinstance(value.get("state"), str) and value["state"].upper() == "PENDING":
        return None
    address = own_address(raw)
    if not address and raw.about.address:
        address = web_address(raw.about.address)
    on_issue = None if address else address_of_issue(record.text("html_url") or "")
    if not (address or on_issue or named):
        problem = "no pull_request_url, and the file's name does not tell the pull request"
        record.fail(None, problem, "Give --pr URL, or name the file comments_{repo}_{number}.json.")
    user = None if value.get("user") is None else record.object("user", "user").value
    state = value["state"].upper() if isinstance(value.get("state"), str) else ""
    changed = value.get("updated_at")
    return PostedComment(
        raw.kind,
        _review_comment(raw) if raw.kind is CommentKind.REVIEW_COMMENT else _body(raw),
        login_of(user) or GHOST,
        raw.about,
        address or (None if on_issue else named),
        on_issue,
        changed if isinstance(changed, str) else "",
        raw.deleted,
        state in ("APPROVED", "CHANGES_REQUESTED"),
    )


def _review_comment(raw: RawComment) -> Comment:
    value = raw.record.value
    prefix = "original_" if value.get("line") is None else ""  # null where the comment is outdated
    outdated = value.get("outdated")
    if _is_on_file(value):
        return _comment(raw, _KEYS, {})
    if outdated is None and value.get("original_line") is not None:
        outdated = value.get("line") is None
    last = f"{prefix}line"
    first = f"{prefix}start_line" if value.get(f"{prefix}start_line") is not None else last
    return _comment(raw, {**_KEYS, "from_line": first, "to_line": last}, {"outdated": outdated})


def _is_on_file(value: Mapping[str, Any]) -> bool:
    return value.get("subject_type") in ("file", "FILE")


def _body(raw: RawComment) -> Comment:
    return _comment(raw, _OF_BODIES, {})


def _comment(raw: RawComment, keys: dict[str, str], found: dict[str, object]) -> Comment:
    value = raw.record.value
    at = "created_at" if value.get("created_at") is not None else "submitted_at"
    # Lines as they are now are those of the latest commit; as they were, of the one that the comment was made on.
    is_current = value.get("line") is not None or (_is_on_file(value) and value.get("outdated") is False)
    commits = ("commit_id", "original_commit_id")[:: 1 if is_current else -1]
    commit = next((name for name in commits if value.get(name) is not None), "commit_id")
    if isinstance(value.get("reactions"), dict):
        found["reactions"] = _given(value["reactions"])
    found["id"] = comment_id(raw.kind, value.get("id"))
    if raw.kind is CommentKind.REVIEW_COMMENT:
        found["in_reply_to_id"] = comment_id(raw.kind, value.get("in_reply_to_id"))
    record = raw.record._replace(value={**value, **found})
    return record.comment({**keys, "at": at, "commit": commit})


def _given(reactions: dict[str, Any]) -> dict[str, Any]:
    """REST's object without its address and sum, and without reactions that were not given."""
    return {name: count for name, count in reactions.items() if name not in ("url", "total_count") and count != 0}


def with_findings(posted: list[PostedComment]) -> Iterator[tuple[PostedComment, list[Comment]]]:
    """Each posted comment with its comments: the body of a review or an issue comment that a known tool wrote is split
    into its findings, none for a body that has none."""
    paths: dict[str | None, set[str]] = {}
    for each in posted:
        if each.comment.path:
            paths.setdefault(each.address, set()).add(each.comment.path)
    for each in posted:
        if each.kind is CommentKind.REVIEW_COMMENT:
            yield each, [each.comment]
        else:
            has_note = bool(each.comment.note.strip())
            yield each, comments_of(each.comment, frozenset(paths.get(each.address, ()))) if has_note else []
