"""Pulls: fetch one pull request after the other into a journal, then put the file in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from metareview.errors import InputError, UsageError
from metareview.formats.comments import jsonl
from metareview.formats.histories import events
from metareview.model.comment import Review
from metareview.model.event import Event
from metareview.model.selection import ALL_NAMES, Selection
from metareview.model.time import parse_time, show_time
from metareview.model.words import plural
from metareview.sources.access import Access
from metareview.sources.api import Api
from metareview.sources.clock import Clock
from metareview.sources.github.api import GitHubApi
from metareview.sources.github.origin import GitHubOrigin
from metareview.sources.gitlab import GitLabApi, GitLabOrigin
from metareview.sources.journal import Journal
from metareview.sources.targets import PullTarget

ShowProgress = Callable[[str, bool], None]
"""A progress callback, called with a message, and True for one to show even without a terminal: a wait, not a step."""
_SHOWN_NUMBERS = 10


@dataclass(frozen=True, slots=True)
class PullOptions:
    """Pull requests to fetch, and the file to write."""

    target: PullTarget
    out: Path
    since: str | None = None
    """Pull requests created at or after this time."""
    until: str | None = None
    """Pull requests created before this time."""
    overwrite: bool = False
    reviewers: Selection = ALL_NAMES
    patches: bool = True
    history: bool = False
    """The events of the pull requests instead of their comments; from GitHub alone."""

    def __post_init__(self) -> None:
        if self.target.numbers is not None and (self.since or self.until):
            raise UsageError("--since and --until choose among all pull requests. Leave them out, or the numbers.")
        for option, text in (("--since", self.since), ("--until", self.until)):
            try:
                parse_time(text or "2000-01-01")
            except ValueError:
                raise UsageError(f"{option} {text!r} is no time. Give one such as 2025-06-01T12:30:00Z.") from None
        if self.since and self.until and parse_time(self.since) >= parse_time(self.until):
            raise UsageError("--since is not before --until. Swap them.")

    def request(self) -> dict[str, Any]:
        """The settings that decide the content of the file."""
        request: dict[str, Any] = {
            "command": "history" if self.history else "comments",
            "host": self.target.host,
            "repository": self.target.repository.casefold(),
            "numbers": None if self.target.numbers is None else list(self.target.numbers),
            "since": self.since and show_time(parse_time(self.since)),
            "until": self.until and show_time(parse_time(self.until)),
        }
        if not self.history:
            request |= {"reviewers": list(self.reviewers.patterns), "patches": self.patches}
        return request


@dataclass(frozen=True, slots=True)
class PullResult:
    """The outcome of a pull."""

    file: Path
    repository: str
    prs: int
    lines: int
    counts: Mapping[str, int] = field(default_factory=dict)
    """Comments by reviewer, or events by kind; the most first."""
    requests: int = 0
    warnings: tuple[str, ...] = ()


class PullOrigin(Protocol):
    """Where pull requests come from."""

    name: str
    """Whose API it is, for messages."""

    @property
    def api(self) -> Api:
        """Its API, with the number of requests and the rate limit."""

    def listed(self, since: int | None, until: int | None, after: str | None) -> Iterator[tuple[list[int], str | None]]:
        """Numbers of the pull requests created in [since, until), in pages; with each page where to go on."""

    def lines(self, numbers: Sequence[int]) -> Iterator[tuple[int, Sequence[Review] | Sequence[Event] | None]]:
        """The reviews or events of each pull request, as soon as it is whole; None for a number that is none (any
        more)."""

    def warnings(self) -> list[str]:
        """Warnings of what is missing."""


def pull(
    options: PullOptions, access: Access, show: ShowProgress, clock: Clock | None = None
) -> AbstractContextManager[PullResult]:
    """Comments with threads, reviews, reactions and commits, as `jsonl`, or events in time order.

    The file is in place within the context; when that ends, the pull is over. If it is cut short, as by Ctrl-C before
    the result was shown, the same pull gives the result once more.
    """
    clock, target = clock or Clock(), options.target
    origin: PullOrigin
    if target.gitlab:
        gitlab = GitLabApi(access, clock, lambda line: show(line, True))
        origin = GitLabOrigin(gitlab, target, options.reviewers, patches=options.patches)
    else:
        github = GitHubApi(access, clock, lambda line: show(line, True))
        reviewers = None if options.history else options.reviewers
        origin = GitHubOrigin(github, target, reviewers, patches=options.patches)
    return _Pull(options, origin, show).run()


class _Pull:
    def __init__(self, options: PullOptions, origin: PullOrigin, show: ShowProgress) -> None:
        self._options, self._origin, self._show = options, origin, show

    @contextmanager
    def run(self) -> Iterator[PullResult]:
        options = self._options
        journal = Journal(options.out, options.request(), overwrite=options.overwrite)
        try:
            if not journal.in_place:
                self._complete(journal)
            result = self._result(journal)
            if not journal.in_place:
                journal.put_in_place(events.time_order if options.history else None)
            yield result
            journal.discard()
        finally:
            journal.close()
            self._origin.api.close()

    def _complete(self, journal: Journal) -> None:
        try:
            self._fetch(journal, self._numbers(journal))
        except InputError as error:
            raise UsageError(
                f"{self._options.target.host} sends replies that are not those of {self._origin.name}'s API "
                f"({error.problem}). What was done is kept: the same command goes on from there."
            ) from None

    def _numbers(self, journal: Journal) -> list[int]:
        """The numbers of the pull requests to fetch, in order: those given, or those listed now or before."""
        if self._options.target.numbers is not None:
            return list(self._options.target.numbers)
        since, until = (
            None if text is None else parse_time(text) for text in (self._options.since, self._options.until)
        )
        listings = [mark for mark in journal.marks if "listed" in mark]
        numbers = [number for mark in listings for number in mark["listed"]]
        if not listings or listings[-1]["after"] is not None:
            after = listings[-1]["after"] if listings else None
            for page, next_page in self._origin.listed(since, until, after):
                journal.add([], {"listed": page, "after": next_page})
                numbers += page
                self._show(f"{plural(len(numbers), 'pull request')} listed{self._left()}", False)
        return sorted(set(numbers))

    def _fetch(self, journal: Journal, numbers: Sequence[int]) -> None:
        done = {mark["done"] for mark in journal.marks if "done" in mark}
        left = [number for number in numbers if number not in done]
        if done:
            self._show(
                f"going on from an earlier pull: {len(done):,} of {plural(len(numbers), 'pull request')} are here", True
            )
        for number, found in self._origin.lines(left):
            self._keep(journal, number, found)
            done.add(number)
            self._show(f"{len(done):,} of {plural(len(numbers), 'pull request')}{self._left()}", False)

    def _keep(self, journal: Journal, number: int, found: Sequence[Review] | Sequence[Event] | None) -> None:
        if found is None:
            journal.add([], {"done": number, "missing": True})
            return
        counts: Counter[str] = Counter()
        lines = []
        for each in found:
            if isinstance(each, Event):
                counts[each.kind] += 1
                lines.append(events.line_of(each))
            else:
                lines.append(jsonl.line_of(each))
                # People who only answered are in the file too, and do not count as reviewers.
                if each.reviewer is not None and each.reviewer in self._options.reviewers:
                    counts[each.reviewer] = len(each.comments)
        journal.add(lines, {"done": number, "lines": len(lines), "counts": counts})

    def _left(self) -> str:
        limit = self._origin.api.limit
        return f", {limit.words}" if limit is not None else ""

    def _result(self, journal: Journal) -> PullResult:
        warnings: list[str] = []
        marks = [mark for mark in journal.marks if "done" in mark]
        missing = sorted(mark["done"] for mark in marks if mark.get("missing"))
        if marks and len(missing) == len(marks):
            shown = _numbers_in_words(missing)
            raise UsageError(f"{self._options.target.repository} has no pull request {shown}. Check the number.")
        if missing:
            shown = _numbers_in_words(missing)
            warnings.append(f"{self._options.target.repository} has no pull request {shown}")
        counts: Counter[str] = Counter()
        for mark in marks:
            counts.update(mark.get("counts", {}))
        warnings += self._origin.warnings()
        ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        lines = sum(mark.get("lines", 0) for mark in marks)
        if not marks:
            when = " that was created in this time" if self._options.since or self._options.until else ""
            warnings.append(f"{self._options.target.repository} has no pull request{when}")
        elif not lines:
            warnings.append("nothing was found for these pull requests and reviewers")
        return PullResult(
            self._options.out,
            self._options.target.repository,
            prs=len(marks) - len(missing),
            lines=lines,
            counts=ordered,
            requests=self._origin.api.requests,
            warnings=tuple(warnings),
        )


def _numbers_in_words(numbers: Sequence[int]) -> str:
    more = len(numbers) - _SHOWN_NUMBERS
    return ", ".join(f"#{number}" for number in numbers[:_SHOWN_NUMBERS]) + (f" and {more:,} more" if more > 0 else "")
