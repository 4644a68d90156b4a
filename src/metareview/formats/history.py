"""Which format a history is in, and reading it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from metareview.errors import InputError, UsageError
from metareview.formats import events, gerrit
from metareview.formats.garbage import paused_collection
from metareview.formats.jsonlines import json_lines
from metareview.model.event import History

_HEAD = 4 << 20


class HistoryFormat(NamedTuple):
    """How a format is recognised from a file's first bytes, and read."""

    sniff: Callable[[bytes], bool]
    read: Callable[[Path], History]
    summary: str


HISTORY_FORMATS: dict[str, HistoryFormat] = {
    "events": HistoryFormat(events.sniff, events.read, "one event a line (JSON lines), or Parquet"),
    "gerrit": HistoryFormat(gerrit.sniff, gerrit.read, "RevFinder's JSON lines, one change a line"),
}


def read_history(path: str | Path, format: str | None = None) -> History:
    """Read a history, its format found by content unless it is named.

    InputError for a file that is absent, empty or in no known format; UsageError for an unknown format name.
    """
    path = Path(path)
    if format is not None and format not in HISTORY_FORMATS:
        raise UsageError(f"history format {format!r} is not known. Give one of {', '.join(HISTORY_FORMATS)}.")
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}", file=path, fix="Give a history file."
        ) from error
    if not head.strip():
        raise InputError("the file is empty", file=path, fix="Give a history with at least one pull request.")
    known = HISTORY_FORMATS[format] if format is not None else _recognise(head)
    if known is not None:
        with paused_collection():
            return known.read(path)
    number, _ = next(json_lines(path))
    raise InputError(
        "not a history in a known format",
        file=path,
        line=number,
        fix='An event has at least {"repo", "pr", "at", "kind"}; '
        f"known formats are {', '.join(HISTORY_FORMATS)}.",
    )


def _recognise(head: bytes) -> HistoryFormat | None:
    return next((known for known in HISTORY_FORMATS.values() if known.sniff(head)), None)
