"""Pulls: what is asked for, fetched pull request by pull request into a journal, then put in place as one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metareview.errors import UsageError
from metareview.model.selection import EVERYBODY, Selection
from metareview.model.time import parse_time, show_time
from metareview.model.words import plural
from metareview.sources.address import Target
from metareview.sources.clock import Clock
from metareview.sources.github.access import Access
from metareview.sources.github.api import GitHubApi, ScopesMissing
from metareview.sources.github.comments import files_of_commit, records
from metareview.sources.github.history import events, time_order
from metareview.sources.github.pages import Pages, warning_of_unreadable
from metareview.sources.github.queries import COMMENTS, history
from metareview.sources.journal import Journal
from metareview.sources.node import Node, Unexpected

JsonObject = dict[str, Any]
Tell = Callable[[str, bool], None]
"""Gets a line on how far it is, and whether somebody should see it in any case: a wait, rather than a step."""
_SHOWN_NUMBERS = 10


@dataclass(frozen=True, slots=True)
class PullOptions:
    """What is pulled, and where it goes."""

    target: Target
    out: Path
    since: str | None = None
    """Pull requests created at or after this time."""
    until: str | None = None
    """Pull requests created before this time."""
    overwrite: bool = False
    reviewers: Selection = EVERYBODY
    patches: bool = True

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

    def asked(self, command: str) -> JsonObject:
        """All that decides what will be in the file."""
        asked: JsonObject = {
            "command": command,
            "host": self.target.host,
            "repository": self.target.repository.casefold(),
            "numbers": None if self.target.numbers is None else list(self.target.numbers),
            "since": self.since and show_time(parse_time(self.since)),
            "until": self.until and show_time(parse_time(self.until)),
        }
        if command == "comments":
            asked |= {"reviewers": list(self.reviewers.patterns), "patches": self.patches}
        return asked


@dataclass(frozen=True, slots=True)
class Pulled:
    """What came of a pull."""

    file: Path
    repository: str
    prs: int
    lines: int
    counts: Mapping[str, int] = field(default_factory=dict)
    """Comments by reviewer, or events by kind; the most first."""
    requests: int = 0
    warnings: tuple[str, ...] = ()


def pull_comments(options: PullOptions, access: Access, tell: Tell, clock: Clock | None = None) -> Pulled:
    """Comments with threads, reviews, reactions and commits, as `jsonl`."""
    return _Pull(options, "comments", access, tell, clock or Clock()).run()


def pull_history(options: PullOptions, access: Access, tell: Tell, clock: Clock | None = None) -> Pulled:
    """What happened on pull requests, in time order, as `events`."""
    return _Pull(options, "history", access, tell, clock or Clock()).run()


class _Pull:
    def __init__(self, options: PullOptions, command: str, access: Access, tell: Tell, clock: Clock) -> None:
        self._options, self._command, self._tell = options, command, tell
        self._api = GitHubApi(access, clock, lambda line: tell(line, True))
        self._pages = Pages(self._api, options.target)
        self._warnings: list[str] = []
        self._teams = True

    def run(self) -> Pulled:
        options = self._options
        journal = Journal(options.out, options.asked(self._command), overwrite=options.overwrite)
        try:
            if not journal.finished:
                numbers = self._numbers(journal)
                self._fetch(journal, numbers)
            result = self._result(journal)
            journal.put_in_place(time_order if self._command == "history" else None)
        except ScopesMissing as problem:
            raise UsageError(f"the token lacks a scope{problem}. Give one that may read the repository.") from None
        except Unexpected as problem:
            raise UsageError(
                f"{options.target.host} sends replies that are not those of GitHub's API ({problem}). "
                "What was done is kept: the same command goes on from there."
            ) from None
        finally:
            journal.close()
            self._api.close()
        return result

    def _numbers(self, journal: Journal) -> list[int]:
        """The numbers of what is to be pulled, in order: those given, or those listed now or before."""
        if self._options.target.numbers is not None:
            return list(self._options.target.numbers)
        since, until = (
            None if text is None else parse_time(text) for text in (self._options.since, self._options.until)
        )
        listings = [mark for mark in journal.marks if "listed" in mark]
        numbers = [number for mark in listings for number in mark["listed"]]
        if not listings or listings[-1]["after"] is not None:
            after = listings[-1]["after"] if listings else None
            for page, next_page in self._pages.listed(since, until, after):
                journal.add([], {"listed": page, "after": next_page})
                numbers += page
                self._tell(f"{len(numbers):,} pull requests listed{self._left()}", False)
        return sorted(set(numbers))

    def _fetch(self, journal: Journal, numbers: Sequence[int]) -> None:
        done = {mark["done"] for mark in journal.marks if "done" in mark}
        left = [number for number in numbers if number not in done]
        if done:
            self._tell(f"going on from an earlier pull: {len(done):,} of {len(numbers):,} pull requests are here", True)
        while left:
            whole = COMMENTS if self._command == "comments" else history(self._teams)
            try:
                for number, node in self._pages.pull_requests(left, whole):
                    self._keep(journal, number, node)
                    done.add(number)
                    line = f"{len(done):,} of {plural(len(numbers), 'pull request')}{self._left()}"
                    self._tell(line, False)
            except ScopesMissing:
                if not self._teams or self._command == "comments":
                    raise
                self._teams = False
            left = [number for number in left if number not in done]

    def _keep(self, journal: Journal, number: int, node: Node | None) -> None:
        if node is None:
            journal.add([], {"done": number, "missing": True})
            return
        if self._command == "history":
            lines = events(node, self._pages.repository)
            counts = Counter(event["kind"] for event in lines)
        else:
            lines = records(node, self._options.reviewers, self._patches if self._options.patches else None)
            counts = Counter({record["reviewer"]: len(record["comments"]) for record in lines})
        journal.add(lines, {"done": number, "lines": len(lines), "counts": counts})

    def _patches(self, sha: str) -> list[JsonObject] | None:
        return files_of_commit(self._api, self._pages.repository, sha)

    def _left(self) -> str:
        return f", {self._api.limit.words}" if self._api.limit is not None else ""

    def _result(self, journal: Journal) -> Pulled:
        marks = [mark for mark in journal.marks if "done" in mark]
        missing = sorted(mark["done"] for mark in marks if mark.get("missing"))
        if marks and len(missing) == len(marks):
            shown = _numbers_in_words(missing)
            raise UsageError(f"{self._options.target.repository} has no pull request {shown}. Check the number.")
        if missing:
            self._warnings.append(f"no pull request: {_numbers_in_words(missing)}")
        counts: Counter[str] = Counter()
        for mark in marks:
            counts.update(mark.get("counts", {}))
        if not self._teams:
            self._warnings.append("the token may not read teams (scope read:org), so requests to teams have no target")
        if self._pages.unreadable:
            self._warnings.append(warning_of_unreadable(self._pages.unreadable))
        ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        lines = sum(mark.get("lines", 0) for mark in marks)
        if marks and not lines:
            self._warnings.append("nothing was found for these pull requests and reviewers")
        return Pulled(
            self._options.out,
            self._options.target.repository,
            prs=len(marks) - len(missing),
            lines=lines,
            counts=ordered,
            requests=self._api.requests,
            warnings=tuple(self._warnings),
        )


def _numbers_in_words(numbers: Sequence[int]) -> str:
    more = len(numbers) - _SHOWN_NUMBERS
    return ", ".join(f"#{number}" for number in numbers[:_SHOWN_NUMBERS]) + (f" and {more:,} more" if more > 0 else "")
