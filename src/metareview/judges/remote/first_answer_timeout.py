"""How long to wait for a server: longer until its first answer, since it may be loading its model.

A request that is sent later has `timeout` seconds. One that went out before the first answer may wait ten times as long
for that, but no more than ten minutes; from then on it is given up once the server has answered nothing at all for
`timeout` seconds, so that a queue may move up, or had `timeout` seconds for each request that may be under way at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from metareview.model.words import plural

_TIMES_LONGER = 10
_LONGEST = 600.0
_A_WHILE = 40
"""One part in so many of the longest wait: 15 s of ten minutes."""
_LINE_EVERY, _AFTER_A_MINUTE = 20.0, 60.0
"""After how many seconds of silence a line says that it goes on, and how often once it has lasted a minute."""


class FirstAnswerTimeout:
    """The deadlines of requests, by what a server has answered so far. Safe for threads."""

    def __init__(self, timeout: float, concurrency: int) -> None:
        self.timeout = timeout
        self.first = max(timeout, min(_TIMES_LONGER * timeout, _LONGEST))
        """The seconds that the first answer may take."""
        self._queue = concurrency * timeout
        self._asked: float | None = None
        self._first_answer: float | None = None
        self._last_answer = 0.0
        self._loading_since: float | None = None
        self._announced = False
        self._open = 0
        self._silent_since = 0.0
        self._next_line = _LINE_EVERY
        self._lock = threading.Lock()

    @property
    def longest(self) -> float:
        """The seconds that a request that is sent now may take at most."""
        return self.timeout if self._first_answer is not None else self.first + self._queue

    def restart(self) -> None:
        """Start the clock of silence anew."""
        with self._lock:
            self._silent_since, self._next_line = time.monotonic(), _LINE_EVERY

    def sent(self) -> Callable[[], float]:
        """Record that a request is sent now; returns a function that gives its deadline as far as known when called."""
        now = time.monotonic()
        with self._lock:
            self._open += 1
            self._asked = self._asked or now
            if self._first_answer is not None:
                return lambda: now + self.timeout
        return lambda: self._deadline(now)

    def over(self, *, heard: bool) -> None:
        """Record the end of a request; `heard`: there was a reply of any kind."""
        with self._lock:
            self._open -= 1
        if heard:
            self.restart()

    def answered(self) -> None:
        """Record that the server served a request."""
        with self._lock:
            self._last_answer = time.monotonic()
            self._first_answer = self._first_answer or self._last_answer
            self._loading_since = None

    def loading(self) -> bool:
        """Record that the server is not ready yet; True while that is worth waiting for."""
        with self._lock:
            now = time.monotonic()
            self._loading_since = self._loading_since or now
            return now - self._loading_since < self.first

    def news(self, resumes_in: float = 0.0) -> str | None:
        """A line about a long wait, now and then: for the first answer, later for any reply.

        `resumes_in`: the seconds for which the server wants to be left alone.
        """
        with self._lock:
            now = time.monotonic()
            silent = now - self._silent_since
            first = not self._announced and self._asked is not None and self._first_answer is None
            if first and now - (self._asked or now) >= self.first / _A_WHILE:
                self._announced = True
                self._next_line = max(self._next_line, 2 * _LINE_EVERY)
                return "waiting for the model server's first answer; it may be loading the model"
            if silent < self._next_line:
                return None
            step = _LINE_EVERY if silent + _LINE_EVERY <= _AFTER_A_MINUTE else _AFTER_A_MINUTE
            self._next_line = step * (silent // step + 1)
        if not self._open and resumes_in > 0:
            return f"the model server wants to be left alone for another {resumes_in:.0f} s"
        why = "" if self._open else ": the next attempt is due later, or another run is asking the same"
        return f"still waiting for the model: {silent:.0f} s, {plural(self._open, 'request')} open{why}"

    def _deadline(self, sent: float) -> float:
        with self._lock:
            usual = sent + self.timeout
            if self._first_answer is None:
                return max(usual, (self._asked or sent) + self.first)
            return max(usual, min(self._last_answer + self.timeout, self._first_answer + self._queue))
