"""A deadline for a whole request, held where bytes are sent and read: a byte now and then does not put it off.

Time-outs of sockets are for one call each, and begin anew with every byte. So before each call the socket is given what
is left until the deadline.
"""

from __future__ import annotations

import io
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

Deadline = Callable[[], float]
"""The time (of `time.monotonic`) by which a request is over. It may come nearer while the request is under way."""
_LOOK_SECONDS = 0.5
"""How soon a deadline that has come nearer is noticed."""
_SENT_AT_ONCE = 2**16
_requests = threading.local()


@contextmanager
def over_by(deadline: Deadline) -> Iterator[None]:
    """Hold the requests that this thread sends within the block to the deadline: TimeoutError where one is not over."""
    _requests.deadline = deadline
    try:
        yield
    except Exception:
        if time.monotonic() >= deadline():  # urllib3 has errors of its own for a time-out in each phase
            raise TimeoutError from None
        raise
    finally:
        _requests.deadline = None


class _SocketStream(io.RawIOBase):
    """The bytes that arrive on a socket until the deadline."""

    def __init__(self, connection: socket.socket, stream: io.BufferedIOBase, deadline: Deadline) -> None:
        """`stream`: made of the socket, which is closed when all of these are."""
        self._socket, self._stream, self._deadline = connection, stream, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            self._socket.settimeout(min(_LOOK_SECONDS, _seconds_left(self._deadline)))
            try:
                return self._socket.recv_into(buffer)
            except TimeoutError:
                continue  # until nothing is left

    def close(self) -> None:
        self._stream.close()
        super().close()


def _seconds_left(deadline: Deadline) -> float:
    left = deadline() - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Response(HTTPResponse):
    """A response, from its first line to the end of its body, or a proxy's answer to CONNECT."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        deadline: Deadline | None = getattr(_requests, "deadline", None)
        if deadline is not None:
            self.fp = io.BufferedReader(_SocketStream(sock, self.fp, deadline))


class _UntilDeadline(HTTPConnection):
    """A connection that sends piece by piece: TLS takes as long as a socket's time-out for each record."""

    response_class = _Response

    def send(self, data: Any) -> None:
        deadline: Deadline | None = getattr(_requests, "deadline", None)
        view = memoryview(data)
        for start in range(0, len(view), _SENT_AT_ONCE):
            if deadline is not None and self.sock is not None:
                self.sock.settimeout(_seconds_left(deadline))
            super().send(view[start : start + _SENT_AT_ONCE])


class _HTTPSUntilDeadline(_UntilDeadline, HTTPSConnection):
    pass


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _UntilDeadline


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _HTTPSUntilDeadline


POOLS = {"http": _HTTPPool, "https": _HTTPSPool}
"""Connections that keep to a deadline, for `PoolManager.pool_classes_by_scheme`."""


def _quotes_the_server(record: logging.LogRecord) -> bool:
    return "Failed to parse headers" in str(record.msg)


# urllib3 logs headers that it cannot parse as they are, and a server may put anything into them, our key too.
logging.getLogger("urllib3.connection").addFilter(lambda record: not _quotes_the_server(record))
