"""How long pull requests waited, by the risk that a router gave them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from metareview.model.event import RISKS, Eligibility, Event
from metareview.model.time import SECOND

REVIEWS = frozenset({"review_submitted"})
COMMENTS = frozenset({"review_comment", "comment"})


@dataclass(frozen=True, slots=True)
class QueueTimes:
    """How long the pull requests of one risk waited for a review (TTFR) and a comment (TTFC).

    `n` counts pull requests, `ttfr_n` those that were reviewed at all: means and medians are over these.
    """

    n: int
    ttfr_n: int
    ttfr_seconds_mean: float | None
    ttfr_seconds_median: float | None
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


def queue_times(waits: Iterable[tuple[str, float | None, float | None]], *, ttfc: bool) -> dict[str, QueueTimes]:
    """The times of each of the four risks from (risk, TTFR, TTFC) of each pull request."""
    buckets: dict[str, list[tuple[float | None, float | None]]] = {risk: [] for risk in RISKS}
    for risk, first_review, first_comment in waits:
        buckets[risk].append((first_review, first_comment))
    times = {}
    for risk, items in buckets.items():
        comments = _times(comment for _, comment in items) if ttfc else (None, None, None)
        times[risk] = QueueTimes(len(items), *_times(review for review, _ in items), *comments)
    return times


def _times(waits: Iterable[float | None]) -> tuple[int, float | None, float | None]:
    """How many waits had an end, their mean and their median."""
    known = [wait for wait in waits if wait is not None]
    return (len(known), fmean(known), median(known)) if known else (0, None, None)
