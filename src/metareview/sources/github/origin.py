"""GitHub as the origin of a pull: comments as records, histories as events. Patches of commits are in REST alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import quote

from metareview.errors import UsageError
from metareview.formats.api_reply import nodes
from metareview.formats.comments.github import conversation
from metareview.formats.github.commits import hashes, listed_commits, rest_commit, rest_file
from metareview.formats.github.timeline import events
from metareview.formats.record import Record
from metareview.model.comment import ChangedFile, Comment, Commit, Review
from metareview.model.event import Event
from metareview.model.selection import Selection
from metareview.sources.commits import with_patches
from metareview.sources.github.api import GitHubApi, ScopesMissing
from metareview.sources.github.pages import Pages, warning_of_unreadable
from metareview.sources.github.queries import COMMENTS, history
from metareview.sources.targets import PullTarget

_MOST_FILES = 3_000
"""GitHub shows no more of a commit: with as many there may be others."""
_FILES_PER_PAGE = 300


class GitHubOrigin:
    """Pull requests of one repository: the comments of these reviewers, or with None the history."""

    name = "GitHub"

    def __init__(self, api: GitHubApi, target: PullTarget, reviewers: Selection | None, *, patches: bool) -> None:
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

    def _lines_of(self, node: Record) -> list[Review] | list[Event]:
        if self._reviewers is None:
            return events(node, self._pages.repository)
        return conversation(node.value).reviews(self._reviewers, lambda comments: self._commits_of(node, comments))

    def _commits_of(self, node: Record, comments: list[Comment]) -> list[Commit]:
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


class GitHubCommits:
    """Fetches commits of the repository that `name` gives: its name may have changed since the user's was current."""

    def __init__(self, api: GitHubApi, name: Callable[[], str]) -> None:
        self._api, self._name = api, name

    def with_files(self, commit: Commit) -> Commit:
        files = self._found(commit.sha)[1]
        return commit if files is None else replace(commit, files=tuple(files))

    def commit(self, sha: str) -> Commit | None:
        found, files = self._found(sha)
        return None if found is None else rest_commit(found, sha, files)

    def only_in(self, sha: str, head: str) -> list[str]:
        """Requested only after a force push: the reply lists patches as well."""
        found, _ = self._api.rest(f"repos/{quote(self._name())}/compare/{_quoted(head)}...{_quoted(sha)}")
        return [] if found is None else hashes(found, "commits")

    def _found(self, sha: str) -> tuple[Record | None, list[ChangedFile] | None]:
        """A commit and its files, page by page; None for either that GitHub lacks, or lacks a part of."""
        first: Record | None = None
        files: list[ChangedFile] = []
        path = f"repos/{quote(self._name())}/commits/{_quoted(sha)}"
        for page in range(1, _MOST_FILES // _FILES_PER_PAGE + 1):
            commit, more = self._api.rest(path if page == 1 else f"{path}?page={page}")
            first = first or commit
            if commit is None:
                return first, None
            files += map(rest_file, nodes(commit, "files"))
            if not more:
                break
        return first, files if len(files) < _MOST_FILES else None


def _quoted(sha: str) -> str:
    return quote(sha, safe="")
