"""One OpenAI-compatible operation over HTTP: a request, and what its outcome means for the job behind it.

Threads and urllib3 rather than an event loop: urllib3 has no dependencies of its own, costs a quarter of httpx's
processor time per request at 16 at once, and works wherever the caller runs, inside an event loop too.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple

from metareview.errors import UsageError
from metareview.http.connections import (
    USER_AGENT,
    Compressed,
    Connections,
    Dropped,
    HttpReply,
    InsecureConnection,
    Unreachable,
    UnusableReply,
    retry_after,
)
from metareview.judges.remote import context, local
from metareview.judges.remote.answers import JsonObject, Malformed, parse
from metareview.judges.remote.first_answer_timeout import FirstAnswerTimeout
from metareview.judges.remote.pool import GiveUp, RequestFailed, RetryLater
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.stop_conditions import StopConditions
from metareview.judges.remote.unsupported_fields import UnsupportedFields

_PASSING = frozenset({408, 409, 425, 429})
_ERRORS = """
api_error authentication_error billing_hard_limit_reached content_filter content_policy_violation
context_length_exceeded engine_overloaded exceed_context_size_error insufficient_quota internal_error
internal_server_error invalid_api_key invalid_prompt invalid_request_error invalid_type invalid_value
missing_required_parameter model_not_found not_found_error not_supported_error overloaded overloaded_error
permission_error rate_limit_error rate_limit_exceeded server_error service_unavailable timeout unavailable_error
unknown_parameter unsupported_parameter unsupported_value
"""
_KNOWN_ERRORS = frozenset(_ERRORS.split())
"""The codes and types of errors that are shown. Free text could repeat the key in a form that is not recognised."""
_SETUP = frozenset({401, 402, 404, 405})
_UNREACHED = 6
_LOADING = 4
"""In pauses between two attempts: how long a server may be out of reach at first, and how often one that is loading its
model is looked at."""


class Operation(NamedTuple):
    """One of a server's operations: its path, the fields of a request that a server may refuse, and the bytes that a
    reply may have."""

    path: str
    optional_fields: tuple[str, ...]
    largest_reply: int


CHAT = Operation("chat/completions", ("response_format", "temperature"), 8 * 2**20)
"""No answer of a chat model, with all its thinking, is half as long."""
EMBEDDINGS = Operation("embeddings", (), 32 * 2**20)
"""64 vectors of 16,000 numbers."""


class Endpoint:
    """Posts JSON to `operation` and decodes the reply. Safe for threads; connections are kept and shared.

    `post` raises RetryLater for what may pass (429, 408, 409, 425, 5xx, time-outs, dropped connections), Malformed
    for a reply that is no JSON object, GiveUp for a request that the server refuses, TooLong where that is for its
    length, and UsageError for what no request will ever get past: a wrong key, address or model. A request that is
    refused is tried without the optional fields that the server may not know; one that no request was served with
    is left out from then on. A server that was never reached counts as absent after six times `backoff` seconds.
    A request is over after `timeout` seconds, whatever trickles in meanwhile; until the server has answered once it may
    take longer (`FirstAnswerTimeout`), and a server that says that it is loading its model is waited for likewise.
    """

    def __init__(
        self,
        settings: ModelSettings,
        operation: Operation,
        stop: StopConditions,
        concurrency: int,
        timeout: float,
        backoff: float,
    ) -> None:
        self.settings = settings
        self.requests = 0
        self._stop = stop
        self._url = settings.address(operation.path)
        self._timeout, self._backoff, self._largest_reply = timeout, backoff, operation.largest_reply
        self.first_answer = FirstAnswerTimeout(timeout, concurrency)
        self._optional = UnsupportedFields(operation.optional_fields)
        self._unreachable_since: float | None = None
        self._lock = threading.Lock()
        self._connections = Connections(settings.url, concurrency)
        self._headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        if settings.api_key:
            self._headers["Authorization"] = f"Bearer {settings.api_key.reveal()}"

    @property
    def left_out(self) -> set[str]:
        """The optional fields that requests were served without, and none was served with."""
        return self._optional.left_out

    def post(self, body: JsonObject, *, divisible: bool = False) -> JsonObject:
        """The decoded reply to a successful request.

        A refusal of a `divisible` request says nothing of the settings: its parts may be served.
        """
        number = self._stop.start(divisible=divisible)
        whole, body = body, self._optional.of(body)
        refused: set[str] = set()
        while True:
            try:
                status, headers, data = self._send(json.dumps(body, separators=(",", ":")).encode())
            except RetryLater as problem:
                if problem.timed_out:
                    self._optional.failed(whole, body, unanswered=True)
                raise
            if 200 <= status < 300:
                self._stop.trusted = True
                self.first_answer.answered()
                self._optional.served(whole, body, refused)
                return _decode(data)
            if too_long := context.refusal(status, data):
                raise too_long
            # Not by what others were served with meanwhile: the outcome of a request must not depend on their order.
            field = self._optional.refused(status, data, body)
            if field is None:
                if status == 500:
                    self._optional.failed(whole, body, unanswered=False)
                raise self._problem(status, headers, data, number, divisible)
            del body[field]
            refused.add(field)

    def raise_if_never_served(self) -> None:
        """At the end of a batch: requests were refused, none was ever served: the settings are wrong."""
        if self._stop.last_refusal and not self._stop.trusted:
            raise self._setup_error(*self._stop.last_refusal)

    def close(self) -> None:
        self._connections.close()

    def _send(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """One HTTP exchange, counted if it reached the server: status, headers, body."""
        self._stop.take()
        problem: RequestFailed | None = None
        reply: HttpReply | None = None
        started, longest, deadline = time.monotonic(), self.first_answer.longest, self.first_answer.sent()
        try:
            reply = self._connections.exchange(
                "POST", self._url, headers=self._headers, body=body, timeout=longest, deadline=deadline,
                largest=self._largest_reply,
            )  # fmt: skip
        except Unreachable as error:
            self._stop.give_back()
            raise self._unreachable(str(error)) from None
        except InsecureConnection as error:
            self._stop.give_back()
            if not self.requests:
                raise UsageError(f"{self.settings.server_name}: {error}. Check its certificate.") from None
            raise RetryLater(f"no secure connection: {error}", sent=False) from None
        except TimeoutError:
            seconds = max(deadline() - started, self._timeout)
            problem = RetryLater(f"no answer within {seconds:.3g} s", timed_out=True)
        except UnusableReply as error:
            if isinstance(error, Compressed) and not self._stop.trusted:
                raise UsageError(f"{self.settings.server_name}: {error}. Turn its compression off.") from None
            problem = GiveUp(str(error))
        except Dropped as error:
            problem = RetryLater(f"the connection was dropped ({error})")
        finally:
            self.first_answer.over(heard=reply is not None)
        with self._lock:
            self.requests += 1
        if isinstance(problem, RetryLater) and problem.timed_out:
            self._stop.unanswered()
        if problem is not None:
            raise problem
        assert reply is not None
        self._stop.replied()
        return reply.status, reply.headers, reply.data

    def _unreachable(self, reason: str) -> Exception:
        """A server that was never reached is a wrong address; one that is gone may come back."""
        with self._lock:
            now = time.monotonic()
            self._unreachable_since = self._unreachable_since or now
            if not self.requests and now - self._unreachable_since >= _UNREACHED * self._backoff:
                fix = f"Check {self.settings.kind}_MODEL_URL, and that the server is running."
                start = local.how_to_start(self.settings)
                return UsageError(
                    f"{self.settings.server_name} cannot be reached ({reason}). {fix}{start and ' '}{start}"
                )
        return RetryLater(reason, sent=False)

    def _problem(
        self, status: int, headers: Mapping[str, str], data: bytes, number: int, divisible: bool
    ) -> RequestFailed | UsageError:
        error = _known_error(data)
        reason = f"HTTP {status}" + (f", {error}" if error else "")
        if status == 429 and error == "insufficient_quota":
            return self._setup_error(reason, 402)
        if status in _PASSING or status >= 500:
            wait = retry_after(headers)
            if status == 503 and b"loading" in data.lower():
                wait = _LOADING * self._backoff if wait is None else wait
                free = self.first_answer.loading()
                return RetryLater(f"{reason}: it is loading its model", wait=wait, all_wait=True, costs_nothing=free)
            all_wait = wait is not None and status in (429, 503)
            return RetryLater(reason, wait=wait, all_wait=all_wait, fewer_at_once=status == 429)
        hopeless = not divisible and self._stop.refused(reason, status, number)
        if status in _SETUP or status < 400 or hopeless:
            return self._setup_error(reason, status, local.missing(self.settings, data) if status == 404 else "")
        return GiveUp(f"the server refuses this request ({reason})")

    def _setup_error(self, reason: str, status: int = 400, known_fix: str = "") -> UsageError:
        kind, model = self.settings.kind, self.settings.model
        fixes = {
            401: f"Set {kind}_API_KEY to a valid one.",
            402: "Its account has no credit left: add some, or use another model.",
            403: f"Check that the key in {kind}_API_KEY may use {model}.",
            404: f"Check {kind}_MODEL_URL (most end in /v1) and {kind}_MODEL: does it have {model}?",
        }
        fix = known_fix or fixes.get(status, f"Check {kind}_MODEL_URL and {kind}_MODEL ({model}).")
        if status < 400:
            fix = f"It redirects. Set {kind}_MODEL_URL to the final address."
        if status == 401:
            reason = "HTTP 401, the key is refused" if self.settings.api_key else "HTTP 401, it wants a key"
        return UsageError(f"{self.settings.server_name} refuses to answer ({reason}). {fix}")


def _known_error(data: bytes) -> str:
    """The code or type of the server's error, where it is a known one."""
    value = parse(data)
    error = value.get("error", value) if isinstance(value, dict) else None
    given = [error.get("code"), error.get("type")] if isinstance(error, dict) else []
    return next((name for name in given if isinstance(name, str) and name in _KNOWN_ERRORS), "")


def _decode(data: bytes) -> JsonObject:
    value = parse(data)
    if not isinstance(value, dict):
        raise Malformed("the reply is no JSON object" if data.strip() else "the reply is empty")
    return value
