"""CommitSource of a repository, from REST: GraphQL does not tell what they changed."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from metareview.sources.github.api import GitHubApi
from metareview.sources.node import Node
from metareview.sources.records import JsonObject, present

_MOST_FILES = 3_000
"""GitHub shows no more of a commit: with as many there may be others."""
_FILES_PER_PAGE = 300


class GitHubCommits:
    """Asks for commits of the repository that `name` gives: it may be called something else than the user wrote."""

    def __init__(self, api: GitHubApi, name: Callable[[], str]) -> None:
        self._api, self._name = api, name

    def files(self, commit: JsonObject) -> list[JsonObject] | None:
        return self._found(commit["sha"])[1]

    def commit(self, sha: str) -> JsonObject | None:
        found, files = self._found(sha)
        if found is None:
            return None
        commit = found.child("commit") or Node({})
        committer, written = (commit.child(name) or Node({}) for name in ("committer", "author"))
        account = found.child("author")
        fields = {
            "sha": sha,
            "at": committer.instant("date"),
            "author": (account and account.text("login")) or written.text("name"),
            "parents": _hashes(found, "parents"),
            "files": files,
        }
        return present(fields)

    def only_in(self, sha: str, head: str) -> list[str]:
        """Requested only after a force push: the reply lists patches as well."""
        found, _ = self._api.rest(f"repos/{quote(self._name())}/compare/{_quoted(head)}...{_quoted(sha)}")
        return [] if found is None else _hashes(found, "commits")

    def _found(self, sha: str) -> tuple[Node | None, list[JsonObject] | None]:
        """A commit and its files, page by page; None for either that GitHub lacks, or lacks a part of."""
        first: Node | None = None
        files: list[JsonObject] = []
        path = f"repos/{quote(self._name())}/commits/{_quoted(sha)}"
        for page in range(1, _MOST_FILES // _FILES_PER_PAGE + 1):
            commit, more = self._api.rest(path if page == 1 else f"{path}?page={page}")
            first = first or commit
            if commit is None:
                return first, None
            files += map(_file, commit.children("files"))
            if not more:
                break
        return first, files if len(files) < _MOST_FILES else None


def _file(node: Node) -> JsonObject:
    """A changed file. A patch is missing if it is too large, or no text; empty for a file only renamed."""
    patch = node.text("patch")
    status = node.text("status")
    if patch is None and status == "renamed" and node.number("changes") == 0:
        patch = ""
    fields = {
        "path": node.required("filename"),
        "previous_path": node.text("previous_filename"),
        "status": status,
        "patch": patch,
    }
    return present(fields)


def _hashes(node: Node, name: str) -> list[str]:
    return [each.required("sha") for each in node.children(name)]


def _quoted(sha: str) -> str:
    return quote(sha, safe="")
