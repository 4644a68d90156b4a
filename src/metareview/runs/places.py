"""A run's lines and where each stands: by bytes in a file of lines, by rows in Parquet parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from metareview.errors import InputError
from metareview.formats.checksums import REPAIR
from metareview.runs.parts import PartRows, has_parts, parts_of, read_parts

_BATCH = 128 * 1024
"""Bytes that are parsed at once: few enough for what comes of them to stay in the processor's cache."""
_LONGEST_LINE = 64 * 1024 * 1024


class Place(NamedTuple):
    """Where a line stands in its file, in bytes; in parts the number of its row, and how many rows."""

    offset: int
    length: int
    """Negative: one line, whatever its length."""


def line_batches(path: Path) -> Iterator[tuple[Sequence[int], list[bytes]]]:
    """Whole lines, and where each of them begins; what a kill left of a line is no line."""
    if has_parts(path):
        row = 0
        for lines in read_parts(parts_of(path)):
            yield range(row, row + len(lines)), lines
            row += len(lines)
        return
    if not path.exists():
        return
    offset = 0
    with path.open("rb") as file:
        while lines := file.readlines(_BATCH):
            *offsets, offset = accumulate(map(len, lines), initial=offset)
            if not lines[-1].endswith(b"\n"):
                lines.pop()
                offsets.pop()
            if lines:
                yield offsets, lines


def placed_lines(path: Path) -> Iterator[tuple[Place, bytes]]:
    in_rows = has_parts(path)
    for offsets, lines in line_batches(path):
        for offset, line in zip(offsets, lines, strict=True):
            yield Place(offset, 1 if in_rows else len(line)), line


def lines_at(path: Path, places: Sequence[Place]) -> Iterator[list[bytes]]:
    """What stands at each of these places, a line or several."""
    if has_parts(path):
        rows = PartRows(parts_of(path))
        for place in places:
            yield rows.read(place.offset, max(1, place.length))
        return
    try:
        with path.open("rb") as file:
            for place in places:
                file.seek(place.offset)
                held = file.readline(_LONGEST_LINE) if place.length < 0 else file.read(place.length)
                yield held.rstrip(b"\n").split(b"\n")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path, fix=REPAIR) from None
