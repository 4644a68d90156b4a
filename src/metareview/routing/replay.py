"""The replay: events in time order, and each router's answer at each cutoff.

A router cannot see the future because it has not been shown any of it. What it is handed is immutable and never
updated, so keeping it gains nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from metareview.model.event import RESPONSES, Event, PullRequest
from metareview.model.time import Cutoff
from metareview.routing.protocol import Ranking, Router

_DRAFT = {"ready_for_review": False, "converted_to_draft": True}


class Visible(NamedTuple):
    """Events in the order in which routers learn of them, and the first cutoff to which each is known."""

    events: Sequence[Event]
    known_from: Sequence[int]


def visible_events(events: Sequence[Event], reviews_visible_at: str) -> Visible:
    """What routers may learn, and when. `event`: everything when it happened.

    `creation`, the published RevFinder protocol: a review counts as known from its pull request's opening on,
    though it came later, but to no cutoff at that very instant.
    """
    if reviews_visible_at == "event":
        return Visible(events, [event.at for event in events])
    opened = {event.pr: event.at for event in events if event.kind == "opened"}
    keyed = []
    for position, event in enumerate(events):
        if event.kind == "review_submitted" and event.pr in opened:
            at = opened[event.pr]
            keyed.append((at + 1, 0, position, event._replace(at=at)))
        else:
            keyed.append((event.at, 1, position, event))
    keyed.sort(key=lambda item: item[:3])
    return Visible([item[3] for item in keyed], [item[0] for item in keyed])


def cutoffs(events: Iterable[Event], cutoff: Cutoff) -> dict[int, int]:
    """The cutoff of each pull request that was opened and has one: a draft that never became ready has none.

    `ready_for_review` is the first such event, or the opening of a pull request that never was a draft.
    """
    opened: dict[int, int] = {}
    ready: dict[int, int] = {}
    drafts: set[int] = set()
    for event in events:
        if event.kind == "opened":
            opened[event.pr] = event.at
        elif event.kind == "ready_for_review" and event.pr in opened:
            ready.setdefault(event.pr, event.at)
        if event.draft or event.kind == "converted_to_draft":
            drafts.add(event.pr)
    if cutoff.policy == "created_at":
        return {pr: at + cutoff.delay for pr, at in opened.items()}
    return {pr: ready.get(pr, at) for pr, at in opened.items() if pr in ready or pr not in drafts}


def take_snapshots(events: Sequence[Event], at: Mapping[int, int]) -> list[PullRequest]:
    """The pull requests of one repository as of their cutoffs, by cutoff; those of one instant in order of opening."""
    order = {event.pr: position for position, event in enumerate(events) if event.kind == "opened"}
    states: dict[int, PullRequest] = {}
    snapshots = []
    applied = 0
    for pr in sorted(at, key=lambda pr: (at[pr], order[pr])):
        while applied < len(events) and events[applied].at <= at[pr]:
            event = events[applied]
            applied += 1
            if event.kind not in RESPONSES:  # Their body is their own.
                state = states.get(event.pr)
                states[event.pr] = _applied(state or PullRequest(event.repo, event.pr, None, 0, 0), event)
        snapshots.append(_with_cutoff(states[pr], at[pr]))
    return snapshots


def _with_cutoff(state: PullRequest, cutoff: int) -> PullRequest:
    """As `_replace` does, in a third of its time."""
    repo, pr, author, created_at, _, title, body, files, draft, base_sha = state
    return PullRequest(repo, pr, author, created_at, cutoff, title, body, files, draft, base_sha)


def _applied(state: PullRequest, event: Event) -> PullRequest:
    """The pull request after the event."""
    repo, pr, author, created_at, cutoff, title, body, files, draft, base_sha = state
    if event.kind == "opened":
        author, created_at = event.actor, event.at
    now_draft = _DRAFT.get(event.kind) if event.draft is None else event.draft
    return PullRequest(
        repo,
        pr,
        author,
        created_at,
        cutoff,
        title if event.title is None else event.title,
        body if event.body is None else event.body,
        files if event.files is None else event.files,
        draft if now_draft is None else now_draft,
        base_sha if event.base_sha is None else event.base_sha,
    )


def replay(router: Router, visible: Visible, pull_requests: Iterable[PullRequest]) -> Iterator[Ranking]:
    """The router's ranking of each pull request, fed once, in order; they must come by cutoff."""
    observed = 0
    observe = router.observe
    for pull_request in pull_requests:
        known = bisect_right(visible.known_from, pull_request.cutoff)
        for event in visible.events[observed:known]:
            observe(event)
        observed = known
        yield router.rank(pull_request)
