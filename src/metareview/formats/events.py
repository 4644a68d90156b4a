"""The `events` format: one event a JSON line, or the same columns in Parquet.

`repo`, `pr`, `at` and `kind` must be there; a key that is null or absent says nothing; keys that are not an
event's are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from sys import intern
from typing import Any

from metareview.errors import InputError, UsageError
from metareview.formats.jsonlines import (
    Nanoseconds,
    Problem,
    file_names,
    first_object,
    instant,
    json_lines,
    text,
    whole_number,
)
from metareview.model.event import KINDS, Event, History, UnknownKinds, make_history
from metareview.model.time import usual_time

_PARQUET = b"PAR1"
_TEXTS = ("actor_type", "state", "title", "body", "base_sha", "target")


def sniff(head: bytes) -> bool:
    """Whether a file that begins with these bytes is in this format."""
    if head.startswith(_PARQUET):
        return True
    first = first_object(head)
    return first is not None and len({"repo", "pr", "at", "kind"} & first.keys()) >= 3


def read(path: Path) -> History:
    """Read a history; InputError names the line (in Parquet: the row) that cannot be read."""
    with path.open("rb") as stream:
        parquet = stream.read(len(_PARQUET)) == _PARQUET
    unknown = UnknownKinds()
    rows = _parquet_rows(path) if parquet else json_lines(path)
    return make_history(_events(rows, path, unknown), source=path, unknown=unknown)


def _events(rows: Iterator[tuple[int, dict[str, Any]]], path: Path, unknown: UnknownKinds) -> Iterator[Event]:
    for number, row in rows:
        try:
            event = _event(row)
        except Problem as problem:
            raise problem.at(path, number) from None
        if event.kind in KINDS:
            yield event
        else:
            unknown.add(event.kind, event.at)


def _event(row: dict[str, Any]) -> Event:
    """The event of a row. Written out plainly, because a history has millions."""
    get = row.get
    pr, at = get("pr"), get("at")
    actor, files, draft, identity = get("actor"), get("files"), get("draft"), get("id")
    if actor is not None and type(actor) is not str:
        raise Problem("actor is not text", "Give a login, or null for a deleted account.")
    if draft is not None and type(draft) is not bool:
        raise Problem("draft is not true or false", "Give true, false or null.")
    if identity is not None and type(identity) is not str and type(identity) is not int:
        raise Problem("id is not text", "Give id as text or as a whole number.")
    actor_type, state, title = get("actor_type"), get("state"), get("title")
    body, base_sha, target = get("body"), get("base_sha"), get("target")
    for value in (actor_type, state, title, body, base_sha, target):
        if value is not None and type(value) is not str:
            name = next(name for name in _TEXTS if get(name) is value)
            raise Problem(f"{name} is not text", "Give text or null.")
    return Event(
        intern(text(row, "repo", "a name such as owner/name")),
        pr if type(pr) is int and 0 <= pr < 2**63 else whole_number(row, "pr"),
        (usual_time(at) if type(at) is str else None) or instant(row, "at"),
        intern(text(row, "kind", "a kind such as opened")),
        (intern(actor.strip()) or None) if actor else None,
        actor_type,
        "" if identity is None else str(identity),
        state,
        title,
        body,
        None if files is None else file_names(files),
        draft,
        base_sha,
        target,
    )


def _parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            f'{path} is Parquet, which needs an extra. Install it: pip install "metareview[parquet]"'
        ) from error
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            columns = [name for name in file.schema_arrow.names if name in Event._fields]
            for batch in file.iter_batches(columns=columns):
                cells = [_cells(pa, batch.column(name)) for name in columns]
                for values in zip(*cells, strict=True):
                    number += 1
                    yield number, dict(zip(columns, values, strict=True))
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ["it is damaged"])[0]
        raise InputError(
            f"not readable as Parquet: {reason}", file=path, fix="Write the file again."
        ) from error


def _cells(pa: Any, column: Any) -> list[Any]:
    if not pa.types.is_timestamp(column.type):
        return list(column.to_pylist())
    exact = column.cast(pa.timestamp("ns", tz=column.type.tz)).cast(pa.int64())
    return [None if value is None else Nanoseconds(value) for value in exact.to_pylist()]
