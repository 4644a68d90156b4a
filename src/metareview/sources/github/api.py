"""Requests to GitHub: queries to its GraphQL API, and what only REST has. A reply is a `Node`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from metareview.errors import UsageError
from metareview.http.connections import USER_AGENT, Reply
from metareview.model.time import SECOND, parse_time
from metareview.sources.api import Api, RateLimit, TooMuch, TooOften, object_of
from metareview.sources.clock import Clock
from metareview.sources.github.access import Access
from metareview.sources.node import Node, Unexpected

_SECONDARY_WAIT = 60.0
_LIMITS = ("RATE_LIMITED", "RATE_LIMIT", "SECONDARY_RATE_LIMIT")
_REFUSED = ("FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES", "UNAUTHORIZED")


class ScopesMissing(Exception):
    """The token lacks a scope that a field of the query asks for."""


@dataclass(frozen=True, slots=True)
class GraphReply:
    """The data of a GraphQL reply, and which parts of it could not be had: the path of each, and why."""

    data: Node
    refused: tuple[tuple[tuple[str | int, ...], str], ...] = ()


class GitHubApi(Api):
    """Asks one server. `tell` gets a line for whoever waits, whenever it waits."""

    variable: ClassVar[str] = "GITHUB_TOKEN"
    limit_headers: ClassVar[str] = "x-ratelimit-"
    used_up: ClassVar[str] = "the hourly limit is used up"

    def __init__(self, access: Access, clock: Clock, tell: Callable[[str], None]) -> None:
        headers = {
            "Authorization": f"Bearer {access.token.reveal()}",
            "Accept": "application/vnd.github+json",
            "User-Agent": USER_AGENT,
        }
        super().__init__(access.host, access.rest, access.token, headers, clock, tell)
        self._graphql = access.graphql
        self._graph_limit: RateLimit | None = None

    @property
    def limit(self) -> RateLimit | None:
        """What is left, as the last replies have it: GraphQL and REST have limits of their own; the lower one."""
        known = [limit for limit in (self._graph_limit, self._rest_limit) if limit is not None]
        return min(known, key=lambda limit: limit.remaining, default=None)

    def graphql(self, query: str, variables: Mapping[str, object]) -> GraphReply:
        """The reply to a query; TooMuch where a smaller one may do better."""
        self._wait_for(self._graph_limit)
        body = json.dumps({"query": query, "variables": dict(variables)}).encode()
        headers = {**self._headers, "Content-Type": "application/json"}
        return self._unless_limited(lambda: self._graph_reply(self._exchange("POST", self._graphql, headers, body)))

    def rest(self, path: str) -> tuple[Node | None, bool]:
        """The object at a path, and whether it has a further page; None where it is not there, or not to be shown."""
        found = self.get(path, lambda reply: (object_of(reply), 'rel="next"' in reply.headers.get("link", "")))
        return found or (None, False)

    def _seconds_until_allowed(self, reply: Reply, words: str) -> float | None:
        wait = self._seconds_asked_for(reply)
        if wait is not None:
            return wait
        told = words.casefold()
        return _SECONDARY_WAIT if "rate limit" in told or "abuse" in told or reply.status == 429 else None

    def _fix_of_refusal(self, said: str) -> str:
        if "saml" in said.casefold():
            return "Allow the token for the organization's single sign-on in your token settings."
        return "Give a token that may read the repository's contents and pull requests."

    def _graph_reply(self, reply: Reply) -> GraphReply:
        if reply.status != 200:
            fix = f"Check that {urlsplit(self._graphql).netloc} is a GitHub server."
            raise UsageError(f"{self._graphql} does not answer queries (HTTP {reply.status}). {fix}")
        root = object_of(reply)
        try:
            errors = root.children("errors")
            data = root.child("data")
            if data is not None:
                self._note_limit(data.child("rateLimit"))
            if data is None and not errors:
                raise TooMuch("the reply has no data")
            refused = self._judge_errors(errors, reply)
        except Unexpected as problem:
            raise TooMuch(f"the reply is not what was asked for: {problem}") from None
        return GraphReply(data or Node({}), refused)

    def _judge_errors(self, errors: list[Node], reply: Reply) -> tuple[tuple[tuple[str | int, ...], str], ...]:
        """What of the data could not be had; raises where nothing could."""
        refused = []
        for error in errors:
            kind = error.text("type") or ""
            said = error.text("message") or ""
            extensions = error.child("extensions")
            code = (extensions and extensions.text("code")) or ""
            path = error.value.get("path")
            if kind in _LIMITS or "rate limit" in said.casefold():
                seconds = self._seconds_until_allowed(reply, said)
                raise TooOften("the limit is used up", _SECONDARY_WAIT if seconds is None else seconds)
            if kind == "INSUFFICIENT_SCOPES" and not path:
                raise ScopesMissing(self._quoted(said))
            if "saml" in said.casefold() or (extensions is not None and extensions.value.get("saml_failure")):
                fix = "Allow the token for the organization's single sign-on in your token settings."
                raise UsageError(f"the organization wants single sign-on (SAML) for this token. {fix}")
            if code in ("undefinedField", "undefinedType", "cannotSpreadFragment"):
                raise UsageError(
                    f"{self._host} does not know a field that is asked for{self._quoted(said)}. "
                    "This GitHub Enterprise Server may be too old: export the comments instead (see docs/formats.md)."
                )
            if kind in _REFUSED and isinstance(path, list):
                steps = tuple(step for step in path if isinstance(step, str | int))
                refused.append((steps, kind))
                continue
            raise TooMuch(f"the server had a problem with the query{self._quoted(said)}")
        return tuple(refused)

    def _note_limit(self, node: Node | None) -> None:
        """A server without limits has none to tell of."""
        if node is None:
            return
        limit, remaining = node.number("limit"), node.number("remaining")
        if limit is not None and remaining is not None:
            resets_at = parse_time(node.instant("resetAt")) / SECOND
            self._graph_limit = RateLimit(limit, remaining, resets_at, max(1, node.number("cost") or 1))
