"""How long pull requests waited, by the risk that a router gave them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from metareview.model.event import RISKS, Eligibility, Event
from metareview.model.time import SECOND
from metareview.routing.multiset import Multiset, merged_multisets, multiset

_NEARLY = 1e-9
"""A product of many factors is never quite one half; whether it would be is then worked out in whole numbers."""
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


def _no_seconds() -> Multiset:
    return multiset([], np.float64)


def _no_instants() -> Multiset:
    return multiset([], np.int64)


@dataclass(frozen=True, slots=True)
class Waits:
    """How long some pull requests waited."""

    reviewed: Multiset = field(default_factory=_no_seconds)
    """TTFR of those that were reviewed."""
    unreviewed: Multiset = field(default_factory=_no_instants)
    """Cutoffs of those that never were: each is known to have waited from there to the end of the history."""
    commented: Multiset = field(default_factory=_no_seconds)
    """TTFC of those that somebody commented on."""


def waits_of(waits: Iterable[tuple[float | None, float | None, int]]) -> Waits:
    """Those of pull requests, from (TTFR, TTFC, cutoff) of each."""
    held = list(waits)
    return Waits(
        multiset([reviewed for reviewed, _, _ in held if reviewed is not None], np.float64),
        multiset([cutoff for reviewed, _, cutoff in held if reviewed is None], np.int64),
        multiset([commented for _, commented, _ in held if commented is not None], np.float64),
    )


def merged_waits(parts: Sequence[Waits]) -> Waits:
    """Those of all parts, the same in whatever order they come."""
    return Waits(
        merged_multisets([part.reviewed for part in parts], np.float64),
        merged_multisets([part.unreviewed for part in parts], np.int64),
        merged_multisets([part.commented for part in parts], np.float64),
    )


def queue_times(waits: Mapping[str, Waits], end: int, *, ttfc: bool) -> dict[str, QueueTimes]:
    """The times of each of the four risks, from the waits of those that have any. `end`: of the history."""
    return {risk: _times(waits.get(risk, Waits()), end, ttfc) for risk in RISKS}


def _times(waits: Waits, end: int, ttfc: bool) -> QueueTimes:
    reviewed, unreviewed, commented = waits.reviewed, waits.unreviewed, waits.commented
    # As whole numbers: a 64-bit float does not hold the nanoseconds of a year.
    watched = [max(0, end - cutoff) / SECOND for cutoff in unreviewed.values.tolist()]
    return QueueTimes(
        reviewed.total + unreviewed.total,
        reviewed.total,
        unreviewed.total,
        reviewed.mean(),
        reviewed.median(),
        kaplan_meier_median(reviewed, multiset(watched, np.float64, unreviewed.counts)),
        commented.total if ttfc else None,
        commented.mean() if ttfc else None,
        commented.median() if ttfc else None,
    )


def kaplan_meier_median(reviewed: Multiset, watched: Multiset) -> float | None:
    """The wait by which half have been reviewed, by the product-limit estimate.

    `reviewed` holds the waits that ended, `watched` how long the others were seen to wait. Where the estimate is one
    half from one review to the next, the midpoint between them, so that it is the median where all were reviewed. None
    where the estimate never falls to one half.

    >>> kaplan_meier_median(multiset([10, 20, 30], np.float64), multiset([25], np.float64))
    25.0
    """
    times = reviewed.values
    waiting = reviewed.total - np.cumsum(reviewed.counts) + reviewed.counts
    waiting += watched.total - np.append(0, np.cumsum(watched.counts))[np.searchsorted(watched.values, times)]
    share = np.cumprod(1 - reviewed.counts / waiting)
    for at in np.flatnonzero(share <= 0.5 + _NEARLY).tolist():
        compared = _against_half(share[at], waiting[: at + 1].tolist(), reviewed.counts[: at + 1].tolist())
        if compared < 0:
            return float(times[at])
        if compared == 0:
            return float(times[at : at + 2].mean())
    return None


def _against_half(share: float, waiting: Sequence[int], ended: Sequence[int]) -> float:
    """Below, at or above 0, as the product of all 1 - ended / waiting, about `share`, is to one half."""
    if abs(share - 0.5) > _NEARLY:
        return share - 0.5
    over = Counter(left - done for left, done in zip(waiting, ended, strict=True))
    under = Counter(waiting)
    return 2 * _product((over - under).elements()) - _product((under - over).elements())


def _product(numbers: Iterable[int]) -> int:
    """Multiplied in pairs, which is fast for many."""
    factors = list(numbers) or [1]
    while len(factors) > 1:
        factors = [math.prod(factors[at : at + 2]) for at in range(0, len(factors), 2)]
    return factors[0]
