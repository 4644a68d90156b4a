"""Who was active in a repository of late: what `popularity` and `recency` count."""

from __future__ import annotations

from array import array
from collections import deque

import numpy as np

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
        self._counts, self._scores, self._latest = array("q"), array("d"), array("q")
        self._origin: int | None = None

    def observe(self, event: Event) -> None:
        login = event.actor
        if login is None or event.kind not in RESPONSES:
            return
        number = self._people.number(login)
        if number == len(self._counts):
            for column in (self._counts, self._scores, self._latest):
                column.append(0)
            if is_bot(login):
                self._bots.add(number)
        if event.actor_type == "Bot":
            self._bots.add(number)
        self._events.append((event.at, number))
        self._counts[number] += 1
        self._scores[number] += self._worth(event.at) if self.fades else 1.0
        self._latest[number] = event.at

    def _worth(self, at: int) -> float:
        """What an event is worth as seen from `origin`: all fade alike, so only their ratio matters."""
        if not self.fades:
            return 1.0
        if self._origin is None:
            self._origin = at
        periods = (at - self._origin) // HALF_LIFE
        if periods > _RESCALE_AFTER:  # A shift by whole half-lives is exact.
            np.frombuffer(self._scores)[:] *= 0.5 ** float(periods)
            self._origin += periods * HALF_LIFE
        return float(2.0 ** ((at - self._origin) / HALF_LIFE))

    def rank(self, pull_request: PullRequest) -> Ranking:
        while self._events and self._events[0][0] < pull_request.cutoff - WINDOW:
            at, number = self._events.popleft()
            self._counts[number] -= 1
            self._scores[number] = self._scores[number] - self._worth(at) if self._counts[number] else 0.0
        if not self._events:
            return Ranking([], "high")
        active = np.frombuffer(self._counts, np.int64).nonzero()[0]
        scores = np.frombuffer(self._scores)[active]
        latest = np.frombuffer(self._latest, np.int64)[active]
        if self._origin is not None:
            scores *= 0.5 ** ((pull_request.cutoff - self._origin) / HALF_LIFE)
        order = best_first(scores, latest, lambda at: self._people.logins[active[at]])
        numbers = active[order]
        author = pull_request.author
        ignored = self._bots if author is None else self._bots | {self._people.find(author)}
        others = sum(number not in ignored for number in numbers[: 3 + len(ignored)].tolist())
        risk = "low" if others >= 3 else "medium" if others else "high"
        return Ranking(Scored(self._people, numbers, scores[order]), risk)
