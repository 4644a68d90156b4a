"""CommitSource of a project. A merge request lists them without their parents, which GitLab tells only one by one."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from metareview.sources.gitlab.api import GitLabApi
from metareview.sources.node import Node
from metareview.sources.records import JsonObject, present

_MOST_FILES = 1_000
"""GitLab shows no more of a commit, unless its administrator says so: with as many there may be others."""


class GitLabCommits:
    """Asks for commits of the project at this path."""

    def __init__(self, api: GitLabApi, project: str) -> None:
        self._api, self._project = api, project

    def files(self, commit: JsonObject) -> list[JsonObject] | None:
        """With its parents: without them a merge would pass for a change of its own."""
        if "parents" not in commit:
            node = self._api.one(self._path(commit["sha"]))
            if node is None:
                return None
            commit["parents"] = _parents_of(node)
        return self._files_of(commit["sha"])

    def commit(self, sha: str) -> JsonObject | None:
        node = self._api.one(self._path(sha))
        if node is None:
            return None
        return present({**listed_commit(node), "sha": sha, "files": self._files_of(sha)})

    def only_in(self, sha: str, head: str) -> list[str]:
        found = self._api.one(f"{self._project}/repository/compare?{urlencode({'from': head, 'to': sha})}")
        return [] if found is None else [each.required("id") for each in found.children("commits")]

    def _files_of(self, sha: str) -> list[JsonObject] | None:
        """The files that differ from the first parent; None if GitLab lacks any."""
        files = self._api.whole(f"{self._path(sha)}/diff", _MOST_FILES)
        return None if files is None or len(files) >= _MOST_FILES else [_file(each) for each in files]

    def _path(self, sha: str) -> str:
        return f"{self._project}/repository/commits/{quote(sha, safe='')}"


def listed_commit(node: Node) -> JsonObject:
    """A commit as a merge request lists it: nearly always without its parents, which GitLab does not keep there."""
    fields = {
        "sha": node.required("id"),
        "at": node.instant("committed_date"),
        "author": node.text("author_name"),
        "parents": _parents_of(node) or None,
    }
    return present(fields)


def _parents_of(node: Node) -> list[str]:
    found = node.value.get("parent_ids")
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _file(node: Node) -> JsonObject:
    """A changed file, with GitHub's names. A diff that GitLab cut, or that is no text, is left out: it is unknown. But
    where it says that it did not cut the diff of a renamed file, an empty one says that nothing did."""
    kinds = {"new_file": "added", "deleted_file": "removed", "renamed_file": "renamed"}
    status = next((status for flag, status in kinds.items() if node.flag(flag)), "modified")
    diff = node.text("diff") or ""
    cut = node.flag("too_large") or node.flag("collapsed")
    whole = diff.startswith("@@") or (not diff and status == "renamed" and "too_large" in node.value)
    fields = {
        "path": node.required("new_path"),
        "previous_path": node.required("old_path") if status == "renamed" else None,
        "status": status,
        "patch": diff if whole and not cut else None,
    }
    return present(fields)
