"""labels.jsonl of a run's folder: appended to, never rewritten, by as many people at once as like to.

A pair:    {"pr", "reviewer", "generated", "reference", "match", "a", "b", "group", "at", "name"}
An issue:  {"issue", "pr", "comments": [[reviewer, position]], "verdict", "note", "at", "name", "model"}
An outcome: {"pr", "reviewer", "position", "addressed", "note", "at", "name"}

`a` is the reference's note and `b` the comment's, so that the file also is one of labels for `calibrate`.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from metareview.errors import InputError
from metareview.locks import PathLock
from metareview.model.addressed import ADDRESSED_VERDICTS
from metareview.model.label import ISSUE_VERDICTS, IssueLabel, Label, Labels, OutcomeLabel, PairLabel
from metareview.runs.files import JsonObject, to_line, written_to

LABELS = "labels.jsonl"
FRAME = "frame.json"
"""Which blocks were drawn to be labelled."""
UNLISTED = "unlisted.json"
"""The unlisted issues, and which of them were drawn."""
WRITABLE = "Make the folder one that you may write to, or copy the run elsewhere."


class LabelFile:
    """The labels of the run in a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LABELS

    def append(self, labels: Iterable[Label]) -> None:
        """All of them, on the disk when this returns. What a kill left of a line stays a line of its own."""
        text = "".join(to_line(label_to_json(label)) for label in labels).encode("utf-8", "backslashreplace")
        with written_to(self.path.parent, WRITABLE), _opened(self.path) as file, PathLock(self.path, wait=True):
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                text = text if file.read(1) == b"\n" else b"\n" + text
            while text:
                text = text[file.write(text) :]
            os.fsync(file.fileno())

    def read(self) -> Labels:
        """Everything that was said so far; lines that cannot be read are counted."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return Labels()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=self.path, fix="Check its rights.") from None
        found = [label_from_line(line) for line in lines if line.strip()]
        return Labels(
            [label for label in found if isinstance(label, PairLabel)],
            [label for label in found if isinstance(label, IssueLabel)],
            sum(label is None for label in found),
            [label for label in found if isinstance(label, OutcomeLabel)],
        )


def _opened(path: Path) -> io.FileIO:
    """The file for appending. A link to another file is not followed."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return io.FileIO(os.open(path, flags, 0o644), "a+")


def label_to_json(label: Label) -> JsonObject:
    if isinstance(label, PairLabel):
        head = {name: getattr(label, name) for name in ("pr", "reviewer", "generated", "reference", "match")}
        notes = {"a": label.reference_note, "b": label.comment_note, "group": f"{label.pr} {label.reviewer}"}
        return {**head, **notes, "at": label.at, "name": label.name}
    if isinstance(label, OutcomeLabel):
        head = {name: getattr(label, name) for name in ("pr", "reviewer", "position")}
        return {**head, "addressed": label.verdict, "note": label.note, "at": label.at, "name": label.name}
    head = {"issue": label.issue, "pr": label.pr, "comments": [list(each) for each in label.comments]}
    return {**head, **{name: getattr(label, name) for name in ("verdict", "note", "at", "name", "model")}}


def label_from_line(line: bytes) -> Label | None:
    """The label of a line; None where it is none."""
    try:
        stored: Any = json.loads(line)
        if "issue" in stored:
            return _issue_label(stored)
        if "addressed" in stored:
            return _outcome_label(stored)
        if not (stored["match"] is None or isinstance(stored["match"], bool)):
            return None
        positions = stored["generated"], stored["reference"]
        if not all(type(each) is int and each >= 0 for each in positions):
            return None
        return PairLabel(
            str(stored["pr"]),
            str(stored["reviewer"]),
            *positions,
            comment_note=str(stored["b"]),
            reference_note=str(stored["a"]),
            match=stored["match"],
            at=str(stored["at"]),
            name=_name(stored, "name"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _issue_label(stored: JsonObject) -> IssueLabel | None:
    verdict = stored["verdict"]
    if verdict is not None and verdict not in ISSUE_VERDICTS:
        return None
    comments = tuple((str(reviewer), int(position)) for reviewer, position in stored["comments"])
    if not isinstance(stored["issue"], str):
        return None
    return IssueLabel(
        str(stored["issue"]),
        str(stored["pr"]),
        comments,
        note=str(stored["note"]),
        verdict=verdict,
        at=str(stored["at"]),
        name=_name(stored, "name"),
        model=_name(stored, "model"),
    )


def _outcome_label(stored: JsonObject) -> OutcomeLabel | None:
    verdict, position = stored["addressed"], stored["position"]
    if verdict is not None and verdict not in ADDRESSED_VERDICTS:
        return None
    if type(position) is not int or position < 0:
        return None
    return OutcomeLabel(
        str(stored["pr"]),
        str(stored["reviewer"]),
        position,
        note=str(stored["note"]),
        verdict=verdict,
        at=str(stored["at"]),
        name=_name(stored, "name"),
    )


def _name(stored: JsonObject, key: str) -> str | None:
    """Who said so; TypeError where that is no text."""
    name = stored.get(key)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{key} {name!r}")
    return name
