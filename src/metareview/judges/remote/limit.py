"""The limit on requests at once: as many as the caller allows, and fewer where the server bears fewer.

A server that says so (429) is asked half as much, and slowly more again with every answer. One that answers a request
at a time, as most do on a desk, says nothing: requests queue up in it until they run out of time. So

- of the requests that were under way when the first was answered, each tells how long it queued from then on, and
  what follows is kept to what is through in half the time that a request has;
- a request that ran out of time, while others take long too, halves the number, and as many as there were then are
  not tried again until a hundred others were served. One that hangs while the others are quick says nothing of them.
"""

from __future__ import annotations

import math

_LONG = 0.75
"""Of a request's time: answers that take longer are no reason to send more at once."""
_SLOW = 0.25
"""Likewise: where the usual answer takes longer, one that ran out of time was in a queue, and did not just hang."""
_CREEP = 0.01
_WEIGHT = 0.125


class Limit:
    """The number of requests that may be under way. Times are those of one clock; a request has `timeout` seconds."""

    def __init__(self, most: int, timeout: float = math.inf) -> None:
        self._most, self._timeout = most, timeout
        self._limit = self._ceiling = float(most)
        self._slowed_at = 0.0
        self._first: float | None = None  # when the first request was served
        self._usual: float | None = None  # how long an answer takes, on a moving average

    @property
    def at_once(self) -> int:
        return int(self._limit)

    def served(self, sent: float, under_way: int, now: float) -> None:
        """A request was answered that was sent then, as one of so many."""
        if self._first is None:
            self._first = now
        waited = now - max(sent, self._first)  # what was before the first answer went into loading the model
        if now > self._first:
            self._usual = waited if self._usual is None else self._usual + _WEIGHT * (waited - self._usual)
        self._ceiling = min(float(self._most), self._ceiling + _CREEP)
        if sent < self._first and waited > self._timeout / 2:
            self._limit = max(1.0, min(self._limit, under_way * self._timeout / 2 / waited))
        elif waited <= _LONG * self._timeout:
            self._limit = min(self._ceiling, self._limit + 1 / self._limit)

    def refused(self, sent: float, now: float) -> None:
        """The server wants fewer at once."""
        if sent >= self._slowed_at:  # once for all that were under way together
            self._limit = max(1.0, int(self._limit) / 2)
            self._slowed_at = now

    def timed_out(self, sent: float, under_way: int, now: float) -> None:
        """A request that was sent then, as one of so many, had no answer in time."""
        if self._usual is not None and self._usual > _SLOW * self._timeout:
            self._ceiling = max(1.0, min(self._ceiling, under_way - 1.0))
            self.refused(sent, now)
            self._limit = min(self._limit, self._ceiling)
