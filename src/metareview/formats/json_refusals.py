"""JSON that is refused though it is sound: too many values for its size, or one value over several lines."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from metareview.errors import InputError, Line
from metareview.formats.gzip_lines import GZIP

if TYPE_CHECKING:
    from metareview.formats.input_file import InputFile

_KINDS = {"[": "a list", "{": "an object"}
_MOST_PARSED = 2**20
_LONG = 4_000_000
"""Bytes from which on a line or document is refused if its values would take far more memory than it does."""
_CONTAINER_BYTES, _VALUE_BYTES, _MOST_TIMES_LARGER = 100, 60, 10
decode_at = json.JSONDecoder().raw_decode
"""The value that begins at an offset of a text, and where it ends."""


# JSON that takes far more memory than its bytes: of a hundred megabytes of `[],[],[]` become two gigabytes of lists


def is_dense(data: bytes) -> bool:
    """True if long data has so many values for its size that they would take far more memory than it does."""
    if len(data) < _LONG:
        return False
    containers, values = data.count(b"[") + data.count(b"{"), data.count(b",")
    return _CONTAINER_BYTES * containers + _VALUE_BYTES * values > _MOST_TIMES_LARGER * len(data)


def refuse_dense(file: InputFile, line: Line, data: bytes) -> None:
    """InputError for dense data; `line` is that at which it begins."""
    if is_dense(data):
        problem = (
            f"{len(data) // 1_000_000} MB of JSON with {data.count(b',') + 1:,} values: too many to hold at a time"
        )
        fix = "Split it, one review or event per line, and leave out what is not needed."
        raise InputError(problem, file=file.name, line=line, fix=fix)


# Sound JSON where JSON lines are expected, such as a list or pretty-printed objects


def refuse_over_lines(file: InputFile, number: int) -> None:
    """InputError where sound JSON begins on this line and ends on a later one; where it is broken, nothing."""
    if kind := _value_over_lines(file, number):
        file.fail(number, f"a line must be a whole object, found {kind} over several lines", one_per_line(file, kind))


def _value_over_lines(file: InputFile, number: int) -> str | None:
    """The kind of the JSON value that begins on this line and ends on a later one, or None if it is broken.

    Of more than _MOST_PARSED bytes, only the beginning is looked at.
    """
    lines: list[bytes] = []
    size = 0
    for at, line in file.again().lines():
        if at >= number:
            lines.append(line)
            size += len(line)
        if size > _MOST_PARSED:
            break
    first = lines[0].decode("utf-8-sig", "replace").strip() if lines else ""
    kind = _KINDS.get(first[:1])
    if kind is None or len(lines) == 1:
        return None
    if size > _MOST_PARSED:
        return kind if kind == "a list" or first == "{" else None
    text = b"".join(lines).decode("utf-8-sig", "replace").lstrip()
    try:
        _, end = decode_at(text)
    except (ValueError, RecursionError):
        return None
    return kind if "\n" in text[:end] else None


def one_per_line(file: InputFile, kind: str) -> str:
    """How to convert a file of values of this kind to JSON lines."""
    convert = "jq -c '.[]'" if kind == "a list" else "jq -c ."
    path = Path(file.name)
    if not path.is_file():
        return f"Write one object per line, as {convert} does."
    target = (path.with_suffix("") if path.suffix == ".gz" else path).with_suffix(".jsonl")
    target = path.with_name("lines.jsonl") if target == path else target
    command = f"zcat {{}} | {convert}" if file.again().begins_with(GZIP) else f"{convert} {{}}"
    return f"Write one object per line: {command.format(quote(file.name))} > {quote(str(target))}"
