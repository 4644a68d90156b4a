"""What the checks of an input need to know of a review's comments, so that nobody has to hold them all for that."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Self, overload

from metareview.model.paths import normal_path

if TYPE_CHECKING:
    from metareview.model.comment import Comment

LONG_NOTE = 100_000
"""More characters than this, and a judge reads the beginning alone."""
FACT_FIELDS = ("note", "path", "id", "in_reply_to", "neutral", "author", "category", "context", "severity")
"""The fields of a comment that facts are drawn from."""
_FACT_FIELDS = attrgetter(*FACT_FIELDS)


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
    return facts_of_fields(map(_FACT_FIELDS, comments))


def facts_of_fields(rows: Iterable[tuple[object, ...]]) -> CommentFacts:
    """The facts of comments of which the `FACT_FIELDS` are given, as they were read: an id may be a number."""
    comments = counted = expected = empty = long_notes = answers = 0
    has_path = may_be_absolute = has_authors = annotated = False
    ids: list[str] = []
    for note, path, identifier, answered, neutral, author, category, context, severity in rows:
        comments += 1
        says = bool(isinstance(note, str) and note.strip())
        if answered is not None:
            answers += 1
        elif says:
            counted += 1
            if not neutral:
                expected += 1
        if not says:
            empty += 1
        if isinstance(note, str) and len(note) > LONG_NOTE:
            long_notes += 1
        if isinstance(path, str):
            has_path = has_path or bool(normal_path(path))
            may_be_absolute = may_be_absolute or ":" in path or path.lstrip()[:1] == "/"
        if identifier not in (None, ""):
            ids.append(str(identifier))
        if author:
            has_authors = True
        if category or context or severity:
            annotated = True
    return CommentFacts(
        comments,
        counted,
        expected,
        empty,
        long_notes,
        has_path,
        may_be_absolute,
        bool(ids),
        len(set(ids)) < len(ids),
        has_authors,
        annotated,
        0 < comments == answers,
    )


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
