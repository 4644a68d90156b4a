"""Histories: events, and the pull requests that they add up to.

Identity. A person is a login, compared without case and shown as the history first shows it. An event without a login
(a deleted account) still changes its pull request, but has no actor. Renames are not followed.

Order. By time, then `opened` before everything else, then by id as text, then by position in the file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress, islice
from operator import eq, itemgetter
from pathlib import Path
from typing import NamedTuple

from metareview.errors import InputError
from metareview.model.words import plural

RESPONSES = frozenset({"review_submitted", "review_comment", "comment"})
"""The kinds by which people answer a pull request; the others change it."""

_STATES = {"opened", "edited", "pushed", "ready_for_review", "converted_to_draft", "merged", "closed", "reopened"}
KINDS = RESPONSES | _STATES | {"review_requested", "review_request_removed"}

_AT, _ACTOR, _ACTOR_AND_TYPE = itemgetter(2), itemgetter(4), itemgetter(4, 5)

RISKS = ("low", "medium", "high", "unknown")


class Event(NamedTuple):
    """One thing that happened on a pull request. It cannot be changed, so a router may keep it."""

    repo: str
    pr: int
    at: int
    """Nanoseconds since 1970, UTC."""
    kind: str
    actor: str | None = None
    actor_type: str | None = None
    id: str = ""
    state: str | None = None
    title: str | None = None
    body: str | None = None
    files: tuple[str, ...] | None = None
    draft: bool | None = None
    base_sha: str | None = None
    target: str | None = None


class PullRequest(NamedTuple):
    """A pull request as it was at its cutoff: a snapshot that later events do not touch."""

    repo: str
    pr: int
    author: str | None
    created_at: int
    cutoff: int
    title: str = ""
    body: str = ""
    files: tuple[str, ...] = ()
    draft: bool = False
    base_sha: str | None = None


def fold(login: str) -> str:
    """The login for comparison."""
    return login.casefold()


def is_bot(login: str, actor_type: str | None = None) -> bool:
    """True if an event's actor is a bot: by its type, or by a login ending in `[bot]`."""
    return actor_type == "Bot" or login.casefold().endswith("[bot]")


class Eligibility(NamedTuple):
    """The one rule for truth, queue and candidates: has a login, is not the author, is no bot."""

    bots: frozenset[str]
    include_bots: bool = False
    include_author: bool = False

    def __call__(self, login: str | None, author: str | None) -> bool:
        if not login or (not self.include_author and author is not None and login.casefold() == author.casefold()):
            return False
        return self.include_bots or not self.is_bot(login)

    def is_bot(self, login: str) -> bool:
        return fold(login) in self.bots or is_bot(login)


@dataclass(frozen=True, slots=True)
class Outline:
    """The facts about a history as a whole, without its events."""

    end: int
    """The latest instant that the history tells of."""
    bots: frozenset[str]
    """Folded logins that are bots by some event."""
    names: Mapping[str, str]
    """From folded login to the login as first seen."""
    warnings: tuple[str, ...] = ()
    gaps: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By repository, what is known to be missing of it: there, a missing response may be a gap."""
    has_bodies: bool = True
    """True if any pull request has a body."""
    has_merges: bool = True
    has_requests: bool = True


@dataclass(frozen=True, slots=True)
class History:
    """The events of pull requests in order, and what holds for the history as a whole."""

    events: tuple[Event, ...]
    end: int
    """The latest instant that the history tells of."""
    bots: frozenset[str]
    """Folded logins that are bots by some event."""
    names: Mapping[str, str]
    """From folded login to the login as first seen."""
    warnings: tuple[str, ...] = ()
    gaps: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By repository, what is known to be missing of it: there, a missing response may be a gap."""

    def outline(self) -> Outline:
        kinds = {event.kind for event in self.events}
        has_bodies = any(event.body for event in self.events if event.kind not in RESPONSES)
        known = "merged" in kinds, "review_requested" in kinds
        return Outline(self.end, self.bots, self.names, self.warnings, self.gaps, has_bodies, *known)

    @classmethod
    def without_events(cls, outline: Outline) -> History:
        """The part of a history that the replay of one of its repositories needs."""
        return cls((), outline.end, outline.bots, outline.names, gaps=outline.gaps)

    def by_repository(self) -> dict[str, list[Event]]:
        """The events of each repository, in order; repositories in order of their first event."""
        parts: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            parts[event.repo].append(event)
        return dict(parts)


def in_order(events: Iterable[Event]) -> list[Event]:
    """By time, then `opened` first, then by id, then as they came. Most instants have one event."""
    ordered = sorted(events, key=_AT)
    instants = list(map(_AT, ordered))
    end = 0
    for start in compress(range(len(instants)), map(eq, instants, islice(instants, 1, None))):
        if start >= end:
            end = bisect_right(instants, instants[start], start)
            ordered[start:end] = sorted(ordered[start:end], key=lambda event: (event.kind != "opened", event.id))
    return ordered


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """How many events of some repositories could not be used, or came too early; those of others add up."""

    left_out: Counter[str] = field(default_factory=Counter)
    """By reason."""
    early: int = 0
    never_opened: int = 0
    """Pull requests."""

    def __add__(self, other: FilterCounts) -> FilterCounts:
        never = self.never_opened + other.never_opened
        return FilterCounts(self.left_out + other.left_out, self.early + other.early, never)

    def warnings(self, unknown: Counter[str]) -> list[str]:
        """Each with its number. `unknown`: events by their unknown kinds."""
        warnings = [f"{plural(count, 'event')} left out: {why}" for why, count in sorted(self.left_out.items())]
        if unknown:
            kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(unknown.items())[:10])
            more = ", …" if len(unknown) > 10 else ""
            warnings.insert(0, f"{plural(unknown.total(), 'event')} of unknown kinds left out: {kinds}{more}")
        if self.early:
            warnings.append(f"{plural(self.early, 'event')} earlier than the opened event of the pull request")
        if self.never_opened:
            warnings.append(f"{plural(self.never_opened, 'pull request')} not scored: no opened event")
        return warnings


class EventFilter:
    """Lets those events of a repository pass that can be used, one after the other, and counts the rest.

    `shown` has, by login as written, the login as shown, of those for whom the two differ.
    """

    def __init__(self, shown: Mapping[str, str]) -> None:
        self.opened: dict[tuple[str, int], int] = {}
        """When each pull request was opened."""
        self._shown = shown
        self._left_out: Counter[str] = Counter()
        self._early: Counter[tuple[str, int]] = Counter()
        """Events of pull requests that are not open yet."""

    def kept(self, events: Iterable[Event], *, without_repeated: bool = False) -> Iterator[Event]:
        """Of events in order, those that can be used. `without_repeated`: no two of a kind have one id."""
        opened, shown = self.opened, self._shown
        ids: set[tuple[str, str, str]] = set()
        for event in events:
            key, kind, identity = event[:2], event[3], event[6]
            if identity and not without_repeated:
                by_kind = key[0], kind, identity
                if by_kind in ids:
                    self.leave_out_repeated()
                    continue
                ids.add(by_kind)
            if kind == "opened":
                if key in opened:
                    self._left_out["opened again, where a pull request opens once"] += 1
                    continue
                opened[key] = event[2]
            elif key not in opened:
                self._early[key] += 1
            name = shown.get(event[4] or "") if shown else None
            yield event if name is None else event._replace(actor=name)

    def leave_out_repeated(self, number: int = 1) -> None:
        """Count events that have the id of another of their kind."""
        self._left_out["an earlier event of its kind has its id"] += number

    def counts(self) -> FilterCounts:
        """The counts of events left out, after all events of a repository."""
        before = sum(count for key, count in self._early.items() if key in self.opened)
        return FilterCounts(self._left_out, before, sum(key not in self.opened for key in self._early))


def filter_events(events: Iterable[Event], shown: Mapping[str, str]) -> tuple[list[Event], FilterCounts]:
    """Of events in order, those that can be used, and what became of the rest; all of a repository's must be there.

    `shown` has, by login as written, the login as shown, of those for whom the two differ.
    """
    event_filter = EventFilter(shown)
    kept = list(event_filter.kept(events))
    return kept, event_filter.counts()


def display_names_of(logins: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """From folded login to the login as shown, which is as first seen, and the logins that are to be shown otherwise.

    >>> display_names_of(["Ann", "bob", "ann"])
    ({'ann': 'Ann', 'bob': 'bob'}, {'ann': 'Ann'})
    """
    names: dict[str, str] = {}
    shown: dict[str, str] = {}
    for login in logins:
        name = names.setdefault(fold(login), login)
        if name != login:
            shown[login] = name
    return names, shown


def bots_of(people: Iterable[tuple[str | None, str | None]]) -> frozenset[str]:
    """Folded, who of these, by login and type, is a bot."""
    return frozenset(fold(login) for login, kind in people if login is not None and is_bot(login, kind))


def make_history(events: Iterable[Event], *, source: str | Path) -> History:
    """The events in order, checked. What cannot be used is left out and counted in a warning.

    Events of kinds that are not in KINDS are left out too, but they still show how far the history reaches.
    InputError where there is no pull request to score.
    """
    ordered = in_order(events)
    end = ordered[-1].at if ordered else 0
    unknown = Counter(event.kind for event in ordered if event.kind not in KINDS)
    if unknown:
        ordered = [event for event in ordered if event.kind in KINDS]
    names, shown = display_names_of(login for login in dict.fromkeys(map(_ACTOR, ordered)) if login is not None)
    kept, filter_counts = filter_events(ordered, shown)
    if not any(event.kind == "opened" for event in kept):
        raise no_pull_requests(source)
    bots = bots_of(set(map(_ACTOR_AND_TYPE, ordered)))
    return History(tuple(kept), end, bots, names, tuple(filter_counts.warnings(unknown)))


def no_pull_requests(source: str | Path) -> InputError:
    problem = "the history has no pull requests: no event of kind opened"
    return InputError(problem, file=source, fix="Give every pull request an event of kind opened.")
