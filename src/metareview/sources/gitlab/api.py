"""Requests to GitLab's REST API: objects, and lists page by page."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from metareview.formats.api_node import Node, UnexpectedReply
from metareview.http.connections import USER_AGENT, Reply
from metareview.sources.api import Api, TransientFailure, object_of, parsed
from metareview.sources.clock import Clock
from metareview.sources.gitlab.access import GitLabAccess

_LIMIT_WAIT = 60.0
"""GitLab's limits are for a minute."""
_PER_PAGE = 100


class GitLabApi(Api):
    """The API of one GitLab server."""

    variable: ClassVar[str] = "GITLAB_TOKEN"
    limit_headers: ClassVar[str] = "ratelimit-"
    used_up: ClassVar[str] = "the limit is used up"

    def __init__(self, access: GitLabAccess, clock: Clock, show: Callable[[str], None]) -> None:
        headers = {"PRIVATE-TOKEN": access.token.reveal(), "Accept": "application/json", "User-Agent": USER_AGENT}
        super().__init__(access.host, access.rest, access.token, headers, clock, show)

    def one(self, path: str) -> Node | None:
        """The object at a path; None if it is absent."""
        return self.get(path, object_of)

    def page(self, path: str, number: int, query: str = "") -> tuple[list[Node], int | None] | None:
        """A page of the list at a path, and the number of the next; None if it is absent."""
        more = f"&{query}" if query else ""
        address = f"{path}?per_page={_PER_PAGE}&page={number}{more}"
        return self.get(address, lambda reply: (_objects(reply), _next_page(reply, number)))

    def whole(self, path: str, most: int | None = None) -> list[Node] | None:
        """All pages of a list, or as many as hold `most` items; None if it is absent."""
        found: list[Node] = []
        number: int | None = 1
        while number is not None and (most is None or len(found) < most):
            page = self.page(path, number)
            if page is None:
                return None
            found += page[0]
            number = page[1]
        return found

    def _seconds_until_allowed(self, reply: Reply, words: str) -> float | None:
        if reply.status != 429:
            return None
        wait = self._seconds_asked_for(reply, even_if_some_are_left=True)
        return _LIMIT_WAIT if wait is None else wait

    def _fix_of_refusal(self, message: str) -> str:
        return "Give a token with the scope read_api, of somebody who may read the project and its merge requests."


def _objects(reply: Reply) -> list[Node]:
    value = parsed(reply.data)
    if not isinstance(value, list):
        raise TransientFailure("the reply is JSON, but no list")
    return Node({"items": value}).children("items")


def _next_page(reply: Reply, number: int) -> int | None:
    """The number of the next page. A proxy may drop GitLab's own header; `link` is a standard."""
    text = reply.headers.get("x-next-page")
    if text is None:
        return number + 1 if 'rel="next"' in reply.headers.get("link", "") else None
    if not text.strip():
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) <= number:
        raise UnexpectedReply("the pages run in a circle")
    return int(text)
