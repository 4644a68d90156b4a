"""`events`: one event per JSON line, or the same columns in Parquet.

`repo`, `pr`, `at` and `kind` must be there. A key that is null says as little as one that is absent; keys that are not
an event's are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from sys import intern
from typing import Any

import orjson

from metareview.formats.parquet import MAGIC, read_rows
from metareview.formats.protocol import HistoryFormat, Reading
from metareview.formats.record import Record
from metareview.formats.source import Source
from metareview.model.event import Event
from metareview.model.time import LATEST, parse_time

_BATCH = 5_000
_NOTHING = type(None)
_TEXT = {str, _NOTHING}
_TYPES: dict[str, set[type]] = {
    "repo": {str},
    "pr": {int},
    "at": {str},
    "kind": {str},
    "id": {str, int, _NOTHING},
    "files": {list, _NOTHING},
    "draft": {bool, _NOTHING},
}


def sniff(source: Source) -> bool:
    return source.begins_with(MAGIC) or len({"repo", "pr", "at", "kind"} & source.first_object.keys()) >= 3


def events(source: Source, reading: Reading) -> Iterator[Event]:
    """The events; InputError names the line (in Parquet: the row) that cannot be read."""
    if source.begins_with(MAGIC):
        return map(_event, read_rows(source, reading.texts))
    return _of_lines(source)


def _of_lines(source: Source) -> Iterator[Event]:
    """A history has millions of lines, nearly all alike: they are read a batch at a time, column by column.

    A batch with anything out of the ordinary is read record by record, with care; whatever is wrong names its line.
    """
    lines = source.raw_lines()
    while batch := list(islice(lines, _BATCH)):
        events = _of_batch([line for _, line in batch])
        if events is not None:
            yield from events
            continue
        for number, line in batch:
            record = source.record_of(number, line)
            if record is not None:
                yield _event(record)


def _of_batch(lines: list[bytes]) -> Iterator[Event] | None:
    """The events of these lines, if they are as nearly all are; else None."""
    try:
        rows = list(map(orjson.loads, lines))
        if set(map(type, rows)) != {dict}:
            return None
        there = set().union(*rows)
        nothing = [None] * len(rows)
        columns = {name: [row.get(name) for row in rows] if name in there else nothing for name in Event._fields}
        instants = list(map(parse_time, columns["at"]))
    except (ValueError, TypeError, AttributeError):
        return None
    for name, column in columns.items():
        if column is not nothing and not set(map(type, column)) <= _TYPES.get(name, _TEXT):
            return None
    repos, kinds, prs = columns["repo"], columns["kind"], columns["pr"]
    if not (all(repos) and all(kinds) and prs is not nothing and min(prs) >= 0 and max(prs) < 2**63):
        return None
    if min(instants) < -LATEST or max(instants) > LATEST:
        return None
    logins = {login: login and (intern(login.strip()) or None) for login in set(columns["actor"])}
    columns |= {
        "repo": list(map(intern, repos)),
        "at": instants,
        "kind": list(map(intern, kinds)),
        "actor": list(map(logins.__getitem__, columns["actor"])),
        "id": [""] * len(rows)
        if columns["id"] is nothing
        else ["" if key is None else str(key) for key in columns["id"]],
    }
    if columns["files"] is not nothing:
        paths = [None if files is None else _paths(files) for files in columns["files"]]
        if () in paths and any(files for files, read in zip(columns["files"], paths, strict=True) if read == ()):
            return None
        columns["files"] = paths
    return map(Event._make, zip(*columns.values(), strict=True))


def _paths(files: list[Any]) -> tuple[str, ...]:
    """Each path once; none at all where one of them is no path."""
    return tuple(dict.fromkeys(files)) if set(map(type, files)) <= {str} and all(files) else ()


def _event(record: Record) -> Event:
    """The event of a record; InputError names the field that is not as it should be."""
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


PLUGIN = HistoryFormat.of_events("one event per line (JSON lines), or Parquet", sniff, events)
