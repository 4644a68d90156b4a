"""`round-robin`: whoever has reviewed in this repository, the one who has waited longest first."""

from __future__ import annotations

from metareview.model.event import Event, PullRequest
from metareview.routing.protocol import Ranking


class RoundRobin:
    """Whoever has reviewed before, the longest ago first."""

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}

    def observe(self, event: Event) -> None:
        if event.kind == "review_submitted" and event.actor is not None:
            self._latest[event.actor] = event.at

    def rank(self, pull_request: PullRequest) -> Ranking:
        waiting = sorted(self._latest, key=lambda login: (self._latest[login], login))
        return Ranking([(login, 1 / place) for place, login in enumerate(waiting, 1)])
