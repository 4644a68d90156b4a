"""Who was active in a repository of late: what `popularity` and `recency` count."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metareview.routing.events import RESPONSES, Event
from metareview.routing.routers.protocol import People, Ranking, Scored, best_first
from metareview.routing.when import DAY

WINDOW = 180 * DAY
HALF_LIFE = 30 * DAY


class Recent(NamedTuple):
    """The active people as parallel arrays: their numbers, events, latest event and the events' weight."""

    people: People
    active: NDArray[np.int64]
    counts: NDArray[np.int64]
    latest: NDArray[np.int64]
    weights: NDArray[np.float64]

    def ranking(self, scores: NDArray[np.float64], author: str | None) -> Ranking:
        """The active people by score, then the most recent, then login; with the risk."""
        order = best_first(scores, self.latest, lambda at: self.people.logins[int(self.active[at])])
        number = None if author is None else self.people.find(author)
        others = len(self.active) - int(number is not None and bool((self.active == number).any()))
        risk = "low" if others >= 3 else "medium" if others else "high"
        return Ranking(Scored(self.people, self.active[order], scores[order]), risk)


class Activity:
    """Reviews, review comments and comments of the last 180 days: how many, how recent, how much they weigh.

    An event of age a weighs 0.5 ** (a / 30 days). Each event is added once and dropped once, so a history
    costs what it holds, however many pull requests ask.
    """

    def __init__(self) -> None:
        self.people = People()
        self._events: deque[tuple[int, int]] = deque()
        self._counts: NDArray[np.int64] = np.zeros(16, dtype=np.int64)
        self._latest: NDArray[np.int64] = np.zeros(16, dtype=np.int64)
        self._weights: NDArray[np.float64] = np.zeros(16)
        self._origin: int | None = None

    def observe(self, event: Event) -> None:
        if event.actor is None or event.kind not in RESPONSES:
            return
        number = self.people.number(event.actor)
        if number == len(self._counts):
            self._counts = np.concatenate((self._counts, np.zeros_like(self._counts)))
            self._latest = np.concatenate((self._latest, np.zeros_like(self._latest)))
            self._weights = np.concatenate((self._weights, np.zeros_like(self._weights)))
        self._events.append((event.at, number))
        self._counts[number] += 1
        self._latest[number] = event.at
        self._weights[number] += self._weight(event.at)

    def _weight(self, at: int) -> float:
        """An event's weight as seen from `origin`: all weights fade alike, so only their ratio matters."""
        if self._origin is None:
            self._origin = at
        periods = (at - self._origin) // HALF_LIFE
        if periods > 500:  # Far from overflow still; a shift by whole half-lives is exact.
            self._weights *= 0.5 ** float(periods)
            self._origin += periods * HALF_LIFE
        return float(2.0 ** ((at - self._origin) / HALF_LIFE))

    def at(self, cutoff: int) -> Recent:
        """The people who were active in the 180 days up to the cutoff."""
        while self._events and self._events[0][0] < cutoff - WINDOW:
            at, number = self._events.popleft()
            self._counts[number] -= 1
            self._weights[number] -= self._weight(at)
            if not self._counts[number]:
                self._weights[number] = 0.0
        active = np.flatnonzero(self._counts[: len(self.people)])
        fade = 1.0 if self._origin is None else 0.5 ** ((cutoff - self._origin) / HALF_LIFE)
        return Recent(
            self.people, active, self._counts[active], self._latest[active], self._weights[active] * fade
        )
