"""Who was active in a repository of late: what `popularity` and `recency` count."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from metareview.model.event import RESPONSES, Event, PullRequest, is_bot
from metareview.model.time import DAY
from metareview.routing.protocol import People, Ranking, Scored, best_first, sort_runs

WINDOW = 180 * DAY
HALF_LIFE = 30 * DAY
_SHIFT = 32
_ONE = 1 << _SHIFT


class Activity:
    """Reviews, review comments and comments of the last 180 days: how many, how recent, how much they weigh.

    An event of age a weighs 0.5 ** (a / 30 days). Each event is added once and dropped once, so a history
    costs what it holds, however many pull requests ask.
    """

    def __init__(self, *, weigh: bool) -> None:
        self._people = People()
        self._bots: set[int] = set()
        self._events: deque[tuple[int, int]] = deque()
        # For each person, the number of events above and the turn of the latest below: one number to sort by.
        self._tallies: NDArray[np.int64] = np.zeros(16, dtype=np.int64)
        self._active = 0
        self._turn = 0
        self._now = 0
        self._weights: NDArray[np.float64] | None = np.zeros(16) if weigh else None
        self._origin: int | None = None

    def observe(self, event: Event) -> None:
        if event.kind not in RESPONSES or event.actor is None:
            return
        number = self._people.number(event.actor)
        if number == len(self._tallies):
            self._tallies = np.concatenate((self._tallies, np.zeros_like(self._tallies)))
            if self._weights is not None:
                self._weights = np.concatenate((self._weights, np.zeros_like(self._weights)))
        if is_bot(event.actor, event.actor_type):
            self._bots.add(number)
        if event.at != self._now:
            self._now = event.at
            self._turn += 1
        self._events.append((event.at, number))
        count = int(self._tallies[number]) >> _SHIFT
        self._active += not count
        self._tallies[number] = ((count + 1) << _SHIFT) + self._turn
        if self._weights is not None:
            self._weights[number] += self._weight(event.at, self._weights)

    def _weight(self, at: int, weights: NDArray[np.float64]) -> float:
        """An event's weight as seen from `origin`: all weights fade alike, so only their ratio matters."""
        if self._origin is None:
            self._origin = at
        periods = (at - self._origin) // HALF_LIFE
        if periods > 500:  # Far from overflow still; a shift by whole half-lives is exact.
            weights *= 0.5 ** float(periods)
            self._origin += periods * HALF_LIFE
        return float(2.0 ** ((at - self._origin) / HALF_LIFE))

    def _drop_before(self, start: int) -> None:
        while self._events and self._events[0][0] < start:
            at, number = self._events.popleft()
            self._tallies[number] -= _ONE
            gone = self._tallies[number] < _ONE
            self._active -= bool(gone)
            if self._weights is not None:
                self._weights[number] -= self._weight(at, self._weights)
                if gone:
                    self._weights[number] = 0.0

    def by_count(self, pull_request: PullRequest) -> Ranking:
        """Everybody active by number of events, then the most recent, then login."""
        self._drop_before(pull_request.cutoff - WINDOW)
        tallies = self._tallies[: len(self._people)]
        order = np.argsort(-tallies, kind="stable")
        falling = tallies[order]
        order, falling = order[: self._active], falling[: self._active]
        same = falling[1:] == falling[:-1]
        if same.any():
            sort_runs(order, same, self._people.logins.__getitem__)
        return self._ranking(order, (falling >> _SHIFT).astype(np.float64), pull_request.author)

    def by_weight(self, pull_request: PullRequest) -> Ranking:
        """Everybody active by the weight of events, then the most recent, then login."""
        assert self._weights is not None
        self._drop_before(pull_request.cutoff - WINDOW)
        active = np.flatnonzero(self._tallies[: len(self._people)] >= _ONE)
        since = 0 if self._origin is None else pull_request.cutoff - self._origin
        weights = self._weights[active] * 0.5 ** (since / HALF_LIFE)
        order = best_first(weights, self._tallies[active] % _ONE, lambda at: self._people.logins[active[at]])
        return self._ranking(active[order], weights[order], pull_request.author)

    def _ranking(
        self, numbers: NDArray[np.int64], scores: NDArray[np.float64], author: str | None
    ) -> Ranking:
        nobody = self._bots if author is None else self._bots | {self._people.find(author)}
        others = sum(number not in nobody for number in numbers[: 3 + len(nobody)].tolist())
        risk = "low" if others >= 3 else "medium" if others else "high"
        return Ranking(Scored(self._people, numbers, scores), risk)
