"""What the viewer knows of a run without reading it whole: where each record stands, what was counted, what was said.

It is built when a run is first opened, in a folder of the viewer's own, and goes with the process. Numbers and
searchable text are in SQLite; names, which may hold what SQLite cannot, stay in lists, and rows have their positions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from metareview.comments.records import Pair
from metareview.errors import InputError
from metareview.model.severity import severity_rank
from metareview.runs.files import RESULTS, JsonObject
from metareview.runs.places import Place
from metareview.runs.rows import (
    Note,
    OutcomeRow,
    RecordRow,
    comment_record_rows,
    offsets_of_pr,
    outcome_record_rows,
    pairs_at,
    read_at,
    routing_record_rows,
)
from metareview.viewer import outcome_index
from metareview.viewer.pair_index import Found, PairFilter, PairIndex

COMMENT, REFERENCE, NEGATIVE = range(3)
"""The sides of a pair."""
EXCERPT = 220
"""Characters of a note that lists show."""
_COUNTS = ("generated", "matched", "expected", "covered", "unmatched", "rejected", "undecided", "pairs")
_SCHEMA = f"""
CREATE TABLE records (id INTEGER PRIMARY KEY, pr INT, reviewer INT, language INT, category INT, skipped INT,
                      {", ".join(f"{name} INT" for name in _COUNTS)}, offset INT, length INT);
CREATE TABLE notes (id INTEGER PRIMARY KEY, record INT, side INT, position INT, category INT, severity INT,
                    place TEXT, beginning TEXT, folded TEXT);
{outcome_index.SCHEMA}
"""
_INSERT = f"INSERT INTO records VALUES ({', '.join('?' * (8 + len(_COUNTS)))})"  # noqa: S608  counted, not filled in
_MOST = 1 << 62
"""No count is as large."""
Stored = TypeVar("Stored")


class Names:
    """Texts by their position, each once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._positions: dict[str, int] = {}

    def add(self, text: str | None) -> int | None:
        """Its position; InputError where it is no text."""
        if text is None:
            return None
        if not isinstance(text, str):
            raise TypeError(f"a name that is no text: {str(text)[:40]}")
        position = self._positions.setdefault(text, len(self.texts))
        if position == len(self.texts):
            self.texts.append(text)
        return position

    def find(self, text: str) -> int | None:
        return self._positions.get(text)


class Index:
    """Of one run, as it was when it was built; whoever opens runs sees to building it anew when files change."""

    def __init__(self, folder: Path, file: Path, kind: str) -> None:
        self._folder = folder
        self._lock = RLock()
        self._prs, self.reviewer_names = Names(), Names()
        self.languages, self.pr_categories = Names(), Names()
        self.categories, self.severities = Names(), Names()
        file.unlink(missing_ok=True)
        self._db = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _SCHEMA)
        self._db.execute("BEGIN")
        try:
            if kind == "outcomes":
                self._build_outcomes(outcome_record_rows(folder))
            else:
                self._build(comment_record_rows(folder) if kind == "comments" else _of_routing(folder))
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError, sqlite3.Error) as error:
            self.close()
            raise InputError(
                f"a record of this run cannot be read ({type(error).__name__}: {str(error)[:200]})",
                file=folder / RESULTS,
                fix="Run the evaluation again with --overwrite.",
            ) from None
        except InputError:
            self.close()
            raise
        self._db.execute("COMMIT")
        self._db.execute("CREATE INDEX records_of_pr ON records (pr, reviewer)")
        self._db.execute("CREATE INDEX outcomes_of_pr ON outcomes (pr)")

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # Building

    def _build(self, rows: Iterable[RecordRow]) -> None:
        records: list[tuple[Any, ...]] = []
        notes: list[tuple[Any, ...]] = []
        seen: set[int | None] = set()
        for number, row in enumerate(rows):
            pr, reviewer = self._prs.add(row.pr), self.reviewer_names.add(row.reviewer)
            if not all(type(count) in (int, float) and abs(count) < _MOST for count in row.counts):
                raise TypeError("a count that is no number")
            of_pr = self.languages.add(row.language), self.pr_categories.add(row.pr_category)
            records.append((number, pr, reviewer, *of_pr, row.skipped, *row.counts, *row.place))
            notes += self._notes(number, COMMENT, row.comments)
            if pr not in seen and not row.skipped:  # everybody has the same references
                seen.add(pr)
                notes += self._notes(number, REFERENCE, row.references)
                notes += self._notes(number, NEGATIVE, row.negatives)
            if len(notes) > 10_000:
                self._insert(records, notes)
        self._insert(records, notes)

    def _build_outcomes(self, rows: Iterable[OutcomeRow]) -> None:
        """Every comment in a narrow table, and its text in another, which only who looks for words reads."""
        records: list[tuple[Any, ...]] = []
        outcomes: list[tuple[Any, ...]] = []
        texts: list[tuple[int, str]] = []
        counts, comment = (0,) * len(_COUNTS), 0
        kinds: dict[str | None, tuple[int | None, int]] = {}
        for number, row in enumerate(rows):
            pr, reviewer = self._prs.add(row.pr), self.reviewer_names.add(row.reviewer)
            records.append((number, pr, reviewer, None, None, False, *counts, *row.place))
            for position, note, path, severity, at, findings, verdict, replies in row.comments:
                if type(position) is not int:
                    raise TypeError("a position that is no whole number")
                if severity not in kinds:
                    kinds[severity] = self.severities.add(severity), severity_rank(severity)
                comment += 1
                lists = outcome_index.lists_of(findings, verdict, replies)
                made = at if at is None else _storable(at)
                outcomes.append((comment, number, position, pr, reviewer, *kinds[severity], lists, made))
                texts.append((comment, _storable(f"{path or ''}\n{note}").casefold()))
            if len(texts) > 10_000:
                self._insert_outcomes(records, outcomes, texts)
        self._insert_outcomes(records, outcomes, texts)

    def _insert_outcomes(
        self, records: list[tuple[Any, ...]], outcomes: list[tuple[Any, ...]], texts: list[tuple[int, str]]
    ) -> None:
        self._db.executemany(_INSERT, records)
        self._db.executemany(outcome_index.INSERT, outcomes)
        self._db.executemany(outcome_index.INSERT_TEXT, texts)
        for each in (records, outcomes, texts):
            each.clear()

    def _insert(self, records: list[tuple[Any, ...]], notes: list[tuple[Any, ...]]) -> None:
        self._db.executemany(_INSERT, records)
        self._db.executemany("INSERT INTO notes VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", notes)
        records.clear()
        notes.clear()

    def _notes(self, record: int, side: int, notes: Sequence[Note]) -> Iterator[tuple[Any, ...]]:
        category, severity = self.categories.add, self.severities.add
        for position, note, path, start, end, of_category, of_severity in notes:
            if type(position) is not int:
                raise TypeError("a position that is no whole number")
            text, path = _storable(note), _storable(path or "")
            lines = f":{start}" if type(start) is int else ""
            if type(end) is int and end != start:
                lines = f"{lines}–{end}" if lines else f":{end}"
            folded = f"{path}\n{text}".casefold()
            kinds = category(of_category), severity(of_severity)
            yield record, side, position, *kinds, path + lines, text[: 2 * EXCERPT], folded

    # Reading

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The database, for one thread at a time."""
        with self._lock:
            yield self._db

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query that is written in this package."""
        with self.reading() as database:
            return database.execute(query, values).fetchall()

    @property
    def prs(self) -> Sequence[str]:
        """The pull requests in the order of the run."""
        return self._prs.texts

    @property
    def reviewers(self) -> Sequence[str]:
        return self.reviewer_names.texts

    def number_of(self, pr: str) -> int:
        """A pull request's position in the run; KeyError where it has none."""
        number = self._prs.find(pr)
        if number is None:
            raise KeyError(pr)
        return number

    def record_places(self, pr: str, reviewer: str | None = None) -> list[Place]:
        of_pr = self._prs.find(pr)
        query = "SELECT offset, length FROM records WHERE pr = ?1 AND (?2 IS NULL OR reviewer = ?2) ORDER BY id"
        of_reviewer = None if reviewer is None else self.reviewer_names.find(reviewer)
        if of_pr is None or (reviewer is not None and of_reviewer is None):
            return []
        return [Place(*row) for row in self.rows(query, (of_pr, of_reviewer))]

    def record_keys(self) -> Iterator[tuple[str, str]]:
        """The pull request and the reviewer of each record, in the order of the run."""
        for pr, reviewer in self.rows("SELECT pr, reviewer FROM records ORDER BY id"):
            yield self._prs.texts[pr], self.reviewer_names.texts[reviewer]

    def read_records(self, places: Sequence[Place], make: Callable[[JsonObject], Stored]) -> list[Stored]:
        return read_at(self._folder / RESULTS, places, make)

    def pair_places(self, pr: str) -> list[int]:
        """Where the lines of a pull request's pairs begin; without the index of all pairs, if that is not there yet."""
        of_pr = self._prs.find(pr)
        if of_pr is None:
            return []
        if "pairs" not in vars(self) and (offsets := offsets_of_pr(self._folder, pr)):
            return offsets
        return self.pairs.offsets_of([row[0] for row in self.rows("SELECT id FROM records WHERE pr = ?", [of_pr])])

    def read_pairs(self, offsets: Sequence[int]) -> list[Pair]:
        return pairs_at(self._folder, offsets)

    @cached_property
    def pairs(self) -> PairIndex:
        """Every judged pair, by columns: a second index, built when somebody asks for pairs."""
        with self._lock:
            records = {
                (self._prs.texts[pr], self.reviewer_names.texts[reviewer]): (record, pr)
                for record, pr, reviewer in self.rows("SELECT id, pr, reviewer FROM records")
            }
            comments: dict[int, dict[int, int]] = {}
            others: dict[tuple[int, int], dict[int, int]] = {}
            for note, record, pr, side, position in self.rows(
                "SELECT notes.id, record, pr, side, position FROM notes JOIN records ON records.id = record"
            ):
                of_side = comments.setdefault(record, {}) if side == COMMENT else others.setdefault((pr, side), {})
                of_side[position] = note
            return PairIndex(self._folder, records, comments, others)

    def find_pairs(self, wanted: PairFilter, *, sort: str, descending: bool, first: int, most: int) -> Found:
        """A page of the pairs that a filter lets through, and how many those are in all and by verdict."""
        return self.pairs.find(wanted.resolved(self), sort=sort, descending=descending, first=first, most=most)


def _storable(text: str) -> str:
    """Without half characters, which SQLite cannot hold; AttributeError where it is no text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _of_routing(folder: Path) -> Iterator[RecordRow]:
    for name, place in routing_record_rows(folder):
        yield RecordRow(name, "", None, None, False, (0,) * len(_COUNTS), (), (), (), place)
