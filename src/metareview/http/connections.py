"""Connections to one server: through the proxy that the environment names, each request over by a deadline.

No redirect is followed, so that no secret goes to a host that it was not meant for, and nothing is retried: callers
decide what is worth another attempt.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from metareview import __version__
from metareview.errors import UsageError
from metareview.model.words import one_line

if TYPE_CHECKING:
    import urllib3

    from metareview.http.deadline import Deadline

USER_AGENT = f"metareview/{__version__}"
LARGEST_REPLY = 64 * 2**20
_CONNECT_SECONDS = 10.0
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A server's response. The names of headers are found in any case."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class NetworkFailure(OSError):
    """A request that failed. The message is safe to show."""


class Unreachable(NetworkFailure):
    """No connection to the server, or none through the proxy."""


class InsecureConnection(NetworkFailure):
    """No TLS with the server. The message is the TLS library's reason."""


class Dropped(NetworkFailure):
    """A connection that broke off. The message is the kind of error."""


class UnusableReply(NetworkFailure):
    """A reply that cannot be used."""


class Compressed(UnusableReply):
    """A reply that is compressed although that was not requested: a few kilobytes may unpack to gigabytes."""

    def __init__(self) -> None:
        super().__init__("the reply is compressed, which was not asked for, and is not unpacked")


class TooLarge(UnusableReply):
    """A reply larger than the caller allows."""

    def __init__(self, largest: int) -> None:
        super().__init__(f"the reply is larger than {largest / 2**20:,.0f} MB")


class Connections:
    """Connections to the server of `url`, kept and shared. Safe for threads.

    A request that fails raises a NetworkFailure (UnusableReply where the reply is larger than it may be, compressed, or
    only a preliminary one), or TimeoutError where it is not over by its deadline.
    """

    def __init__(self, url: str, concurrency: int = 1) -> None:
        self._http = _pools(url, concurrency)

    def exchange(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout: float,
        body: bytes | None = None,
        largest: int = LARGEST_REPLY,
        deadline: Deadline | None = None,
    ) -> HttpReply:
        """One request and its whole reply, in `timeout` seconds or by the `deadline`, if one is given.

        The deadline is a time of `time.monotonic`, and may come nearer while the request is under way.
        """
        with self.open(method, url, headers=headers, timeout=timeout, body=body, deadline=deadline) as response:
            data = bytearray()
            if not _is_compressed(response.headers):  # an error can do without its message
                while part := response.read1(2**16):
                    data += part
                    if len(data) > largest:
                        raise TooLarge(largest)
                response.release_conn()  # to be used again: leaving the block would close it
        return HttpReply(response.status, response.headers, bytes(data))

    @contextmanager
    def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout: float,
        body: bytes | None = None,
        deadline: Deadline | None = None,
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        """A reply whose body the block reads piece by piece (`read1`), all of it by the deadline, as in `exchange`.

        Nothing is ever unpacked: no compression is requested, and a success that is compressed all the same is refused.
        """
        import urllib3

        from metareview.http.deadline import over_by

        waits = urllib3.Timeout(connect=min(_CONNECT_SECONDS, timeout), read=timeout)
        end = time.monotonic() + timeout
        with (
            _failures_of_urllib3(),
            over_by(deadline or (lambda: end)),
            self._http.request(
                method, url, body=body, headers={**headers, "Accept-Encoding": "identity"}, timeout=waits,
                retries=False, redirect=False, preload_content=False, decode_content=False,
            ) as response,
        ):  # fmt: skip
            if response.status < 200:
                # The final reply is still to come, and must not be taken for that to the next request.
                raise UnusableReply(f"the reply is a preliminary one (HTTP {response.status})")
            if response.status < 300 and _is_compressed(response.headers):
                raise Compressed
            yield response

    def close(self) -> None:
        self._http.clear()


def _is_compressed(headers: Mapping[str, str]) -> bool:
    return headers.get("content-encoding", "").strip().lower() not in ("", "identity")


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds of `retry-after-ms` or `retry-after` (seconds, or an HTTP date), if any; infinite where they are
    beyond all numbers."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "")
        with suppress(ValueError, OverflowError):  # a date may be beyond the calendar
            if ":" in text:
                then = parsedate_to_datetime(text)
                then = then if then.tzinfo else then.replace(tzinfo=UTC)
                return max(0.0, (then - (now or datetime.now(UTC))).total_seconds())
            seconds = float(text) / unit
            if "n" not in text.lower():  # neither nan nor inf, which are no numbers of seconds
                return max(0.0, seconds)
    return None


@contextmanager
def _failures_of_urllib3() -> Iterator[None]:
    """Raise the errors of urllib3 as ours."""
    from urllib3 import exceptions

    try:
        yield
    except exceptions.SSLError as error:
        raise InsecureConnection(_tls_problem(error)) from None
    except exceptions.ProxyError:
        raise Unreachable("no connection: the proxy does not let it through") from None
    except exceptions.NewConnectionError as error:
        raise Unreachable(f"no connection: {one_line(str(error).split(': ', 1)[-1], _SHOWN)}") from None
    except exceptions.ConnectTimeoutError:
        raise Unreachable("no connection: the server does not answer") from None
    except exceptions.TimeoutError:
        raise TimeoutError from None
    except (exceptions.HTTPError, ConnectionError) as error:
        raise Dropped(type(error).__name__) from None


def _tls_problem(error: Exception) -> str:
    cause = error.args[0] if error.args else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        return one_line(cause.verify_message, _SHOWN)
    return one_line(cause.reason or "", _SHOWN) if isinstance(cause, ssl.SSLError) else "TLS failed"


def _pools(url: str, concurrency: int) -> urllib3.PoolManager:
    import urllib3

    from metareview.http.deadline import POOLS

    server, proxies = urlsplit(url), getproxies()
    host, proxy = server.hostname or "", proxies.get(server.scheme) or proxies.get("all")
    if not proxy or host in ("localhost", "127.0.0.1", "::1") or proxy_bypass(host):
        direct = urllib3.PoolManager(num_pools=1, maxsize=concurrency)
        direct.pool_classes_by_scheme = POOLS
        return direct
    login = urlsplit(proxy)
    password = f"{unquote(login.username)}:{unquote(login.password or '')}" if login.username else None
    headers = urllib3.make_headers(proxy_basic_auth=password)
    try:
        through = urllib3.ProxyManager(proxy, num_pools=1, maxsize=concurrency, proxy_headers=headers)
    except urllib3.exceptions.HTTPError:
        raise UsageError(
            "the proxy that the environment names cannot be used. Set HTTPS_PROXY to an http address."
        ) from None
    through.pool_classes_by_scheme = POOLS
    return through
