"""Events as rows of Spark's, and back.

Texts are bytes, because a history may hold half a character, which no text of Arrow's can; bytes of UTF-8 sort as the
texts do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from sys import intern
from typing import Any

from metareview.engines.spark import Frame
from metareview.model.event import Event

_BINARY = "binary"
_TYPES = {"pr": "bigint", "at": "bigint", "files": "array<binary>", "draft": "boolean"}
SCHEMA = ", ".join([*(f"{name} {_TYPES.get(name, _BINARY)}" for name in Event._fields), "position bigint"])


def batch_of(events: Sequence[Event], positions: Iterable[int]) -> Any:
    """The rows of these events."""
    import pyarrow as pa

    columns = list(zip(*events, strict=True))
    arrays = []
    for name, column in zip(Event._fields, columns, strict=True):
        if name in ("pr", "at"):
            arrays.append(pa.array(column, pa.int64()))
        elif name == "draft":
            arrays.append(pa.array(column, pa.bool_()))
        elif name == "files":
            arrays.append(_lists(pa, column))
        else:
            arrays.append(_texts(pa, column))
    arrays.append(pa.array(positions, pa.int64()))
    return pa.RecordBatch.from_arrays(arrays, [*Event._fields, "position"])


def _texts(pa: Any, column: Sequence[str | None]) -> Any:
    try:
        return pa.array(column, pa.string()).cast(pa.binary())
    except UnicodeEncodeError:
        return pa.array([None if text is None else _encoded(text) for text in column], pa.binary())


def _lists(pa: Any, column: Sequence[tuple[str, ...] | None]) -> Any:
    kind = pa.list_(pa.binary())
    if not any(column):
        return pa.array([None if paths is None else [] for paths in column], kind)
    return pa.array([None if paths is None else list(map(_encoded, paths)) for paths in column], kind)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")


_SHARED = frozenset({"repo", "kind", "actor", "actor_type", "state"})
"""What has few values, each of which is made once."""


def events_of(batch: Any) -> Iterator[Event]:
    """The events of rows, in their order."""
    columns = [_column(name, batch.column(at)) for at, name in enumerate(Event._fields)]
    return map(partial(tuple.__new__, Event), zip(*columns, strict=True))


def _column(name: str, column: Any) -> Iterable[Any]:
    if name in ("pr", "at", "draft"):
        values: list[Any] = column.to_pylist()
        return values
    if column.null_count == len(column):
        return [None] * len(column)
    if name == "files":
        lists = column.to_pylist()
        return [None if paths is None else tuple(map(_decoded, paths)) for paths in lists]
    if name in _SHARED:
        held = column.dictionary_encode()
        texts = [intern(_decoded(text)) for text in held.dictionary.to_pylist()]
        return [None if code is None else texts[code] for code in held.indices.to_pylist()]
    try:
        whole: list[str | None] = column.cast("string").to_pylist()
        return whole
    except Exception:  # Half a character: Arrow's error is of an extra
        return [None if text is None else _decoded(text) for text in column.to_pylist()]


def sorted_by_repository(frame: Frame, partitions: int) -> Frame:
    """All events of a repository in one partition, in the order in which they happened."""
    from pyspark.sql import functions as f

    return frame.repartition(partitions, "repo").sortWithinPartitions(
        "repo", "at", f.col("kind") != f.lit(b"opened"), "id", "position"
    )


def repositories(batches: Iterable[Any]) -> Iterator[tuple[str, Iterator[Event]]]:
    """Of rows that are sorted so: each repository, and its events, of which few are in memory at a time."""
    for repo, slices in groupby(_slices(batches), key=itemgetter(0)):
        yield repo, (event for _, rows in slices for event in events_of(rows))


def _slices(batches: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """The rows of a batch that are of one repository."""
    for batch in batches:
        held = batch.column(0).dictionary_encode()
        names = [_decoded(name) for name in held.dictionary.to_pylist()]
        start = 0
        for code, run in groupby(held.indices.to_pylist()):
            length = sum(1 for _ in run)
            yield names[code], batch.slice(start, length)
            start += length
