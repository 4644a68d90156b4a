"""`github`: the comments of pull requests as GitHub's REST API, its GraphQL API, `gh` and webhooks have them: review
comments and their threads, the bodies of reviews, and comments on the whole pull request, alone or in any mixture.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from metareview.errors import UsageError
from metareview.formats.conversation import NO_PULL_REQUEST, ApiConversation, PullRequestFacts
from metareview.formats.github.addresses import pull_request_of_folder
from metareview.formats.github.deduplicate import deduplicated, posted_comment, warn, with_findings
from metareview.formats.github.extract import comments_in, looks_like_github, pull_request_around, raw_comments
from metareview.formats.github.missing_pages import missing_pages
from metareview.formats.github.raw_comment import CommentKind, rest_id
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.model.account import BOT, GHOST
from metareview.model.comment import Comment, Review


def sniff(file: InputFile) -> bool:
    if not file.json.looks_like_json:
        return False
    found = looks_like_github(file)
    return _is_empty(file) and file.pull_request is not None if found is None else found


def _is_empty(file: InputFile) -> bool:
    """Nothing but empty arrays: the REST API's answer without comments."""
    return all(document.value == [] or document.value == [[]] for document in file.json)


def read(file: InputFile) -> Iterator[Review]:
    """One review per pull request and login, in order of appearance. Replies are kept as such."""
    named = file.pull_request
    missing = missing_pages(file)
    posted = deduplicated(raw_comments(file), file, named or pull_request_of_folder(file.path))
    reviews: dict[tuple[str, str], list[Comment]] = {}
    about: dict[str, PullRequestFacts] = {}
    without = 0
    for each, comments in with_findings(posted):
        if not comments and each.comment.note.strip():
            without += 1
        elif not comments and not (each.kind is CommentKind.REVIEW and each.decided):
            continue  # To approve without a word is an answer. Replies, too, come in a review without text.
        address = each.address or ""
        reviews.setdefault((address, each.login), []).extend(comments)
        about[address] = about.get(address, NO_PULL_REQUEST).joined(each.about)
    one, many = "list goes on on a page that is not in the file", "lists go on on pages that are not in the file"
    warn(file, missing, one, many)
    one, many = "summary of a tool without a finding: no comment", "summaries of tools without a finding: no comments"
    warn(file, without, one, many)
    for (address, login), found in reviews.items():
        yield about[address].reviewed(Review(address, tuple(found), login, source=file.name))
    if named and not any(map(_is_review, reviews.values())):
        yield Review(named, source=file.name)


def conversation(value: dict[str, Any]) -> ApiConversation:
    """All that was posted on the pull request that GraphQL answered with, whole. InputError for any other answer."""
    record = Record(InputFile.of_text("", "the reply"), value, 1)
    address, about = record.required("url", "its address"), pull_request_around(value, NO_PULL_REQUEST)
    posted = [found for raw in comments_in(record) if (found := posted_comment(raw, address)) is not None]
    comments, silent = [], []
    for each, findings in with_findings(posted):
        comments += [found.replace(author=each.login) for found in findings if found.note.strip()]
        # A tool whose summary has no finding has looked and found nothing.
        if each.kind is CommentKind.REVIEW or (not findings and each.comment.note.strip()):
            silent.append(each.login)
    return ApiConversation(replace(about, author=about.author or GHOST).reviewed(Review(address)), comments, silent)


def _is_review(comments: Sequence[Comment]) -> bool:
    return not comments or any(comment.in_reply_to is None for comment in comments)


def write(reviews: Iterable[Review]) -> dict[str, str]:
    comments = []
    for review in reviews:
        if not review.reviewer:
            raise UsageError(f"github cannot hold comments without a reviewer ({review.pr}). Name one with --name.")
        if not review.comments:
            raise UsageError(f"github cannot hold the silence of {review.reviewer} ({review.pr}). Use jsonl.")
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
    optional = {
        "created_at": comment.at,
        "original_commit_id": comment.commit,
        "in_reply_to_id": rest_id(comment.in_reply_to),
        "reactions": comment.reactions,
    }
    return {
        "id": rest_id(comment.id),
        "pull_request_url": review.pr,
        "user": {"login": reviewer, "type": "Bot" if reviewer.endswith(BOT) else "User"},
        "body": comment.note,
        "path": comment.path,
        "side": comment.side,
        "line": now[0],
        "start_line": now[1],
        **first,
        "subject_type": "file" if last is None else "line",
        **{name: value for name, value in optional.items() if value is not None},
    }


SUMMARY = "GitHub's review comments, reviews, issue comments and threads: REST, GraphQL, gh pr view, webhooks"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write)
