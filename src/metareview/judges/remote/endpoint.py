"""One OpenAI-compatible operation over HTTP: a request, and what its outcome means for the job behind it.

Threads and urllib3 rather than an event loop: urllib3 has no dependencies of its own, costs a quarter of httpx's
processor time per request at 16 at once, and works wherever the caller runs, inside an event loop too.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping

from metareview.errors import UsageError
from metareview.http.connections import (
    LARGEST_REPLY,
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
from metareview.judges.remote.pool import BACKOFF, GiveUp, RequestFailed, RetryLater, StopAsking
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.stop_conditions import Budget
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
_REFUSALS = 3
_SILENCES = 8
_UNREACHED = 6
_LOADING = 4
"""In pauses between two attempts: how long a server may be out of reach at first, and how often one that is loading its
model is looked at."""


class Endpoint:
    """Posts JSON to `operation` and decodes the reply. Safe for threads; connections are kept and shared.

    `post` raises RetryLater for what may pass (429, 408, 409, 425, 5xx, time-outs, dropped connections), Malformed
    for a reply that is no JSON object, GiveUp for a request that the server refuses, TooLong where that is for its
    length, and UsageError for what no request will ever get past: a wrong key, address or model. A request that is
    refused is tried without the `optional` fields that the server may not know; one that no request was served with
    is left out from then on. A server that was never reached counts as absent after six times `backoff` seconds.
    One that left two requests in a row unanswered for each that may be under way at once, and eight at least, is
    asked no more: StopAsking. A request is over after `timeout` seconds, whatever trickles in meanwhile; until the
    server has answered once it may take longer (`FirstAnswerTimeout`), and a server that says that it is loading
    its model is waited for likewise.
    """

    def __init__(
        self,
        settings: ModelSettings,
        operation: str,
        optional: tuple[str, ...],
        concurrency: int,
        timeout: float,
        backoff: float = BACKOFF,
        largest_reply: int = LARGEST_REPLY,
        budget: Budget | None = None,
    ) -> None:
        self.settings = settings
        self._budget = budget or Budget(None)
        self.requests = 0
        self.trusted = False
        """True once the server has served us: a refusal then is about the request, not the settings."""
        self.silent = False
        """True once the server left too many requests unanswered, so that it is asked no more."""
        self._url = settings.address(operation)
        self.server = f"the model server at {settings.shown_url}"
        self._timeout, self._backoff, self._largest_reply = timeout, backoff, largest_reply
        self.first_answer = FirstAnswerTimeout(timeout, concurrency)
        self._optional = UnsupportedFields(optional)
        self._most_silences = max(_SILENCES, 2 * concurrency)
        self._silences = 0
        self._unreachable_since: float | None = None
        self._reached = False
        self._started = 0
        self._first = max(_REFUSALS, concurrency)
        self._first_refused: set[int] = set()
        self._last_refusal: tuple[str, int] | None = None
        self._lock = threading.Lock()
        self._connections = Connections(settings.url, concurrency)
        self._headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        if settings.api_key:
            self._headers["Authorization"] = f"Bearer {settings.api_key.reveal()}"

    @property
    def left_out(self) -> set[str]:
        """The optional fields that requests were served without, and none was served with."""
        return self._optional.left_out

    @property
    def silence(self) -> str:
        """The description of a server that answers nothing."""
        return f"no answer to {self._most_silences} requests in a row within {self._timeout:g} s each"

    def post(self, body: JsonObject, *, divisible: bool = False) -> JsonObject:
        """The decoded reply to a successful request.

        A refusal of a `divisible` request says nothing of the settings: its parts may be served.
        """
        if self.silent:
            raise StopAsking(f"not asked: {self.silence}", sent=False)
        asked, body = body, self._optional.of(body)
        with self._lock:
            number = self._started
            self._started += not divisible
        refused: set[str] = set()
        while True:
            try:
                status, headers, data = self._send(json.dumps(body, separators=(",", ":")).encode())
            except RetryLater as problem:
                if problem.timed_out:
                    self._optional.failed(asked, body, unanswered=True)
                raise
            if 200 <= status < 300:
                self.trusted = True
                self.first_answer.answered()
                self._optional.served(asked, body, refused)
                return _decode(data)
            if too_long := context.refusal(status, data):
                raise too_long
            # Not by what others were served with meanwhile: the outcome of a request must not depend on their order.
            field = self._optional.refused(status, data, body)
            if field is None:
                if status == 500:
                    self._optional.failed(asked, body, unanswered=False)
                raise self._problem(status, headers, data, number, divisible)
            del body[field]
            refused.add(field)

    def raise_if_never_served(self) -> None:
        """At the end of a batch: requests were refused, none was ever served: the settings are wrong."""
        if self._last_refusal and not self.trusted:
            raise self._setup_error(*self._last_refusal)

    def close(self) -> None:
        self._connections.close()

    def _send(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """One HTTP exchange, counted if it reached the server: status, headers, body. StopAsking where the budget has
        none left."""
        self._budget.take()
        problem: RequestFailed | None = None
        reply: HttpReply | None = None
        started, longest, deadline = time.monotonic(), self.first_answer.longest, self.first_answer.sent()
        try:
            reply = self._connections.exchange(
                "POST", self._url, headers=self._headers, body=body, timeout=longest, deadline=deadline,
                largest=self._largest_reply,
            )  # fmt: skip
        except Unreachable as error:
            self._budget.give_back()
            raise self._unreachable(str(error)) from None
        except InsecureConnection as error:
            self._budget.give_back()
            if not self._reached:
                raise UsageError(f"{self.server}: {error}. Check its certificate.") from None
            raise RetryLater(f"no secure connection: {error}", sent=False) from None
        except TimeoutError:
            problem = self._unanswered(deadline() - started)
        except UnusableReply as error:
            if isinstance(error, Compressed) and not self.trusted:
                raise UsageError(f"{self.server}: {error}. Turn its compression off.") from None
            problem = GiveUp(str(error))
        except Dropped as error:
            problem = RetryLater(f"the connection was dropped ({error})")
        finally:
            self.first_answer.over(heard=reply is not None)
        with self._lock:
            self.requests += 1
            self._reached = True
            if problem is None:
                self._silences = 0
        if problem is not None:
            raise problem
        assert reply is not None
        return reply.status, reply.headers, reply.data

    def _unanswered(self, seconds: float) -> RequestFailed:
        """A request that ran out of time: one of too many in a row, or one to try again."""
        with self._lock:
            self._silences += 1
            self.silent = self.silent or self._silences >= self._most_silences
        if self.silent:
            return StopAsking(f"given up: {self.silence}")
        return RetryLater(f"no answer within {max(seconds, self._timeout):.3g} s", timed_out=True)

    def _unreachable(self, reason: str) -> Exception:
        """A server that was never reached is a wrong address; one that is gone may come back."""
        with self._lock:
            now = time.monotonic()
            self._unreachable_since = self._unreachable_since or now
            if not self._reached and now - self._unreachable_since >= _UNREACHED * self._backoff:
                fix = f"Check {self.settings.kind}_MODEL_URL, and that the server is running."
                start = local.how_to_start(self.settings)
                return UsageError(f"{self.server} cannot be reached ({reason}). {fix}{start and ' '}{start}")
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
        with self._lock:
            if not divisible:
                self._last_refusal = (reason, status)
                self._first_refused |= {number} if number < self._first else set()
            # The requests that went out first, however their answers come in: if none was served, none will be.
            hopeless = not self.trusted and len(self._first_refused) == self._first
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
        return UsageError(f"{self.server} refuses to answer ({reason}). {fix}")


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
