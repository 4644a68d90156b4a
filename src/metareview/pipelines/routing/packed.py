"""Events of one repository as bytes, for the disk between reading and replaying: JSON, column by column.

What is written here is read back a minute later by ourselves. Values that repeat are written once, so that what is
read back shares them, as what was read from the history did.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from sys import intern
from typing import Any

import orjson

from metareview.model.event import Event

_REPEATED = frozenset({"kind", "actor", "actor_type", "state"})
_ABSENT = {"id": ""}
"""What a field has that says nothing, where that is not None."""


def pack(events: Sequence[Event]) -> bytes:
    """All must be of one repository, which is not written."""
    packed: dict[str, Any] = {}
    for name, column in zip(Event._fields[1:], list(zip(*events, strict=True))[1:], strict=True):
        if name in _REPEATED:
            codes = {value: code for code, value in enumerate(dict.fromkeys(column))}
            packed[name] = list(codes), list(map(codes.__getitem__, column))
        elif set(map(type, column)) != {type(None)} and any(value != _ABSENT.get(name) for value in column):
            packed[name] = column
    try:
        return orjson.dumps(packed)
    except TypeError:  # Half a surrogate pair, which the standard library writes as an escape.
        return json.dumps(packed).encode()


def unpack(repo: str, packed: bytes) -> Iterator[Event]:
    """What was packed, in the same order."""
    try:
        columns = orjson.loads(packed)
    except orjson.JSONDecodeError:
        columns = json.loads(packed)
    for name in _REPEATED:
        values, codes = columns[name]
        shared = [value if value is None else intern(value) for value in values]
        columns[name] = map(shared.__getitem__, codes)
    if "files" in columns:
        columns["files"] = [paths if paths is None else tuple(paths) for paths in columns["files"]]
    fields: list[Iterable[Any]] = [columns.get(name, repeat(_ABSENT.get(name))) for name in Event._fields[1:]]
    return map(partial(tuple.__new__, Event), zip(repeat(intern(repo)), *fields, strict=False))
