"""The reviews of a pulled conversation: one per reviewer, in the order of their first comments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from metareview.formats.api_node import UnexpectedReply
from metareview.formats.conversation import ApiConversation
from metareview.model.comment import Comment, Commit, Review
from metareview.model.selection import Selection
from metareview.model.time import parse_time


def chosen_reviews(
    conversation: ApiConversation, reviewers: Selection, commits: Callable[[list[Comment]], list[Commit]]
) -> list[Review]:
    """One review per chosen reviewer, then one per person who only answered them: unanswered comments are known only
    where all answers are kept. The pull request's commits, fetched for all these comments, are in the first.

    Silent reviewers have a review without comments.
    """
    in_order = sorted(conversation.comments, key=_time_order)
    chosen = _by_author(each for each in in_order if (each.author or "") in reviewers)
    for name in conversation.silent:
        if name in reviewers:
            chosen.setdefault(name, [])
    if not chosen:
        return []
    threads = {each.id for theirs in chosen.values() for each in theirs if each.in_reply_to is None}
    others = (each for each in in_order if each.author not in chosen)
    chosen |= _by_author(each for each in others if each.in_reply_to in threads)
    first, *rest = [
        replace(conversation.about, reviewer=name, comments=tuple(theirs)) for name, theirs in chosen.items()
    ]
    every = [comment for theirs in chosen.values() for comment in theirs]
    return [replace(first, commits=tuple(commits(every))), *rest]


def _time_order(comment: Comment) -> tuple[int, str]:
    if comment.id is None or comment.at is None:
        raise UnexpectedReply("a comment has no id, or no time")
    try:
        return parse_time(comment.at), comment.id
    except ValueError:
        raise UnexpectedReply("the time of a comment is no time") from None


def _by_author(comments: Iterable[Comment]) -> dict[str, list[Comment]]:
    by_author: dict[str, list[Comment]] = {}
    for each in comments:
        by_author.setdefault(each.author or "", []).append(each)
    return by_author
