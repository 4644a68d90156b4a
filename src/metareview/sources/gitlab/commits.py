"""Commits of a project. A merge request lists them without their parents, which only single requests have."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote, urlencode

from metareview.formats.gitlab_commits import changed_file, listed_commit, parents_of
from metareview.model.comment import ChangedFile, Commit
from metareview.sources.gitlab.api import GitLabApi

_MOST_FILES = 1_000
"""GitLab shows no more of a commit, unless its administrator says so: with as many there may be others."""


class GitLabCommits:
    """Fetches commits of the project at this path."""

    def __init__(self, api: GitLabApi, project: str) -> None:
        self._api, self._project = api, project

    def with_files(self, commit: Commit) -> Commit:
        """With its parents: without them a merge would pass for a change of its own."""
        if not commit.parents:
            node = self._api.one(self._path(commit.sha))
            if node is None:
                return commit
            commit = replace(commit, parents=parents_of(node))
        return replace(commit, files=self._files_of(commit.sha))

    def commit(self, sha: str) -> Commit | None:
        node = self._api.one(self._path(sha))
        return None if node is None else replace(listed_commit(node), sha=sha, files=self._files_of(sha))

    def only_in(self, sha: str, head: str) -> list[str]:
        found = self._api.one(f"{self._project}/repository/compare?{urlencode({'from': head, 'to': sha})}")
        return [] if found is None else [each.required("id") for each in found.children("commits")]

    def _files_of(self, sha: str) -> tuple[ChangedFile, ...] | None:
        """The files that differ from the first parent; None if GitLab lacks any."""
        files = self._api.whole(f"{self._path(sha)}/diff", _MOST_FILES)
        return None if files is None or len(files) >= _MOST_FILES else tuple(map(changed_file, files))

    def _path(self, sha: str) -> str:
        return f"{self._project}/repository/commits/{quote(sha, safe='')}"
