"""Who was active in a repository of late: what `popularity` and `recency` count."""

from __future__ import annotations

from array import array
from collections import deque

import numpy as np

from metareview.model.event import RESPONSES, Event, PullRequest, is_bot
from metareview.model.time import DAY
from metareview.routing.counted import ONE, Counted
from metareview.routing.protocol import Ranking, Router
from metareview.routing.ranking import Numbered, People, Scored, best_first

WINDOW = 180 * DAY
HALF_LIFE = 30 * DAY
_RESCALE_AFTER = 500  # half-lives; far from overflow still
_COUNT = -ONE
"""The bits above those of the instant."""


class ActivityRouter(Router):
    """Ranks by the reviews, review comments and comments of the last 180 days.

    Each event counts 1, or if `fades` 0.5 ** (age / 30 days). Each is added once and dropped once, so a history
    costs what it holds, however many pull requests are ranked.
    """

    fades = False

    def __init__(self) -> None:
        self._people = People()
        self._find = self._people.find
        self._bots: set[int] = set()
        self._events: deque[tuple[int, int]] = deque()
        # By person: events in the window, what they are worth as seen from `origin`, the instant of the latest.
        self._counts, self._scores, self._latest = array("q"), array("d"), array("q")
        self._origin: int | None = None
        # By person, how many and how late in one number, which is all that the order needs where nothing fades: the
        # count, and below it the latest instant, numbered as instants come.
        self._keys = array("q")
        self._now, self._instant = -1, 0

    def observe(self, event: Event) -> None:
        # The fields of an event, taken at once: this is called for each of millions.
        _, _, at, kind, login, actor_type, _, _, _, _, _, _, _, _ = event
        if login is None or kind not in RESPONSES:
            return
        number = self._find(login)
        if number is None:
            number = self._meet(login)
        if actor_type == "Bot":
            self._bots.add(number)
        self._events.append((at, number))
        if self.fades:
            self._counts[number] += 1
            self._scores[number] += self._worth(at)
            self._latest[number] = at
            return
        if at != self._now:
            self._now, self._instant = at, self._instant + 1
        self._keys[number] = (self._keys[number] & _COUNT) + ONE | self._instant

    def _meet(self, login: str) -> int:
        number = self._people.number(login)
        for column in (self._counts, self._scores, self._latest, self._keys):
            column.append(0)
        if is_bot(login):
            self._bots.add(number)
        return number

    def _worth(self, at: int) -> float:
        """What an event is worth as seen from `origin`: all fade alike, so only their ratio matters."""
        if self._origin is None:
            self._origin = at
        periods = (at - self._origin) // HALF_LIFE
        if periods > _RESCALE_AFTER:  # A shift by whole half-lives is exact.
            np.frombuffer(self._scores)[:] *= 0.5 ** float(periods)
            self._origin += periods * HALF_LIFE
        return float(2.0 ** ((at - self._origin) / HALF_LIFE))

    def rank(self, pull_request: PullRequest) -> Ranking:
        events, oldest, fades = self._events, pull_request.cutoff - WINDOW, self.fades
        while events and events[0][0] < oldest:
            at, number = events.popleft()
            if fades:
                self._counts[number] -= 1
                self._scores[number] = self._scores[number] - self._worth(at) if self._counts[number] else 0.0
            else:
                self._keys[number] -= ONE
        if not events:
            return Ranking([], "high")
        candidates = self._candidates(pull_request.cutoff)
        return Ranking(candidates, self._risk(candidates, pull_request.author))

    def _candidates(self, cutoff: int) -> Numbered:
        return self._by_worth(cutoff) if self.fades else Counted(self._people, np.array(self._keys))

    def _risk(self, candidates: Numbered, author: str | None) -> str:
        if len(candidates) >= 3 + len(self._bots) + 1:
            return "low"
        ignored = self._bots if author is None else self._bots | {self._people.find(author)}
        numbers, _ = candidates.first(len(candidates))
        others = sum(number not in ignored for number in numbers)
        return "low" if others >= 3 else "medium" if others else "high"

    def _by_worth(self, cutoff: int) -> Scored:
        active = np.frombuffer(self._counts, np.int64).nonzero()[0]
        scores = np.frombuffer(self._scores)[active]
        latest = np.frombuffer(self._latest, np.int64)[active]
        if self._origin is not None:
            scores *= 0.5 ** ((cutoff - self._origin) / HALF_LIFE)
        order = best_first(scores, latest, lambda at: self._people.logins[active[at]])
        return Scored(self._people, active[order], scores[order])
