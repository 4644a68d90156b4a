"""Whole pull requests: every page of every list of theirs, in requests that shrink where a server cannot do as much."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from metareview.errors import UsageError
from metareview.formats.api_node import Node, UnexpectedReply
from metareview.model.time import parse_time
from metareview.model.words import plural
from metareview.sources.github.api import GitHubApi, GraphReply
from metareview.sources.github.queries import Connection, PullRequestQuery, listing
from metareview.sources.targets import Target

_SMALLEST_SCALE = 6
_CALM = 20


class Pages:
    """The pull requests of one repository."""

    def __init__(self, api: GitHubApi, target: Target) -> None:
        self.unreadable = 0
        """Details that the token may not read."""
        self.repository = target.repository
        """Its name as the server writes it, once it has answered."""
        self._api, self._target = api, target
        self._repository = {"owner": target.owner, "name": target.name}
        self._scale = 0
        self._successes = 0

    def listed(
        self, since: int | None, until: int | None, after: str | None = None
    ) -> Iterator[tuple[list[int], str | None]]:
        """Numbers of pull requests created in [since, until), latest first, in pages with the cursor of the next."""
        seen = {after}
        while True:
            where: Mapping[str, object] = {**self._repository, "after": after}
            reply = self._ask(listing, where)
            connection = self._found(reply).child("pullRequests")
            if connection is None:
                raise UnexpectedReply("pullRequests is missing")
            nodes = connection.children("nodes")
            times = [parse_time(node.instant("createdAt")) for node in nodes]
            numbers = [
                _number(node)
                for node, at in zip(nodes, times, strict=True)
                if (since is None or at >= since) and (until is None or at < until)
            ]
            after = _next(connection, seen)
            if since is not None and any(at < since for at in times):
                after = None
            yield numbers, after
            if after is None:
                return

    def pull_requests(self, numbers: Sequence[int], wanted: PullRequestQuery) -> Iterator[tuple[int, Node | None]]:
        """The pull requests, each as soon as it is whole; None for a number that is no pull request (any more)."""
        start = 0
        batch: list[int] = []

        def query(scale: int) -> str:
            batch[:] = numbers[start : start + max(1, wanted.batch >> scale)]
            return wanted.query(batch, scale)

        while start < len(numbers):
            reply = self._ask(query, self._repository)
            repository = self._found(reply)
            answered = list(batch)  # which further pages do not change
            for number in answered:
                yield number, self._completed(repository.child(f"p{number}"), wanted)
            start += len(answered)

    def _completed(self, node: Node | None, wanted: PullRequestQuery) -> Node | None:
        if node is not None:
            for connection in wanted.connections:
                self._complete(node, connection)
        return node

    def _complete(self, node: Node, connection: Connection) -> None:
        """Appends the further pages of a list, and of the lists inside it, to the first."""
        page = node.child(connection.name)
        if page is None:  # the server keeps none, or shows none
            return
        nodes = page.children("nodes")
        seen: set[str | None] = set()
        while (after := _next(page, seen)) is not None:
            where = {"id": node.required("id"), "after": after}
            reply = self._ask(connection.further, where)
            self._count_unreadable(reply, levels=1)
            parent = reply.data.child("node")
            further = None if parent is None else parent.child(connection.name)
            if further is None:
                raise UnexpectedReply(f"a further page of {connection.name} is missing")
            page = further
            nodes += page.children("nodes")
        for inner in connection.inner:
            for each in nodes:
                self._complete(each, inner)
        node.value[connection.name]["nodes"] = [each.value for each in nodes]

    def _ask(self, query: Callable[[int], str], variables: Mapping[str, object]) -> GraphReply:
        """The reply to a query that is built for a scale; each retry asks for half as much."""
        reply = self._api.persist(lambda: self._api.graphql(query(self._scale), variables), self._shrink)
        self._successes += 1
        if self._scale and self._successes >= _CALM:
            self._scale, self._successes = self._scale - 1, 0
        return reply

    def _shrink(self) -> None:
        self._scale, self._successes = min(_SMALLEST_SCALE, self._scale + 1), 0

    def _found(self, reply: GraphReply) -> Node:
        """The repository of a reply."""
        self._count_unreadable(reply, levels=2)
        repository = reply.data.child("repository")
        if repository is None:
            raise UsageError(
                f"{self._target.host} has no repository {self._target.repository} that this token may read. "
                "Check its name, and give a token that may read its contents and pull requests."
            )
        self.repository = repository.text("nameWithOwner") or self.repository
        return repository

    def _count_unreadable(self, reply: GraphReply, levels: int) -> None:
        """Count refusals below the requested object; a missing pull request is counted elsewhere."""
        self.unreadable += sum(len(path) > levels for path, _ in reply.refused)


def warning_of_unreadable(count: int) -> str:
    is_missing, it = ("is", "it") if count == 1 else ("are", "them")
    return f"{plural(count, 'detail')} {is_missing} missing: the token may not read {it}"


def _number(node: Node) -> int:
    number = node.number("number")
    if number is None or number < 1:
        raise UnexpectedReply("a pull request has no number")
    return number


def _next(connection: Node, seen: set[str | None]) -> str | None:
    """The cursor of the next page; None after the last. UnexpectedReply where the pages run in a circle."""
    page = connection.child("pageInfo")
    if page is None or not page.flag("hasNextPage"):
        return None
    after = page.required("endCursor")
    if after in seen:
        raise UnexpectedReply("the pages run in a circle")
    seen.add(after)
    return after
