"""How far the labelling of a random sample is, in the words that labels of pairs and of unlisted issues share."""

from __future__ import annotations

from metareview.comparison.strata import FEWEST, LEAST
from metareview.model.words import plural
from metareview.report.numbers import count

_GROUP = "each group that the sample is drawn from"
_WORDS = {2: "two", 8: "eight"}
FEWEST_NEEDED = f"{_WORDS[FEWEST]} from {_GROUP}, or all of it"
"""What the first estimate takes."""
LEAST_NEEDED = f"{_WORDS[LEAST]} from {_GROUP}, or all of it"
"""What intervals take."""


def labelled_of(done: int, drawn: int, what: str) -> str:
    """How much of the sample is labelled.

    >>> labelled_of(3, 120, "block")
    '3 of the 120 blocks in the sample labelled'
    """
    return f"{count(done)} of {'' if drawn == 1 else 'the '}{plural(drawn, what)} in the sample labelled"
