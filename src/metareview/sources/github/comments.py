"""A pull request's comments as `jsonl` records: one per reviewer, in the order in which they first spoke."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from metareview.formats.bodies import comments_of
from metareview.model.comment import Comment
from metareview.model.selection import Selection
from metareview.model.time import parse_time
from metareview.sources.commits import CommitSource, with_patches
from metareview.sources.github.people import GHOST, identity, login
from metareview.sources.node import Node, UnexpectedReply
from metareview.sources.records import JsonObject, Said, present, reviewer_records

REACTIONS = {
    "THUMBS_UP": "+1", "THUMBS_DOWN": "-1", "LAUGH": "laugh", "HOORAY": "hooray",
    "CONFUSED": "confused", "HEART": "heart", "ROCKET": "rocket", "EYES": "eyes",
}  # fmt: skip
_ORDER = (
    *("id", "path", "side", "from_line", "to_line", "note", "author", "at", "commit", "category", "severity"),
    *("reactions", "meta"),
)
"""The fields of a finding, as they stand in a record."""


def records(node: Node, reviewers: Selection, repository: CommitSource | None) -> list[JsonObject]:
    """One record per chosen reviewer of a pull request. Its commits are in the first; what they changed is asked of
    the repository, if it is given.

    A reviewer who submitted a review and wrote nothing has a record without comments: silence is an answer.
    """
    about = {
        "pr": node.required("url"),
        "author": _name(node),
        "merged_at": node.text("mergedAt"),
        "closed_at": node.text("closedAt"),
    }
    # A tool whose summary has no finding has looked and found nothing.
    silent = [_name(each) for each in (*_submitted(node), *_summaries(node))]
    return reviewer_records(
        about, _all_said(node), silent, reviewers, lambda comments: _commits(node, comments, repository)
    )


def _all_said(node: Node) -> Iterator[Said]:
    for thread in node.nodes("reviewThreads"):
        yield from _thread(thread)
    paths = frozenset(path for thread in node.nodes("reviewThreads") if (path := thread.text("path")))
    for review in _submitted(node):
        commit = review.child("commit")
        more = {"commit": commit and commit.text("oid")}
        yield from _findings(_comment(review, review.instant("submittedAt"), more), paths)
    for remark in node.nodes("comments"):
        yield from _findings(_comment(remark, remark.instant("createdAt"), {}), paths)


def _findings(bodies: Iterable[Said], paths: frozenset[str]) -> Iterator[Said]:
    """What bodies say: those of tools whose layout is known as their findings, each where it points."""
    for body in bodies:
        parts = comments_of(Comment(**body.comment), paths)
        if len(parts) == 1 and parts[0].note == body.comment["note"]:
            yield body
            continue
        for part in parts:
            fields = part.to_dict()
            yield replace(body, comment={name: fields[name] for name in _ORDER if name in fields})


def _summaries(node: Node) -> list[Node]:
    """Remarks that are no more than a tool's word that it found nothing."""
    remarks = [remark for remark in node.nodes("comments") if (remark.text("body") or "").strip()]
    return [remark for remark in remarks if not comments_of(Comment(remark.text("body") or ""))]


def _submitted(node: Node) -> list[Node]:
    """Reviews but for the one that the token's owner has not sent yet."""
    return [review for review in node.nodes("reviews") if review.text("state") != "PENDING"]


def _thread(thread: Node) -> Iterator[Said]:
    """The comment that began a thread, with its place, and the replies to it.

    The place is where the line is now, in the latest commit; for an outdated comment where it was, in the commit that
    it was made on. Either way lines and commit belong together.
    """
    comments = thread.nodes("comments")
    first = comments[0] if comments else None
    now = thread.number("line")
    whole_file = thread.text("subjectType") == "FILE"
    is_there = not thread.flag("isOutdated") if whole_file else now is not None
    last = None if whole_file else now if is_there else thread.number("originalLine")
    start = None if whole_file else thread.number("startLine" if is_there else "originalStartLine")
    for comment in comments:
        if comment.text("state") == "PENDING":
            continue
        commit = comment.child("commit" if is_there else "originalCommit") or comment.child("commit")
        more = {
            "path": thread.text("path"),
            "side": thread.text("diffSide"),
            "from_line": start if start is not None else last,
            "to_line": last,
            "commit": commit and commit.text("oid"),
            "resolved": thread.flag("isResolved"),
            "outdated": thread.flag("isOutdated"),
        }
        if comment is not first and first is not None:
            answered = comment.child("replyTo")
            link = "" if answered is None else (answered.text("url") or "").partition("#")[2]
            more["in_reply_to"] = link or identity(first)
        yield from _comment(comment, comment.instant("createdAt"), more)


def _comment(node: Node, at: str, more: JsonObject) -> Iterator[Said]:
    note = node.text("body") or ""
    if not note.strip():
        return
    reviewer = _name(node)
    fields = {
        "id": identity(node),
        **{name: more.get(name) for name in ("path", "side", "from_line", "to_line")},
        "note": note,
        "author": reviewer,
        "at": at,
        **{name: more.get(name) for name in ("commit", "in_reply_to", "resolved", "outdated")},
    }
    yield Said(parse_time(at), reviewer, present(fields) | {"reactions": _reactions(node)})


def _reactions(node: Node) -> dict[str, int]:
    counts = {}
    for group in node.children("reactionGroups"):
        reactors = group.child("reactors")
        count = 0 if reactors is None else reactors.number("totalCount") or 0
        name = REACTIONS.get(group.text("content") or "")
        if name and count:
            counts[name] = count
    return counts


def _name(node: Node) -> str:
    return login(node.child("author")) or GHOST


def _commits(node: Node, comments: list[JsonObject], repository: CommitSource | None) -> list[JsonObject]:
    """The commits, oldest first, with patches from the first one that a comment on lines could have led to."""
    commits = []
    for entry in node.nodes("commits"):
        commit = entry.child("commit")
        if commit is None:
            raise UnexpectedReply("a commit is missing")
        author = commit.child("author") or Node({})
        user = author.child("user")
        fields = {
            "sha": commit.required("oid"),
            "at": commit.instant("committedDate"),
            "author": user.text("login") if user is not None else author.text("name"),
            "parents": [parent.required("oid") for parent in commit.nodes("parents")],
        }
        commits.append(present(fields))
    return commits if repository is None else with_patches(commits, comments, repository)
