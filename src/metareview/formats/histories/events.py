"""`events`: one event per JSON line, or the same columns in Parquet.

`repo`, `pr`, `at` and `kind` must be there. A key that is null says as little as one that is absent; keys that are not
an event's are not read, unless one of them is an event's misspelt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import chain, repeat
from operator import itemgetter
from sys import intern
from typing import Any

import msgspec

from metareview.errors import is_slip
from metareview.formats.input_file import InputFile
from metareview.formats.json_values import object_of_line
from metareview.formats.parquet import MAGIC, Columns, read_columns
from metareview.formats.protocol import HistoryFormat, Reading
from metareview.formats.record import Nanoseconds, Record
from metareview.model.event import Event
from metareview.model.time import LATEST, parse_time, parse_times, show_time

_FIELDS = frozenset(Event._fields)
_REQUIRED = ("repo", "pr", "at", "kind")
_REPEATED = ("repo", "kind", "actor", "actor_type", "state")
"""What has few values. Each is kept once: reading and walking a million events is a matter of memory."""
_decode = msgspec.json.Decoder().decode
_NOTHING = type(None)
_TEXT = {str, _NOTHING}
_TYPES: dict[str, set[type]] = {
    "repo": {str},
    "pr": {int},
    "kind": {str},
    "id": {str, int, _NOTHING},
    "files": {list, _NOTHING},
    "draft": {bool, _NOTHING},
}


def sniff(file: InputFile) -> bool:
    return file.begins_with(MAGIC) or len({"repo", "pr", "at", "kind"} & file.json.first_object.keys()) >= 3


def events(file: InputFile, reading: Reading) -> Iterator[Event]:
    """The events; InputError names the line (in Parquet: the row) that cannot be read."""
    if file.begins_with(MAGIC):
        return chain.from_iterable(of_rows(file, *rows) for rows in read_columns(file))
    return chain.from_iterable(_of_batch(file, number, lines) for number, lines in file.line_batches())


def _of_batch(file: InputFile, number: int, lines: list[bytes]) -> Iterable[Event]:
    """A history has millions of lines, nearly all alike: they are read a batch at a time, column by column.

    A batch with anything out of the ordinary is read record by record, with care; whatever is wrong names its line.
    """
    events = _of_ordinary(lines)
    if events is not None:
        return events
    first = file.line_in_file(number)
    return (event_of(record) for at, line in enumerate(lines, first) if (record := object_of_line(file, at, line)))


def of_rows(file: InputFile, number: int, columns: Columns) -> Iterable[Event]:
    """The same of rows, the first of this number."""
    events = of_columns(columns)
    if events is not None:
        return events
    rows = enumerate(zip(*columns.values(), strict=True), number)
    return (event_of(Record(file, dict(zip(columns, values, strict=True)), at)) for at, values in rows)


def _of_ordinary(lines: list[bytes]) -> Iterator[Event] | None:
    """The events of these lines, if they are as nearly all are; else None."""
    try:
        rows = list(map(_decode, lines))
        return of_columns(_columns(rows)) if set(map(type, rows)) == {dict} else None
    except (msgspec.DecodeError, LookupError, ValueError, RecursionError):
        return None


def of_columns(columns: Columns) -> Iterator[Event] | None:
    """The events whose fields these are, if they are as nearly all are; else None."""
    columns = dict(columns)
    if not columns.keys() >= set(_REQUIRED):
        return None
    try:
        instants = columns["at"]
        if set(map(type, instants)) != {Nanoseconds}:
            columns["at"] = instants = parse_times(instants)
        for name in _REPEATED:
            if name in columns:
                columns[name] = _kept_once(name, columns[name])
    except (LookupError, ValueError, TypeError, AttributeError):
        return None
    for name, column in columns.items():
        if name != "at" and name not in _REPEATED and not set(map(type, column)) <= _TYPES.get(name, _TEXT):
            return None
    prs, files = columns["pr"], columns.get("files")
    if min(prs) < 0 or max(prs) >= 2**63 or min(instants) < -LATEST or max(instants) > LATEST:
        return None
    if files is not None:
        paths = [None if each is None else _paths(each) for each in files]
        if () in paths and any(each for each, read in zip(files, paths, strict=True) if read == ()):
            return None
        columns["files"] = paths
    if "id" in columns:
        columns["id"] = ["" if key is None else str(key) for key in columns["id"]]
    absent: dict[str, Iterable[Any]] = {"id": repeat("")}
    fields = [columns.get(name) or absent.get(name, repeat(None)) for name in Event._fields]
    return map(partial(tuple.__new__, Event), zip(*fields, strict=False))  # In a third of the time of Event._make.


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """What the rows hold of an event, field by field, without those that no row has; KeyError if one is required."""
    shapes = set(map(tuple, rows))
    some = set(chain.from_iterable(shapes))
    if any(map(_may_be_slip, some.difference(Event._fields))):
        raise LookupError
    every = some.intersection(*shapes)
    return {
        name: list(map(itemgetter(name), rows)) if name in every else [row.get(name) for row in rows]
        for name in Event._fields
        if name in some or name in _REQUIRED
    }


@lru_cache(maxsize=1000)
def _may_be_slip(key: str) -> bool:
    return any(is_slip(key, name) for name in Event._fields)


def _kept_once(name: str, column: list[Any]) -> list[str | None]:
    """The column with equal texts as one; TypeError or ValueError if any of it is not as it should be."""
    texts = dict.fromkeys(column)
    if not set(map(type, texts)) <= _TYPES.get(name, _TEXT) or (name in _REQUIRED and "" in texts):
        raise ValueError(name)
    for text in texts:
        if text is not None:
            texts[text] = (intern(text.strip()) or None) if name == "actor" else intern(text)
    return list(map(texts.__getitem__, column))


def _paths(files: list[Any]) -> tuple[str, ...]:
    """Each path once; none at all where one of them is no path."""
    return tuple(dict.fromkeys(files)) if set(map(type, files)) <= {str} and all(files) else ()


def event_of(record: Record) -> Event:
    """The event of a record; InputError names the field that is not as it should be."""
    record.check_spelling(_FIELDS)
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


def line_of(event: Event) -> str:
    """The line of an event, with its end."""
    fields = {**event._asdict(), "at": show_time(event.at), "id": event.id or None}
    known = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(known, ensure_ascii=False, separators=(",", ":")) + "\n"


def time_order(line: bytes) -> tuple[int, bool, str]:
    """The key that sorts lines as histories are read: by time, `opened` first, then by id."""
    event = _decode(line)
    return parse_time(event["at"]), event["kind"] != "opened", event.get("id") or ""


PLUGIN = HistoryFormat.of_events("one event per line (JSON lines), or Parquet", sniff, events)
