"""One OpenAI-compatible operation over HTTP: a request, and what its outcome means for the job behind it.

Threads and urllib3 rather than an event loop: urllib3 has no dependencies of its own, costs a quarter of httpx's
processor time per request at 16 at once, and works wherever the caller runs, inside an event loop too.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from metareview import __version__
from metareview.errors import UsageError
from metareview.judges.remote.cache import JsonObject
from metareview.judges.remote.pool import GiveUp, RetryLater
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.verdict import one_line, parse

if TYPE_CHECKING:
    import urllib3

_PASSING = frozenset({408, 409, 425, 429})
_SETUP = frozenset({401, 402, 404, 405})
_LARGEST_REPLY = 64 * 2**20
_SHOWN = 300
_REFUSALS = 3
_CONNECT_SECONDS = 10.0


class Endpoint:
    """Posts JSON to `operation` and decodes the reply. Safe for threads; connections are kept and shared.

    `post` raises RetryLater for what may pass (429, 408, 409, 425, 5xx, time-outs, dropped connections, replies that
    are no JSON), GiveUp for a request that the server refuses, and UsageError for what no request will ever get past: a
    wrong key, address or model. An `optional` field that the server refuses, and works without, is left out from then
    on. A server that was never reached counts as absent after `patience` seconds.
    """

    def __init__(
        self,
        settings: ModelSettings,
        operation: str,
        optional: tuple[str, ...],
        concurrency: int,
        timeout: float,
        patience: float,
    ) -> None:
        self.settings = settings
        self.requests = 0
        self.trusted = False
        """Whether the server has ever served us: a refusal then is about the request, not the settings."""
        self.left_out: set[str] = set()
        self._url = settings.address(operation)
        self._server = f"the model server at {settings.shown_url}"
        self._optional, self._timeout, self._patience = optional, timeout, patience
        self._accepted: set[str] = set()
        self._unreachable_since: float | None = None
        self._reached = False
        self._refusals = 0
        self._last_refusal = ""
        self._lock = threading.Lock()
        self._http = _manager(settings, concurrency)
        self._headers = {"Content-Type": "application/json", "User-Agent": f"metareview/{__version__}"}
        if settings.api_key:
            self._headers["Authorization"] = f"Bearer {settings.api_key.reveal()}"

    def post(self, body: JsonObject, *, divisible: bool = False) -> JsonObject:
        """The decoded reply to a successful request.

        A refusal of a `divisible` request says nothing of the settings: its parts may be served.
        """
        body = {name: value for name, value in body.items() if name not in self.left_out}
        left_out: set[str] = set()
        while True:
            status, headers, data = self._send(json.dumps(body, separators=(",", ":")).encode())
            if 200 <= status < 300:
                with self._lock:
                    self.trusted = True
                    self.left_out |= left_out
                    self._accepted |= body.keys()
                return _decode(data)
            message = self._message(data)
            field = self._refused_field(status, message, body)
            if field is None:
                raise self._problem(status, headers, message, divisible)
            del body[field]
            left_out.add(field)

    def raise_if_never_served(self) -> None:
        """At the end of a batch: requests were refused, none was ever served: the settings are wrong."""
        if self._refusals and not self.trusted:
            raise self._setup_error(self._last_refusal)

    def close(self) -> None:
        self._http.clear()

    def _send(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """One HTTP exchange, counted if it reached the server: status, headers, body."""
        from urllib3 import exceptions

        problem: Exception | None = None
        try:
            reply = self._exchange(body)
        except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError, exceptions.ProxyError) as error:
            raise self._unreachable(error) from None
        except exceptions.SSLError as error:
            message = one_line(str(error), _SHOWN)
            if not self._reached:
                raise UsageError(f"{self._server}: {message}. Check its certificate.") from None
            raise RetryLater(f"no secure connection: {message}", sent=False) from None
        except (exceptions.TimeoutError, TimeoutError):
            problem = RetryLater(f"no answer within {self._timeout:g} s")
        except (exceptions.HTTPError, OSError) as error:
            problem = RetryLater(f"the connection was dropped ({type(error).__name__})")
        with self._lock:
            self.requests += 1
            self._reached = True
        if problem is not None:
            raise problem
        return reply

    def _exchange(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """The body is read by a deadline that a server cannot put off by sending a byte now and then."""
        import urllib3

        deadline = time.monotonic() + self._timeout
        timeout = urllib3.Timeout(connect=min(_CONNECT_SECONDS, self._timeout), read=self._timeout)
        send = partial(self._http.request, retries=False, redirect=False, preload_content=False)
        with send("POST", self._url, body=body, headers=self._headers, timeout=timeout) as response:
            data = bytearray()
            while part := response.read1(2**16):
                data += part
                if len(data) > _LARGEST_REPLY:
                    raise OSError("the reply is endless")
                if time.monotonic() > deadline:
                    raise TimeoutError
            response.release_conn()  # to be used again: leaving the block would close it
        return response.status, response.headers, bytes(data)

    def _unreachable(self, error: Exception) -> Exception:
        """A server that was never reached is a wrong address; one that is gone may come back."""
        reason = f"no connection: {one_line(str(error).split(': ', 1)[-1], _SHOWN)}"
        with self._lock:
            now = time.monotonic()
            self._unreachable_since = self._unreachable_since or now
            if not self._reached and now - self._unreachable_since >= self._patience:
                return UsageError(
                    f"{self._server} cannot be reached ({reason}). "
                    f"Check {self.settings.kind}_MODEL_URL, and that the server is running."
                )
        return RetryLater(reason, sent=False)

    def _message(self, data: bytes) -> str:
        """The server's own words on an error, without the key, should it repeat it."""
        text = data.decode("utf-8", "replace")
        value = parse(text)
        if isinstance(value, dict):
            error = value.get("error", value)
            error = error if isinstance(error, dict) else {"message": error}
            message, code = error.get("message"), error.get("code")
            if isinstance(message, str):
                text = f"{message} [{code}]" if isinstance(code, str) else message
        return one_line(self.settings.api_key.hide_in(text), _SHOWN)

    def _refused_field(self, status: int, message: str, body: JsonObject) -> str | None:
        """The optional field to try without: one that the server names, or has never yet accepted."""
        fields = [name for name in self._optional if name in body] if status in (400, 422, 501) else []
        words = message.lower().replace("schema", "response_format")
        named = [name for name in fields if name in words]
        unproven = [name for name in fields if name == "response_format" and name not in self._accepted]
        return next(iter(named + unproven), None)

    def _problem(self, status: int, headers: Mapping[str, str], message: str, divisible: bool) -> Exception:
        reason = f"HTTP {status}" + (f": {message}" if message else "")
        if status == 429 and "insufficient_quota" in message:
            return self._setup_error(reason, 402)
        if status in _PASSING or status >= 500:
            wait = retry_after(headers)
            all_wait = wait is not None and status in (429, 503)
            return RetryLater(reason, wait=wait, all_wait=all_wait, fewer_at_once=status == 429)
        with self._lock:
            self._refusals += not divisible
            self._last_refusal = reason
            hopeless = not self.trusted and (status == 403 or self._refusals >= _REFUSALS)
        if status in _SETUP or status < 400 or hopeless:
            return self._setup_error(reason, status)
        return GiveUp(f"the server refuses this request ({reason})")

    def _setup_error(self, reason: str, status: int = 400) -> UsageError:
        kind, model = self.settings.kind, self.settings.model
        fixes = {
            401: f"Set {kind}_API_KEY to a valid one.",
            402: "Its account has no credit left: add some, or use another model.",
            403: f"Check that the key in {kind}_API_KEY may use {model}.",
            404: f"Check {kind}_MODEL_URL (most end in /v1) and {kind}_MODEL: does it have {model}?",
        }
        fix = fixes.get(status, f"Check {kind}_MODEL_URL and {kind}_MODEL ({model}).")
        if status < 400:
            fix = f"It redirects. Set {kind}_MODEL_URL to the final address."
        if status == 401:  # the server's words are left out: some repeat a part of the key
            reason = "HTTP 401, the key is refused" if self.settings.api_key else "HTTP 401, it wants a key"
        return UsageError(f"{self._server} refuses to answer ({reason}). {fix}")


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that `retry-after-ms` or `retry-after` (seconds, or an HTTP date) asks for, if any."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "")
        with suppress(ValueError):
            if ":" in text:
                then = parsedate_to_datetime(text)
                then = then if then.tzinfo else then.replace(tzinfo=UTC)
                return max(0.0, (then - (now or datetime.now(UTC))).total_seconds())
            if math.isfinite(seconds := float(text) / unit):
                return max(0.0, seconds)
    return None


def _decode(data: bytes) -> JsonObject:
    value = parse(data)
    if not isinstance(value, dict):
        raise RetryLater("the reply is no JSON object" if data.strip() else "the reply is empty")
    return value


def _manager(settings: ModelSettings, concurrency: int) -> urllib3.PoolManager:
    """Connections to the server, through the proxy that the environment names for it."""
    import urllib3

    server, proxies = urlsplit(settings.url), getproxies()
    host, proxy = server.hostname or "", proxies.get(server.scheme) or proxies.get("all")
    if not proxy or host in ("localhost", "127.0.0.1", "::1") or proxy_bypass(host):
        return urllib3.PoolManager(num_pools=1, maxsize=concurrency)
    login = urlsplit(proxy)
    password = f"{unquote(login.username)}:{unquote(login.password or '')}" if login.username else None
    headers = urllib3.make_headers(proxy_basic_auth=password)
    try:
        return urllib3.ProxyManager(proxy, num_pools=1, maxsize=concurrency, proxy_headers=headers)
    except urllib3.exceptions.HTTPError:
        raise UsageError(
            "the proxy that the environment names cannot be used. Set HTTPS_PROXY to an http address."
        ) from None
