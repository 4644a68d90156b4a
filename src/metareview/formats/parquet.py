"""Events in Parquet: the same columns as in JSON lines, and only as much of them as anybody will look at."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import Any

from metareview.errors import InputError
from metareview.formats.line_parts import arrow
from metareview.formats.parquet_limits import DecodedTexts, open_parquet
from metareview.formats.protocol import TextsWanted
from metareview.formats.record import Nanoseconds
from metareview.formats.source import Source
from metareview.model.address import repository_key
from metareview.model.event import RESPONSES, Event
from metareview.model.time import DAY, LATEST, parse_time

MAGIC = b"PAR1"
_TEXTS = ("title", "body", "files", "base_sha", "target")
"""The columns that are most of a file, and that only routers and declarations read."""
_WRITE_TEXTS = "Write the file again, with texts in UTF-8."
_NOT_HONEST = "Check where the file comes from; if all of it is right, give the history as JSON lines."
_BATCH = 8_192
"""Rows that are read together, with all that is made of them."""
Columns = Mapping[str, list[Any]]
"""Of some rows, by the name of the column."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_columns(source: Source, wanted: TextsWanted) -> Iterator[tuple[int, Columns]]:
    """Some thousand rows at a time, column by column, with the number of the first, from 1.

    Of a group of rows none of which is wanted, the texts are not read. A part of a source is a range of groups.
    """
    pa, pq = arrow(source.name)
    try:
        with open_parquet(pq, source.path, source.name, _NOT_HONEST) as file:
            texts = DecodedTexts(source.path, source.name, _NOT_HONEST)
            columns = [name for name in file.schema_arrow.names if name in Event._fields]
            if twice := [name for name in columns if columns.count(name) > 1]:
                problem = f"column {twice[0]} is there {columns.count(twice[0])} times"
                raise InputError(problem, file=source.name, fix="Keep one of them.")
            narrow = [name for name in columns if name not in _TEXTS]
            groups = list(range(file.num_row_groups))
            spellings = _spellings(file, wanted.repos) if wanted.repos and "repo" in columns else []
            whole = {group for group in groups if _may_hold(file, group, wanted, spellings)}
            if len(whole) < len(groups) and not any(_has_body(pa, file, group, texts) for group in sorted(whole)):
                whole = set(groups)  # Whether any pull request has a body decides what can be said of all.
            first, end = source.part or (0, len(groups))
            number = 1 + sum(file.metadata.row_group(group).num_rows for group in groups[:first])
            for group in groups[first:end]:
                chosen = columns if group in whole else narrow
                for batch in file.iter_batches(batch_size=_BATCH, row_groups=[group], columns=chosen):
                    yield number, {name: _readable_cells(source, pa, number, name, batch, texts) for name in chosen}
                    number += batch.num_rows
    except UnicodeDecodeError as error:  # looked at before its rows were
        problem = f"a text that is not UTF-8 (byte 0x{error.object[error.start]:02x})"
        raise InputError(problem, file=source.name, fix=_WRITE_TEXTS) from None
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ["it is damaged"])[0]
        raise InputError(f"not readable as Parquet: {reason}", file=source.name, fix="Write the file again.") from error


def rows_in(source: Source) -> int:
    """How many rows the file says that it has; 0 where it cannot be read, which whoever reads it will say."""
    try:
        _, pq = arrow(source.name)
        return int(pq.read_metadata(source.path).num_rows)
    except Exception:
        return 0


def group_parts(source: Source, rows: int) -> list[tuple[int, int]]:
    """Ranges of the file's groups of rows, each of about so many rows."""
    _, pq = arrow(source.name)
    try:
        with pq.ParquetFile(source.path) as file:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    except Exception:  # Whatever is wrong with it, whoever reads it will say.
        return [(0, 1)]
    ends, held = [0], 0
    for group, size in enumerate(sizes, 1):
        held += size
        if held >= rows or group == len(sizes):
            ends.append(group)
            held = 0
    return list(pairwise(ends))


def _spellings(file: Any, keys: Collection[str]) -> list[str]:
    """How the file writes the repositories of these keys: the values that it notes of a group are as written."""
    names: set[Any] = set()
    for batch in file.iter_batches(columns=["repo"]):
        names.update(batch.column("repo").unique().to_pylist())
    return [name for name in names if isinstance(name, str) and repository_key(name) in keys]


def _may_hold(file: Any, group: int, wanted: TextsWanted, spellings: Sequence[str]) -> bool:
    """Whether a wanted row can be in the group, by the least and the greatest value that the file notes for it."""
    ends = _ends(file, group, "repo") if wanted.repos else None
    if ends and isinstance(ends[0], str) and not any(ends[0] <= repo <= ends[1] for repo in spellings):
        return False
    if wanted.until is not None and (ends := _ends(file, group, "at")):
        return _no_later_than(ends[0]) <= wanted.until
    return True


def _ends(file: Any, group: int, column: str) -> tuple[Any, Any] | None:
    names: Sequence[str] = file.schema.names
    if column not in names or names.count(column) > 1:
        return None
    noted = file.metadata.row_group(group).column(names.index(column)).statistics
    try:
        return (noted.min, noted.max) if noted is not None and noted.has_min_max else None
    except (ValueError, TypeError, OverflowError):  # A time that Python's own cannot hold, for example.
        return None


def _no_later_than(earliest: Any) -> int:
    """An instant that is not later than any in the group, by the least value of its times.

    Texts sort by their day, in whatever zone: they can be up to a day earlier than they look.
    """
    if isinstance(earliest, datetime):
        zoned = earliest if earliest.tzinfo else earliest.replace(tzinfo=UTC)
        return (zoned - _EPOCH) // timedelta(microseconds=1) * 1000
    try:
        return parse_time(str(earliest)[:10]) - DAY if str(earliest)[:1].isdigit() else -LATEST
    except ValueError:
        return -LATEST


def _has_body(pa: Any, file: Any, group: int, texts: DecodedTexts) -> bool:
    names = file.schema_arrow.names
    if "body" not in names or "kind" not in names:
        return False
    for batch in file.iter_batches(batch_size=_BATCH, row_groups=[group], columns=["kind", "body"]):
        kinds, bodies = (cells_of(pa, batch.column(name), texts) for name in ("kind", "body"))
        if any(body and kind not in RESPONSES for kind, body in zip(kinds, bodies, strict=True)):
            return True
    return False


def _readable_cells(source: Source, pa: Any, number: int, name: str, batch: Any, texts: DecodedTexts) -> list[Any]:
    """The cells of a column; InputError names the row, of which the first has this number, with a text that is none."""
    column = batch.column(name)
    try:
        return cells_of(pa, column, texts)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
    row = next(row for row, cell in enumerate(column, number) if not _is_text(cell))
    return source.fail(row, f"{name} is not UTF-8 (byte 0x{byte:02x})", _WRITE_TEXTS)


def _is_text(cell: Any) -> bool:
    try:
        cell.as_py()
    except UnicodeDecodeError:
        return False
    return True


def cells_of(pa: Any, column: Any, texts: DecodedTexts | None = None) -> list[Any]:
    """The cells of a column as Python has them; `texts` reads those that repeat."""
    if texts is not None and isinstance(column, pa.DictionaryArray):
        return texts.cells(column)
    if texts is not None and isinstance(column, pa.ListArray) and pa.types.is_dictionary(column.type.value_type):
        values = iter(texts.cells(column.flatten()))
        return [None if size is None else list(islice(values, size)) for size in column.value_lengths().to_pylist()]
    if not pa.types.is_timestamp(column.type):
        return list(column.to_pylist())
    exact = column.cast(pa.timestamp("ns", tz=column.type.tz)).cast(pa.int64())
    return [None if value is None else Nanoseconds(value) for value in exact.to_pylist()]
