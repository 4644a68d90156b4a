"""What a format is: how a file in it is recognised, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from metareview.formats.source import Source
from metareview.model.comment import Review
from metareview.model.event import History


@dataclass(frozen=True, slots=True)
class CommentFormat:
    """A format of reviews. `write` gives the text of each file by its name; the name "" means any name will do, and
    without `write` a format is only read. `holds` names the fields of a comment and of a review that it can write:
    what else there is gets lost, and `metareview convert` says so; None: it holds everything, or says so itself.

    `sniff` says whether a file is in this format; it may look into whatever is in it, and must not take a file of
    another format for its own.
    """

    summary: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source], Iterator[Review]]
    write: Callable[[Iterable[Review]], dict[str, str]] | None = None
    holds: frozenset[str] | None = None
    by_tools: bool = False
    """Whether only tools write it, about one pull request: what is in it was never annotated by anybody."""


@dataclass(frozen=True, slots=True)
class HistoryFormat:
    """A format of events. `sniff` should look at the first object or the first bytes only: histories are large."""

    summary: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source], History]
