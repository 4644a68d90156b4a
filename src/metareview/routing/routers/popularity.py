"""`popularity`: whoever responded most in the repository lately."""

from __future__ import annotations

from metareview.model.event import Event, PullRequest
from metareview.routing.activity import Activity
from metareview.routing.protocol import Ranking


class Popularity:
    """One point for each review, review comment and comment in the 180 days before the cutoff.

    Ties: the most recent first, then by login. Risk: low with three or more people (but for the author and
    bots), medium with one or two, high with nobody.
    """

    def __init__(self) -> None:
        self._activity = Activity(weigh=False)

    def observe(self, event: Event) -> None:
        self._activity.observe(event)

    def rank(self, pull_request: PullRequest) -> Ranking:
        return self._activity.by_count(pull_request)
