"""All that was posted on one pull request, as the API of GitHub or GitLab answers, and the reviews that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace

from metareview.errors import InputError
from metareview.model.comment import Comment, Commit, Review
from metareview.model.selection import Selection
from metareview.model.time import instant


@dataclass(frozen=True, slots=True)
class PullRequestFacts:
    """The pull request of a comment, as far as its surroundings have it."""

    address: str | None = None
    author: str | None = None
    merged_at: str | None = None
    closed_at: str | None = None
    repository: str | None = None
    """The repository's address."""
    head: str | None = None
    """Its latest commit."""

    def joined(self, later: PullRequestFacts) -> PullRequestFacts:
        """The fields of the later one, and those that only this one has: a log of webhooks goes on after a merge."""
        names = (field.name for field in fields(later))
        return replace(self, **{name: value for name in names if (value := getattr(later, name)) is not None})

    def reviewed(self, review: Review) -> Review:
        """The review, with the facts of its pull request."""
        return replace(review, author=self.author, merged_at=self.merged_at, closed_at=self.closed_at)


NO_PULL_REQUEST = PullRequestFacts()


@dataclass(frozen=True, slots=True)
class ApiConversation:
    """Comments and reviewers of one pull request."""

    about: Review
    """The pull request, without a reviewer."""
    comments: Sequence[Comment]
    """Each with its author."""
    silent: Sequence[str]
    """Those who reviewed, and may have written nothing."""

    def reviews(self, reviewers: Selection, commits: Callable[[list[Comment]], list[Commit]]) -> list[Review]:
        """One review per chosen reviewer, in the order of their first comments, then one per person who only answered
        them: unanswered comments are known only where all answers are kept. The pull request's commits, fetched for all
        these comments, are in the first.

        Silent reviewers have a review without comments. InputError for a comment without an id or a time.
        """
        in_order = sorted(self.comments, key=_time_order)
        chosen = _by_author(each for each in in_order if (each.author or "") in reviewers)
        for name in self.silent:
            if name in reviewers:
                chosen.setdefault(name, [])
        if not chosen:
            return []
        threads = {each.id for theirs in chosen.values() for each in theirs if each.in_reply_to is None}
        others = (each for each in in_order if each.author not in chosen)
        chosen |= _by_author(each for each in others if each.in_reply_to in threads)
        first, *rest = [replace(self.about, reviewer=name, comments=tuple(theirs)) for name, theirs in chosen.items()]
        every = [comment for theirs in chosen.values() for comment in theirs]
        return [replace(first, commits=tuple(commits(every))), *rest]


def _time_order(comment: Comment) -> tuple[int, str]:
    at = instant(comment.at)
    if comment.id is None or comment.at is None:
        raise InputError("a comment has no id, or no time")
    if at is None:
        raise InputError("the time of a comment is no time")
    return at, comment.id


def _by_author(comments: Iterable[Comment]) -> dict[str, list[Comment]]:
    by_author: dict[str, list[Comment]] = {}
    for each in comments:
        by_author.setdefault(each.author or "", []).append(each)
    return by_author
