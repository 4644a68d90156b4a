"""`events`: one event per JSON line, or the same columns in Parquet.

`repo`, `pr`, `at` and `kind` are required. A null is read as an absent key. Other keys are ignored, unless one of them
is a misspelt key of an event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain, repeat
from sys import intern
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import astuple

from metareview.errors import is_slip
from metareview.formats.input_file import InputFile, split_lines
from metareview.formats.json_values import object_of_line
from metareview.formats.parquet import MAGIC, Columns, read_columns
from metareview.formats.protocol import HistoryContext, HistoryFormat
from metareview.formats.record import Nanoseconds, Record
from metareview.model.event import Event
from metareview.model.time import LATEST, parse_time, parse_times, show_time

_FIELDS = frozenset(Event._fields)
_REQUIRED = frozenset({"repo", "kind"})
_REPEATED = frozenset({"actor_type", "state"})
"""Fields that are interned, as logins are: they have few values, and a history may have millions of events."""
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


class _Line(Struct, gc=False):
    """A line of JSON, with the fields of an event in their order."""

    repo: Annotated[str, Meta(min_length=1)]
    pr: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    at: str
    kind: Annotated[str, Meta(min_length=1)]
    actor: str | None = None
    actor_type: str | None = None
    id: str | int | None = None
    state: str | None = None
    title: str | None = None
    body: str | None = None
    files: list[Annotated[str, Meta(min_length=1)]] | None = None
    draft: bool | None = None
    base_sha: str | None = None
    target: str | None = None


class _WholeLine(_Line, forbid_unknown_fields=True, gc=False):
    """A line with no other field."""


_decode = msgspec.json.Decoder(_Line).decode_lines
_decode_whole = msgspec.json.Decoder(_WholeLine).decode_lines
_decode_object = msgspec.json.Decoder(dict[str, Raw]).decode_lines


def sniff(file: InputFile) -> bool:
    return file.begins_with(MAGIC) or len({"repo", "pr", "at", "kind"} & file.json.first_object.keys()) >= 3


def events(file: InputFile, reading: HistoryContext) -> Iterator[Event]:
    """The events; InputError names the line (in Parquet, the row) that cannot be read."""
    if file.begins_with(MAGIC):
        return chain.from_iterable(of_rows(file, *rows) for rows in read_columns(file))
    return chain.from_iterable(_of_block(file, *block) for block in file.blocks())


def _of_block(file: InputFile, number: int, block: bytes) -> Iterable[Event]:
    """The events of a block of lines, which begins at this line: a history has millions, nearly all alike.

    They are decoded column by column; a block with any unusual line is read record by record, with errors that name it.
    """
    try:
        rows = _rows(block)
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        if len(rows) == lines:  # None is blank, and none of the values goes over several lines.
            return _events(dict(zip(Event._fields, zip(*map(astuple, rows), strict=True), strict=True)))
    except (msgspec.DecodeError, LookupError, ValueError, RecursionError):
        pass
    first = file.line_in_file(number)
    return (
        event_of(record)
        for at, line in enumerate(split_lines(block), first)
        if (record := object_of_line(file, at, line))
    )


def _rows(lines: bytes) -> Sequence[_Line]:
    """The decoded lines; ValidationError or LookupError if one is unusual."""
    with suppress(msgspec.ValidationError):
        return _decode_whole(lines)
    keys = set(chain.from_iterable(_decode_object(lines)))
    if any(map(_may_be_slip, keys - _FIELDS)):
        raise LookupError
    return _decode(lines)


def of_rows(file: InputFile, number: int, columns: Columns) -> Iterable[Event]:
    """The events of rows in columns; `number` is that of the first row."""
    events = of_columns(columns)
    if events is not None:
        return events
    rows = enumerate(zip(*columns.values(), strict=True), number)
    return (event_of(Record(file, dict(zip(columns, values, strict=True)), at)) for at, values in rows)


def of_columns(columns: Columns) -> Iterator[Event] | None:
    """The events with these fields; None if a value is unusual."""
    if not columns.keys() >= _REQUIRED:
        return None
    for name, column in columns.items():
        if name != "at" and not set(map(type, column)) <= _TYPES.get(name, _TEXT):
            return None
    try:
        prs = columns["pr"]
        return _events(columns) if min(prs) >= 0 and max(prs) < 2**63 else None
    except (LookupError, ValueError, TypeError, AttributeError):
        return None


def _events(columns: Mapping[str, Sequence[Any]]) -> Iterator[Event]:
    """The events with these fields, of the right types; LookupError, TypeError or ValueError if one is unusual."""
    fields: dict[str, Iterable[Any]] = dict(columns)
    instants = columns["at"]
    if set(map(type, instants)) != {Nanoseconds}:
        fields["at"] = instants = parse_times(instants)
    if min(instants) < -LATEST or max(instants) > LATEST:
        raise ValueError("at")
    for name in _REQUIRED:
        fields[name] = list(map(intern, columns[name]))
        if not all(columns[name]):
            raise ValueError(name)
    for name in _REPEATED & columns.keys():
        fields[name] = [None if text is None else intern(text) for text in columns[name]]
    if "actor" in columns:
        fields["actor"] = [intern(login.strip()) or None if login else None for login in columns["actor"]]
    if any(files := columns.get("files") or ()):
        fields["files"] = [None if each is None else _paths(each) for each in files]
    fields["id"] = ["" if key is None else str(key) for key in columns["id"]] if "id" in columns else repeat("")
    rows = zip(*(fields.get(name) or repeat(None) for name in Event._fields), strict=False)
    return map(partial(tuple.__new__, Event), rows)  # Three times as fast as Event._make.


@lru_cache(maxsize=1000)
def _may_be_slip(key: str) -> bool:
    return any(is_slip(key, name) for name in Event._fields)


def _paths(files: list[Any]) -> tuple[str, ...]:
    """The distinct paths; ValueError if one is empty or not a text."""
    if not set(map(type, files)) <= {str} or not all(files):
        raise ValueError("files")
    return tuple(dict.fromkeys(files))


def event_of(record: Record) -> Event:
    """The event of a record; InputError names the field that cannot be read."""
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
    [event] = _decode(line)
    return parse_time(event.at), event.kind != "opened", str(event.id or "")


PLUGIN = HistoryFormat.of_events("one event per line (JSON lines), or Parquet", sniff, events)
