"""GitLab as the origin of a pull: comments as records, over its REST API (v4).

Each list of a merge request takes a request or more, and lists commits without their parents, which only single
requests have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar
from urllib.parse import quote, urlencode

from metareview.errors import InputError, UsageError
from metareview.formats.api_reply import entries, nodes, number_at, time_at
from metareview.formats.comments.gitlab import conversation
from metareview.formats.gitlab_commits import changed_file, listed_commit, parents_of
from metareview.formats.record import Record
from metareview.http.connections import USER_AGENT, HttpReply
from metareview.model.comment import ChangedFile, Comment, Commit, Review
from metareview.model.selection import Selection
from metareview.model.time import parse_time, show_time
from metareview.model.words import plural
from metareview.sources.access import Access
from metareview.sources.api import Api, json_of
from metareview.sources.clock import Clock
from metareview.sources.commits import with_patches
from metareview.sources.targets import PullTarget

_LIMIT_WAIT = 60.0
"""GitLab's limits are for a minute."""
_PER_PAGE = 100
_MOST_FILES = 1_000
"""GitLab shows no more of a commit, unless its administrator says so: with as many there may be others."""


class GitLabApi(Api):
    """The API of one GitLab server."""

    variable: ClassVar[str] = "GITLAB_TOKEN"
    limit_headers: ClassVar[str] = "ratelimit-"
    used_up: ClassVar[str] = "the limit is used up"

    def __init__(self, access: Access, clock: Clock, show: Callable[[str], None]) -> None:
        headers = {"PRIVATE-TOKEN": access.token.reveal(), "Accept": "application/json", "User-Agent": USER_AGENT}
        super().__init__(access.host, access.rest, access.token, headers, clock, show)

    def one(self, path: str) -> Record | None:
        """The object at a path; None if it is absent."""
        return self.get(path, lambda reply: json_of(reply.data))

    def page(self, path: str, number: int, query: str = "") -> tuple[list[Record], int | None] | None:
        """A page of the list at a path, and the number of the next; None if it is absent."""
        more = f"&{query}" if query else ""
        address = f"{path}?per_page={_PER_PAGE}&page={number}{more}"
        return self.get(address, lambda reply: (entries(json_of(reply.data, list)), _next_page(reply, number)))

    def whole(self, path: str, most: int | None = None) -> list[Record] | None:
        """All pages of a list, or as many as hold `most` items; None if it is absent."""
        found: list[Record] = []
        number: int | None = 1
        while number is not None and (most is None or len(found) < most):
            page = self.page(path, number)
            if page is None:
                return None
            found += page[0]
            number = page[1]
        return found

    def _seconds_until_allowed(self, reply: HttpReply, words: str) -> float | None:
        if reply.status != 429:
            return None
        wait = self._seconds_asked_for(reply, even_if_some_are_left=True)
        return _LIMIT_WAIT if wait is None else wait

    def _fix_of_refusal(self, message: str) -> str:
        return "Give a token with the scope read_api, of somebody who may read the project and its merge requests."


def _next_page(reply: HttpReply, number: int) -> int | None:
    """The number of the next page. A proxy may drop GitLab's own header; `link` is a standard."""
    text = reply.headers.get("x-next-page")
    if text is None:
        return number + 1 if 'rel="next"' in reply.headers.get("link", "") else None
    if not text.strip():
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) <= number:
        raise InputError("the pages run in a circle")
    return int(text)


class GitLabOrigin:
    """Merge requests of one project, with the comments of these reviewers."""

    name = "GitLab"

    def __init__(self, api: GitLabApi, target: PullTarget, reviewers: Selection, *, patches: bool) -> None:
        self.api = api
        self._target, self._reviewers = target, reviewers
        self._project = f"projects/{quote(target.repository, safe='')}"
        self._commits = GitLabCommits(api, self._project) if patches else None
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
            page, number = found
            # The server's own bounds are included both, and a clock's digits may be cut.
            numbers = [
                number_at(node, "iid", "merge request")
                for node in page
                if (since is None or _created(node) >= since) and (until is None or _created(node) < until)
            ]
            yield numbers, None if number is None else str(number)

    def lines(self, numbers: Sequence[int]) -> Iterator[tuple[int, list[Review] | None]]:
        if numbers and self.api.one(self._project) is None:
            raise self._no_project()
        for number in numbers:
            yield number, self._reviews_of(f"{self._project}/merge_requests/{number}")

    def _reviews_of(self, path: str) -> list[Review] | None:
        merge_request = self.api.one(path)
        discussions = None if merge_request is None else self.api.whole(f"{path}/discussions")
        if merge_request is None or discussions is None:
            return None
        base = merge_request.optional_object("diff_refs").text("base_sha")
        found, unreadable = conversation(merge_request.value, [each.value for each in discussions])
        self._unreadable += unreadable
        return found.reviews(self._reviewers, lambda comments: self._commits_of(path, base, comments))

    def _commits_of(self, path: str, base: str | None, comments: list[Comment]) -> list[Commit]:
        """Oldest first, where GitLab has the latest first."""
        commits = [listed_commit(node) for node in reversed(self.api.whole(f"{path}/commits") or [])]
        if self._commits is None:
            return commits
        return with_patches(commits, comments, self._commits, () if base is None else (base,))

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


def _created(node: Record) -> int:
    return parse_time(time_at(node, "created_at"))


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
        return [] if found is None else [each.required("id", "its hash") for each in nodes(found, "commits")]

    def _files_of(self, sha: str) -> tuple[ChangedFile, ...] | None:
        """The files that differ from the first parent; None if GitLab lacks any."""
        files = self._api.whole(f"{self._path(sha)}/diff", _MOST_FILES)
        return None if files is None or len(files) >= _MOST_FILES else tuple(map(changed_file, files))

    def _path(self, sha: str) -> str:
        return f"{self._project}/repository/commits/{quote(sha, safe='')}"
