"""Limits for Parquet: a few kilobytes can hold gigabytes, compressed or as one value that repeats in every row."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from io import SEEK_CUR, SEEK_END, SEEK_SET, RawIOBase
from itertools import islice
from pathlib import Path
from typing import Any

from metareview.errors import InputError

_MOST_BYTES, _TIMES_AS_LARGE, _TIMES_REPEATED = 256 << 20, 100, 1_000
"""Unpacked bytes that any file may hold; for larger files, times their size, without and with repeated texts."""
_MOST_ROWS, _ROWS_PER_BYTE = 100_000, 10
_DICTIONARIES = frozenset({"PLAIN_DICTIONARY", "RLE_DICTIONARY"})


def open_parquet(pq: Any, path: Path, name: str | Path, fix: str) -> Any:
    """The file, with repeated texts decoded once each; InputError where it declares more than it can honestly hold."""
    with pq.ParquetFile(path) as file:
        metadata, schema = file.metadata, file.schema
        _check_columns(pq, metadata, path.stat().st_size)
        _check_declared(metadata, path.stat().st_size, name, fix)
        repeated = {
            schema.column(number).path
            for number in range(metadata.num_columns)
            if schema.column(number).physical_type == "BYTE_ARRAY" and _has_dictionary(metadata, number)
        }
    with pq.ParquetFile(path, metadata=metadata, read_dictionary=sorted(repeated)) as file:
        repeated -= {column for column in repeated if _is_short(file, column, path.stat().st_size)}
    return pq.ParquetFile(path, metadata=metadata, read_dictionary=sorted(repeated))


def _is_short(file: Any, column: str, size: int) -> bool:
    """Whether all texts of a column are so short that repeats cost little: it is read faster without its dictionary."""
    if file.schema_arrow.names.count(column) != 1:
        return False
    compute = import_module("pyarrow.compute")
    total = 0
    for group in range(file.metadata.num_row_groups):
        # Any row comes with the whole dictionary of its group.
        for batch in islice(file.iter_batches(batch_size=1, row_groups=[group], columns=[column]), 1):
            longest = compute.max(compute.binary_length(batch.column(0).dictionary)).as_py() or 0
            total += longest * file.metadata.row_group(group).num_rows
    return total <= max(_MOST_BYTES // 4, _TIMES_AS_LARGE * size)


def _has_dictionary(metadata: Any, column: int) -> bool:
    groups = range(metadata.num_row_groups)
    return any(not _DICTIONARIES.isdisjoint(metadata.row_group(group).column(column).encodings) for group in groups)


class _Data(RawIOBase):
    """A stand-in for a file of this size: the first read shows that the metadata of columns is valid."""

    def __init__(self, size: int) -> None:
        self._size, self._at = size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        self._at = offset + {SEEK_SET: 0, SEEK_CUR: self._at, SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        raise _ReachedDataError


class _ReachedDataError(Exception):
    pass


def _check_columns(pq: Any, metadata: Any, size: int) -> None:
    """ArrowException or OSError where the metadata of a column is damaged. Arrow checks it when it begins to read, but
    `RowGroupMetaData.column` alone would abort the process."""
    source = import_module("pyarrow").PythonFile(_Data(size), mode="r")
    with pq.ParquetFile(source, metadata=metadata, pre_buffer=True) as file, suppress(_ReachedDataError):
        groups, columns = range(metadata.num_row_groups), range(metadata.num_columns)
        next(file.reader.iter_batches(1, row_groups=list(groups), column_indices=list(columns)), None)


def _check_declared(metadata: Any, size: int, name: str | Path, fix: str) -> None:
    rows, values = max(_MOST_ROWS, _ROWS_PER_BYTE * size), max(10 * _MOST_ROWS, _ROWS_PER_BYTE * size)
    if metadata.num_rows > rows:
        raise InputError(f"{metadata.num_rows:,} rows in {size:,} bytes", file=name, fix=fix)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = [group.column(column) for column in range(metadata.num_columns)]
        if (most := max((column.num_values for column in columns), default=0)) > values:
            raise InputError(f"{most:,} values of one column in {size:,} bytes", file=name, fix=fix)
        unpacked = sum(column.total_uncompressed_size for column in columns)
        if unpacked > max(_MOST_BYTES, _TIMES_AS_LARGE * size):
            problem = f"a group of rows of {unpacked >> 20:,} MB once it is unpacked, in {size:,} bytes"
            raise InputError(problem, file=name, fix=fix)


class DecodedTexts:
    """Decodes dictionary columns, each distinct text once, and counts the bytes that their rows add up to."""

    def __init__(self, path: Path, name: str | Path, fix: str) -> None:
        self._most = max(_MOST_BYTES, _TIMES_REPEATED * path.stat().st_size)
        self._name, self._fix = name, fix
        self._bytes = 0

    def cells(self, column: Any) -> list[Any]:
        """The cells of a dictionary array; InputError where all so far exceed the limit for the file."""
        counts = column.indices.value_counts()
        used = counts.field("values")
        texts = dict(zip(used.to_pylist(), column.dictionary.take(used).to_pylist(), strict=True))
        for text, times in zip(texts.values(), counts.field("counts").to_pylist(), strict=True):
            self._bytes += times * (len(text) if isinstance(text, str | bytes) else 1)
        if self._bytes > self._most:
            problem = f"texts that repeat until they have more than {self._most >> 20:,} MB"
            raise InputError(problem, file=self._name, fix=self._fix)
        return [texts[index] for index in column.indices.to_pylist()]
