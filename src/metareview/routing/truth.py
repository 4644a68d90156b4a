"""Who really responded: what a router's list is held against."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.model.event import Eligibility, Event
from metareview.routing.records import Truth

TRUTHS = ("first_response", "first_approval", "all_reviewers")


def find_truth(
    events: Sequence[Event],
    author: str | None,
    cutoff: int,
    *,
    policy: str,
    window: int | None,
    eligible: Eligibility,
    end: int,
) -> Truth:
    """The truth of one pull request from its events in order, within (cutoff, cutoff + window].

    `first_response`: the first eligible review or review comment. `first_approval`: the first eligible review
    that approves. `all_reviewers`: everybody eligible with a review; without a window, whenever it was.
    """
    until = None if window is None else cutoff + window
    ever = policy == "all_reviewers" and until is None
    targets: dict[str, None] = {}
    for event in events:
        if event.at <= cutoff and not ever:
            continue
        if until is not None and event.at > until:
            break
        if not _counts(event, policy) or not eligible(event.actor, author):
            continue
        assert event.actor is not None
        targets[event.actor] = None
        if policy != "all_reviewers":
            break
    if targets:
        return Truth("observed", tuple(targets))
    return Truth("unknown" if until is not None and until > end else "no_response")


def _counts(event: Event, policy: str) -> bool:
    if event.kind == "review_comment":
        return policy == "first_response"
    if event.kind != "review_submitted":
        return False
    return policy != "first_approval" or (event.state or "").upper() == "APPROVED"
