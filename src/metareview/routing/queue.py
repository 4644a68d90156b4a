"""How long pull requests waited, by the risk that a router gave them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metareview.model.event import RISKS, Eligibility, Event
from metareview.model.time import SECOND

REVIEWS = frozenset({"review_submitted"})
COMMENTS = frozenset({"review_comment", "comment"})

Seconds = NDArray[np.float64]
Instants = NDArray[np.int64]


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


def _nobody() -> NDArray[np.float64]:
    return np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """How long some pull requests waited, each of the three in rising order, so that equal waits are equal arrays."""

    reviewed: Seconds = field(default_factory=_nobody)
    """TTFR of those that were reviewed."""
    unreviewed: Instants = field(default_factory=lambda: np.empty(0, np.int64))
    """Cutoffs of those that never were: each is known to have waited from there to the end of the history."""
    commented: Seconds = field(default_factory=_nobody)
    """TTFC of those that somebody commented on."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Waits) and all(
            map(
                np.array_equal,
                (self.reviewed, self.unreviewed, self.commented),
                (other.reviewed, other.unreviewed, other.commented),
            )
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def n(self) -> int:
        return len(self.reviewed) + len(self.unreviewed)


def waits_of(waits: Iterable[tuple[float | None, float | None, int]]) -> Waits:
    """Those of pull requests, from (TTFR, TTFC, cutoff) of each."""
    held = list(waits)
    return Waits(
        np.sort(np.array([reviewed for reviewed, _, _ in held if reviewed is not None], np.float64)),
        np.sort(np.array([cutoff for reviewed, _, cutoff in held if reviewed is None], np.int64)),
        np.sort(np.array([commented for _, commented, _ in held if commented is not None], np.float64)),
    )


def merged_waits(parts: Sequence[Waits]) -> Waits:
    """Those of all parts, the same in whatever order they come."""
    if len(parts) == 1:
        return parts[0]
    return Waits(
        _in_order([part.reviewed for part in parts]),
        _in_order([part.unreviewed for part in parts], np.int64),
        _in_order([part.commented for part in parts]),
    )


def _in_order(parts: Sequence[NDArray[np.generic]], kind: type[np.generic] = np.float64) -> NDArray[Any]:
    # A stable sort finds the parts' own order, and only merges them.
    return np.sort(np.concatenate([np.empty(0, kind), *parts]), kind="stable")


def queue_times(waits: Mapping[str, Waits], end: int, *, ttfc: bool) -> dict[str, QueueTimes]:
    """The times of each of the four risks, from the waits of those that have any. `end`: of the history."""
    return {risk: _times(waits.get(risk, Waits()), end, ttfc) for risk in RISKS}


def _times(waits: Waits, end: int, ttfc: bool) -> QueueTimes:
    # As whole numbers: a 64-bit float does not hold the nanoseconds of a year.
    watched = [max(0, end - cutoff) / SECOND for cutoff in waits.unreviewed.tolist()]
    return QueueTimes(
        waits.n,
        len(waits.reviewed),
        len(waits.unreviewed),
        _mean(waits.reviewed),
        _median(waits.reviewed),
        kaplan_meier_median(waits.reviewed, watched),
        len(waits.commented) if ttfc else None,
        _mean(waits.commented) if ttfc else None,
        _median(waits.commented) if ttfc else None,
    )


def _mean(values: Seconds) -> float | None:
    return math.fsum(values.tolist()) / len(values) if len(values) else None


def _median(values: Seconds) -> float | None:
    """Of values in order."""
    if not len(values):
        return None
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return float(low if len(values) % 2 else (low + high) / 2)


def kaplan_meier_median(reviewed: ArrayLike, watched: ArrayLike) -> float | None:
    """The wait by which half have been reviewed, by the product-limit estimate.

    `reviewed` holds the waits that ended, `watched` how long the others were seen to wait. None where the estimate
    never falls to one half.

    >>> kaplan_meier_median([10.0, 20.0, 30.0], [25.0])
    20.0
    """
    over, still = (np.sort(np.asarray(each, np.float64)) for each in (reviewed, watched))
    times = np.unique(np.concatenate([over, still]))
    ended = _up_to(over, times, "right") - _up_to(over, times, "left")
    waiting = len(over) + len(still) - _up_to(over, times, "left") - _up_to(still, times, "left")
    share = np.cumprod(1 - ended / waiting)
    half = np.flatnonzero(share <= 0.5 + 1e-9)  # A product of many factors is never quite one half.
    return float(times[half[0]]) if len(half) else None


def _up_to(values: Seconds, times: Seconds, side: Literal["left", "right"]) -> NDArray[np.int64]:
    """How many of these values are less than each of these times, and on the right also those that equal it."""
    return np.searchsorted(values, times, side).astype(np.int64)
