"""Who really responded: what a router's list is held against."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from metareview.model.event import Eligibility, Event
from metareview.routing.records import Truth, TruthEvent

TRUTHS = ("first_response", "first_approval", "all_reviewers")
SOURCES = ("review_submitted", "review_comment", "comment")
"""What may count as a first response."""
USUAL_SOURCES = SOURCES[:2]


def find_truth(
    events: Sequence[Event],
    author: str | None,
    cutoff: int,
    *,
    policy: str,
    window: int | None,
    eligible: Eligibility,
    end: int,
    sources: Collection[str] = USUAL_SOURCES,
    reviews_hidden: bool = False,
    has_gaps: bool = False,
) -> Truth:
    """The truth of one pull request from its events in order, within (cutoff, cutoff + window].

    `first_response`: the first eligible event of the `sources`. `first_approval`: the first eligible review that
    approves. `all_reviewers`: everybody eligible with a review. What was there by the cutoff is known to routers, and
    no truth; but where a pull request's own reviews are hidden from them, all its reviewers are, if there is no window.
    Nobody: `unknown` where the window runs past the `end` of the history, or where the history `has_gaps` in which a
    response may be hidden.
    """
    until = None if window is None else cutoff + window
    ever = reviews_hidden and policy == "all_reviewers" and until is None
    targets: dict[str, TruthEvent] = {}
    for event in events:
        if event.at <= cutoff and not ever:
            continue
        if until is not None and event.at > until:
            break
        if not _counts(event, policy, sources) or not eligible(event.actor, author):
            continue
        assert event.actor is not None
        if event.actor not in targets:
            targets[event.actor] = TruthEvent(event.id, event.kind, event.actor, event.at)
        if policy != "all_reviewers":
            break
    if targets:
        return Truth("observed", tuple(targets), tuple(targets.values()))
    return Truth("unknown" if has_gaps or (until is not None and until > end) else "no_response")


def _counts(event: Event, policy: str, sources: Collection[str]) -> bool:
    if policy == "first_response":
        return event.kind in sources
    if event.kind != "review_submitted":
        return False
    return policy != "first_approval" or (event.state or "").upper() == "APPROVED"
