"""Who was active in a repository of late: what `popularity` and `recency` count."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from metareview.model.event import RESPONSES, Event, PullRequest, is_bot
from metareview.model.time import DAY
from metareview.routing.protocol import Ranking, Router
from metareview.routing.ranking import People, Scored, best_first

WINDOW = 180 * DAY
HALF_LIFE = 30 * DAY
_RESCALE_AFTER = 500  # half-lives; far from overflow still


class ActivityRouter(Router):
    """Ranks by the reviews, review comments and comments of the last 180 days.

    Each event counts 1, or if `fades` 0.5 ** (age / 30 days). Each is added once and dropped once, so a history
    costs what it holds, however many pull requests are ranked.
    """

    fades = False

    def __init__(self) -> None:
        self._people = People()
        self._bots: set[int] = set()
        self._events: deque[tuple[int, int]] = deque()
        # By person: events in the window, what they are worth as seen from `origin`, the instant of the latest.
        self._counts: NDArray[np.int64] = np.zeros(16, dtype=np.int64)
        self._scores: NDArray[np.float64] = np.zeros(16)
        self._latest: NDArray[np.int64] = np.zeros(16, dtype=np.int64)
        self._origin: int | None = None

    def observe(self, event: Event) -> None:
        if event.kind not in RESPONSES or event.actor is None:
            return
        number = self._people.number(event.actor)
        if number == len(self._counts):
            self._counts = np.pad(self._counts, (0, number))
            self._scores = np.pad(self._scores, (0, number))
            self._latest = np.pad(self._latest, (0, number))
        if is_bot(event.actor, event.actor_type):
            self._bots.add(number)
        self._events.append((event.at, number))
        self._counts[number] += 1
        self._scores[number] += self._worth(event.at)
        self._latest[number] = event.at

    def _worth(self, at: int) -> float:
        """An event's worth as seen from `origin`: all fade alike, so only their ratio matters."""
        if not self.fades:
            return 1.0
        if self._origin is None:
            self._origin = at
        periods = (at - self._origin) // HALF_LIFE
        if periods > _RESCALE_AFTER:  # A shift by whole half-lives is exact.
            self._scores *= 0.5 ** float(periods)
            self._origin += periods * HALF_LIFE
        return float(2.0 ** ((at - self._origin) / HALF_LIFE))

    def _drop_before(self, start: int) -> None:
        while self._events and self._events[0][0] < start:
            at, number = self._events.popleft()
            self._counts[number] -= 1
            self._scores[number] -= self._worth(at)
            if not self._counts[number]:
                self._scores[number] = 0.0

    def rank(self, pull_request: PullRequest) -> Ranking:
        self._drop_before(pull_request.cutoff - WINDOW)
        active = self._counts.nonzero()[0]
        scores = self._scores[active]
        if self._origin is not None:
            scores *= 0.5 ** ((pull_request.cutoff - self._origin) / HALF_LIFE)
        order = best_first(scores, self._latest[active], lambda at: self._people.logins[active[at]])
        numbers = active[order]
        return Ranking(Scored(self._people, numbers, scores[order]), self._risk(numbers, pull_request.author))

    def _risk(self, numbers: NDArray[np.int64], author: str | None) -> str:
        ignored = self._bots if author is None else self._bots | {self._people.find(author)}
        others = sum(number not in ignored for number in numbers[: 3 + len(ignored)].tolist())
        return "low" if others >= 3 else "medium" if others else "high"
