"""Repeated runs of the two sides of a comparison: how many there are, and what the interval of a difference is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metareview.model.words import plural


@dataclass(frozen=True, slots=True)
class SideRuns:
    """The runs of one side, and whether they tell how much runs differ."""

    number: int
    known: bool


def difference_label(runs: Mapping[str, SideRuns]) -> str:
    """What the interval of a difference is of; `runs`: by what a side is called.

    >>> difference_label({"new": SideRuns(3, True), "old": SideRuns(1, False)})
    'the interval of a difference is of means over further runs of new (3 runs) on further pull requests, and does \
not know how much runs of old (1 run) differ'
    """
    known, unknown = (
        " and of ".join(f"{name} ({plural(each.number, 'run')})" for name, each in runs.items() if each.known is told)
        for told in (True, False)
    )
    of = f"is of means over further runs of {known} on further pull requests" if known else ""
    lacks = f"does not know how much runs of {unknown} differ" if unknown else ""
    return f"the interval of a difference {', and '.join(filter(None, (of, lacks)))}"
