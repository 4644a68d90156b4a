"""What the checks of an input need to know of a review's comments, so that nobody has to hold them all for that."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload

from metareview.model.paths import normal_path

if TYPE_CHECKING:
    from metareview.model.comment import Comment

LONG_NOTE = 100_000
"""More characters than this, and a judge reads the beginning alone."""
_FIELDS = ("note", "path", "id", "in_reply_to", "neutral", "author", "category", "context", "severity")
_GETTERS = {name: attrgetter(name) for name in _FIELDS}

# How the address of a comment of GitHub or GitLab ends; the number alone is its id in other files.
_ANCHOR = re.compile(r"(?:discussion_r|pullrequestreview-|issuecomment-|note_)(\d+)", re.ASCII)


class CommentFacts(NamedTuple):
    """About the comments of one review."""

    comments: int = 0
    counted: int = 0
    expected: int = 0
    """Counted and not neutral: of a reference set, what a reviewer should have said."""
    empty: int = 0
    """Without a note."""
    long_notes: int = 0
    has_path: bool = False
    may_be_absolute: bool = False
    """Whether some path looks as if it began at the root of a machine."""
    has_ids: bool = False
    may_repeat_ids: bool = False
    has_authors: bool = False
    annotated: bool = False
    """Whether some comment has a category, a context or a severity."""
    only_answers: bool = False
    """Whether all of it answers others."""


def facts_of(comments: Sequence[Comment]) -> CommentFacts:
    """Known without a look at them, if they are such."""
    if isinstance(comments, KnownComments):
        return comments.facts
    return facts_by_column(len(comments), lambda name: list(map(_GETTERS[name], comments)))


def facts_by_column(comments: int, column: Callable[[str], list[Any] | None]) -> CommentFacts:
    """The facts of so many comments. `column` gives all values of a field as they were read, an id also as a number;
    None: no comment has the field."""
    notes = [note or "" for note in column("note") or [""] * comments]
    empty = [not note or note.isspace() for note in notes]
    answers, neutral = column("in_reply_to"), column("neutral")
    counted = expected = comments - sum(empty)
    if answers is not None or neutral is not None:
        rows = zip_longest(empty, answers or (), neutral or ())
        counts = [(not silent and answer is None, aside) for silent, answer, aside in rows]
        counted = sum(counts_so for counts_so, _ in counts)
        expected = sum(counts_so and not aside for counts_so, aside in counts)
    paths = [path for path in column("path") or () if path]
    ids = [number_of(str(each)) for each in column("id") or () if each not in (None, "")]
    return CommentFacts(
        comments,
        counted,
        expected,
        sum(empty),
        sum(size > LONG_NOTE for size in map(len, notes)),
        any(map(normal_path, paths)),
        ":" in "".join(paths) or any(first == "/" or first.isspace() for first in {path[0] for path in paths}),
        bool(ids),
        len(set(ids)) < len(ids),
        any(column("author") or ()),
        any(any(column(name) or ()) for name in ("category", "context", "severity")),
        bool(answers) and None not in (answers or ()),
    )


def number_of(known_as: str) -> str:
    """The number of an id that is the end of an address; any other id as it is."""
    return anchor[1] if (anchor := _ANCHOR.fullmatch(known_as)) else known_as


def joined_facts(parts: Sequence[CommentFacts]) -> CommentFacts:
    """Those of several reviews' comments as one's; whether ids repeat is then known only by a look at them."""
    parts = [part for part in parts if part.comments]
    columns = list(zip(*parts, strict=True)) if parts else [(0,)] * len(CommentFacts._fields)
    numbers = [sum(column) for column in columns[:5]]
    flags = [any(column) for column in columns[5:]]
    several = sum(part.has_ids for part in parts) > 1
    return CommentFacts(*numbers, *flags)._replace(
        may_repeat_ids=several or any(part.may_repeat_ids for part in parts),
        only_answers=bool(parts) and all(part.only_answers for part in parts),
    )


class KnownComments(Sequence["Comment"]):
    """Comments that are read when they are asked for, each time anew. Equal to a tuple of the same."""

    __slots__ = ()

    @property
    @abstractmethod
    def facts(self) -> CommentFacts: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Comment]: ...

    @abstractmethod
    def by(self, author: str) -> Self:
        """The same, written by this author where nothing else is known."""

    @abstractmethod
    def with_paths(self, paths: Mapping[int, str]) -> Self:
        """The same with other paths at these positions."""

    def __len__(self) -> int:
        return self.facts.comments

    @overload
    def __getitem__(self, index: int) -> Comment: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Comment, ...]: ...
    def __getitem__(self, index: int | slice) -> Comment | tuple[Comment, ...]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, tuple | KnownComments) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, slots=True, eq=False)
class JoinedComments(KnownComments):
    """Those of several records of one review, one after the other."""

    parts: Sequence[Sequence[Comment]]

    @property
    def facts(self) -> CommentFacts:
        return joined_facts([facts_of(part) for part in self.parts])

    def __iter__(self) -> Iterator[Comment]:
        return chain.from_iterable(self.parts)

    def by(self, author: str) -> JoinedComments:
        return JoinedComments([written_by(part, author) for part in self.parts])

    def with_paths(self, paths: Mapping[int, str]) -> JoinedComments:
        parts, first = [], 0
        for part in self.parts:
            own = {at - first: path for at, path in paths.items() if first <= at < first + len(part)}
            parts.append(located_at(part, own))
            first += len(part)
        return JoinedComments(parts)


def written_by(comments: Sequence[Comment], author: str) -> Sequence[Comment]:
    """The comments, written by this author where nothing else is known."""
    if isinstance(comments, KnownComments):
        return comments.by(author)
    return tuple(replace(comment, author=comment.author or author) for comment in comments)


def located_at(comments: Sequence[Comment], paths: Mapping[int, str]) -> Sequence[Comment]:
    """The comments with other paths at these positions."""
    if isinstance(comments, KnownComments):
        return comments.with_paths(paths)
    return tuple(replace(comment, path=paths.get(at, comment.path)) for at, comment in enumerate(comments))
