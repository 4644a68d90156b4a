"""`recency`: whoever responded lately, the later the better."""

from __future__ import annotations

from metareview.model.event import Event, PullRequest
from metareview.routing.activity import Activity
from metareview.routing.protocol import Ranking


class Recency:
    """Like `popularity`, but an event of age a is worth 0.5 ** (a / 30 days).

    Ties: the most recent first, then by login. Risk: low with three or more people (but for the author and
    bots), medium with one or two, high with nobody.
    """

    def __init__(self) -> None:
        self._activity = Activity(weigh=True)

    def observe(self, event: Event) -> None:
        self._activity.observe(event)

    def rank(self, pull_request: PullRequest) -> Ranking:
        return self._activity.by_weight(pull_request)
