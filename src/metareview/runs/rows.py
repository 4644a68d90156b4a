"""A run's lines and where each stands in its file: what an index of a run is made of, without typing what is not asked.

Numbers and texts come out as they are stored; whoever keeps them checks what they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from metareview.comments.measures import whole
from metareview.comments.records import Pair
from metareview.errors import InputError
from metareview.outcomes.records import FINDINGS, OutcomeRecord
from metareview.runs.comments_json import pair_from_json
from metareview.runs.files import PAIRS, RESULTS, JsonObject, broken_line, parsed_line
from metareview.runs.outcomes_json import record_from_json
from metareview.runs.places import Place, line_batches, lines_at, placed_lines
from metareview.runs.shape import check_shape
from metareview.runs.stored_items import parsed_record

_NO_COUNTS = (0,) * 8
Row = tuple[Any, ...]


class Note(NamedTuple):
    """What a comment, a reference or a negative is found by."""

    position: int
    note: str
    path: str | None
    from_line: int | None
    to_line: int | None
    category: str | None
    severity: str | None


class RecordRow(NamedTuple):
    """What a record of a comment run is found by."""

    pr: str
    reviewer: str
    language: str | None
    pr_category: str | None
    skipped: bool
    counts: Row
    """Comments, matched, references, raised, unmatched, rejected ones repeated, undecided, pairs judged."""
    comments: Sequence[Note]
    references: Sequence[Note]
    negatives: Sequence[Note]
    place: Place


class OutcomeNote(NamedTuple):
    """What a comment of a run of outcomes is found by."""

    position: int
    note: str
    path: str | None
    severity: str | None
    at: str | None
    findings: Row
    """In the order of FINDINGS."""
    verdict: tuple[str | None, str] | None
    """Whether it was addressed, and who says so; None where nobody was asked."""
    replies: tuple[str, ...]
    """What the answers say."""


class OutcomeRow(NamedTuple):
    """What a record of a run of outcomes is found by."""

    pr: str
    reviewer: str
    comments: Sequence[OutcomeNote]
    place: Place


PAIR_COLUMNS = ("generated", "reference", "negative", "eligible", "gap", "score", "match", "by", "aligned")
_PAIR_KEYS = itemgetter("pr", "reviewer", *PAIR_COLUMNS)
_COUNT_KEYS = itemgetter(
    "total_generated_nums",
    "positive_match_nums",
    "positive_expected_nums",
    "positive_covered_nums",
    "unmatched_nums",
    "negative_match_nums",
    "judge_error_nums",
    "judged_pairs",
)
_FINDINGS = itemgetter(*FINDINGS)
_NOTE_FIELDS = ("note", "path", "from_line", "to_line", "category", "severity")
Stored = TypeVar("Stored")


def comment_record_rows(folder: Path) -> Iterator[RecordRow]:
    """The records of a comment run, in their order; those of repeated runs on a pull request as one."""
    path = folder / RESULTS
    of_runs: list[RecordRow] = []
    for number, (place, line) in enumerate(placed_lines(path), 1):
        stored = _parsed(path, number, line, parsed_record)
        try:
            row = _comment_row(stored, place)
            if of_runs and ("run" not in stored or row[:2] != of_runs[0][:2]):
                yield _averaged(of_runs)
                of_runs = []
            if "run" in stored:
                of_runs.append(row)
            else:
                yield row
        except (KeyError, TypeError, AttributeError) as error:
            raise _unreadable(folder, number, error) from None
    if of_runs:
        yield _averaged(of_runs)


def _averaged(rows: Sequence[RecordRow]) -> RecordRow:
    """The repeated runs of a reviewer on a pull request, whose lines stand together, as one; but all pairs count."""
    *counts, pairs = zip(*(row.counts for row in rows), strict=True)
    return rows[0]._replace(
        counts=(*(whole(sum(column) / len(rows)) for column in counts), sum(pairs)),
        comments=[note for row in rows for note in row.comments],
        place=Place(rows[0].place.offset, sum(row.place.length for row in rows)),
    )


def _comment_row(stored: JsonObject, place: Place) -> RecordRow:
    skipped = bool(stored["skipped"])
    return RecordRow(
        stored["github_pr_url"],
        stored["reviewer"],
        stored["language"],
        stored["pr_category"],
        skipped,
        _NO_COUNTS if skipped else _COUNT_KEYS(stored),
        () if skipped else _notes(stored["match_details"], "generated"),
        () if skipped else _notes(stored["reference_comments"], "reference"),
        () if skipped else _notes(stored["negative_comments"], "negative"),
        place,
    )


def _notes(stored: Sequence[JsonObject], position: str) -> list[Note]:
    return [Note._make((each[position], *map(each.get, _NOTE_FIELDS))) for each in stored]


def routing_record_rows(folder: Path) -> Iterator[tuple[str, Place]]:
    """The pull request, as `owner/name#7`, of each record of a routing run."""
    path = folder / RESULTS
    for number, (place, line) in enumerate(placed_lines(path), 1):
        stored = _parsed(path, number, line, parsed_line)
        try:
            yield f"{stored['repo']}#{stored['pr']}", place
        except (KeyError, TypeError) as error:
            raise _unreadable(folder, number, error) from None


def outcome_record_rows(folder: Path) -> Iterator[OutcomeRow]:
    """The records of a run of outcomes, in their order."""
    path = folder / RESULTS
    for number, (place, line) in enumerate(placed_lines(path), 1):
        try:
            stored = msgspec.json.decode(line)
        except (msgspec.DecodeError, ValueError, RecursionError):
            stored = _parsed(path, number, line, parsed_line)
        try:
            comments = [_outcome_note(each) for each in stored["comments"]]
            yield OutcomeRow(stored["pr"], stored["reviewer"], comments, place)
        except (KeyError, TypeError, AttributeError) as error:
            raise _unreadable(folder, number, error) from None


def _outcome_note(stored: JsonObject) -> OutcomeNote:
    known, verdict, replies = stored["comment"].get, stored["addressed"], stored["replies"]
    return OutcomeNote._make(
        (
            stored["position"],
            known("note"),
            known("path"),
            known("severity"),
            known("at"),
            _FINDINGS(stored["outcomes"]),
            verdict and (verdict["verdict"], verdict["by"]),
            tuple([reply["note"] for reply in replies]) if replies else (),
        )
    )


def outcomes_at(folder: Path, place: Place, positions: Container[int]) -> OutcomeRecord:
    """The record that stands there, with these of its comments and no others."""
    [record] = read_at(folder / RESULTS, [place], lambda line: record_from_json(line, positions))
    return record


def pair_rows(folder: Path) -> Iterator[tuple[int, Sequence[int], list[Row]]]:
    """The judged pairs some thousand at a time: the number of the first line, each line's offset, and for each the
    pull request, the reviewer and PAIR_COLUMNS."""
    path = folder / PAIRS
    number = 1
    for offsets, lines in line_batches(path):
        try:
            stored = msgspec.json.decode(b"[" + b",".join(lines) + b"]")
            if len(stored) != len(lines):
                raise ValueError
        except (msgspec.DecodeError, ValueError, RecursionError):
            stored = [_parsed(path, at, line, parsed_line) for at, line in enumerate(lines, number)]
        try:
            yield number, offsets, list(map(_PAIR_KEYS, stored))
        except (KeyError, TypeError) as error:
            raise _unreadable(folder, number, error) from None
        number += len(lines)


def offsets_of_pr(folder: Path, pr: str) -> list[int] | None:
    """Where the lines of a pull request's pairs begin, by their first bytes alone, which is ten times as fast as
    parsing them all; None where lines do not begin as ours do."""
    head = b'{"pr":'
    wanted = head + json.dumps(pr, ensure_ascii=False).encode("utf-8", "backslashreplace") + b","
    offsets = []
    for place, line in placed_lines(folder / PAIRS):
        if line.startswith(wanted):
            offsets.append(place.offset)
        elif not line.startswith(head):
            return None
    return offsets


def read_at(path: Path, places: Sequence[Place], read: Callable[[JsonObject], Stored]) -> list[Stored]:
    """What stands at these places of a file, a line or several each; InputError where it is not what was indexed."""
    return [made for lines in lines_at(path, places) for made in _read_some(path, lines, read)]


def pairs_at(folder: Path, offsets: Sequence[int]) -> list[Pair]:
    """The pairs whose lines begin there."""
    return read_at(folder / PAIRS, [Place(offset, -1) for offset in offsets], pair_from_json)


def _read_some(path: Path, lines: Sequence[bytes], read: Callable[[JsonObject], Stored]) -> list[Stored]:
    try:
        made = [read(parsed_line(line)) for line in lines]
        for each in made:
            check_shape(each)
        return made
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, InputError) as error:
        raise InputError(
            f"a line of this run cannot be read ({type(error).__name__})",
            file=path,
            fix="Load the page again if the run has just been made anew; else run it again with --overwrite.",
        ) from None


def _parsed(path: Path, number: int, line: bytes, parse: Callable[[bytes], JsonObject]) -> JsonObject:
    try:
        return parse(line)
    except (ValueError, RecursionError):
        raise broken_line(path, number) from None


def _unreadable(folder: Path, number: int, error: Exception) -> InputError:
    return InputError(
        f"line {number} of a file of this run, or one after it, cannot be read ({type(error).__name__}: {error})",
        file=folder,
        fix="Run the evaluation again with --overwrite.",
    )
