"""Requests to GitHub, one after the other, each until it is answered: limits are waited for, what passes is retried.

GitHub asks for requests in series, so there is no pool. A reply is a `Node`. What no retry would change (a wrong token,
a repository that is not there) is a UsageError; what may be too much at once is `TooMuch`, so that whoever asked can
ask for less.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from metareview.errors import UsageError
from metareview.http.connections import USER_AGENT, Connections, Reply, connection_problem, retry_after, tls_problem
from metareview.model.time import SECOND, parse_time
from metareview.model.words import one_line
from metareview.sources.clock import Clock, clock_time
from metareview.sources.github.access import Access
from metareview.sources.node import Node, Unexpected

T = TypeVar("T")
_SECONDS = 60.0
_ATTEMPTS = 8
_FIRST_ATTEMPTS = 4
_MOST_WAITS = 12
_LONGEST_WAIT = 2 * 3_600.0
_LONGEST_PAUSE = 60.0
_SECONDARY_WAIT = 60.0
_REDIRECTS = 3
_SHOWN = 200
_LIMITS = ("RATE_LIMITED", "RATE_LIMIT", "SECONDARY_RATE_LIMIT")
_REFUSED = ("FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES", "UNAUTHORIZED")
_KEPT = "What was done is kept: the same command goes on from there."


class TooMuch(Exception):
    """A passing failure, of a kind that a smaller request may avoid. The reason is safe to show."""


class TooOften(Exception):
    """A limit: to be asked again after `seconds`. The reason is safe to show."""

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


class ScopesMissing(Exception):
    """The token lacks a scope that a field of the query asks for."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """What is left of a limit, and when it is full again (seconds since 1970)."""

    limit: int
    remaining: int
    resets_at: float
    cost: int = 1

    @property
    def words(self) -> str:
        """
        >>> RateLimit(5000, 4312, 0.0).words.partition(", ")[0]
        '4,312 of 5,000 requests left'
        """
        return f"{self.remaining:,} of {self.limit:,} requests left, resets {clock_time(self.resets_at)}"


@dataclass(frozen=True, slots=True)
class GraphReply:
    """The data of a GraphQL reply, and which parts of it could not be had: the path of each, and why."""

    data: Node
    refused: tuple[tuple[tuple[str | int, ...], str], ...] = ()


class GitHubApi:
    """Asks one server. `tell` gets a line for whoever waits, whenever it waits."""

    def __init__(self, access: Access, clock: Clock, tell: Callable[[str], None]) -> None:
        self.requests = 0
        self._access, self._clock, self._tell = access, clock, tell
        self._graph_limit: RateLimit | None = None
        self._rest_limit: RateLimit | None = None
        self._reached = False
        self._connections = Connections(access.rest)
        self._headers = {
            "Authorization": f"Bearer {access.token.reveal()}",
            "Accept": "application/vnd.github+json",
            "User-Agent": USER_AGENT,
        }

    @property
    def limit(self) -> RateLimit | None:
        """What is left, as the last replies have it: GraphQL and REST have limits of their own; the lower one."""
        known = [limit for limit in (self._graph_limit, self._rest_limit) if limit is not None]
        return min(known, key=lambda limit: limit.remaining, default=None)

    def close(self) -> None:
        self._connections.close()

    def graphql(self, query: str, variables: Mapping[str, object]) -> GraphReply:
        """The reply to a query; TooMuch where a smaller one may do better."""
        self._wait_for(self._graph_limit)
        body = json.dumps({"query": query, "variables": dict(variables)}).encode()
        headers = {**self._headers, "Content-Type": "application/json"}
        return self._unless_limited(
            lambda: self._graph_reply(self._exchange("POST", self._access.graphql, headers, body))
        )

    def rest(self, path: str) -> tuple[Node | None, bool]:
        """The object at a path, and whether it has a further page; None where it is not there, or not to be shown."""

        def attempt() -> tuple[Node | None, bool]:
            self._wait_for(self._rest_limit)
            return self._rest_reply(f"{self._access.rest}/{path}")

        return self.persist(lambda: self._unless_limited(attempt))

    def persist(self, attempt: Callable[[], T], ask_for_less: Callable[[], None] = lambda: None) -> T:
        """Attempts something again and again while it is TooMuch, with longer and longer pauses; then UsageError."""
        for failures in range(1, _ATTEMPTS + 1):
            try:
                return attempt()
            except TooMuch as problem:
                if failures >= (_ATTEMPTS if self._reached else _FIRST_ATTEMPTS):
                    raise UsageError(f"{self._access.host} does not answer ({problem}). {_KEPT}") from None
                pause = min(_LONGEST_PAUSE, 2.0 ** (failures - 1))
                self._tell(f"{problem}; trying again in {pause:.0f} s")
                ask_for_less()
                self._clock.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _unless_limited(self, attempt: Callable[[], T]) -> T:
        for _ in range(_MOST_WAITS):
            try:
                return attempt()
            except TooOften as limit:
                self._wait(limit.seconds, str(limit))
        raise UsageError(f"{self._access.host} says again and again that it is asked too often. Try later. {_KEPT}")

    def _wait(self, seconds: float, why: str) -> None:
        if not seconds <= _LONGEST_WAIT:
            then = clock_time(self._clock.now() + seconds)
            raise UsageError(f"{why}, and {self._access.host} wants to be left alone until {then}. {_KEPT}")
        self._tell(f"{why}; goes on at {clock_time(self._clock.now() + seconds)}")
        self._clock.sleep(seconds)

    def _wait_for(self, limit: RateLimit | None) -> None:
        """Waits where the limit is known to be too low for another request: asking all the same is held against us."""
        if limit is not None and limit.remaining < limit.cost:
            seconds = limit.resets_at - self._clock.now()
            if seconds > 0:
                self._wait(seconds + 1, "the hourly limit is used up")

    def _exchange(self, method: str, address: str, headers: Mapping[str, str], body: bytes | None = None) -> Reply:
        """One HTTP exchange; TooMuch where there was none, or it broke off."""
        from urllib3 import exceptions

        try:
            reply = self._connections.exchange(method, address, headers=headers, body=body, timeout=_SECONDS)
        except exceptions.SSLError as error:
            raise UsageError(f"{self._access.host}: {tls_problem(error)}. Check its certificate.") from None
        except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError, exceptions.ProxyError) as error:
            raise TooMuch(connection_problem(error)) from None
        except (exceptions.TimeoutError, TimeoutError):
            raise TooMuch(f"no answer within {_SECONDS:g} s") from None
        except (exceptions.HTTPError, OSError) as error:
            raise TooMuch(f"the connection was dropped ({type(error).__name__})") from None
        self.requests += 1
        self._reached = True
        self._check_status(reply)
        return reply

    def _check_status(self, reply: Reply) -> None:
        """Raises for what no reply should be; leaves redirects, 404, 410 and 422 to whoever asked."""
        status = reply.status
        if status < 400 or status in (404, 410, 422):
            return
        if status == 401:
            raise UsageError(f"{self._access.host} refuses the token (HTTP 401). Set GITHUB_TOKEN to a valid one.")
        words = reply.data[:10_000].decode("utf-8", "replace")
        if status in (403, 429):
            seconds = self._seconds_until_allowed(reply, words)
            if seconds is not None:
                raise TooOften(f"{self._access.host} is asked too often (HTTP {status})", seconds)
        if status >= 500 or status in (408, 429):
            raise TooMuch(f"HTTP {status}")
        said = _message(words)
        raise UsageError(f"{self._access.host} refuses (HTTP {status}{self._quoted(said)}). {_fix_of_refusal(said)}")

    def _seconds_until_allowed(self, reply: Reply, words: str) -> float | None:
        """For a refusal that is about a limit: how long to wait. None for another."""
        wait = retry_after(reply.headers)
        if wait is not None:
            return wait
        reset = _number(reply.headers.get("x-ratelimit-reset"))
        if reply.headers.get("x-ratelimit-remaining") == "0" and reset is not None:
            return max(0.0, reset - self._clock.now()) + 1
        told = words.casefold()
        return _SECONDARY_WAIT if "rate limit" in told or "abuse" in told or reply.status == 429 else None

    def _graph_reply(self, reply: Reply) -> GraphReply:
        if reply.status != 200:
            fix = f"Check that {urlsplit(self._access.graphql).netloc} is a GitHub server."
            raise UsageError(f"{self._access.graphql} does not answer queries (HTTP {reply.status}). {fix}")
        root = _object(reply.data)
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
                    f"{self._access.host} does not know a field that is asked for{self._quoted(said)}. "
                    "This GitHub Enterprise Server may be too old: export the comments instead (see docs/formats.md)."
                )
            if kind in _REFUSED and isinstance(path, list):
                steps = tuple(step for step in path if isinstance(step, str | int))
                refused.append((steps, kind))
                continue
            raise TooMuch(f"the server had a problem with the query{self._quoted(said)}")
        return tuple(refused)

    def _rest_reply(self, address: str) -> tuple[Node | None, bool]:
        for _ in range(_REDIRECTS):
            reply = self._exchange("GET", address, self._headers)
            remaining, limit, reset = (
                _number(reply.headers.get(f"x-ratelimit-{name}")) for name in ("remaining", "limit", "reset")
            )
            if remaining is not None and limit is not None and reset is not None:
                self._rest_limit = RateLimit(int(limit), int(remaining), reset)
            if reply.status in (404, 410, 422):
                return None, False
            if reply.status < 300:
                return _object(reply.data), 'rel="next"' in reply.headers.get("link", "")
            further = self._own_address(reply.headers.get("location"), address)
            if further is None:
                break
            address = further
        raise UsageError(f"{self._access.host} redirects to another server, which must not get the token. Check --api.")

    def _own_address(self, found: str | None, base: str) -> str | None:
        """An address that the server names, if it is one of its own: the token goes nowhere else."""
        if not found:
            return None
        try:
            address = urljoin(base, found)
            there, here = urlsplit(address), urlsplit(self._access.rest)
            same = (there.scheme, there.netloc.casefold()) == (here.scheme, here.netloc.casefold())
        except ValueError:
            return None
        return address if same else None

    def _note_limit(self, node: Node | None) -> None:
        """A server without limits has none to tell of."""
        if node is None:
            return
        limit, remaining = node.number("limit"), node.number("remaining")
        if limit is not None and remaining is not None:
            resets_at = parse_time(node.instant("resetAt")) / SECOND
            self._graph_limit = RateLimit(limit, remaining, resets_at, max(1, node.number("cost") or 1))

    def _quoted(self, said: str) -> str:
        """The server's own words, unless they repeat the token."""
        return "" if not said or self._access.token.is_in(said) else f": {one_line(said, _SHOWN)}"


def _object(data: bytes) -> Node:
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise TooMuch("the reply breaks off or is no JSON" if data.strip() else "the reply is empty") from None
    if not isinstance(value, dict):
        raise TooMuch("the reply is JSON, but no object")
    return Node(value)


def _message(words: str) -> str:
    try:
        return _object(words.encode()).text("message") or ""
    except (TooMuch, Unexpected):
        return ""


def _fix_of_refusal(said: str) -> str:
    if "saml" in said.casefold():
        return "Allow the token for the organization's single sign-on in your token settings."
    return "Give a token that may read the repository's contents and pull requests."


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
