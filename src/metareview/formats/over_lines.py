"""Sound JSON where JSON lines are expected, such as a list or pretty-printed objects: what it is, how to convert it."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from metareview.formats.gzip_lines import GZIP

if TYPE_CHECKING:
    from metareview.formats.source import Source

_KINDS = {"[": "a list", "{": "an object"}
_MOST_PARSED = 2**20


def value_over_lines(source: Source, number: int) -> str | None:
    """The kind of the JSON value that begins on this line and ends on a later one, or None if it is broken.

    Of more than _MOST_PARSED bytes, only the beginning is looked at.
    """
    lines: list[bytes] = []
    size = 0
    for at, line in source.raw_lines():
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
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return kind if "\n" in text[:end] else None


def one_per_line(source: Source, kind: str) -> str:
    """How to convert a file of values of this kind to JSON lines."""
    convert = "jq -c '.[]'" if kind == "a list" else "jq -c ."
    path = Path(source.name)
    if not path.is_file():
        return f"Write one object per line, as {convert} does."
    target = (path.with_suffix("") if path.suffix == ".gz" else path).with_suffix(".jsonl")
    target = path.with_name("lines.jsonl") if target == path else target
    command = f"zcat {{}} | {convert}" if source.begins_with(GZIP) else f"{convert} {{}}"
    return f"Write one object per line: {command.format(quote(source.name))} > {quote(str(target))}"
