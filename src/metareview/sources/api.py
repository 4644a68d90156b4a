"""Requests to one server, one after the other: waits for rate limits, and retries transient failures.

Servers want requests in series, so there is no pool. What no retry would change (a wrong token, a missing repository)
is a UsageError; a `TransientFailure` may be avoided by a smaller request.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar
from urllib.parse import urljoin, urlsplit

from metareview.errors import InputError, UsageError
from metareview.formats.api_reply import reply_record
from metareview.formats.record import Record
from metareview.http.connections import (
    Compressed,
    Connections,
    Dropped,
    HttpReply,
    InsecureConnection,
    NetworkFailure,
    retry_after,
)
from metareview.http.secret import Secret
from metareview.sources.clock import Clock, clock_time

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
"""Statuses for what does not exist, or what this token may not see."""


class TransientFailure(Exception):
    """A failure worth a retry, which a smaller request may avoid. The reason is safe to show."""


class RateLimited(Exception):
    """A rate limit that is lifted after `seconds`. The reason is safe to show."""

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A rate limit: the requests that remain, and when it is reset (seconds since 1970)."""

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
    """The API of one server. `show` is called with a message whenever it waits."""

    variable: ClassVar[str]
    """The environment variable of the token; for messages."""
    limit_headers: ClassVar[str]
    """Prefix of the names of the rate limit's headers."""
    used_up: ClassVar[str]
    """Message when the rate limit is used up."""
    kept: ClassVar[str] = "What was done is kept: the same command goes on from there."
    """Advice when it gave up."""

    def __init__(
        self, host: str, base: str, token: Secret, headers: Mapping[str, str], clock: Clock, show: Callable[[str], None]
    ) -> None:
        """`base` is the address of the API; `headers`, which hold the token, are sent nowhere else."""
        self.requests = 0
        self._host, self._base, self._token, self._headers = host, base, token, dict(headers)
        self._clock, self._show = clock, show
        self._rest_limit: RateLimit | None = None
        self._reached = False
        self._connections = Connections(base)

    @property
    def limit(self) -> RateLimit | None:
        """The rate limit as of the last reply."""
        return self._rest_limit

    def close(self) -> None:
        self._connections.close()

    @abstractmethod
    def _seconds_until_allowed(self, reply: HttpReply, words: str) -> float | None:
        """Seconds to wait if the refusal is a rate limit; None for any other."""

    @abstractmethod
    def _fix_of_refusal(self, message: str) -> str:
        """The fix for a refusal with this message."""

    def get(self, path: str, take: Callable[[HttpReply], T]) -> T | None:
        """The result of `take` for the reply at a path; None if absent. A TransientFailure of `take` is retried."""

        def attempt() -> T | None:
            self._wait_for(self._rest_limit)
            reply = self._reply(f"{self._base}/{path}")
            return None if reply is None else take(reply)

        return self.persist(lambda: self._unless_limited(attempt))

    def persist(self, attempt: Callable[[], T], ask_for_less: Callable[[], None] = lambda: None) -> T:
        """Retry transient failures with ever longer pauses; UsageError after the last."""
        for failures in range(1, _ATTEMPTS + 1):
            try:
                return attempt()
            except TransientFailure as problem:
                if failures >= (_ATTEMPTS if self._reached else _FIRST_ATTEMPTS):
                    raise UsageError(f"{self._host} does not answer ({problem}). {self.kept}") from None
                pause = min(_LONGEST_PAUSE, 2.0 ** (failures - 1))
                self._show(f"{problem}; trying again in {pause:.0f} s")
                ask_for_less()
                self._clock.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _unless_limited(self, attempt: Callable[[], T]) -> T:
        for _ in range(_MOST_WAITS):
            try:
                return attempt()
            except RateLimited as limit:
                self._wait(limit.seconds, str(limit))
        raise UsageError(f"{self._host} says again and again that it is asked too often. Try later. {self.kept}")

    def _wait(self, seconds: float, why: str) -> None:
        if not seconds <= _LONGEST_WAIT:
            then = clock_time(self._clock.now() + seconds)
            raise UsageError(f"{why}, and {self._host} wants to be left alone until {then}. {self.kept}")
        self._show(f"{why}; goes on at {clock_time(self._clock.now() + seconds)}")
        self._clock.sleep(seconds)

    def _wait_for(self, limit: RateLimit | None) -> None:
        """Wait if the limit is known to be too low for another request: servers penalise those sent all the same."""
        if limit is not None and limit.remaining < limit.cost:
            seconds = limit.resets_at - self._clock.now()
            if seconds > 0:
                self._wait(seconds + 1, self.used_up)

    def _exchange(self, method: str, address: str, headers: Mapping[str, str], body: bytes | None = None) -> HttpReply:
        """One HTTP exchange; TransientFailure if it failed or broke off."""
        try:
            reply = self._connections.exchange(method, address, headers=headers, body=body, timeout=_SECONDS)
        except InsecureConnection as error:
            raise UsageError(f"{self._host}: {error}. Check its certificate.") from None
        except Compressed:
            fix = "A proxy in between may do that: leave it out with NO_PROXY, or turn its compression off."
            raise UsageError(
                f"{self._host} sends a compressed reply, which was not asked for and is not unpacked. {fix}"
            ) from None
        except Dropped as error:
            raise TransientFailure(f"the connection was dropped ({error})") from None
        except NetworkFailure as error:
            raise TransientFailure(str(error)) from None
        except TimeoutError:
            raise TransientFailure(f"no answer within {_SECONDS:g} s") from None
        self.requests += 1
        self._reached = True
        self._check_status(reply)
        return reply

    def _check_status(self, reply: HttpReply) -> None:
        """Raise for failures; redirects and absent objects are for the caller."""
        status = reply.status
        if status < 400 or status in ABSENT:
            return
        if status == 401:
            raise UsageError(f"{self._host} refuses the token (HTTP 401). Set {self.variable} to a valid one.")
        words = reply.data[:10_000].decode("utf-8", "replace")
        if status in (403, 429):
            seconds = self._seconds_until_allowed(reply, words)
            if seconds is not None:
                raise RateLimited(f"{self._host} is asked too often (HTTP {status})", seconds)
        if status >= 500 or status in (408, 429):
            raise TransientFailure(f"HTTP {status}")
        message = _message(words)
        raise UsageError(
            f"{self._host} refuses (HTTP {status}{self._quoted(message)}). {self._fix_of_refusal(message)}"
        )

    def _seconds_asked_for(self, reply: HttpReply, *, even_if_some_are_left: bool = False) -> float | None:
        """Seconds to wait by the reply's headers."""
        wait = retry_after(reply.headers)
        if wait is not None:
            return wait
        reset = _number(reply.headers.get(f"{self.limit_headers}reset"))
        none_left = reply.headers.get(f"{self.limit_headers}remaining") == "0"
        if reset is None or not (none_left or even_if_some_are_left):
            return None
        return max(0.0, reset - self._clock.now()) + 1

    def _reply(self, address: str) -> HttpReply | None:
        """The reply at an address, after redirects within the server; None if it is absent."""
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
        """The address of a redirect within the server; None for another server, which must not get the token."""
        if not found:
            return None
        try:
            address = urljoin(base, found)
            there, here = urlsplit(address), urlsplit(self._base)
            same = (there.scheme, there.netloc.casefold()) == (here.scheme, here.netloc.casefold())
        except ValueError:
            return None
        return address if same else None

    def _quoted(self, message: str) -> str:
        """The server's message, unless it repeats the token."""
        shown = self._token.line_of(message, _SHOWN)
        return f": {shown}" if shown else ""


def json_of(data: bytes, kind: type = dict) -> Record:
    """The JSON object or list of a reply; TransientFailure for anything else."""
    try:
        record = reply_record(data)
    except (ValueError, RecursionError):
        raise TransientFailure("the reply breaks off or is no JSON" if data.strip() else "the reply is empty") from None
    if not isinstance(record.value, kind):
        raise TransientFailure(f"the reply is JSON, but no {'object' if kind is dict else 'list'}")
    return record


def _message(words: str) -> str:
    try:
        return json_of(words.encode()).text("message") or ""
    except (TransientFailure, InputError):
        return ""


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
