"""`github`: what was said on pull requests, as GitHub's REST API, its GraphQL API, `gh` and webhooks give it: review
comments and their threads, the bodies of reviews, and comments on the whole pull request, alone or in any mixture.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from metareview.errors import UsageError
from metareview.formats.bodies import comments_of
from metareview.formats.github.addresses import (
    issue_address,
    names_one_of,
    own_address,
    pull_request_of_folder,
    web_address,
)
from metareview.formats.github.dialects import looks_like_github, remarks
from metareview.formats.github.remark import BOT, GHOST, Kind, PullRequest, Remark, login_of
from metareview.formats.protocol import CommentFormat
from metareview.formats.source import Source
from metareview.model.address import pull_request_key
from metareview.model.comment import Comment, Review
from metareview.model.words import plural

_SAME = ("path", "side", "id", "reactions", "resolved", "outdated")
_KEYS = {"note": "body", "in_reply_to": "in_reply_to_id", **{name: name for name in _SAME}}


def sniff(source: Source) -> bool:
    if not source.looks_like_json:
        return False
    found = looks_like_github(source)
    return _is_empty(source) and source.pull_request is not None if found is None else found


def _is_empty(source: Source) -> bool:
    """Nothing but empty arrays: what the REST API answers where nobody said anything."""
    return all(document.value == [] or document.value == [[]] for document in source.documents)


def read(source: Source) -> Iterator[Review]:
    """One review per pull request and login, in order of appearance. Replies are kept as such."""
    named = source.pull_request
    said = _said_once(source, named or pull_request_of_folder(source.path))
    paths: dict[str, set[str]] = {}
    for remark, address in said:
        if isinstance(remark.record.value.get("path"), str):
            paths.setdefault(address, set()).add(remark.record.text("path") or "")
    reviews: dict[tuple[str, str], list[Comment]] = {}
    about: dict[str, PullRequest] = {}
    without = 0
    for remark, address in said:
        comments = _comments(remark, paths.get(address, set()))
        if comments is None:
            continue
        without += not comments
        reviews.setdefault((address, _login(remark)), []).extend(comments)
        about.setdefault(address, remark.about)
    _warn(
        source,
        without,
        "summary of a tool without a finding: no comment",
        "summaries of tools without a finding: no comments",
    )
    for (address, login), found in reviews.items():
        yield Review(address, tuple(found), login, source=source.name, **_of_pull_request(about[address]))
    if named and not any(_is_review(found) for found in reviews.values()):
        yield Review(named, source=source.name)


def _is_review(comments: Sequence[Comment]) -> bool:
    return not comments or any(comment.in_reply_to is None for comment in comments)


def _login(remark: Remark) -> str:
    record = remark.record
    user = None if record.value.get("user") is None else record.child("user", "user").value
    return record.clean("user", login_of(user) or GHOST)


def _of_pull_request(about: PullRequest) -> dict[str, Any]:
    return {"author": about.author, "merged_at": about.merged_at, "closed_at": about.closed_at}


def _warn(source: Source, count: int, one: str, many: str) -> None:
    if count:
        source.warnings.append(f"{source.name}: {plural(count, one, many)}")


def _said_once(source: Source, named: str | None) -> list[tuple[Remark, str]]:
    """The remarks that still stand, with their pull requests; each once, however often the file gives it."""
    everything = list(remarks(source))
    told = {address for remark in everything if (address := own_address(remark) or remark.about.address)}
    known = {*told, named} if named else told
    if named:  # by the address that the file itself has for it, if it has one
        named = next((web_address(address) for address in sorted(told) if names_one_of(address, [named])), named)
    found: dict[object, tuple[Remark, str]] = {}
    repeated = strays = 0
    for number, remark in enumerate(everything):
        address = _address(remark, known, named)
        if address is None:
            strays += 1
            continue
        key = (remark.identity or number, pull_request_key(address))
        if earlier := found.get(key):
            repeated += bool(remark.record.value.get("body"))
            remark = earlier[0].joined(remark)
        found[key] = (remark, address)
    deleted = sum(remark.deleted for remark, _ in found.values())
    _warn(source, repeated, "comment is given again; it counts once", "comments are given again; each counts once")
    _warn(source, deleted, "comment was deleted; left out", "comments were deleted; left out")
    _warn(
        source,
        strays,
        "comment on an issue that is no pull request; left out",
        "comments on issues that are no pull requests; left out",
    )
    return [(remark, address) for remark, address in found.values() if not (remark.deleted or _is_pending(remark))]


def _is_pending(remark: Remark) -> bool:
    """A review that was never submitted: only its author has seen it."""
    state = remark.record.value.get("state")
    return isinstance(state, str) and state.upper() == "PENDING"


def _address(remark: Remark, known: set[str], named: str | None) -> str | None:
    """The remark's pull request; None where it was said on an issue, InputError where nobody tells."""
    if found := own_address(remark):
        return found
    if remark.about.address:
        return web_address(remark.record.clean("url", remark.about.address))
    if on_issue := issue_address(remark):
        return on_issue if names_one_of(on_issue, known) else None
    if not named:
        problem = "no pull_request_url, and the file's name does not tell the pull request"
        remark.record.fail(None, problem, "Give --pr URL, or name the file comments_{repo}_{number}.json.")
    return named


def _comments(remark: Remark, paths: set[str]) -> list[Comment] | None:
    """What was said: one comment, or the findings of a tool's summary. None: nothing was."""
    if remark.kind is Kind.REVIEW_COMMENT:
        return [_review_comment(remark)]
    comment = replace(_comment(remark, {}), resolved=None, outdated=None, path=None, side=None)
    if not comment.note.strip():
        return None
    return comments_of(comment, paths)


def _review_comment(remark: Remark) -> Comment:
    value = remark.record.value
    prefix = "original_" if value.get("line") is None else ""  # null where the comment is outdated
    comment = _comment(remark, {"from_line": f"{prefix}start_line", "to_line": f"{prefix}line"})
    if value.get("subject_type") in ("file", "FILE"):
        return replace(comment, from_line=None, to_line=None)
    outdated = comment.outdated
    if outdated is None and value.get("original_line") is not None:
        outdated = value.get("line") is None
    return replace(comment, from_line=comment.from_line or comment.to_line, outdated=outdated)


def _comment(remark: Remark, lines: dict[str, str]) -> Comment:
    value = remark.record.value
    at = "created_at" if value.get("created_at") is not None else "submitted_at"
    commit = "original_commit_id" if value.get("original_commit_id") is not None else "commit_id"
    if isinstance(value.get("reactions"), dict):
        value = {**value, "reactions": _given(value["reactions"])}
    return remark.record._replace(value=value).comment({**_KEYS, **lines, "at": at, "commit": commit})


def _given(reactions: dict[str, Any]) -> dict[str, Any]:
    """REST's object without its address and sum, and without what nobody gave."""
    return {name: count for name, count in reactions.items() if name not in ("url", "total_count") and count != 0}


def write(reviews: Iterable[Review]) -> dict[str, str]:
    comments = []
    for review in reviews:
        if not review.reviewer or not review.comments:
            raise UsageError(f"github cannot hold a review without reviewer or comments ({review.pr}). Use jsonl.")
        ids = [comment.id for comment in review.comments if comment.id]
        if len(set(ids)) < len(ids):
            raise UsageError(f"github cannot hold two comments of one id ({review.pr}). Use jsonl.")
        comments += [_record(review, comment) for comment in review.comments]
    return {"": json.dumps(comments, ensure_ascii=False, indent=1) + "\n"}


def _record(review: Review, comment: Comment) -> dict[str, object]:
    """A comment as pulls/N/comments gives it: `line` is null where it is outdated, and where it is about a file."""
    last = comment.to_line or comment.from_line
    start = comment.from_line if comment.from_line != last else None
    reviewer = review.reviewer or ""
    now = (None, None) if comment.outdated else (last, start)
    first = {} if comment.outdated is None else {"original_line": last, "original_start_line": start}
    told = {
        "created_at": comment.at,
        "original_commit_id": comment.commit,
        "in_reply_to_id": comment.in_reply_to,
        "reactions": comment.reactions,
    }
    return {
        "id": comment.id,
        "pull_request_url": review.pr,
        "user": {"login": reviewer, "type": "Bot" if reviewer.endswith(BOT) else "User"},
        "body": comment.note,
        "path": comment.path,
        "side": comment.side,
        "line": now[0],
        "start_line": now[1],
        **first,
        "subject_type": "file" if last is None else "line",
        **{name: value for name, value in told.items() if value is not None},
    }


SUMMARY = "GitHub's review comments, reviews, issue comments and threads: REST, GraphQL, gh pr view, webhooks"
HOLDS = frozenset(
    (
        *("note", "path", "side", "from_line", "to_line", "id", "at", "commit", "in_reply_to", "outdated", "reactions"),
        *("pr", "reviewer", "comments"),
    )
)
PLUGIN = CommentFormat(SUMMARY, sniff, read, write, HOLDS)
