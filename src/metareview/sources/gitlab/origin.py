"""GitLab as the origin of a pull: comments as records. Each list of a merge request takes a request or more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote, urlencode

from metareview.errors import UsageError
from metareview.formats.api_node import Node, UnexpectedReply
from metareview.formats.comments.gitlab import conversation
from metareview.formats.gitlab_commits import listed_commit
from metareview.model.comment import Comment, Commit, Review
from metareview.model.selection import Selection
from metareview.model.time import parse_time, show_time
from metareview.model.words import plural
from metareview.sources.commits import with_patches
from metareview.sources.gitlab.api import GitLabApi
from metareview.sources.gitlab.commits import GitLabCommits
from metareview.sources.reviews import chosen_reviews
from metareview.sources.targets import Target


class GitLabOrigin:
    """Merge requests of one project, with the comments of these reviewers."""

    name = "GitLab"

    def __init__(self, api: GitLabApi, target: Target, reviewers: Selection, *, patches: bool) -> None:
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
            nodes, number = found
            # The server's own bounds are included both, and a clock's digits may be cut.
            numbers = [
                _number(node)
                for node in nodes
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
        refs = merge_request.child("diff_refs")
        base = None if refs is None else refs.text("base_sha")
        found, unreadable = conversation(merge_request.value, [each.value for each in discussions])
        self._unreadable += unreadable
        return chosen_reviews(found, self._reviewers, lambda comments: self._commits_of(path, base, comments))

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


def _number(node: Node) -> int:
    number = node.number("iid")
    if number is None or number < 1:
        raise UnexpectedReply("a merge request has no number")
    return number


def _created(node: Node) -> int:
    return parse_time(node.instant("created_at"))
