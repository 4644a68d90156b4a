"""Whole pull requests: every page of every list of theirs, in requests that shrink where a server cannot do as much."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from metareview.errors import InputError, UsageError
from metareview.formats.api_reply import nodes, number_at, time_at
from metareview.formats.record import SEE_FORMATS, Record
from metareview.model.time import parse_time
from metareview.model.words import plural
from metareview.sources.github.api import GitHubApi, GraphReply
from metareview.sources.github.queries import Connection, PullRequestQuery, listing
from metareview.sources.targets import PullTarget

_SMALLEST_SCALE = 6
_CALM = 20


class Pages:
    """The pull requests of one repository."""

    def __init__(self, api: GitHubApi, target: PullTarget) -> None:
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
            repository = self._found(reply)
            connection = repository.optional_object("pullRequests")
            if not connection.value:
                repository.fail(None, "pullRequests is missing", SEE_FORMATS)
            times = [(node, parse_time(time_at(node, "createdAt"))) for node in nodes(repository, "pullRequests")]
            numbers = [
                number_at(node, "number", "pull request")
                for node, at in times
                if (since is None or at >= since) and (until is None or at < until)
            ]
            after = _next(connection, seen)
            if since is not None and any(at < since for _, at in times):
                after = None
            yield numbers, after
            if after is None:
                return

    def pull_requests(self, numbers: Sequence[int], wanted: PullRequestQuery) -> Iterator[tuple[int, Record | None]]:
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
                yield number, self._completed(repository.optional_object(f"p{number}"), wanted)
            start += len(answered)

    def _completed(self, pull_request: Record, wanted: PullRequestQuery) -> Record | None:
        for connection in wanted.connections:
            self._complete(pull_request, connection)
        return pull_request if pull_request.value else None

    def _complete(self, record: Record, connection: Connection) -> None:
        """Appends the further pages of a list, and of the lists inside it, to the first."""
        if record.value.get(connection.name) is None:  # the server keeps none, or shows none
            return
        page = record.optional_object(connection.name)
        found = nodes(record, connection.name)
        seen: set[str | None] = set()
        while (after := _next(page, seen)) is not None:
            where = {"id": record.required("id", "its id"), "after": after}
            reply = self._ask(connection.further, where)
            self._count_unreadable(reply, levels=1)
            parent = reply.data.optional_object("node")
            page = parent.optional_object(connection.name)
            if not page.value:
                raise InputError(f"a further page of {connection.name} is missing")
            found += nodes(parent, connection.name)
        for inner in connection.inner:
            for each in found:
                self._complete(each, inner)
        record.value[connection.name]["nodes"] = [each.value for each in found]

    def _ask(self, query: Callable[[int], str], variables: Mapping[str, object]) -> GraphReply:
        """The reply to a query that is built for a scale; each retry asks for half as much."""
        reply = self._api.persist(lambda: self._api.graphql(query(self._scale), variables), self._shrink)
        self._successes += 1
        if self._scale and self._successes >= _CALM:
            self._scale, self._successes = self._scale - 1, 0
        return reply

    def _shrink(self) -> None:
        self._scale, self._successes = min(_SMALLEST_SCALE, self._scale + 1), 0

    def _found(self, reply: GraphReply) -> Record:
        """The repository of a reply."""
        self._count_unreadable(reply, levels=2)
        repository = reply.data.optional_object("repository")
        if not repository.value:
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


def _next(connection: Record, seen: set[str | None]) -> str | None:
    """The cursor of the next page; None after the last. InputError where the pages run in a circle."""
    page = connection.optional_object("pageInfo")
    if not page.flag("hasNextPage"):
        return None
    after = page.required("endCursor", "a cursor")
    if after in seen:
        raise InputError("the pages run in a circle")
    seen.add(after)
    return after
