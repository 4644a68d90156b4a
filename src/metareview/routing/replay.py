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


class Snapshot(NamedTuple):
    """A pull request as it was at its cutoff, and how many of the visible events a router knows by then."""

    pull_request: PullRequest
    seen: int


class Visible(NamedTuple):
    """Events in the order in which routers learn of them, with the instant from which each counts as known.

    Whatever is known at an instant is known to every cutoff at that instant, unless it is `held` until after.
    """

    events: Sequence[Event]
    held: Sequence[bool] | None = None


def visible_events(events: Sequence[Event], reviews_visible_at: str) -> Visible:
    """What routers may learn, and when. `event`: everything when it happened.

    `creation`, the published RevFinder protocol: a review counts as known from its pull request's opening on,
    though it came later, but to no cutoff at that very instant.
    """
    if reviews_visible_at == "event":
        return Visible(events)
    opened = {event.pr: event.at for event in events if event.kind == "opened"}
    keyed = []
    for position, event in enumerate(events):
        early = event.kind == "review_submitted" and event.pr in opened
        at = opened[event.pr] if early else event.at
        keyed.append((at, early, position, event._replace(at=at) if early else event))
    keyed.sort(key=lambda item: item[:3])
    return Visible([item[3] for item in keyed], [item[1] for item in keyed])


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


def take_snapshots(events: Sequence[Event], visible: Visible, at: Mapping[int, int]) -> list[Snapshot]:
    """The pull requests of one repository by cutoff; those of one instant in the order of opening."""
    order = {event.pr: position for position, event in enumerate(events) if event.kind == "opened"}
    states: dict[int, _State] = {}
    times = [event.at for event in events]
    snapshots = []
    applied = seen = 0
    held = visible.held
    for pr in sorted(at, key=lambda pr: (at[pr], order[pr])):
        cutoff = at[pr]
        past = bisect_right(times, cutoff, applied)
        for event in events[applied:past]:
            if event.kind not in RESPONSES:  # Their body is their own.
                state = states.get(event.pr)
                if state is None:
                    state = states[event.pr] = _State()
                state.apply(event)
        applied = past
        if held is None:
            seen = applied
        else:
            while seen < len(held) and (visible.events[seen].at, held[seen]) <= (cutoff, False):
                seen += 1
        snapshots.append(Snapshot(states[pr].as_of(events[order[pr]], cutoff), seen))
    return snapshots


class _State:
    """What the events so far make of a pull request."""

    __slots__ = ("base_sha", "body", "draft", "files", "title")

    def __init__(self) -> None:
        self.title = self.body = ""
        self.files: tuple[str, ...] = ()
        self.draft = False
        self.base_sha: str | None = None

    def apply(self, event: Event) -> None:
        if event.title is not None:
            self.title = event.title
        if event.body is not None:
            self.body = event.body
        if event.files is not None:
            self.files = event.files
        if event.base_sha is not None:
            self.base_sha = event.base_sha
        if event.draft is not None:
            self.draft = event.draft
        elif event.kind == "ready_for_review":
            self.draft = False
        elif event.kind == "converted_to_draft":
            self.draft = True

    def as_of(self, opened: Event, cutoff: int) -> PullRequest:
        return PullRequest(
            opened.repo,
            opened.pr,
            opened.actor,
            opened.at,
            cutoff,
            self.title,
            self.body,
            self.files,
            self.draft,
            self.base_sha,
        )


def replay(router: Router, visible: Visible, snapshots: Iterable[Snapshot]) -> Iterator[Ranking]:
    """The router's ranking of each snapshot, fed once, in order; the snapshots must come by cutoff."""
    observed = 0
    observe = router.observe
    for pull_request, seen in snapshots:
        for event in visible.events[observed:seen]:
            observe(event)
        observed = max(observed, seen)
        yield router.rank(pull_request)
