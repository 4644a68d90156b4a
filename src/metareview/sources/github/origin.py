"""GitHub as the origin of a pull: comments as records, histories as events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from metareview.errors import UsageError
from metareview.model.selection import Selection
from metareview.sources.github.api import GitHubApi, ScopesMissing
from metareview.sources.github.comments import records
from metareview.sources.github.commits import GitHubCommits
from metareview.sources.github.history import events
from metareview.sources.github.pages import Pages, warning_of_unreadable
from metareview.sources.github.queries import COMMENTS, history
from metareview.sources.node import Node
from metareview.sources.records import JsonObject
from metareview.sources.targets import Target


class GitHubOrigin:
    """Pull requests of one repository; `comments` says of whom, and None that the history is wanted."""

    name = "GitHub"

    def __init__(self, api: GitHubApi, target: Target, comments: Selection | None, *, patches: bool) -> None:
        self.api = api
        self._pages = Pages(api, target)
        self._comments = comments
        self._commits = GitHubCommits(api, lambda: self._pages.repository) if patches else None
        self._teams = True

    def listed(self, since: int | None, until: int | None, after: str | None) -> Iterator[tuple[list[int], str | None]]:
        with _scopes_are_needed():
            yield from self._pages.listed(since, until, after)

    def lines(self, numbers: Sequence[int]) -> Iterator[tuple[int, list[JsonObject] | None]]:
        done: set[int] = set()
        while left := [number for number in numbers if number not in done]:
            whole = COMMENTS if self._comments is not None else history(self._teams)
            try:
                for number, node in self._pages.pull_requests(left, whole):
                    done.add(number)
                    yield number, None if node is None else self._lines_of(node)
            except ScopesMissing:
                # Names of teams need a scope that nothing else does.
                with _scopes_are_needed():
                    if not self._teams or self._comments is not None:
                        raise
                self._teams = False

    def _lines_of(self, node: Node) -> list[JsonObject]:
        if self._comments is None:
            return events(node, self._pages.repository)
        return records(node, self._comments, self._commits)

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
