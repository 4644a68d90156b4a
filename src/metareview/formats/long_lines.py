"""Lines and documents so long that what is made of them must be watched: memory stays within ten times their size.

A value takes Python some sixty bytes or more, however short it is written: of a hundred megabytes of `[],[],[]` become
two gigabytes of empty lists. No review and no history is written so. It is refused before it is parsed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from metareview.errors import InputError, Line

if TYPE_CHECKING:
    from metareview.formats.source import Source

LONG = 4_000_000
"""Bytes from which on a line or document is watched."""
_CONTAINER, _VALUE = 100, 60
"""About how many bytes a list or object takes, and whatever stands behind a comma."""
_MOST = 10
"""How many times its own size the values of a long line may take."""
_SHORT = 1_000
_BEYOND_64_BITS = re.compile(rb"[0-9]{19}")


def is_dense(data: bytes) -> bool:
    """Whether long data has so many values for its size that they would take far more memory than it does."""
    if len(data) < LONG:
        return False
    containers, values = data.count(b"[") + data.count(b"{"), data.count(b",")
    return _CONTAINER * containers + _VALUE * values > _MOST * len(data)


def refuse_dense(source: Source, number: Line, data: bytes) -> None:
    """InputError where this is so; `number` is the line at which the data begins."""
    if is_dense(data):
        problem = (
            f"{len(data) // 1_000_000} MB of JSON with {data.count(b',') + 1:,} values: too many to hold at a time"
        )
        fix = "Split it, one review or event per line, and leave out what is not needed."
        raise InputError(problem, file=source.name, line=number, fix=fix)


def parsed_from_bytes(line: bytes) -> Any:
    """The value of a line that is JSON and nothing else, without its text in between, which beyond ASCII takes up to
    four times as much room as the bytes. ValueError where only the standard parser can tell what it is."""
    if _BEYOND_64_BITS.search(line):
        raise ValueError("a whole number beyond 64 bits would become a float")
    return orjson.loads(line)


def outline(value: Any) -> Any:
    """An object with its long texts and lists left empty: enough to recognise a format by, without holding a line."""
    if type(value) is not dict:
        return value
    return {
        key: type(each)() if isinstance(each, str | list) and len(each) > _SHORT else each
        for key, each in value.items()
    }
