"""A time by which a request is over, whatever the server does: no answer, no end of its headers, a byte now and then.

Time-outs of sockets are for one read each, and begin anew with every byte. So one thread watches all requests of an
endpoint, and shuts down the connection of one that is over its time; whoever was reading from it then finds its end.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

_IDLE_SECONDS = 1.0
_LOOK_SECONDS = 0.5
_this_thread = threading.local()


class Watch:
    """One request: until when, which may change while it is under way, and on which connection."""

    def __init__(self, deadline: Callable[[], float]) -> None:
        self.deadline = deadline
        self.over = False
        self._handle: socket.socket | None = None

    def hold(self, connection: socket.socket) -> None:
        """Takes a handle of its own: a connection's may be wrapped by TLS, or let go of while a reply is read."""
        self.release()
        self._handle = socket.fromfd(connection.fileno(), connection.family, connection.type)
        if self.over:
            self.end()

    def end(self) -> None:
        self.over = True
        if self._handle is not None:
            with suppress(OSError):  # the server may have closed it
                self._handle.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        if self._handle is not None:
            self._handle.close()
            self._handle = None


class Watchdog:
    """Ends requests at their deadlines. Its thread goes when there is nothing to watch."""

    def __init__(self) -> None:
        self._watches: set[Watch] = set()
        self._changed = threading.Condition()
        self._running = False
        self._looks_at = 0.0

    @contextmanager
    def until(self, deadline: Callable[[], float]) -> Iterator[Watch]:
        """Watches what this thread sends; raises TimeoutError where it was not over by the deadline. One that comes
        nearer while the request is under way is noticed within half a second."""
        watch = Watch(deadline)
        with self._changed:
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, daemon=True).start()
            elif deadline() < self._looks_at:
                self._changed.notify()
            self._watches.add(watch)
        _this_thread.watch, _this_thread.lock = watch, self._changed
        try:
            yield watch
        except Exception:
            if watch.over:  # whatever it looked like from here
                raise TimeoutError from None
            raise
        finally:
            _this_thread.watch = None
            with self._changed:
                self._watches.discard(watch)
                watch.release()
        if watch.over:
            raise TimeoutError

    def _run(self) -> None:
        with self._changed:
            idle = False
            while self._watches or not idle:
                now = time.monotonic()
                for watch in self._watches:
                    if not watch.over and watch.deadline() <= now:
                        watch.end()
                left = [min(_LOOK_SECONDS, watch.deadline() - now) for watch in self._watches if not watch.over]
                wait = min(left, default=_IDLE_SECONDS)
                self._looks_at = now + wait
                woken = self._changed.wait(wait)
                idle = not woken and not left
            self._running = False


def _hold(connection: socket.socket | None) -> None:
    watch: Watch | None = getattr(_this_thread, "watch", None)
    if watch is not None and connection is not None:
        with _this_thread.lock:
            watch.hold(connection)


class _HTTPConnection(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        connection = super()._new_conn()
        _hold(connection)
        return connection

    def request(self, *arguments: Any, **options: Any) -> None:
        _hold(self.sock)
        super().request(*arguments, **options)


class _HTTPSConnection(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        connection = super()._new_conn()
        _hold(connection)
        return connection

    def request(self, *arguments: Any, **options: Any) -> None:
        _hold(self.sock)
        super().request(*arguments, **options)


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _HTTPConnection


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _HTTPSConnection


POOLS = {"http": _HTTPPool, "https": _HTTPSPool}
"""Connections that a watchdog can end, for `PoolManager.pool_classes_by_scheme`."""


def _quotes_the_server(record: logging.LogRecord) -> bool:
    return "Failed to parse headers" in str(record.msg)


# urllib3 logs headers that it cannot parse as they are, and a server may put anything into them, our key too.
logging.getLogger("urllib3.connection").addFilter(lambda record: not _quotes_the_server(record))
