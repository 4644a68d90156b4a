"""Lines of a run in Parquet parts, read: what tasks of a cluster write in the place of a file of lines.

    pairs.parquet/part-00000.parquet, part-00001.parquet, …   in the place of pairs.jsonl

The column `record` holds every line to the byte. The order is that of the parts' numbers, and of the rows in each.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from metareview.errors import InputError, UsageError
from metareview.formats.input_file import InputFile
from metareview.formats.parquet_limits import DecodedTexts, open_parquet

RECORD = "record"
SUFFIX = ".parquet"
PART = re.compile(r"part-(\d{5,9})\.parquet")
AGAIN = "Run the evaluation again with --overwrite."
_LINES = ".jsonl"
_BATCH = 500


def parts_of(path: Path) -> Path:
    """The folder that stands in the place of a file of lines.

    >>> parts_of(Path("run/results.jsonl")).as_posix()
    'run/results.parquet'
    """
    return path.with_suffix(SUFFIX)


def has_parts(path: Path) -> bool:
    """True if parts stand in the place of this file of lines, which comes first where it is there."""
    return not path.exists() and parts_of(path).is_dir()


def has_lines(path: Path) -> bool:
    """True if there is this file of lines, or parts in its place."""
    return path.exists() or has_parts(path)


def part_files(folder: Path) -> list[Path]:
    """The parts by their numbers; InputError where one is missing, is no file or leads elsewhere."""
    found = parts_there(folder)
    for number in range(len(found)):
        if number not in found:
            raise InputError(f"part {number} of {max(found) + 1} is missing", file=folder, fix=AGAIN)
    return [found[number] for number in range(len(found))]


def parts_there(folder: Path) -> dict[int, Path]:
    """Those of a run that may not be finished, by number; InputError where one is no file or leads elsewhere."""
    found: dict[int, Path] = {}
    with os.scandir(folder) as entries:
        for each in entries:
            if named := PART.fullmatch(each.name):
                if not stat.S_ISREG(each.stat(follow_symlinks=False).st_mode):
                    raise InputError(
                        "not a file", file=Path(each.path), fix="Delete it, then run the evaluation again."
                    )
                found[int(named[1])] = Path(each.path)
    return found


def read_parts(folder: Path) -> Iterator[list[bytes]]:
    """All lines in their order, some at a time."""
    for file in part_files(folder):
        yield from read_part(file)


def read_part(file: Path) -> Iterator[list[bytes]]:
    """Those of one part."""
    with opened_part(file) as part:
        for group in range(part.num_row_groups):
            for batch in part.iter_batches(_BATCH, row_groups=[group], columns=[RECORD]):
                yield lines_of(batch.column(RECORD), file)


def lines_of(column: Any, file: Path) -> list[bytes]:
    """The lines that a column of a part holds."""
    pa = import_module("pyarrow")
    texts = DecodedTexts(file, file, AGAIN)
    lines: list[bytes] = []
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        repeated = isinstance(chunk, pa.DictionaryArray)
        of = chunk.type.value_type if repeated else chunk.type
        if chunk.null_count or not (pa.types.is_string(of) or pa.types.is_large_string(of)):
            raise InputError(f"a part without the column {RECORD}, or not of texts", file=file, fix=AGAIN)
        if repeated:
            encoded = pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(pa.large_binary()))
            lines += texts.cells(encoded)
        else:
            lines += chunk.cast(pa.large_binary()).to_pylist()
    return lines


@contextmanager
def opened_part(file: Path) -> Iterator[Any]:
    """A part, as Arrow reads it; InputError where it is none."""
    pa, pq = arrow(file.parent)
    try:
        with open_parquet(pq, file, file, AGAIN) as part:
            if part.schema_arrow.names.count(RECORD) != 1:
                raise InputError(f"a part without the column {RECORD}, or with several", file=file, fix=AGAIN)
            yield part
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last for the name of a column
        reason = (str(error).splitlines() or ["it is damaged"])[0][:200]
        raise InputError(f"not readable as Parquet: {reason}", file=file, fix=AGAIN) from error


def arrow(name: str | Path) -> tuple[Any, Any]:
    """Arrow, and its Parquet; UsageError where they are not installed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        fix = 'Install it: pip install "metareview[parquet]"'
        raise UsageError(f"{name} is Parquet, which needs an extra. {fix}") from error


def lines_in_parts(path: Path) -> InputFile:
    """Parts as the file of lines in whose place they are; it is named after their folder."""
    lines = chain.from_iterable(read_parts(parts_of(path)))
    return InputFile.of_bytes(b"".join(line + b"\n" for line in lines), path, name=str(parts_of(path)))


def input_of_lines(path: Path) -> InputFile:
    """A file of lines, or parts: their folder, or the file in whose place they are."""
    try:
        if path.suffix == SUFFIX and path.is_dir():
            return lines_in_parts(path.with_suffix(_LINES))
        return lines_in_parts(path) if has_parts(path) else InputFile(path).for_reading()
    except OSError:  # A name that is too long; what reads the file says so.
        return InputFile(path).for_reading()
