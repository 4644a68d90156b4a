"""GitHub as the origin of a pull: comments as records, histories as events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from metareview.errors import UsageError
from metareview.formats.api_node import Node
from metareview.formats.comments.github import conversation
from metareview.formats.github.commits import listed_commits
from metareview.formats.github.timeline import events
from metareview.model.comment import Comment, Commit, Review
from metareview.model.event import Event
from metareview.model.selection import Selection
from metareview.sources.commits import with_patches
from metareview.sources.github.api import GitHubApi, ScopesMissing
from metareview.sources.github.commits import GitHubCommits
from metareview.sources.github.pages import Pages, warning_of_unreadable
from metareview.sources.github.queries import COMMENTS, history
from metareview.sources.reviews import chosen_reviews
from metareview.sources.targets import Target


class GitHubOrigin:
    """Pull requests of one repository: the comments of these reviewers, or with None the history."""

    name = "GitHub"

    def __init__(self, api: GitHubApi, target: Target, reviewers: Selection | None, *, patches: bool) -> None:
        self.api = api
        self._pages = Pages(api, target)
        self._reviewers = reviewers
        self._commits = GitHubCommits(api, lambda: self._pages.repository) if patches else None
        self._teams = True

    def listed(self, since: int | None, until: int | None, after: str | None) -> Iterator[tuple[list[int], str | None]]:
        with _scopes_are_needed():
            yield from self._pages.listed(since, until, after)

    def lines(self, numbers: Sequence[int]) -> Iterator[tuple[int, list[Review] | list[Event] | None]]:
        done: set[int] = set()
        while left := [number for number in numbers if number not in done]:
            whole = COMMENTS if self._reviewers is not None else history(self._teams)
            try:
                for number, node in self._pages.pull_requests(left, whole):
                    done.add(number)
                    yield number, None if node is None else self._lines_of(node)
            except ScopesMissing:
                # Names of teams need a scope that nothing else does.
                with _scopes_are_needed():
                    if not self._teams or self._reviewers is not None:
                        raise
                self._teams = False

    def _lines_of(self, node: Node) -> list[Review] | list[Event]:
        if self._reviewers is None:
            return events(node, self._pages.repository)
        return chosen_reviews(
            conversation(node.value), self._reviewers, lambda comments: self._commits_of(node, comments)
        )

    def _commits_of(self, node: Node, comments: list[Comment]) -> list[Commit]:
        commits = listed_commits(node)
        return commits if self._commits is None else with_patches(commits, comments, self._commits)

    def warnings(self) -> list[str]:
        found = []
        if not self._teams:
            found.append("the token may not read teams (scope read:org), so requests to teams have no target")
        if self._pages.unreadable:
            found.append(warning_of_unreadable(self._pages.unreadable))
        return found


@contextmanager
def _scopes_are_needed() -> Iterator[None]:
    try:
        yield
    except ScopesMissing as problem:
        raise UsageError(f"the token lacks a scope{problem}. Give one that may read the repository.") from None
