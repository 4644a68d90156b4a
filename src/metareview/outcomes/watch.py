"""Which commits come after a comment, and which of them count as an answer to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from metareview.model.comment import Comment
from metareview.model.time import instant
from metareview.outcomes.commits import BOT, Commits, one_name


class Watch:
    """Which commits come after a comment, and which of them count."""

    def __init__(
        self, commits: Commits, comment: Comment, reviewer: str | None, pr_author: str | None, anchor: int
    ) -> None:
        self._commits, self._made = commits, instant(comment.at)
        self._anchor = anchor
        name = comment.author or reviewer or ""
        person = not name.strip().casefold().endswith(BOT) and comment.is_ai_comment is not True
        own = one_name(name)
        self._own = None if person and pr_author and own == one_name(pr_author) else own or None

    @cached_property
    def _ancestors(self) -> frozenset[int]:
        """The comment's own commit, and those that it comes from."""
        return frozenset(self._commits.chain(self._anchor))

    def is_later(self, place: int) -> bool:
        """Whether the commit is later than the comment; by the dates, and where they are not known by its place."""
        at, made = self._commits.at[place], self._made
        if self._commits.is_too_late(place):
            return False
        if at is None or made is None:
            return place not in self._ancestors
        return at > made

    def is_own(self, place: int) -> bool:
        """Whether whoever made the comment also made the commit. The pull request's author may heed themselves."""
        return self._own is not None and self._commits.author(place) == self._own

    def counts(self, place: int) -> bool:
        return self.is_later(place) and not self._commits.is_merge(place) and not self.is_own(place)

    def earliest_before(self, chain: Sequence[int]) -> int | None:
        """Where in the chain, which ends with the comment's commit, the first commit is that is dated after it."""
        if self._made is None:
            return None
        return next((number for number, place in enumerate(chain) if self.is_later(place)), None)
