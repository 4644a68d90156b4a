"""Who has worked on which file of a repository, as far as its events have told."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from metareview.model.event import RESPONSES, Event, PullRequest
from metareview.routing.replay import Visible

REVIEWED = frozenset({"review_submitted", "review_comment"})
"""By these somebody reviews the files of a pull request; a remark in its conversation is no review."""

_FEW = 3


class Knowledge:
    """Learns from events in order who changed a file (opened or pushed to a pull request with it) or reviewed it.

    A review is of the files that it names, else of those that the pull request had by then. What is kept grows with
    the pairs of a file and a person who knows it.
    """

    def __init__(self) -> None:
        self._people: dict[str, str | tuple[str, ...] | dict[str, int]] = {}
        """By file, who knows it and from how many pull requests. Most are known by one person from one, or by a few,
        each from one: files of a pull request share these."""
        self._files: dict[int, tuple[str, ...]] = {}
        self._authors: dict[int, str | None] = {}
        self._learned: dict[int, dict[str, tuple[str, ...]]] = {}
        """By pull request and person, the files that the person knows from it."""

    def observe(self, event: Event) -> None:
        _, pr, _, kind, actor, _, _, _, _, _, files, _, _, _ = event
        if kind in RESPONSES:
            if actor is not None and kind in REVIEWED and (reviewed := files or self._files.get(pr)):
                self._learn(pr, actor, reviewed)
            return
        if kind == "opened":
            self._authors[pr] = actor
        if files is not None:
            self._files[pr] = files
            if (author := self._authors.get(pr)) is not None:
                self._learn(pr, author, files)
        if kind == "pushed" and actor is not None and (pushed := self._files.get(pr)):
            self._learn(pr, actor, pushed)

    def _learn(self, pr: int, person: str, files: tuple[str, ...]) -> None:
        of_this = self._learned.setdefault(pr, {})
        before = of_this.get(person)
        if before is None:
            of_this[person] = files
        elif before == files:
            return
        else:
            old = set(before)
            files = tuple([path for path in files if path not in old])
            of_this[person] = before + files
        people = self._people
        together: dict[str | tuple[str, ...], tuple[str, ...]] = {}
        for path in files:
            known = people.get(path)
            if known is None:
                people[path] = person
            elif isinstance(known, dict):
                known[person] = known.get(person, 0) + 1
            elif known in together:
                people[path] = together[known]
            else:
                few = (known,) if isinstance(known, str) else known
                if person in few or len(few) == _FEW:
                    people[path] = counts = dict.fromkeys(few, 1)
                    counts[person] = counts.get(person, 0) + 1
                else:
                    people[path] = together[known] = (*few, person)

    def who_knows(self, files: Iterable[str]) -> set[str]:
        """Everybody who knows one of these files."""
        found: set[str] = set()
        for path in files:
            known = self._people.get(path)
            if isinstance(known, str):
                found.add(known)
            elif known is not None:
                found.update(known)
        return found

    def sources(self, path: str) -> dict[str, int]:
        """Who knows the file, and from how many pull requests."""
        known = self._people.get(path, {})
        if isinstance(known, dict):
            return known
        return {known: 1} if isinstance(known, str) else dict.fromkeys(known, 1)

    def learned(self, pr: int, person: str) -> tuple[str, ...]:
        """The files that the person knows from this pull request."""
        return self._learned.get(pr, {}).get(person, ())


def find_experts(
    knowledge: Knowledge, visible: Visible, pull_requests: Iterable[PullRequest]
) -> Iterator[set[str] | None]:
    """Who had worked on one of the files of each pull request by its cutoff; they must come by cutoff.

    None where its files are not known. Nothing is known then but what routers had been shown; after the last,
    `knowledge` observes the rest of the events.
    """
    observe, observed = knowledge.observe, 0
    for pull_request in pull_requests:
        known = bisect_right(visible.known_from, pull_request.cutoff)
        for event in visible.events[observed:known]:
            observe(event)
        observed = known
        yield knowledge.who_knows(pull_request.files) if pull_request.files else None
    for event in visible.events[observed:]:
        observe(event)
