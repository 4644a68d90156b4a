"""Requests to one server, one after the other, each until it is answered: it waits for limits, and retries what passes.

Servers ask for requests in series, so there is no pool. What no retry would change (a wrong token, a repository that is
not there) is a UsageError; what may be too much at once is `TooMuch`, so that whoever asked can ask for less.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar
from urllib.parse import urljoin, urlsplit

from metareview.errors import UsageError
from metareview.http.connections import (
    Compressed,
    Connections,
    Reply,
    UnusableReply,
    connection_problem,
    retry_after,
    tls_problem,
)
from metareview.http.secret import Secret
from metareview.sources.clock import Clock, clock_time
from metareview.sources.node import Node, Unexpected

T = TypeVar("T")
_SECONDS = 60.0
_ATTEMPTS = 8
_FIRST_ATTEMPTS = 4
_MOST_WAITS = 12
_LONGEST_WAIT = 2 * 3_600.0
_LONGEST_PAUSE = 60.0
_REDIRECTS = 3
_SHOWN = 200
ABSENT = (404, 410, 422)
"""What a server answers where there is nothing, or nothing that this token may see."""


class TooMuch(Exception):
    """A passing failure, of a kind that a smaller request may avoid. The reason is safe to show."""


class TooOften(Exception):
    """A limit: to be asked again after `seconds`. The reason is safe to show."""

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


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


class Api(ABC):
    """Asks one server. `tell` gets a line for whoever waits, whenever it waits."""

    variable: ClassVar[str]
    """Of the environment, that has the token; for messages."""
    limit_headers: ClassVar[str]
    """What the names of the headers begin with that tell of the limit."""
    used_up: ClassVar[str]
    """What is said where nothing is left of the limit."""
    kept: ClassVar[str] = "What was done is kept: the same command goes on from there."
    """What is said where it gave up."""

    def __init__(
        self, host: str, base: str, token: Secret, headers: Mapping[str, str], clock: Clock, tell: Callable[[str], None]
    ) -> None:
        """`base` is the address of the API, and `headers` have the token: they go nowhere else."""
        self.requests = 0
        self._host, self._base, self._token, self._headers = host, base, token, dict(headers)
        self._clock, self._tell = clock, tell
        self._rest_limit: RateLimit | None = None
        self._reached = False
        self._connections = Connections(base)

    @property
    def limit(self) -> RateLimit | None:
        """What is left, as the last reply has it."""
        return self._rest_limit

    def close(self) -> None:
        self._connections.close()

    @abstractmethod
    def _seconds_until_allowed(self, reply: Reply, words: str) -> float | None:
        """For a refusal that is about a limit: how long to wait. None for another."""

    @abstractmethod
    def _fix_of_refusal(self, said: str) -> str:
        """What to do about a refusal in these words."""

    def get(self, path: str, take: Callable[[Reply], T]) -> T | None:
        """What `take` makes of the reply at a path; None where there is nothing, or nothing that is to be shown.

        Where `take` raises TooMuch, the request is made again.
        """

        def attempt() -> T | None:
            self._wait_for(self._rest_limit)
            reply = self._reply(f"{self._base}/{path}")
            return None if reply is None else take(reply)

        return self.persist(lambda: self._unless_limited(attempt))

    def persist(self, attempt: Callable[[], T], ask_for_less: Callable[[], None] = lambda: None) -> T:
        """Attempts something again and again while it is TooMuch, with longer and longer pauses; then UsageError."""
        for failures in range(1, _ATTEMPTS + 1):
            try:
                return attempt()
            except TooMuch as problem:
                if failures >= (_ATTEMPTS if self._reached else _FIRST_ATTEMPTS):
                    raise UsageError(f"{self._host} does not answer ({problem}). {self.kept}") from None
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
        raise UsageError(f"{self._host} says again and again that it is asked too often. Try later. {self.kept}")

    def _wait(self, seconds: float, why: str) -> None:
        if not seconds <= _LONGEST_WAIT:
            then = clock_time(self._clock.now() + seconds)
            raise UsageError(f"{why}, and {self._host} wants to be left alone until {then}. {self.kept}")
        self._tell(f"{why}; goes on at {clock_time(self._clock.now() + seconds)}")
        self._clock.sleep(seconds)

    def _wait_for(self, limit: RateLimit | None) -> None:
        """Waits where the limit is known to be too low for another request: asking all the same is held against us."""
        if limit is not None and limit.remaining < limit.cost:
            seconds = limit.resets_at - self._clock.now()
            if seconds > 0:
                self._wait(seconds + 1, self.used_up)

    def _exchange(self, method: str, address: str, headers: Mapping[str, str], body: bytes | None = None) -> Reply:
        """One HTTP exchange; TooMuch where there was none, or it broke off."""
        from urllib3 import exceptions

        try:
            reply = self._connections.exchange(method, address, headers=headers, body=body, timeout=_SECONDS)
        except exceptions.SSLError as error:
            raise UsageError(f"{self._host}: {tls_problem(error)}. Check its certificate.") from None
        except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError, exceptions.ProxyError) as error:
            raise TooMuch(connection_problem(error)) from None
        except (exceptions.TimeoutError, TimeoutError):
            raise TooMuch(f"no answer within {_SECONDS:g} s") from None
        except Compressed:
            fix = "A proxy in between may do that: leave it out with NO_PROXY, or turn its compression off."
            raise UsageError(
                f"{self._host} sends a compressed reply, which was not asked for and is not unpacked. {fix}"
            ) from None
        except UnusableReply as error:
            raise TooMuch(str(error)) from None
        except (exceptions.HTTPError, OSError) as error:
            raise TooMuch(f"the connection was dropped ({type(error).__name__})") from None
        self.requests += 1
        self._reached = True
        self._check_status(reply)
        return reply

    def _check_status(self, reply: Reply) -> None:
        """Raises for what no reply should be; leaves redirects, and what is not there, to whoever asked."""
        status = reply.status
        if status < 400 or status in ABSENT:
            return
        if status == 401:
            raise UsageError(f"{self._host} refuses the token (HTTP 401). Set {self.variable} to a valid one.")
        words = reply.data[:10_000].decode("utf-8", "replace")
        if status in (403, 429):
            seconds = self._seconds_until_allowed(reply, words)
            if seconds is not None:
                raise TooOften(f"{self._host} is asked too often (HTTP {status})", seconds)
        if status >= 500 or status in (408, 429):
            raise TooMuch(f"HTTP {status}")
        said = _message(words)
        raise UsageError(f"{self._host} refuses (HTTP {status}{self._quoted(said)}). {self._fix_of_refusal(said)}")

    def _seconds_asked_for(self, reply: Reply, *, even_if_some_are_left: bool = False) -> float | None:
        """How long the headers say to wait."""
        wait = retry_after(reply.headers)
        if wait is not None:
            return wait
        reset = _number(reply.headers.get(f"{self.limit_headers}reset"))
        none_left = reply.headers.get(f"{self.limit_headers}remaining") == "0"
        if reset is None or not (none_left or even_if_some_are_left):
            return None
        return max(0.0, reset - self._clock.now()) + 1

    def _reply(self, address: str) -> Reply | None:
        """The reply at an address, or at another of the server's own that it names instead; None where it is ABSENT."""
        for _ in range(_REDIRECTS):
            reply = self._exchange("GET", address, self._headers)
            remaining, limit, reset = (
                _number(reply.headers.get(f"{self.limit_headers}{name}")) for name in ("remaining", "limit", "reset")
            )
            if remaining is not None and limit is not None and reset is not None:
                self._rest_limit = RateLimit(int(limit), int(remaining), reset)
            if reply.status in ABSENT:
                return None
            if reply.status < 300:
                return reply
            further = self._own_address(reply.headers.get("location"), address)
            if further is None:
                break
            address = further
        raise UsageError(f"{self._host} redirects to another server, which must not get the token. Check --api.")

    def _own_address(self, found: str | None, base: str) -> str | None:
        """An address that the server names, if it is one of its own: the token goes nowhere else."""
        if not found:
            return None
        try:
            address = urljoin(base, found)
            there, here = urlsplit(address), urlsplit(self._base)
            same = (there.scheme, there.netloc.casefold()) == (here.scheme, here.netloc.casefold())
        except ValueError:
            return None
        return address if same else None

    def _quoted(self, said: str) -> str:
        """The server's own words, unless they repeat the token."""
        shown = self._token.line_of(said, _SHOWN)
        return f": {shown}" if shown else ""


def parsed(data: bytes) -> Any:
    """The JSON of a reply; TooMuch where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise TooMuch("the reply breaks off or is no JSON" if data.strip() else "the reply is empty") from None


def object_of(reply: Reply) -> Node:
    """The object that a reply is; TooMuch where it is none."""
    return _node(reply.data)


def _node(data: bytes) -> Node:
    value = parsed(data)
    if not isinstance(value, dict):
        raise TooMuch("the reply is JSON, but no object")
    return Node(value)


def _message(words: str) -> str:
    try:
        return _node(words.encode()).text("message") or ""
    except (TooMuch, Unexpected):
        return ""


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
