"""The viewer's connections: bounded in the time that the head of a request may take, and in how many wait for one.

Whoever opens connections and asks nothing must not keep others out. uvicorn's time-out for kept connections begins with
the first answer, and its limit on connections refuses everybody once it is reached.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

IDLE_SECONDS = 10.0
"""How long a connection may be without a request, however much of its head has come."""
MOST_IDLE = 100
"""Of more such connections, the one that waits longest is closed."""


class BoundedConnection(H11Protocol):
    """A connection that is closed where no request comes in time, or where it must make room for another."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        idle = [each for each in self.connections if isinstance(each, BoundedConnection) and each._deadline]
        if len(idle) > MOST_IDLE:
            min(idle, key=BoundedConnection._ends)._end()

    def handle_events(self) -> None:
        super().handle_events()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Starts the clock where no request is under way, and stops it where one is."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(IDLE_SECONDS, self._end)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        self._forget()
        self.transport.close()

    def _ends(self) -> float:
        return self._deadline.when() if self._deadline else 0.0
