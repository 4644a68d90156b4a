"""One file from an address: resumed where it stopped, checked by its hash, put in place whole or not at all.

The part that has arrived is kept beside the target as `.part`. The next attempt, in this process or a later one,
requests the rest; a server that knows no ranges sends all of it again, and the hash exposes a part of another file.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from metareview.http.connections import (
    USER_AGENT,
    Connections,
    Dropped,
    InsecureConnection,
    Unreachable,
    UnusableReply,
    retry_after,
)
from metareview.locks import PathLock

if TYPE_CHECKING:
    import urllib3

Progress = Callable[[int, int], None]
"""Progress callback, called with (kilobytes done, total)."""

LARGEST = 256 * 2**20
_REDIRECTS = 5
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_WAIT = 30.0
_UNREACHABLE = 2
_NOTICEABLE = 2**16
_PIECE = 2**16
_KILOBYTE = 1000


class DownloadFailed(Exception):
    """A file could not be fetched. The reason is safe to show, without any address or secret in it."""


class _TryAgain(Exception):
    """A failure worth a retry; `wait`: the seconds that the server asks for, if any."""

    def __init__(self, reason: str, wait: float | None = None, *, reached: bool = True) -> None:
        super().__init__(reason)
        self.wait = wait
        self.reached = reached
        """False if there was no connection: then few attempts are enough."""


class _StartOver(_TryAgain):
    """The part cannot be continued."""

    def __init__(self) -> None:
        super().__init__("the server does not send the rest of a file as requested", wait=0.0)


@dataclass(frozen=True, slots=True)
class Retries:
    """Time-out and retries of a download."""

    seconds: float = 120.0
    """For one request with its whole reply; the next request resumes there."""
    attempts: int = 4
    """Attempts in a row without noticeable progress before it gives up."""
    pause: float = 1.0
    """Seconds before the second attempt; doubled before each further one."""


def file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def download(
    address: str,
    target: Path,
    sha256: str,
    *,
    progress: Progress | None = None,
    retries: Retries | None = None,
    largest: int = LARGEST,
) -> None:
    """Download the file with this checksum from `address` to `target`; DownloadFailed if that is impossible.

    Two processes may do this at once: the second waits for the first. A redirect is followed, but never from https
    to http.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with PathLock(target.parent, wait=True):
        if target.exists() and file_hash(target) == sha256:
            return  # another process was quicker
        part = target.with_name(f"{target.name}.part")
        resumed = part.exists() and part.stat().st_size > 0
        found = _file_hash_after(address, part, sha256, progress, retries or Retries(), largest)
        if found != sha256 and resumed:  # the beginning may be of another file: once more, from the start
            part.unlink()
            found = _file_hash_after(address, part, sha256, progress, retries or Retries(), largest)
        if found != sha256:
            part.unlink()
            raise DownloadFailed(
                f"what the server sends is another file: SHA-256 {found} where {sha256} is expected. It was not kept"
            )
        part.replace(target)


def _file_hash_after(
    address: str, part: Path, sha256: str, progress: Progress | None, retries: Retries, largest: int
) -> str:
    """Complete the part, and give its hash."""
    if part.exists() and (found := file_hash(part)) == sha256:
        return found  # killed between the last byte and the renaming
    most = part.stat().st_size if part.exists() else 0
    failures = 0
    while True:
        try:
            _request(address, part, progress, retries.seconds, largest)
            return file_hash(part)
        except _TryAgain as error:
            if isinstance(error, _StartOver):
                part.unlink(missing_ok=True)
            size = part.stat().st_size if part.exists() else 0
            # Counted from the most there ever was: a server that breaks off again and again is given up in the end.
            failures = 1 if size >= most + _NOTICEABLE else failures + 1
            most = max(most, size)
            if failures >= (retries.attempts if error.reached else min(retries.attempts, _UNREACHABLE)):
                raise DownloadFailed(str(error)) from None
            wait = retries.pause * 2 ** (failures - 1) if error.wait is None else error.wait
            time.sleep(min(wait, _LONGEST_WAIT))


def _request(address: str, part: Path, progress: Progress | None, seconds: float, largest: int) -> None:
    """Request the missing rest once, and append what arrives."""
    at = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": USER_AGENT} | ({"Range": f"bytes={at}-"} if at else {})
    with _answer(address, headers, seconds) as response:
        if response.status == 416 and at:
            raise _StartOver
        if response.status in _PASSING:
            raise _TryAgain(f"the server answers HTTP {response.status}", retry_after(response.headers))
        if response.status not in (200, 206):
            raise DownloadFailed(f"the server answers HTTP {response.status}")
        if response.status == 206:
            span = re.match(r"bytes ([0-9]{1,18})-", response.headers.get("Content-Range", ""))
            if span is None or int(span[1]) != at:
                raise _StartOver
        else:
            at = 0
        announced = response.headers.get("Content-Length", "")
        total = at + int(announced) if announced.isdecimal() and len(announced) < 19 else 0
        if total > largest:
            raise _too_large(part, largest)
        with part.open("ab" if at else "wb") as stream:
            for piece in _pieces(response):
                at += len(piece)
                if at > largest:
                    raise _too_large(part, largest)
                stream.write(piece)
                stream.flush()  # a process that is killed keeps it too
                if progress:
                    progress(at // _KILOBYTE, max(at, total) // _KILOBYTE)


def _too_large(part: Path, largest: int) -> DownloadFailed:
    """Delete the part, and return the failure."""
    part.unlink(missing_ok=True)
    return DownloadFailed(f"it is larger than {largest / 2**20:,.0f} MB, and so cannot be the file")


def _pieces(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    while piece := response.read1(_PIECE):
        yield piece


@contextmanager
def _answer(address: str, headers: dict[str, str], seconds: float) -> Iterator[urllib3.BaseHTTPResponse]:
    """The reply after redirects; network errors become failures worth a retry, or final ones."""
    deadline = time.monotonic() + seconds
    secure = address.startswith("https:")
    for _ in range(_REDIRECTS + 1):
        connections = Connections(address)
        try:
            left = max(0.1, deadline - time.monotonic())
            with connections.open("GET", address, headers=headers, timeout=left) as response:
                if response.status not in (301, 302, 303, 307, 308):
                    yield response
                    return
                address, scheme = _redirected(address, response.headers.get("Location", ""))
        except TimeoutError:
            raise _TryAgain(f"the server is too slow: not done after {seconds:g} s") from None
        except Unreachable as error:
            raise _TryAgain(str(error), reached=False) from None
        except Dropped as error:
            raise _TryAgain(f"the connection broke off ({error})") from None
        except InsecureConnection as error:
            raise DownloadFailed(f"no secure connection: {error}") from None
        except UnusableReply as error:
            raise DownloadFailed(str(error)) from None
        finally:
            connections.close()
        if scheme not in ("http", "https") or (secure and scheme != "https"):
            raise DownloadFailed("the server redirects from https to something else, which is not followed")
        secure = scheme == "https"
    raise DownloadFailed("the server redirects without end")


def _redirected(address: str, location: str) -> tuple[str, str]:
    """Where a redirect leads, and the scheme of that."""
    try:
        target = urljoin(address, location)
        return target, urlsplit(target).scheme
    except ValueError:
        raise DownloadFailed("the server redirects to what is no address") from None
