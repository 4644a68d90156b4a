"""How long pull requests waited, by the risk that a router gave them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import NamedTuple

from metareview.model.event import RISKS, Eligibility, Event
from metareview.model.time import SECOND

REVIEWS = frozenset({"review_submitted"})
COMMENTS = frozenset({"review_comment", "comment"})


@dataclass(frozen=True, slots=True)
class QueueTimes:
    """How long the pull requests of one risk waited for a review (TTFR) and a comment (TTFC).

    `n` counts pull requests, `ttfr_n` those that were reviewed at all: mean and median are over these. The Kaplan-Meier
    median is over all: whoever still waits when the history ends is known to have waited so long, and no more.
    """

    n: int
    ttfr_n: int
    never_reviewed_n: int
    ttfr_seconds_mean: float | None
    ttfr_seconds_median: float | None
    ttfr_seconds_km_median: float | None
    ttfc_n: int | None
    ttfc_seconds_mean: float | None
    ttfc_seconds_median: float | None


def seconds_to_first(
    kinds: frozenset[str], events: Sequence[Event], author: str | None, cutoff: int, eligible: Eligibility
) -> float | None:
    """Seconds from the cutoff to the first eligible event of these kinds at or after it; no window.

    With REVIEWS it is TTFR, with COMMENTS TTFC. None: nobody came.
    """
    for event in events:
        if event.at >= cutoff and event.kind in kinds and eligible(event.actor, author):
            return (event.at - cutoff) / SECOND
    return None


class Wait(NamedTuple):
    """How long one pull request waited, in seconds from its cutoff."""

    risk: str
    ttfr: float | None
    ttfc: float | None
    watched: float
    """Until the end of the history."""


def queue_times(waits: Iterable[Wait], *, ttfc: bool) -> dict[str, QueueTimes]:
    """The times of each of the four risks."""
    buckets: dict[str, list[Wait]] = {risk: [] for risk in RISKS}
    for wait in waits:
        buckets[wait.risk].append(wait)
    times = {}
    for risk, items in buckets.items():
        reviewed, mean, middle = _times(wait.ttfr for wait in items)
        comments = _times(wait.ttfc for wait in items) if ttfc else (None, None, None)
        survival = kaplan_meier_median((wait.ttfr, wait.watched) for wait in items)
        times[risk] = QueueTimes(len(items), reviewed, len(items) - reviewed, mean, middle, survival, *comments)
    return times


def kaplan_meier_median(waits: Iterable[tuple[float | None, float]]) -> float | None:
    """The wait by which half have been reviewed, from (wait, time watched), by the product-limit estimate.

    A wait of None was not over when watching ended, and counts as waiting until then. None where the estimate never
    falls to one half.

    >>> kaplan_meier_median([(10.0, 99.0), (20.0, 99.0), (30.0, 99.0), (None, 25.0)])
    20.0
    """
    over: Counter[float] = Counter()
    left: Counter[float] = Counter()
    for wait, watched in waits:
        left[watched if wait is None else wait] += 1
        over[watched if wait is None else wait] += wait is not None
    waiting, share = left.total(), 1.0
    for seconds in sorted(left):
        share *= 1 - over[seconds] / waiting
        if share <= 0.5 + 1e-9:  # A product of many factors is never quite one half.
            return seconds
        waiting -= left[seconds]
    return None


def _times(waits: Iterable[float | None]) -> tuple[int, float | None, float | None]:
    """How many waits had an end, their mean and their median."""
    known = [wait for wait in waits if wait is not None]
    return (len(known), fmean(known), median(known)) if known else (0, None, None)
