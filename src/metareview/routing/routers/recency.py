"""`recency`: whoever responded lately, the later the better."""

from __future__ import annotations

from metareview.routing.activity import ActivityRouter


class Recency(ActivityRouter):
    """Like `popularity`, but an event of age a is worth 0.5 ** (a / 30 days).

    Ties: the most recent first, then by login. Risk: low with three or more people (but for the author and
    bots), medium with one or two, high with nobody.
    """

    fades = True


PLUGIN = Recency
