"""Labels: JSON lines `{"a", "b", "match", "group"}`, verdicts of people or of a strong model on pairs of notes.

A run's `labels.jsonl` is such a file too: there a person's later line on a pair takes the place of the earlier one,
`"match": null` takes it back, and lines about unlisted issues and outcomes, which are about no pair, are passed over.
A line may also have `pr`, `reviewer` and `name`, and the reference's `severity`, `category` and `context`; other fields
are free.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.json_refusals import refuse_over_lines
from metareview.formats.json_values import object_of_line
from metareview.formats.record import Record
from metareview.model.label import Votes
from metareview.model.words import plural

EXAMPLE = '{"a": "note of a reference", "b": "note of a comment", "match": true, "group": "pull request and reviewer"}'
_WRITE = f"Write each line as {EXAMPLE}."
_Key = tuple[str | None, str | None, int | None, int | None, str, str]


@dataclass(frozen=True, slots=True)
class NotePairLabel:
    """`reference` and `candidate` raise the same issue, or not. Pairs of one group are rivals; None: no rivals."""

    reference: str
    candidate: str
    match: bool
    group: str | None = None
    pr: str | None = None
    """The pull request and the reviewer, where the file has them."""
    reviewer: str | None = None
    by: tuple[str, ...] = ()
    """The names of the people with this verdict, where known."""
    severity: str | None = None
    """The kind of issue that the reference raises, where the file has it."""
    category: str | None = None
    context: str | None = None


@dataclass(frozen=True)
class LabelSet:
    """The labels of a file that are in force, and what else it holds."""

    labels: Sequence[NotePairLabel]
    taken_back: Sequence[NotePairLabel] = ()
    """Pairs whose labels were all taken back, with the last verdict."""
    issues: int = 0
    """Lines about unlisted issues."""
    outcomes: int = 0
    """Lines about what became of comments."""
    of_a_run: bool = False
    """True if it is the label file of a run, which may grow."""
    warnings: Sequence[str] = ()


def read_labels(path: str | Path) -> list[NotePairLabel]:
    """The labels of a file that are in force, in order; anything wrong is an InputError that names the line."""
    return list(read_label_set(InputFile(path)).labels)


def read_label_set(file: InputFile) -> LabelSet:
    """The labels in force and those taken back. InputError where no label is in force."""
    first = first_object(file)
    found = _of_a_run(file) if "at" in first else _plain(file)
    if not found.labels:
        passed = {"unlisted issues": found.issues, "outcomes": found.outcomes}
        about = ", ".join(f"{plural(number, 'line')} about {what}" for what, number in passed.items() if number)
        about = f": {about}" if about else ""
        back = f", {plural(len(found.taken_back), 'label')} taken back" if found.taken_back else ""
        raise InputError(
            f"no labels of pairs{about}{back}", file=file.name, fix=f"Give at least one line such as {EXAMPLE}."
        )
    return found


def is_labels(first: Mapping[str, object]) -> bool:
    """True if the first object of a file is that of a file of labels."""
    return any(keys <= first.keys() for keys in ({"a", "b"}, {"issue", "verdict"}, {"position", "addressed"}))


def first_object(file: InputFile) -> Mapping[str, object]:
    """Of the first line that can be read: in a file that is appended to, a kill may have left half of one before.

    Of a file without such a line, the first object that spans several.
    """
    for line in file.data.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    with suppress(InputError):
        first = file.json.first.value if file.data and file.json.looks_like_json else None
        return first if isinstance(first, dict) else {}
    return {}


def _plain(file: InputFile) -> LabelSet:
    labels = []
    for record in file.json.records("a label", fix=_WRITE):
        match = record.value.get("match")
        label = _label(record, bool(match))
        if not isinstance(match, int) or match not in (0, 1):
            record.refuse("match", "true or false", "Leave out undecided pairs.")
        labels.append(label)
    return LabelSet(labels, warnings=file.all_warnings())


def _label(record: Record, match: bool) -> NotePairLabel:
    a, b = record.text("a"), record.text("b")
    if a is None or b is None:
        record.fail(None, f"{'a' if a is None else 'b'} is missing", _WRITE)
    name = record.text("name")
    pr, reviewer = record.text("pr") or None, record.text("reviewer")
    kinds = (record.identifier(key) or None for key in ("severity", "category", "context"))
    return NotePairLabel(a, b, match, record.identifier("group"), pr, reviewer, (name,) if name else (), *kinds)


def _of_a_run(file: InputFile) -> LabelSet:
    """Line by line, so that half a line that a kill left is passed over, with a warning, and nothing else is."""
    latest: dict[_Key, NotePairLabel] = {}
    votes: dict[_Key, Votes[bool]] = {}
    issues = outcomes = 0
    for record in whole_records(file):
        if "issue" in record.value:
            issues += 1
            continue
        if "addressed" in record.value:
            outcomes += 1
            continue
        match = record.value.get("match")
        if match is not None and not isinstance(match, bool):
            record.refuse("match", "true, false or null", "Give null to take a label back.")
        label = _label(record, bool(match))
        key = _key(record, label)
        latest[key] = label
        votes.setdefault(key, Votes()).add(label.by[0] if label.by else None, match)
    in_force, taken_back = [], []
    for key, label in latest.items():
        match = votes[key].majority
        if match is None:
            taken_back.append(label)
        else:
            in_force.append(replace(label, match=match, by=votes[key].people(match)))
    return LabelSet(in_force, taken_back, issues, outcomes, True, file.all_warnings())


def whole_records(file: InputFile) -> Iterator[Record]:
    """The objects of a file that is appended to; half a line that a kill left is passed over, with a warning."""
    for number, line in file.lines():
        if _is_half(line):
            refuse_over_lines(file, number)
            file.warn("a line that breaks off; left out", partial(int, number), "the line breaks off; left out")
            continue
        record = object_of_line(file, number, line)
        if record is not None:
            yield record


def _key(record: Record, label: NotePairLabel) -> _Key:
    """A pair by its notes and, where the line has them, its positions: in a folder that held another run before, the
    same positions are those of other notes, whose labels stand."""
    generated, reference = record.value.get("generated"), record.value.get("reference")
    if generated is not None or reference is not None:
        generated, reference = position_of(record, "generated"), position_of(record, "reference")
    return label.pr, label.reviewer, generated, reference, label.candidate, label.reference


def position_of(record: Record, key: str) -> int:
    """The position of a comment in its review."""
    value = record.value.get(key)
    if type(value) is not int or not 0 <= value < 2**31:
        record.refuse(key, "a position from 0 on", "Take the line as the run wrote it.", quote=True)
    return value


def _is_half(line: bytes) -> bool:
    """True if it begins an object and breaks off."""
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False
