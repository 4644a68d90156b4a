"""`popularity`: whoever responded most in the repository lately."""

from __future__ import annotations

from metareview.routing.activity import ActivityRouter


class Popularity(ActivityRouter):
    """One point for each review, review comment and comment in the 180 days before the cutoff.

    Ties: the most recent first, then by login. Risk: low with three or more people (but for the author and
    bots), medium with one or two, high with nobody.
    """


PLUGIN = Popularity
