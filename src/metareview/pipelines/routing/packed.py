"""Events of one repository as bytes, for the disk between reading and replaying: JSON, column by column.

What is written here is read back a minute later by ourselves. Values that repeat are written once, so that what is
read back shares them, as what was read from the history did.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from sys import intern
from typing import Any

import msgspec

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
    return to_bytes(packed)


def to_bytes(content: Any) -> bytes:
    """Anything that JSON can hold."""
    try:
        return msgspec.json.encode(content, enc_hook=int)  # The instants of Parquet are a subtype of int.
    except UnicodeEncodeError:  # Half a surrogate pair, which the standard library writes as an escape.
        return json.dumps(content).encode()


def from_bytes(packed: bytes) -> Any:
    """The same again."""
    try:
        return msgspec.json.decode(packed)
    except msgspec.DecodeError:
        return json.loads(packed)


def unpack(repo: str, packed: bytes, *, share_paths: bool = False) -> Iterator[Event]:
    """What was packed, in the same order. `share_paths`: equal paths are one object, for whoever keeps many."""
    columns = from_bytes(packed)
    for name in _REPEATED:
        values, codes = columns[name]
        shared = [value if value is None else intern(value) for value in values]
        columns[name] = map(shared.__getitem__, codes)
    if "files" in columns:
        made: Callable[[list[str]], tuple[str, ...]] = shared_paths if share_paths else tuple
        columns["files"] = [paths if paths is None else made(paths) for paths in columns["files"]]
    fields: list[Iterable[Any]] = [columns.get(name, repeat(_ABSENT.get(name))) for name in Event._fields[1:]]
    return map(partial(tuple.__new__, Event), zip(repeat(intern(repo)), *fields, strict=False))


def shared_paths(paths: list[str]) -> tuple[str, ...]:
    """The paths, each of which is one object wherever it is shared."""
    return tuple(map(intern, paths))
