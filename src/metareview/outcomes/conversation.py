"""All that was said on one pull request: who answered whom, and what a comment's thread and reactions tell of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from metareview.model.comment import Comment, Commit, Review
from metareview.outcomes.commits import one_name
from metareview.outcomes.finding import Finding
from metareview.outcomes.records import Reply

LIKES = ("+1", "heart", "hooray", "rocket", "thumbs_up", "thumbsup")
DISLIKES = ("-1", "confused", "thumbs_down", "thumbsdown")
"""By their names in GitHub's two interfaces and in GitLab's, in small letters."""
MOST_REPLIES = MOST_SHARED = 100
"""Replies to one comment that are kept, and comments of one id that they are kept for."""
NO_THREADS = "the input has no threads"
NO_THREAD = "it begins no thread"
NO_REACTIONS = "the input has no reactions"
NOT_RESOLVABLE = "the input does not say whether it was resolved"


@dataclass(frozen=True)
class Conversation:
    """One pull request: its commits, and everybody's comments on it."""

    pr: str
    author: str | None
    merged_at: str | None
    closed_at: str | None
    commits: tuple[Commit, ...] | None
    reviews: tuple[Review, ...]
    """One per reviewer; those of people who only answered others, too."""

    @property
    def until(self) -> str | None:
        """The merge, or else the close."""
        return self.merged_at or self.closed_at


def conversations(reviews: Mapping[tuple[str, str | None], Review]) -> Iterator[Conversation]:
    """The pull requests in the order of the input; what several records tell of one is joined."""
    by_pr: dict[str, list[Review]] = {}
    for (key, _), review in reviews.items():
        by_pr.setdefault(key, []).append(review)
    for group in by_pr.values():
        first = group[0]
        told = {
            name: next((value for each in group if (value := getattr(each, name)) is not None), None)
            for name in ("author", "merged_at", "closed_at")
        }
        commits = max((each.commits for each in group if each.commits is not None), key=_detail, default=None)
        yield Conversation(first.pr, **told, commits=commits, reviews=tuple(group))


def _detail(commits: Sequence[Commit]) -> tuple[int, int, int]:
    """Two downloads of one pull request: the one that tells more."""
    patches = sum(file.patch is not None for commit in commits for file in commit.files or ())
    return len(commits), sum(commit.files is not None for commit in commits), patches


class Threads:
    """Who answered which comment of a pull request."""

    def __init__(self, reviews: Iterable[Review], *, known: bool) -> None:
        """`known`: whether the input has threads at all."""
        reviews = list(reviews)
        self._known = known
        self._resolvable = any(comment.resolved is not None for review in reviews for comment in review.comments)
        self._parent: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        self._replies: dict[str, list[Reply]] = {}
        self._shared: Counter[str] = Counter()
        self._of_others: dict[tuple[str, str], tuple[Reply, ...]] = {}
        answers: list[tuple[str, Reply]] = []
        for review in reviews:
            for comment in review.comments:
                if comment.in_reply_to is None:
                    continue
                if comment.id:
                    self._parent[comment.id] = comment.in_reply_to
                answers.append(
                    (comment.in_reply_to, Reply(comment.author or review.reviewer, comment.at, comment.note))
                )
        for answered, reply in answers:
            self._replies.setdefault(self._root(answered), []).append(reply)

    def _root(self, name: str) -> str:
        """The comment that began the thread. Hostile data may answer in a circle, or each reply the one before it."""
        path = [name]
        seen = {name}
        while name not in self._roots and (parent := self._parent.get(name)) is not None and parent not in seen:
            seen.add(parent)
            path.append(parent)
            name = parent
        root = self._roots.get(name, name)
        self._roots.update(dict.fromkeys(path, root))
        return root

    def replies(self, comment: Comment, author: str | None) -> tuple[Reply, ...]:
        """What others answered first, in the order of time as far as it is known.

        A summary's findings have one id, and all of its replies; beyond MOST_SHARED of them replies are not repeated.
        """
        others = self._others(comment, author)
        if others and comment.id:
            self._shared[comment.id] += 1
        return others if self._shared[comment.id or ""] <= MOST_SHARED else ()

    def _others(self, comment: Comment, author: str | None) -> tuple[Reply, ...]:
        if not comment.id or comment.id not in self._replies:
            return ()
        key = comment.id, one_name(comment.author or author or "")
        if key not in self._of_others:
            others = (reply for reply in self._replies[comment.id] if one_name(reply.author or "") != key[1])
            self._of_others[key] = tuple(sorted(others, key=lambda reply: reply.at or "")[:MOST_REPLIES])
        return self._of_others[key]

    def answered(self, comment: Comment, author: str | None) -> Finding:
        if self._others(comment, author):
            return Finding(True)
        if comment.id is None or not (self._known or comment.resolved is not None):
            return Finding(None, NO_THREADS)
        if comment.resolved is None and (comment.path is None or self._resolvable):
            # Where threads are known by whether they are resolved, what has no such word is none: a summary's finding.
            return Finding(None, NO_THREAD)
        return Finding(False)


def has_threads(reviews: Iterable[Review]) -> bool:
    """Whether any comment answers another."""
    return any(comment.in_reply_to is not None for review in reviews for comment in review.comments)


def resolved(comment: Comment) -> Finding:
    if comment.resolved is None:
        return Finding(None, NO_THREAD if comment.path is None else NOT_RESOLVABLE)
    return Finding(comment.resolved)


def reacted(comment: Comment, kinds: Sequence[str]) -> Finding:
    """Whether anybody reacted in one of these ways."""
    if comment.reactions is None:
        return Finding(None, NO_REACTIONS)
    return Finding(any(number > 0 and kind.casefold() in kinds for kind, number in comment.reactions.items()))
