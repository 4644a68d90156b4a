"""GitLab as the origin of a pull: comments as records. Each list of a merge request takes a request or more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote, urlencode

from metareview.errors import UsageError
from metareview.model.selection import Selection
from metareview.model.time import parse_time, show_time
from metareview.model.words import plural
from metareview.sources.address import Target
from metareview.sources.gitlab.api import GitLabApi
from metareview.sources.gitlab.comments import commit_of, commit_path, files_of_commit, parents_of, records
from metareview.sources.node import Node, Unexpected
from metareview.sources.records import JsonObject, add_patches


class GitLabOrigin:
    """Merge requests of one project, with what these reviewers said."""

    name = "GitLab"

    def __init__(self, api: GitLabApi, target: Target, reviewers: Selection, *, patches: bool) -> None:
        self.api = api
        self._target, self._reviewers, self._with_patches = target, reviewers, patches
        self._project = f"projects/{quote(target.repository, safe='')}"
        self._unreadable = 0

    def listed(self, since: int | None, until: int | None, after: str | None) -> Iterator[tuple[list[int], str | None]]:
        """The oldest first: those that are opened meanwhile come last, and move no page."""
        query = {"scope": "all", "state": "all", "view": "simple", "order_by": "created_at", "sort": "asc"}
        for name, instant in (("created_after", since), ("created_before", until)):
            if instant is not None:
                query[name] = show_time(instant)
        number: int | None = 1 if after is None else int(after)
        while number is not None:
            found = self.api.page(f"{self._project}/merge_requests", number, urlencode(query))
            if found is None:
                raise self._no_project()
            nodes, number = found
            # The server's own bounds are included both, and a clock's digits may be cut.
            numbers = [
                _number(node)
                for node in nodes
                if (since is None or _created(node) >= since) and (until is None or _created(node) < until)
            ]
            yield numbers, None if number is None else str(number)

    def lines(self, numbers: Sequence[int]) -> Iterator[tuple[int, list[JsonObject] | None]]:
        if numbers and self.api.one(self._project) is None:
            raise self._no_project()
        for number in numbers:
            yield number, self._lines_of(f"{self._project}/merge_requests/{number}")

    def _lines_of(self, path: str) -> list[JsonObject] | None:
        merge_request = self.api.one(path)
        discussions = None if merge_request is None else self.api.whole(f"{path}/discussions")
        if merge_request is None or discussions is None:
            return None
        lines, unreadable = records(
            merge_request, discussions, self._reviewers, lambda comments: self._commits(path, comments)
        )
        self._unreadable += unreadable
        return lines

    def _commits(self, path: str, comments: list[JsonObject]) -> list[JsonObject]:
        """Oldest first, where GitLab has the latest first."""
        commits = [commit_of(node) for node in reversed(self.api.whole(f"{path}/commits") or [])]
        by_sha = {commit["sha"]: commit for commit in commits}
        if self._with_patches:
            add_patches(commits, comments, lambda sha: self._files(by_sha[sha]))
        return commits

    def _files(self, commit: JsonObject) -> list[JsonObject] | None:
        """Only with its parents: what a merge brought in would pass for a change of its own."""
        path = commit_path(self._project, commit["sha"])
        if "parents" not in commit:
            node = self.api.one(path)
            if node is None:
                return None
            commit["parents"] = parents_of(node)
        return files_of_commit(self.api, path)

    def warnings(self) -> list[str]:
        if not self._unreadable:
            return []
        is_left = "is" if self._unreadable == 1 else "are"
        return [f"{plural(self._unreadable, 'detail')} of comments {is_left} not what GitLab writes; left out"]

    def _no_project(self) -> UsageError:
        return UsageError(
            f"{self._target.host} has no project {self._target.repository} that this token may read. "
            "Check its name, and give a token with the scope read_api."
        )


def _number(node: Node) -> int:
    number = node.number("iid")
    if number is None or number < 1:
        raise Unexpected("a merge request has no number")
    return number


def _created(node: Node) -> int:
    return parse_time(node.instant("created_at"))
