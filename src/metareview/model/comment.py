"""Comments, reviews and reference sets. Frozen and checked; made by the readers in `metareview.formats`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import reduce
from itertools import chain
from typing import Annotated, Any

import msgspec

from metareview.errors import InputError
from metareview.model.address import full_addresses, pull_request_key
from metareview.model.paths import normal_path as normal_path
from metareview.model.paths import normal_side as normal_side

MAX_LINE = 2**31 - 1
LONG_NOTE = 100_000
"""Notes of more characters are judged on their beginning."""
MAX_AMOUNT = 2**53
"""Of what a review took: up to here sums of millions are finite, and whole numbers are exact."""
PEOPLE = "people"


class PRCategory(StrEnum):
    """The kind of a pull request, in the categories of AACR-Bench."""

    BUG_FIX = "Bug Fix"
    CODE_REFACTORING = "Code Refactoring / Architectural Improvement"
    NEW_FEATURE = "New Feature Additions"
    PERFORMANCE = "Performance Optimizations"
    SECURITY = "Security Patches / Vulnerability Fixes"
    DOCUMENTATION = "Documentation Update"
    CODE_STYLE = "Code Style, Linting, Formatting Fixes"
    TEST_CI = "Test Suite / CI Enhancements"
    DEPENDENCY = "Dependency Updates & Environment Compatibility"
    REFACTORING = CODE_REFACTORING  # AACR-Bench's own name


class ProjectLanguage(StrEnum):
    PYTHON = "Python"
    JAVA = "Java"
    JAVASCRIPT = "JavaScript"
    TYPESCRIPT = "TypeScript"
    GO = "Go"
    RUST = "Rust"
    C = "C"
    CPP = "C++"
    CSHARP = "C#"
    PHP = "PHP"


class CommentCategory(StrEnum):
    CODE_DEFECT = "Code Defect"
    MAINTAINABILITY = "Maintainability and Readability"
    PERFORMANCE = "Performance"
    SECURITY = "Security Vulnerability"


class CommentContext(StrEnum):
    """How much code one must read to see the issue."""

    DIFF = "Diff Level"
    FILE = "File Level"
    REPO = "Repo Level"
    DIFF_LEVEL, FILE_LEVEL, REPO_LEVEL = DIFF, FILE, REPO  # AACR-Bench's own names


class Comment(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One remark of a reviewer: a note, and where it points.

    Both lines missing: the whole file. Readable by attribute and, like the dictionaries of AACR's runner, by key:

    >>> Comment(note="Leaks the handle", path="a.py", from_line=3, to_line=4)["from_line"]
    3
    """

    note: str
    path: str | None = None
    side: str | None = None
    from_line: int | None = None
    to_line: int | None = None
    id: str | None = None
    category: str | None = None
    context: str | None = None
    severity: str | None = None
    author: str | None = None
    """The author, where known: kept with references, whose review has no reviewer."""
    at: str | None = None
    commit: str | None = None
    in_reply_to: str | None = None
    """The comment that it answers. A reply is conversation, not review: it is kept, and never counted."""
    resolved: bool | None = None
    outdated: bool | None = None
    reactions: Mapping[str, Annotated[int, msgspec.Meta(ge=0)]] | None = None
    neutral: bool | None = None
    """Of a reference: a comment that matches it counts neither for nor against."""
    producer: str | None = None
    source_model: str | None = None
    """The model that wrote it, as AACR-Bench calls it; `producer` is what any other set calls the tool or model."""
    is_ai_comment: bool | None = None
    meta: Mapping[str, object] | None = None
    """Further fields of its file, kept and never read."""

    def __post_init__(self) -> None:
        first, last = self.from_line, self.to_line
        for line in (first, last):
            if line is not None and not 1 <= line <= MAX_LINE:
                raise InputError(f"line numbers run from 1 to {MAX_LINE}, found {line}")
        if first is not None and last is not None and first > last:
            raise InputError(f"from_line {first} is after to_line {last}", fix="Swap them.")

    def __hash__(self) -> int:
        return hash((self.note, self.path, self.from_line, self.to_line, self.id))

    def __getitem__(self, name: str) -> Any:
        if name not in COMMENT_FIELDS:
            raise KeyError(name)
        return getattr(self, name)

    def get(self, name: str, default: object = None) -> object:
        return self[name] if name in COMMENT_FIELDS else default

    def keys(self) -> tuple[str, ...]:
        return COMMENT_FIELDS

    def replace(self, **changes: Any) -> Comment:
        """A copy with these fields changed, as `datetime.replace` makes one."""
        return msgspec.structs.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The fields that it has, for JSON."""
        return {name: value for name in COMMENT_FIELDS if (value := getattr(self, name)) is not None}

    @property
    def counted(self) -> bool:
        """A comment without a note is not counted, nor is a reply."""
        return self.in_reply_to is None and self.has_note

    @property
    def has_note(self) -> bool:
        return bool(self.note) and not self.note.isspace()

    @property
    def producers(self) -> tuple[str, ...]:
        """The model and the tool that wrote it, as far as they are known."""
        return tuple(name for name in (self.source_model, self.producer) if name)

    @property
    def made_by(self) -> str | None:
        """The model or tool that wrote it; people, where it is known that no model did."""
        return self.source_model or self.producer or (PEOPLE if self.is_ai_comment is False else None)

    @property
    def ai_or_people(self) -> str | None:
        """The kind of author, where its file has it."""
        return None if self.is_ai_comment is None else "AI" if self.is_ai_comment else PEOPLE

    @property
    def content_key(self) -> tuple[str, int, int, str]:
        """The key that breaks ties, so that the order of the input changes nothing."""
        return (normal_path(self.path) or "", *self.span, self.note)

    @property
    def span(self) -> tuple[int, int]:
        """The lines it covers; one missing equals the other, both missing: the whole file."""
        return (self.from_line or self.to_line or 1, self.to_line or self.from_line or MAX_LINE)


COMMENT_FIELDS = Comment.__struct_fields__


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit changed; without a patch, the lines are not known."""

    path: str
    previous_path: str | None = None
    status: str | None = None
    patch: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a pull request."""

    sha: str
    at: str | None = None
    author: str | None = None
    parents: tuple[str, ...] = ()
    files: tuple[ChangedFile, ...] | None = None
    """None: not known; empty: it changed nothing."""


@dataclass(frozen=True, slots=True)
class Review:
    """All comments of one reviewer on one pull request; with none, the reviewer's silence."""

    pr: str
    """The pull request's address as the file gives it, or `repo#number` where only that is known."""
    comments: tuple[Comment, ...] = ()
    reviewer: str | None = None
    language: str | None = None
    pr_category: str | None = None
    source: str = ""
    """The file that it was read from, for messages."""
    other_names: tuple[str, ...] = ()
    """Other names of a pull request without a number: `owner/repo@commit`."""
    run: str | None = None
    """Which of the reviewer's repeated runs it is of."""
    author: str | None = None
    """The author of the pull request."""
    merged_at: str | None = None
    closed_at: str | None = None
    commits: tuple[Commit, ...] | None = None
    """Of the pull request, oldest first; None where they are not known."""
    cost: float | None = None
    tokens: float | None = None
    seconds: float | None = None
    meta: Mapping[str, object] | None = field(default=None, hash=False)

    @property
    def key(self) -> str:
        return pull_request_key(self.pr)

    @property
    def only_answers(self) -> bool:
        """True if all of it answers others: that is no review, nor a silence."""
        return bool(self.comments) and all(comment.in_reply_to is not None for comment in self.comments)


@dataclass(frozen=True, slots=True)
class ReferenceSet:
    """The references, and the negatives if there are any, by pull request, in the order of the file."""

    references: Mapping[str, Review]
    negatives: Mapping[str, Review] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def has_locations(self) -> bool:
        """True if any reference has a path; where none has, locations are not compared."""
        return any(normal_path(each.path) for review in self.references.values() for each in review.comments)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or a review in it, that was left out, and why."""

    file: str
    reason: str


_ADDED_UP = ("cost", "tokens", "seconds")
_OF_EITHER = ("language", "pr_category", "author", "merged_at", "closed_at", "commits", "meta")


def _first_known(first: Any, second: Any) -> Any:
    return second if first in (None, "") else first


def merged(reviews: Iterable[Review]) -> dict[tuple[str, str | None], Review]:
    """Reviews by (pull request, reviewer); two records for the same are one, in order, and what they took adds up.

    `owner/repo#7` is the same as the one full address that there is for it.
    """
    by_key: dict[tuple[str, str | None], list[Review]] = {}
    reviews = list(reviews)
    full = full_addresses(review.pr for review in reviews)
    for review in reviews:
        if review.pr in full:
            review = replace(review, pr=full[review.pr])
        by_key.setdefault((review.key, review.reviewer), []).append(review)
    return {key: _as_one(group) if len(group) > 1 else group[0] for key, group in by_key.items()}


def _as_one(reviews: Sequence[Review]) -> Review:
    """The records of one review: what the first says, whatever only others know, and the comments of all."""
    known = {name: reduce(_first_known, (getattr(review, name) for review in reviews)) for name in _OF_EITHER}
    names = tuple(dict.fromkeys(name for review in reviews for name in review.other_names))
    comments = tuple(chain.from_iterable(review.comments for review in reviews))
    known |= {name: _added_up(getattr(review, name) for review in reviews) for name in _ADDED_UP}
    return replace(reviews[0], comments=comments, other_names=names, **known)


def _added_up(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None


def counted(comments: Iterable[Comment]) -> Iterator[tuple[int, Comment]]:
    """Position and comment of those that count."""
    return ((position, comment) for position, comment in enumerate(comments) if comment.counted)
