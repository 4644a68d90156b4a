"""Formats: how a file is recognised, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from metareview.formats.input_file import InputFile
from metareview.model.address import repository_key
from metareview.model.comment import Review
from metareview.model.event import Event, History, make_history


@dataclass(frozen=True, slots=True)
class CommentFormat:
    """A format of reviews. `write` gives the text of each file by its name; the name "" means any name will do, and
    without `write` a format is only read.

    `sniff` says whether a file is in this format; it may look into whatever is in it, and must not take a file of
    another format for its own.
    """

    summary: str
    sniff: Callable[[InputFile], bool]
    read: Callable[[InputFile], Iterator[Review]]
    write: Callable[[Iterable[Review]], dict[str, str]] | None = None
    by_tools: bool = False
    """True if only tools write it, about one pull request, so that nothing in it was annotated by people."""


@dataclass(frozen=True, slots=True)
class TextFilter:
    """Which events need their texts and files: the others are counted, but their texts are not needed.

    Every event of every repository is still read. It can be the one that shows how far the history reaches, that a
    login is a bot, or how a login is written.
    """

    repos: frozenset[str] = frozenset()
    """The keys of those with pull requests to score; none: all."""
    until: int | None = None
    """The last instant at which a router ranks; None: not known."""

    def __call__(self, repo: str, at: int) -> bool:
        return (not self.repos or repository_key(repo) in self.repos) and (self.until is None or at <= self.until)


@dataclass(slots=True)
class HistoryContext:
    """The options of a reader of histories, and what it finds besides the events."""

    texts: TextFilter = field(default_factory=TextFilter)
    end: int | None = None
    """The latest instant that a file tells of, by whatever happened then."""
    gaps: dict[str, set[str]] = field(default_factory=dict)
    """By repository, what is known to be missing of it."""
    warnings: list[str] = field(default_factory=list)

    def reaches(self, at: int) -> None:
        if self.end is None or at > self.end:
            self.end = at

    def history(self, events: Iterable[Event], source: str) -> History:
        """The history of these events, with what was learned while they were read."""
        history = make_history(events, source=source)
        return replace(
            history,
            end=history.end if self.end is None else max(history.end, self.end),
            gaps={repo: frozenset(resources) for repo, resources in self.gaps.items()},
            warnings=(*self.warnings, *history.warnings),
        )


ReadEvents = Callable[[InputFile, HistoryContext], Iterable[Event]]


@dataclass(frozen=True, slots=True)
class HistoryFormat:
    """A format of events. `sniff` should look at the first object or the first bytes only: histories are large.

    With `events` several files make one history; `read` alone reads one file.
    """

    summary: str
    sniff: Callable[[InputFile], bool]
    read: Callable[[InputFile], History]
    events: ReadEvents | None = None

    @classmethod
    def of_events(cls, summary: str, sniff: Callable[[InputFile], bool], events: ReadEvents) -> HistoryFormat:
        """The format whose events are read so; a file is a history of its own."""

        def read(file: InputFile) -> History:
            reading = HistoryContext()
            return reading.history(events(file, reading), file.name)

        return cls(summary, sniff, read, events)
