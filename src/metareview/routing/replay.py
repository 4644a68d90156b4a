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
        if is_moved(event, opened):
            at = opened[event.pr]
            keyed.append((at + 1, 0, position, event._replace(at=at)))
        else:
            keyed.append((event.at, 1, position, event))
    keyed.sort(key=lambda item: item[:3])
    return Visible([item[3] for item in keyed], [item[0] for item in keyed])


def is_moved(event: Event, opened: Mapping[int, int]) -> bool:
    """Whether, under `creation`, routers learn of the event from its pull request's opening on: when each was."""
    return event.kind == "review_submitted" and event.pr in opened


def cutoffs(events: Iterable[Event], cutoff: Cutoff) -> dict[int, int]:
    """The cutoff of each pull request that was opened and has one: a draft that never became ready has none.

    `ready_for_review` is the first such event, or the opening of a pull request that never was a draft. In order of
    opening.
    """
    if cutoff.policy == "created_at":
        return {event.pr: event.at + cutoff.delay for event in events if event.kind == "opened"}
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
    return {pr: ready.get(pr, at) for pr, at in opened.items() if pr in ready or pr not in drafts}


def by_pull_request(events: Iterable[Event], prs: Iterable[int]) -> dict[int, list[Event]]:
    """The events of each of these pull requests of one repository, in order."""
    stories: dict[int, list[Event]] = {pr: [] for pr in prs}
    for event in events:
        story = stories.get(event.pr)
        if story is not None:
            story.append(event)
    return stories


def take_snapshots(stories: Mapping[int, Sequence[Event]], at: Mapping[int, int]) -> list[PullRequest]:
    """The pull requests of one repository as of their cutoffs, by cutoff; those of one instant in the order of `at`."""
    return [_snapshot(stories[pr], at[pr]) for pr in sorted(at, key=at.__getitem__)]


def _snapshot(story: Sequence[Event], cutoff: int) -> PullRequest:
    """What the events of a pull request have made of it by the cutoff; but not responses, whose body is their own."""
    author: str | None = None
    created_at, title, body, draft = 0, "", "", False
    files: tuple[str, ...] = ()
    base_sha: str | None = None
    for _, _, at, kind, actor, _, _, _, new_title, new_body, new_files, new_draft, new_base_sha, _ in story:
        if at > cutoff:
            break
        if kind in RESPONSES:
            continue
        if kind == "opened":
            author, created_at = actor, at
        title = title if new_title is None else new_title
        body = body if new_body is None else new_body
        files = files if new_files is None else new_files
        draft = _DRAFT.get(kind, draft) if new_draft is None else new_draft
        base_sha = base_sha if new_base_sha is None else new_base_sha
    return PullRequest(story[0].repo, story[0].pr, author, created_at, cutoff, title, body, files, draft, base_sha)


def replay(router: Router, visible: Visible, pull_requests: Iterable[PullRequest]) -> Iterator[Ranking]:
    """The router's ranking of each pull request, fed once, in order; they must come by cutoff."""
    if not router.learns:
        yield from map(router.rank, pull_requests)
        return
    observed = 0
    observe = router.observe
    for pull_request in pull_requests:
        known = bisect_right(visible.known_from, pull_request.cutoff)
        for event in visible.events[observed:known]:
            observe(event)
        observed = known
        yield router.rank(pull_request)
