"""The judged pairs of a run as columns: a hundred thousand are filtered and sorted in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metareview.errors import InputError
from metareview.runs.files import PAIRS
from metareview.runs.rows import Row, pair_rows

if TYPE_CHECKING:
    from metareview.viewer.index import Index

ALIGNED, SAME, DIFFERENT, UNDECIDED, NEGATIVE, ELSEWHERE = range(6)
VERDICTS = ("aligned", "same", "different", "undecided", "negative", "elsewhere")
"""What became of a pair: counted; called the same, but not counted; different; undecided; a comment beside a rejected
one; and judged although the two are too far apart to match."""
SORTS = ("order", "score", "reviewer", "verdict")
_UNKNOWN = -1
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class PairFilter:
    """Which pairs are wanted; None: whatever it is."""

    reviewer: str | None = None
    language: str | None = None
    category: str | None = None
    severity: str | None = None
    verdict: str | None = None
    by: str | None = None
    low: float | None = None
    high: float | None = None
    text: str | None = None

    def resolved(self, index: Index) -> Wanted:
        """The same in the numbers of an index."""
        record_clauses, record_values = ["1"], []
        for column, names, text in (
            ("reviewer", index.reviewer_names, self.reviewer),
            ("language", index.languages, self.language),
        ):
            if text is not None:
                record_clauses.append(f"{column} = ?")
                record_values.append(_UNKNOWN if (found := names.find(text)) is None else found)
        records = notes = others = None
        if len(record_clauses) > 1:
            query = f"SELECT id FROM records WHERE {' AND '.join(record_clauses)}"  # noqa: S608  literals of ours
            records = [row[0] for row in index.rows(query, record_values)]
        other_clauses, other_values = ["side > 0"], []
        for column, names, text in (
            ("category", index.categories, self.category),
            ("severity", index.severities, self.severity),
        ):
            if text is not None:
                other_clauses.append(f"{column} = ?")
                other_values.append(_UNKNOWN if (found := names.find(text)) is None else found)
        if len(other_clauses) > 1:
            query = f"SELECT id FROM notes WHERE {' AND '.join(other_clauses)}"  # noqa: S608  literals of ours
            others = [row[0] for row in index.rows(query, other_values)]
        if self.text:
            query = "SELECT id FROM notes WHERE instr(folded, ?)"
            notes = [row[0] for row in index.rows(query, [self.text.casefold()])]
        return Wanted(records, others, notes, self.verdict, self.by, self.low, self.high)


@dataclass(frozen=True)
class Wanted:
    """A filter in the numbers of an index: records, and notes of the other side or of either."""

    records: Sequence[int] | None
    others: Sequence[int] | None
    notes: Sequence[int] | None
    verdict: str | None
    by: str | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PairRow:
    """A pair as a list shows it: numbers of an index, and where its line begins."""

    record: int
    comment: int
    other: int
    verdict: str
    by: str
    score: float | None
    offset: int


@dataclass(frozen=True)
class Found:
    """A page of pairs."""

    total: int
    by_verdict: Mapping[str, int]
    """Of those that all but the filter by verdict let through."""
    rows: Sequence[PairRow]


class PairIndex:
    """Columns of all pairs, in the order of the file."""

    def __init__(
        self,
        folder: Path,
        records: Mapping[tuple[str, str], tuple[int, int]],
        comments: Mapping[int, Mapping[int, int]],
        others: Mapping[tuple[int, int], Mapping[int, int]],
    ) -> None:
        """`records`: number and pull request of each; the rest: notes by record, or by pull request and side, and by
        their positions."""
        self.by: list[str] = []
        names = sorted({reviewer for _, reviewer in records}, key=lambda name: (name.casefold(), name))
        rank = {name: number for number, name in enumerate(names)}
        self._reviewer = np.zeros(max((record for record, _ in records.values()), default=-1) + 1, np.int64)
        """Of each record, which reviewer it is of, in the order of their names."""
        for (_, reviewer), (record, _) in records.items():
            self._reviewer[record] = rank[reviewer]
        parts: list[tuple[NDArray[Any], ...]] = []
        try:
            for _, offsets, rows in pair_rows(folder):
                parts.append(self._columns(offsets, rows, records, comments, others))
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"a pair of this run cannot be read ({type(error).__name__}: {str(error)[:200]})",
                file=folder / PAIRS,
                fix="Run the evaluation again with --overwrite.",
            ) from None
        empty = (np.empty(0, np.int64),) * 5 + (np.empty(0, np.float64), np.empty(0, np.int64))
        columns: list[NDArray[Any]] = list(empty)
        if parts:
            columns = [np.concatenate(part) for part in zip(*parts, strict=True)]
        self._record, self._comment, self._other, self._kind, self._by, self._score, self._offset = columns

    def __len__(self) -> int:
        return len(self._offset)

    def _columns(
        self,
        offsets: Sequence[int],
        rows: Sequence[Row],
        records: Mapping[tuple[str, str], tuple[int, int]],
        comments: Mapping[int, Mapping[int, int]],
        others: Mapping[tuple[int, int], Mapping[int, int]],
    ) -> tuple[NDArray[Any], ...]:
        ids: list[tuple[int, int, int]] = []
        for (name, reviewer, negative), group in groupby(rows, key=itemgetter(0, 1, 4)):
            if (name, reviewer) not in records:
                raise ValueError("a pair that belongs to no record")
            record, pr = records[name, reviewer]
            ours, theirs = comments.get(record, {}), others.get((pr, 2 if negative else 1), {})
            ids += [(record, ours.get(row[2], _UNKNOWN), theirs.get(row[3], _UNKNOWN)) for row in group]
        _, _, _, _, negatives, eligible, _, scores, matches, by, aligned = zip(*rows, strict=True)
        kind = np.full(len(rows), DIFFERENT, np.int8)
        match = np.array([_UNKNOWN if each is None else bool(each) for each in matches], np.int8)
        kind[match == _UNKNOWN] = UNDECIDED
        kind[match == 1] = SAME
        kind[np.array(aligned, bool)] = ALIGNED
        kind[np.array(negatives, bool)] = NEGATIVE
        kind[~np.array(eligible, bool)] = ELSEWHERE
        score = np.array([np.nan if each is None else each for each in scores], np.float64)
        return *np.array(ids, np.int32).T, kind, self._judges(by), score, np.array(offsets, np.int64)

    def _judges(self, names: Sequence[str]) -> NDArray[np.int16]:
        for name in dict.fromkeys(names):
            if not isinstance(name, str):
                raise TypeError("a judge's name that is no text")
            if name not in self.by:
                self.by.append(name)
        numbers = {name: number for number, name in enumerate(self.by)}
        return np.array([numbers[name] for name in names], np.int16)

    def offsets_of(self, records: Sequence[int]) -> list[int]:
        """Where the lines of these records' pairs begin."""
        offsets: list[int] = self._offset[np.isin(self._record, records)].tolist()
        return offsets

    def find(self, wanted: Wanted, *, sort: str, descending: bool, first: int, most: int) -> Found:
        mask = self._mask(wanted)
        kinds = np.bincount(self._kind[mask], minlength=len(VERDICTS)).tolist()
        if wanted.verdict is not None:
            mask &= self._kind == (VERDICTS.index(wanted.verdict) if wanted.verdict in VERDICTS else _UNKNOWN)
        found = np.flatnonzero(mask)
        shown = self._sorted(found, sort, descending)[first : first + most]
        rows = [self._row(at) for at in shown.tolist()]
        return Found(len(found), dict(zip(VERDICTS, kinds, strict=True)), rows)

    def _mask(self, wanted: Wanted) -> Mask:
        mask: Mask = np.ones(len(self), bool)
        if wanted.records is not None:
            mask &= np.isin(self._record, wanted.records)
        if wanted.others is not None:
            mask &= np.isin(self._other, wanted.others)
        if wanted.notes is not None:
            mask &= np.isin(self._comment, wanted.notes) | np.isin(self._other, wanted.notes)
        if wanted.by is not None:
            mask &= self._by == (self.by.index(wanted.by) if wanted.by in self.by else _UNKNOWN)
        if wanted.low is not None:
            mask &= self._score >= wanted.low
        if wanted.high is not None:
            mask &= self._score <= wanted.high
        return mask

    def _sorted(self, found: Ints, sort: str, descending: bool) -> Ints:
        """Ties, and pairs without a score, in the order of the run; the latter come last."""
        if sort == "score":
            keys = self._score[found]
            return found[np.argsort(-keys if descending else keys, kind="stable")]
        if sort in ("reviewer", "verdict"):
            numbers = (self._reviewer[self._record] if sort == "reviewer" else self._kind)[found].astype(np.int64)
            return found[np.argsort(-numbers if descending else numbers, kind="stable")]
        return found[::-1] if descending else found

    def _row(self, at: int) -> PairRow:
        score = float(self._score[at])
        return PairRow(
            int(self._record[at]),
            int(self._comment[at]),
            int(self._other[at]),
            VERDICTS[int(self._kind[at])],
            self.by[int(self._by[at])],
            None if np.isnan(score) else score,
            int(self._offset[at]),
        )
