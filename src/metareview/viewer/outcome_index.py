"""Which comments of a run of outcomes a list holds, found without reading the run: a narrow table beside its notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from metareview.comparison.outcome_evidence import LISTS
from metareview.model.addressed import Addressed
from metareview.model.comment import Comment
from metareview.outcomes.finding import Finding
from metareview.outcomes.records import FINDINGS, CommentOutcome, Reply
from metareview.report.names import pull_request_name
from metareview.runs.places import Place

if TYPE_CHECKING:
    from metareview.viewer.index import Index

SCHEMA = """
CREATE TABLE outcomes (id INTEGER PRIMARY KEY, record INT, position INT, pr INT, reviewer INT, severity INT,
                       severity_rank INT, lists INT, at TEXT);
CREATE TABLE texts (id INTEGER PRIMARY KEY, folded TEXT);
"""
INSERT = "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_TEXT = "INSERT INTO texts VALUES (?, ?)"
BITS: Mapping[str, int] = {name: 1 << at for at, name in enumerate(LISTS)}
ORDERS = {"severity": "severity_rank, id", "order": "id"}
"""How lists are sorted: the most severe first, or as the run has them."""
_PLACES = "(SELECT id AS number, offset, length FROM records) ON number = record"
_ABOUT = Comment(note="")


@dataclass(frozen=True, slots=True)
class Spot:
    """A comment: its record's number and place, its position there, and when it was made."""

    record: int
    place: Place
    position: int
    at: str | None


@dataclass(frozen=True)
class FoundComments:
    """A page of comments."""

    total: int
    by_list: Mapping[str, int]
    """Of those that all but the choice of a list lets through."""
    every: int
    """The same, whatever list they are on."""
    spots: Sequence[Spot]


@dataclass(frozen=True)
class CommentFilter:
    """Which comments are wanted; None: whatever it is."""

    which: str | None = None
    """The list."""
    reviewer: str | None = None
    pr: str | None = None
    """A pull request's address, name or number, or a part of a name."""
    severity: str | None = None
    text: str | None = None
    """In a note or a path."""

    def clauses(self, index: Index) -> tuple[list[str], list[Any]]:
        """In the numbers of an index, but for the list."""
        clauses: list[str] = ["1"]
        values: list[Any] = []
        for column, name, names in (
            ("reviewer", self.reviewer, index.reviewer_names),
            ("severity", self.severity, index.severities),
        ):
            if name:
                clauses.append(f"{column} = ?")
                values.append(names.find(name))
        if self.pr:
            numbers = numbers_of(index.prs, self.pr)
            clauses.append("pr IN (SELECT value FROM json_each(?))")
            values.append(str(numbers))
        if self.text:
            clauses.append("id IN (SELECT id FROM texts WHERE instr(folded, ?))")
            values.append(_storable(self.text.casefold()))
        return clauses, values


def numbers_of(prs: Sequence[str], wanted: str) -> list[int]:
    """The pull requests that a text names: by address, name or number; where it is none of these, by a part of it.

    >>> numbers_of(["https://github.com/o/r/pull/7", "https://github.com/o/r/pull/70"], "#7")
    [0]
    """
    text = wanted.strip().casefold()
    names = [(pr.casefold(), pull_request_name(pr).casefold()) for pr in prs]
    exact = [at for at, (pr, name) in enumerate(names) if text in (pr, name) or name.endswith(f"#{text.lstrip('#')}")]
    return exact or [at for at, (pr, name) in enumerate(names) if text in pr or text in name]


@lru_cache(maxsize=4096)
def lists_of(findings: tuple[bool | None, ...], told: tuple[str | None, str] | None, replies: tuple[str, ...]) -> int:
    """The lists that hold a comment, as a sum of BITS: by the same definition as everywhere, asked once for all
    comments of which the same is known. TypeError where something is no text."""
    if not all(isinstance(reply, str) for reply in replies):
        raise TypeError("an answer that is no text")
    known: dict[str, Any] = {name: Finding(value) for name, value in zip(FINDINGS, findings, strict=True)}
    outcome = CommentOutcome(
        0,
        _ABOUT,
        **known,
        replies=tuple(Reply(None, None, reply) for reply in replies),
        verdict=None if told is None else Addressed(*told),
    )
    return sum(BITS[name] for name, holds in LISTS.items() if holds(outcome))


def find_comments(index: Index, wanted: CommentFilter, *, order: str, first: int, most: int) -> FoundComments:
    """A page of the comments that a filter lets through, and how many those are in all and by list."""
    clauses, values = wanted.clauses(index)
    where = " AND ".join(clauses)
    sums = ", ".join(f"TOTAL(lists & {bit} != 0)" for bit in BITS.values())
    counted = f"SELECT COUNT(*), {sums} FROM outcomes WHERE {where}"  # noqa: S608  literals of ours
    [(every, *counts)] = index.rows(counted, values)
    by_list = dict(zip(BITS, map(int, counts), strict=True))
    total = every
    if wanted.which is not None:
        where += f" AND lists & {BITS[wanted.which]}"
        total = by_list[wanted.which]
    page = f"SELECT * FROM outcomes WHERE {where} ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?"  # noqa: S608  the same
    columns = "record, offset, length, position, at"
    query = f"SELECT {columns} FROM ({page}) AS found JOIN {_PLACES} ORDER BY {ORDERS[order]}"  # noqa: S608  the same
    found = index.rows(query, [*values, most, first])
    return FoundComments(total, by_list, every, [_spot(*row) for row in found])


def comments_of_pr(index: Index, pr: str) -> list[Spot]:
    """Everybody's on a pull request, in the order of the run."""
    found = index.rows(
        f"SELECT record, offset, length, position, at FROM outcomes JOIN {_PLACES} WHERE pr = ? ORDER BY id",  # noqa: S608
        [index.number_of(pr)],
    )
    return [_spot(*row) for row in found]


def _spot(record: int, offset: int, length: int, position: int, at: str | None) -> Spot:
    return Spot(record, Place(offset, length), position, at)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
