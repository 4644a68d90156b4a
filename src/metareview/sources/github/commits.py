"""Commits of a repository, from REST: GraphQL has no patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote

from metareview.formats.api_node import Node
from metareview.formats.github.commits import hashes, rest_commit, rest_file
from metareview.model.comment import ChangedFile, Commit
from metareview.sources.github.api import GitHubApi

_MOST_FILES = 3_000
"""GitHub shows no more of a commit: with as many there may be others."""
_FILES_PER_PAGE = 300


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

    def _found(self, sha: str) -> tuple[Node | None, list[ChangedFile] | None]:
        """A commit and its files, page by page; None for either that GitHub lacks, or lacks a part of."""
        first: Node | None = None
        files: list[ChangedFile] = []
        path = f"repos/{quote(self._name())}/commits/{_quoted(sha)}"
        for page in range(1, _MOST_FILES // _FILES_PER_PAGE + 1):
            commit, more = self._api.rest(path if page == 1 else f"{path}?page={page}")
            first = first or commit
            if commit is None:
                return first, None
            files += map(rest_file, commit.children("files"))
            if not more:
                break
        return first, files if len(files) < _MOST_FILES else None


def _quoted(sha: str) -> str:
    return quote(sha, safe="")
