"""`gerrit`: RevFinder's JSON lines, one change per line; one file is one repository.

A change is opened at `submit_date`, by an unknown author; every vote, of any value, is a review at its `grant_date`;
`close_date` merges it (status M) or closes it. Paths are without the project.
"""

from __future__ import annotations

from collections.abc import Iterator

from metareview.formats.input_file import InputFile, readable
from metareview.formats.json_values import objects_of_lines
from metareview.formats.protocol import HistoryContext, HistoryFormat
from metareview.formats.record import Record
from metareview.model.event import Event


def sniff(file: InputFile) -> bool:
    return len({"approve_history", "submit_date", "changeId"} & file.json.first_object.keys()) >= 2


def events(file: InputFile, reading: HistoryContext) -> Iterator[Event]:
    """The events; InputError names the line that cannot be read. The file's name is the repository's."""
    repo = readable(file.path.stem)
    return (event for record in objects_of_lines(file) for event in _events(record, repo))


def _events(record: Record, repo: str) -> Iterator[Event]:
    change = record.whole_number("changeId")
    if record.value.get("approve_history") is None:
        record.refuse("approve_history", "a list", "Give the votes of the change, or [].")
    yield Event(repo, change, record.instant("submit_date"), "opened", id=str(change), files=record.paths("files"))
    for position, vote in enumerate(record.objects("approve_history", "a vote")):
        user = (vote.identifier("userId") or "").strip()
        yield Event(
            repo,
            change,
            vote.instant("grant_date"),
            "review_submitted",
            actor=user or None,
            # The position keeps votes of one instant in the file's order.
            id=f"{change}:{position:04d}:{user}",
            state=_state(vote.value.get("approve_value")),
        )
    if record.value.get("close_date") is not None:
        kind = "merged" if record.value.get("status") in ("M", "MERGED") else "closed"
        yield Event(repo, change, record.instant("close_date"), kind, id=str(change))


def _state(value: object) -> str:
    """The vote as GitHub's review state: +2 approves, below 0 requests changes, the rest comments."""
    vote = value if type(value) is int else 0
    return "APPROVED" if vote >= 2 else "CHANGES_REQUESTED" if vote < 0 else "COMMENTED"


PLUGIN = HistoryFormat.of_events("RevFinder's JSON lines, one change per line", sniff, events)
