"""Lines of a run as Parquet parts, as the tasks of a cluster write them, each its own file on a shared disk:

    results.parquet/part-00000.parquet, part-00001.parquet, …   in the place of results.jsonl
    pairs.parquet/part-00000.parquet, …                          in the place of pairs.jsonl

The column `record` holds every line to the byte, and is all that is ever read back; the columns beside it say what a
query asks for in types of its own. The order is that of the parts' numbers, and of the rows in each.
"""

from __future__ import annotations

import re
import secrets
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from metareview.errors import InputError
from metareview.formats.line_parts import (
    PART,
    RECORD,
    SUFFIX,
    arrow,
    has_lines,
    has_parts,
    lines_of,
    opened_part,
    part_files,
    parts_of,
    parts_there,
    read_part,
    read_parts,
)

__all__ = [
    "Columns",
    "PartRows",
    "count_rows",
    "has_lines",
    "has_part_files",
    "has_parts",
    "part_files",
    "parts_of",
    "parts_there",
    "read_part",
    "read_parts",
    "remove_parts",
    "remove_unfinished_parts",
    "write_part",
]

_UNFINISHED = re.compile(rf"\.{PART.pattern}\.[0-9a-f]{{8}}\.new")
_GROUP_ROWS, _GROUP_BYTES = 2_000, 4 << 20
"""What is decoded at once to read one line of it."""


@dataclass(frozen=True)
class Columns:
    """What stands beside the records of one kind, for queries: never read back."""

    types: Callable[[Any], Mapping[str, Any]]
    """The Arrow type of each column; given the module, because it is an extra."""
    cells: Callable[[Sequence[bytes]], Sequence[Sequence[Any]]]
    """The columns of some lines, in that order."""


def has_part_files(path: Path) -> bool:
    """Whether there are parts of this file of lines, be that itself there or not."""
    return any(PART.fullmatch(each.name) for each in _files_of(path))


def remove_parts(path: Path) -> None:
    """Delete the parts in the place of a file of lines, and what interrupted tasks left; nothing else that is there."""
    remove_unfinished_parts(path)
    for each in _files_of(path):
        if PART.fullmatch(each.name):
            each.unlink()
    if not parts_of(path).is_symlink():
        with suppress(OSError):  # it is not there, or somebody keeps something of theirs in it
            parts_of(path).rmdir()


def remove_unfinished_parts(path: Path) -> None:
    """Delete what tasks that were interrupted left beside the parts that they were writing."""
    for each in _files_of(path):
        if _UNFINISHED.fullmatch(each.name):
            each.unlink(missing_ok=True)


def _files_of(path: Path) -> list[Path]:
    folder = parts_of(path)
    return [] if folder.is_symlink() or not folder.is_dir() else list(folder.iterdir())


# Writing


def write_part(folder: Path, number: int, lines: Iterable[bytes], columns: Columns) -> int:
    """One part, whole or not at all, whoever else writes the same one; the number of its lines.

    `lines` are those of a file, with their ends or without. A task that is done again writes the same part once more.
    """
    pa, pq = arrow(folder)
    types = columns.types(pa)
    schema = pa.schema([*types.items(), (RECORD, pa.string())])
    folder.mkdir(parents=True, exist_ok=True)
    # A name that neither Spark nor we take for a part.
    beside = folder / f".part-{number:05}{SUFFIX}.{secrets.token_hex(4)}.new"
    written = 0
    try:
        with pq.ParquetWriter(beside, schema, compression="zstd") as writer:
            for group in _groups(lines):
                arrays = [_array(pa, *each) for each in zip(columns.cells(group), types.values(), strict=True)]
                records = pa.array(group, pa.binary()).cast(pa.string())
                writer.write_table(pa.Table.from_arrays([*arrays, records], schema=schema))
                written += len(group)
        beside.replace(folder / f"part-{number:05}{SUFFIX}")
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    return written


def _array(pa: Any, column: Sequence[Any], of: Any) -> Any:
    try:
        return pa.array(column, of)
    except UnicodeEncodeError:  # Half a character, which Parquet cannot hold, and the record can.
        return pa.array([_whole(value) for value in column], of)


def _whole(value: Any) -> Any:
    """The same, with a question mark for each half character."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    return value


def _groups(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size = 0
    for line in lines:
        group.append(line.rstrip(b"\n"))
        size += len(group[-1])
        if len(group) >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


# Reading


def count_rows(folder: Path) -> int:
    """How many lines the parts hold that are there already."""
    total = 0
    for file in parts_there(folder).values():
        with opened_part(file) as part:
            total += part.metadata.num_rows
    return total


class PartRows:
    """Lines by their numbers, from 0 over all parts; what was decoded last is kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._groups: list[tuple[Path, int]] = []
        sizes = []
        for file in part_files(folder):
            with opened_part(file) as part:
                for group in range(part.num_row_groups):
                    self._groups.append((file, group))
                    sizes.append(part.metadata.row_group(group).num_rows)
        self._starts = list(accumulate(sizes, initial=0))
        self._held: tuple[int, list[bytes]] = (-1, [])

    def read(self, first: int, number: int) -> list[bytes]:
        """These many lines from the first one on; InputError where there are fewer."""
        found: list[bytes] = []
        while len(found) < number:
            group = bisect_right(self._starts, first + len(found)) - 1
            if first < 0 or group >= len(self._groups):
                fix = "Load the page again if the run has just been made anew; else run it again with --overwrite."
                raise InputError(f"there is no row {first + len(found) + 1}", file=self._folder, fix=fix)
            begin = first + len(found) - self._starts[group]
            found += self._group(group)[begin : begin + number - len(found)]
        return found

    def _group(self, number: int) -> list[bytes]:
        if self._held[0] != number:
            file, group = self._groups[number]
            with opened_part(file) as part:
                column = part.read_row_group(group, columns=[RECORD]).column(RECORD)
                self._held = number, lines_of(column, file)
        return self._held[1]
