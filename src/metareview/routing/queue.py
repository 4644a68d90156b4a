"""How long pull requests waited, by the risk that a router gave them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, median

from metareview.model.event import RISKS, Eligibility, Event
from metareview.model.time import SECOND

REVIEWS = frozenset({"review_submitted"})
COMMENTS = frozenset({"review_comment", "comment"})


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


def waiting_times(
    waits: Iterable[tuple[str, float | None, float | None]], *, ttfc: bool
) -> dict[str, dict[str, float | int | None]]:
    """The four risk buckets from (risk, TTFR, TTFC) of each pull request.

    `n` counts pull requests, `ttfr_n` those that were reviewed at all: means and medians are over these.
    """
    buckets: dict[str, list[tuple[float | None, float | None]]] = {risk: [] for risk in RISKS}
    for risk, first_review, first_comment in waits:
        buckets[risk].append((first_review, first_comment))
    summary = {}
    for risk, items in buckets.items():
        reviews = [review for review, _ in items if review is not None]
        comments = [comment for _, comment in items if comment is not None] if ttfc else []
        summary[risk] = {
            "n": len(items),
            "ttfr_n": len(reviews),
            "ttfr_seconds_mean": fmean(reviews) if reviews else None,
            "ttfr_seconds_median": median(reviews) if reviews else None,
            "ttfc_n": len(comments) if ttfc else None,
            "ttfc_seconds_mean": fmean(comments) if comments else None,
            "ttfc_seconds_median": median(comments) if comments else None,
        }
    return summary
