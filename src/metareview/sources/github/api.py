"""Requests to GitHub: GraphQL queries, and REST for what GraphQL lacks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from metareview.errors import InputError, UsageError
from metareview.formats.api_reply import nodes, time_at
from metareview.formats.record import Record
from metareview.http.connections import USER_AGENT, HttpReply
from metareview.model.time import SECOND, parse_time
from metareview.sources.access import Access
from metareview.sources.api import Api, RateLimit, RateLimited, TransientFailure, json_of
from metareview.sources.clock import Clock

_SECONDARY_WAIT = 60.0
_LIMITS = ("RATE_LIMITED", "RATE_LIMIT", "SECONDARY_RATE_LIMIT")
_REFUSED = ("FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES", "UNAUTHORIZED")


class ScopesMissing(Exception):
    """The token lacks a scope that a field of the query asks for."""


@dataclass(frozen=True, slots=True)
class GraphReply:
    """The data of a GraphQL reply, and the path and reason of each part that was refused."""

    data: Record
    refused: tuple[tuple[tuple[str | int, ...], str], ...] = ()


class GitHubApi(Api):
    """The APIs of one GitHub server."""

    variable: ClassVar[str] = "GITHUB_TOKEN"
    limit_headers: ClassVar[str] = "x-ratelimit-"
    used_up: ClassVar[str] = "the hourly limit is used up"

    def __init__(self, access: Access, clock: Clock, show: Callable[[str], None]) -> None:
        headers = {
            "Authorization": f"Bearer {access.token.reveal()}",
            "Accept": "application/vnd.github+json",
            "User-Agent": USER_AGENT,
        }
        super().__init__(access.host, access.rest, access.token, headers, clock, show)
        self._graphql = access.graphql
        self._graph_limit: RateLimit | None = None

    @property
    def limit(self) -> RateLimit | None:
        """The rate limit as of the last replies: GraphQL and REST have limits of their own; the lower one."""
        known = [limit for limit in (self._graph_limit, self._rest_limit) if limit is not None]
        return min(known, key=lambda limit: limit.remaining, default=None)

    def graphql(self, query: str, variables: Mapping[str, object]) -> GraphReply:
        """The reply to a query; TransientFailure if a smaller one may do better."""
        self._wait_for(self._graph_limit)
        body = json.dumps({"query": query, "variables": dict(variables)}).encode()
        headers = {**self._headers, "Content-Type": "application/json"}
        return self._unless_limited(lambda: self._graph_reply(self._exchange("POST", self._graphql, headers, body)))

    def rest(self, path: str) -> tuple[Record | None, bool]:
        """The object at a path, and True if it has a further page; None if it is absent."""
        found = self.get(path, lambda reply: (json_of(reply.data), 'rel="next"' in reply.headers.get("link", "")))
        return found or (None, False)

    def _seconds_until_allowed(self, reply: HttpReply, words: str) -> float | None:
        wait = self._seconds_asked_for(reply)
        if wait is not None:
            return wait
        lowered = words.casefold()
        return _SECONDARY_WAIT if "rate limit" in lowered or "abuse" in lowered or reply.status == 429 else None

    def _fix_of_refusal(self, message: str) -> str:
        if "saml" in message.casefold():
            return "Allow the token for the organization's single sign-on in your token settings."
        return "Give a token that may read the repository's contents and pull requests."

    def _graph_reply(self, reply: HttpReply) -> GraphReply:
        if reply.status != 200:
            fix = f"Check that {urlsplit(self._graphql).netloc} is a GitHub server."
            raise UsageError(f"{self._graphql} does not answer queries (HTTP {reply.status}). {fix}")
        root = json_of(reply.data)
        try:
            errors, data = nodes(root, "errors"), root.optional_object("data")
            self._note_limit(data.optional_object("rateLimit"))
            if root.value.get("data") is None and not errors:
                raise TransientFailure("the reply has no data")
            return GraphReply(data, self._judge_errors(errors, reply))
        except InputError as problem:
            raise TransientFailure(f"the reply is not what was asked for: {problem.problem}") from None

    def _judge_errors(self, errors: list[Record], reply: HttpReply) -> tuple[tuple[tuple[str | int, ...], str], ...]:
        """The refused parts of the data; raises if there is no data."""
        refused = []
        for error in errors:
            kind = error.text("type") or ""
            message = error.text("message") or ""
            extensions = error.optional_object("extensions")
            code = extensions.text("code") or ""
            path = error.value.get("path")
            if kind in _LIMITS or "rate limit" in message.casefold():
                seconds = self._seconds_until_allowed(reply, message)
                raise RateLimited("the limit is used up", _SECONDARY_WAIT if seconds is None else seconds)
            if kind == "INSUFFICIENT_SCOPES" and not path:
                raise ScopesMissing(self._quoted(message))
            if "saml" in message.casefold() or extensions.value.get("saml_failure"):
                fix = "Allow the token for the organization's single sign-on in your token settings."
                raise UsageError(f"the organization wants single sign-on (SAML) for this token. {fix}")
            if code in ("undefinedField", "undefinedType", "cannotSpreadFragment"):
                raise UsageError(
                    f"{self._host} does not know a field that is asked for{self._quoted(message)}. "
                    "This GitHub Enterprise Server may be too old: export the comments instead (see docs/formats.md)."
                )
            if kind in _REFUSED and isinstance(path, list):
                steps = tuple(step for step in path if isinstance(step, str | int))
                refused.append((steps, kind))
                continue
            raise TransientFailure(f"the server had a problem with the query{self._quoted(message)}")
        return tuple(refused)

    def _note_limit(self, limit: Record) -> None:
        """Remember the rate limit; a server without limits sends none."""
        most, remaining, cost = (limit.value.get(name) for name in ("limit", "remaining", "cost"))
        if type(most) is int and type(remaining) is int:
            resets_at = parse_time(time_at(limit, "resetAt")) / SECOND
            self._graph_limit = RateLimit(most, remaining, resets_at, max(1, cost if type(cost) is int else 1))
