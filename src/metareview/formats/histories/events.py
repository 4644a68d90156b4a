"""`events`: one event per JSON line, or the same columns in Parquet.

`repo`, `pr`, `at` and `kind` must be there. A key that is null says as little as one that is absent; keys that are not
an event's are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from sys import intern
from typing import Any

from metareview.errors import InputError, UsageError
from metareview.formats.protocol import HistoryFormat
from metareview.formats.record import Nanoseconds, Record
from metareview.formats.source import Source
from metareview.model.event import Event, History, make_history

_PARQUET = b"PAR1"


def sniff(source: Source) -> bool:
    return source.begins_with(_PARQUET) or len({"repo", "pr", "at", "kind"} & source.first_object.keys()) >= 3


def read(source: Source) -> History:
    """The history; InputError names the line (in Parquet: the row) that cannot be read."""
    records = _parquet_rows(source) if source.begins_with(_PARQUET) else source.lines()
    return make_history(map(_event, records), source=source.name)


def _event(record: Record) -> Event:
    """The event of a record. A history has millions: what is as it should be is taken without a further call."""
    get = record.value.get
    repo, pr, kind, identity = get("repo"), get("pr"), get("kind"), get("id")
    actor, actor_type, state, title = get("actor"), get("actor_type"), get("state"), get("title")
    body, base_sha, target, files, draft = get("body"), get("base_sha"), get("target"), get("files"), get("draft")
    for text in (actor, actor_type, state, title, body, base_sha, target):
        if text is not None and type(text) is not str:
            for name in ("actor", "actor_type", "state", "title", "body", "base_sha", "target"):
                record.text(name)
    if draft is not None and type(draft) is not bool:
        record.refuse("draft", "true or false", "Give true, false or null.")
    return Event(
        intern(repo if type(repo) is str and repo else record.required("repo", "a name such as owner/name")),
        pr if type(pr) is int and 0 <= pr < 2**63 else record.whole_number("pr"),
        record.instant("at"),
        intern(kind if type(kind) is str and kind else record.required("kind", "a kind such as opened")),
        (intern(actor.strip()) or None) if actor else None,
        actor_type,
        identity if type(identity) is str else record.identifier("id") or "",
        state,
        title,
        body,
        None if files is None else record.paths("files"),
        draft,
        base_sha,
        target,
    )


def _parquet_rows(source: Source) -> Iterator[Record]:
    try:
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        fix = 'Install it: pip install "metareview[parquet]"'
        raise UsageError(f"{source.name} is Parquet, which needs an extra. {fix}") from error
    number = 0
    try:
        with pq.ParquetFile(source.path) as file:
            columns = [name for name in file.schema_arrow.names if name in Event._fields]
            for batch in file.iter_batches(columns=columns):
                cells = [_cells(pa, batch.column(name)) for name in columns]
                for values in zip(*cells, strict=True):
                    number += 1
                    yield Record(source, dict(zip(columns, values, strict=True)), number)
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ["it is damaged"])[0]
        raise InputError(f"not readable as Parquet: {reason}", file=source.name, fix="Write the file again.") from error


def _cells(pa: Any, column: Any) -> list[Any]:
    if not pa.types.is_timestamp(column.type):
        return list(column.to_pylist())
    exact = column.cast(pa.timestamp("ns", tz=column.type.tz)).cast(pa.int64())
    return [None if value is None else Nanoseconds(value) for value in exact.to_pylist()]


PLUGIN = HistoryFormat("one event per line (JSON lines), or Parquet", sniff, read)
