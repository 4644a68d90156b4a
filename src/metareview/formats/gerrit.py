"""The `gerrit` format: RevFinder's JSON lines, one change a line; one file is one repository.

A change is opened at `submit_date` by nobody that the data names; every vote, of any value, is a review at
its `grant_date`; `close_date` merges it (status M) or closes it. Paths are taken without the project.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metareview.formats.jsonlines import (
    Problem,
    file_names,
    first_object,
    instant,
    json_lines,
    whole_number,
)
from metareview.model.event import Event, History, make_history


def sniff(head: bytes) -> bool:
    """Whether a file that begins with these bytes is in this format."""
    first = first_object(head)
    return first is not None and len({"approve_history", "submit_date", "changeId"} & first.keys()) >= 2


def read(path: Path) -> History:
    """Read a history; InputError names the line that cannot be read. The file's name is the repository's."""
    return make_history(_events(path), source=path)


def _events(path: Path) -> Iterator[Event]:
    for number, row in json_lines(path):
        try:
            yield from _change(row, path.stem)
        except Problem as problem:
            raise problem.at(path, number) from None


def _change(row: dict[str, Any], repo: str) -> list[Event]:
    change = whole_number(row, "changeId")
    files = row.get("files")
    if files is None:
        raise Problem("files is missing", "Give files: the paths of the change, or [].")
    votes = row.get("approve_history")
    if not isinstance(votes, list):
        raise Problem("approve_history is not a list", "Give the votes of the change, or [].")
    opened = Event(
        repo, change, instant(row, "submit_date"), "opened", id=str(change), files=file_names(files)
    )
    events = [opened]
    for position, vote in enumerate(votes):
        if not isinstance(vote, dict):
            raise Problem("a vote is not an object", "Give userId, approve_value and grant_date.")
        user = _user(vote.get("userId"))
        events.append(
            Event(
                repo,
                change,
                instant(vote, "grant_date"),
                "review_submitted",
                actor=user,
                # The position keeps votes of one instant in the file's order.
                id=f"{change}:{position:04d}:{user or ''}",
                state=_state(vote.get("approve_value")),
            )
        )
    if row.get("close_date") is not None:
        kind = "merged" if row.get("status") in ("M", "MERGED") else "closed"
        events.append(Event(repo, change, instant(row, "close_date"), kind, id=str(change)))
    return events


def _user(value: object) -> str | None:
    if value is None or type(value) is int or type(value) is str:
        return None if value is None else str(value).strip() or None
    raise Problem("userId is not a number or text", "Give the voter's account, or null.")


def _state(value: object) -> str:
    """The vote in GitHub's words: +2 approves, below 0 asks for changes, the rest comments."""
    if type(value) is not int:
        return "COMMENTED"
    return "APPROVED" if value >= 2 else "CHANGES_REQUESTED" if value < 0 else "COMMENTED"
