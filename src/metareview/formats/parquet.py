"""Parquet with the columns of events, which are the fields of their JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from typing import Any

from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.line_parts import arrow
from metareview.formats.parquet_limits import DecodedTexts, open_parquet
from metareview.formats.record import Nanoseconds
from metareview.model.event import Event

MAGIC = b"PAR1"
_WRITE_TEXTS = "Write the file again, with texts in UTF-8."
_NOT_HONEST = "Check where the file comes from; if all of it is right, give the history as JSON lines."
_BATCH = 8_192
"""Rows per batch."""
Columns = Mapping[str, list[Any]]
"""The cells of some rows, by the name of their column."""


def read_columns(file: InputFile) -> Iterator[tuple[int, Columns]]:
    """Batches of rows, column by column, with the number of the first row, from 1.

    A part of a file is a range of its row groups.
    """
    pa, pq = arrow(file.name)
    try:
        with open_parquet(pq, file.path, file.name, _NOT_HONEST) as table:
            texts = DecodedTexts(file.path, file.name, _NOT_HONEST)
            columns = [name for name in table.schema_arrow.names if name in Event._fields]
            if twice := [name for name in columns if columns.count(name) > 1]:
                problem = f"column {twice[0]} is there {columns.count(twice[0])} times"
                raise InputError(problem, file=file.name, fix="Keep one of them.")
            groups = list(range(table.num_row_groups))
            first, end = file.part or (0, len(groups))
            number = 1 + sum(table.metadata.row_group(group).num_rows for group in groups[:first])
            for group in groups[first:end]:
                for batch in table.iter_batches(batch_size=_BATCH, row_groups=[group], columns=columns):
                    yield number, {name: _readable_cells(file, pa, number, name, batch, texts) for name in columns}
                    number += batch.num_rows
    except UnicodeDecodeError as error:  # In statistics or dictionaries, which are decoded before the rows.
        problem = f"a text that is not UTF-8 (byte 0x{error.object[error.start]:02x})"
        raise InputError(problem, file=file.name, fix=_WRITE_TEXTS) from None
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ["it is damaged"])[0]
        raise InputError(f"not readable as Parquet: {reason}", file=file.name, fix="Write the file again.") from error


def rows_in(file: InputFile) -> int:
    """The number of rows that the file declares; 0 if it cannot be read, which the reader reports."""
    try:
        _, pq = arrow(file.name)
        return int(pq.read_metadata(file.path).num_rows)
    except Exception:
        return 0


def group_parts(file: InputFile, rows: int) -> list[tuple[int, int]]:
    """Ranges of the file's row groups, each with about this many rows."""
    _, pq = arrow(file.name)
    try:
        with pq.ParquetFile(file.path) as table:
            sizes = [table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)]
    except Exception:  # The reader reports the error.
        return [(0, 1)]
    ends, held = [0], 0
    for group, size in enumerate(sizes, 1):
        held += size
        if held >= rows or group == len(sizes):
            ends.append(group)
            held = 0
    return list(pairwise(ends))


def _readable_cells(file: InputFile, pa: Any, number: int, name: str, batch: Any, texts: DecodedTexts) -> list[Any]:
    """The cells of a column, whose first row has this number; InputError names the row of a text that is not UTF-8."""
    column = batch.column(name)
    try:
        return cells_of(pa, column, texts)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
    row = next(row for row, cell in enumerate(column, number) if not _is_text(cell))
    return file.fail(row, f"{name} is not UTF-8 (byte 0x{byte:02x})", _WRITE_TEXTS)


def _is_text(cell: Any) -> bool:
    try:
        cell.as_py()
    except UnicodeDecodeError:
        return False
    return True


def cells_of(pa: Any, column: Any, texts: DecodedTexts | None = None) -> list[Any]:
    """The cells of a column as Python values; `texts` decodes those of dictionaries."""
    if texts is not None and isinstance(column, pa.DictionaryArray):
        return texts.cells(column)
    if texts is not None and isinstance(column, pa.ListArray) and pa.types.is_dictionary(column.type.value_type):
        values = iter(texts.cells(column.flatten()))
        return [None if size is None else list(islice(values, size)) for size in column.value_lengths().to_pylist()]
    if not pa.types.is_timestamp(column.type):
        return list(column.to_pylist())
    exact = column.cast(pa.timestamp("ns", tz=column.type.tz)).cast(pa.int64())
    return [None if value is None else Nanoseconds(value) for value in exact.to_pylist()]
