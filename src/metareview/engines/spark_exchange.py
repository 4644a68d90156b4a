"""Work in two steps on a cluster, with bytes between them: Spark keeps these, and brings those of a key to one task.

The first step makes bundles of bytes and a result for whoever plans the second; that one gets its bundles by their
keys. Rows are few and large, so that Spark has little to do with each.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from metareview.engines.spark import Frame, Session, explained, packed_context, told, unpacked_context
from metareview.errors import MetareviewError

Context = TypeVar("Context")
Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

_ROWS = 64
"""Bundles that go to a task at once: each may have megabytes."""
_SENT = 4 << 20
"""Bytes of bundles that leave a task at once."""
_BUNDLES = "key binary, number bigint, place bigint, first bigint, content binary"
_RESULTS = "number bigint, content binary"
_TRIES = 32
"""Numbers per partition among which there is nearly always one that Spark puts there."""


class Bundle(NamedTuple):
    """Bytes for the second step."""

    key: str
    number: int
    """Of the piece of work that it is of."""
    place: int
    """Where it stands among those of one number and key."""
    first: int
    """Whatever whoever made it wants to have known before it is opened."""
    content: bytes


class Made(NamedTuple, Generic[Result]):
    """What the first step makes of a piece."""

    number: int
    result: Result
    bundles: Iterable[Bundle]


Make = Callable[[Context, Iterator[Any]], Iterator[Made[Result]]]
"""The first step: of what it always needs, and batches of rows."""
Receive = Callable[[Context, Iterator[Bundle]], AbstractContextManager[Callable[[Chunk], Result]]]
"""The second: takes all bundles of a task, and can then be asked for what comes of a chunk."""


class SparkExchange:
    """Both steps; the first is done once, and the second as often as one likes. Close it in the end."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._bundles: Frame | None = None

    def make(self, make: Make[Context, Result], context: Context, rows: Frame) -> Iterator[tuple[int, Result]]:
        """The results of the first step, when all of it is done, in the order of the partitions; what a task refuses is
        raised. One partition's are held at a time: all of them may be more than Spark lets a driver have at once.
        """
        from pyspark import StorageLevel
        from pyspark.sql import functions as f

        with explained():
            made = rows.mapInArrow(_making(make, packed_context(context)), _BUNDLES).persist(StorageLevel.DISK_ONLY)
            self._bundles = made
            results = made.filter(f.col("key").isNull()).select("number", "content")
            results.count()  # Else one partition would be made after the other.
            left = results.toLocalIterator(prefetchPartitions=True)
        while True:
            with explained():
                row = next(left, None)
            if row is None:
                return
            yield row.number, _result(row)

    def use(
        self,
        receive: Receive[Context, Chunk, Result],
        context: Context,
        chunks: Sequence[Chunk],
        keys: Callable[[Chunk], Iterable[str]],
    ) -> list[tuple[int, Result]]:
        """What the second step makes of each chunk, with its place among them; no key may be of two chunks.

        Each is a task of its own, and they are begun in their order.
        """
        import pyarrow as pa
        from pyspark.sql import functions as f

        if not chunks:
            return []
        assert self._bundles is not None
        with explained():
            homes = _numbers_by_partition(self.session, len(chunks))
            names = [[_encoded(key) for key in keys(chunk)] for chunk in chunks]
            assigned = {
                "key": pa.array([key for each in names for key in each], pa.binary()),
                "home": pa.array([home for home, each in zip(homes, names, strict=True) for _ in each], pa.int64()),
            }
            asked = {
                "home": pa.array(homes, pa.int64()),
                "number": pa.array(range(len(chunks)), pa.int64()),
                "content": pa.array([pickle.dumps(chunk, pickle.HIGHEST_PROTOCOL) for chunk in chunks], pa.binary()),
            }
            by_key, by_chunk = (self.session.createDataFrame(pa.table(columns)) for columns in (assigned, asked))
            rows = self._bundles.join(f.broadcast(by_key), "key").unionByName(by_chunk, allowMissingColumns=True)
            rows = rows.repartition(len(chunks), "home").select("key", "number", "place", "first", "content")
            with _in_small_batches(self.session):
                found = rows.mapInArrow(_using(receive, packed_context(context)), _RESULTS).collect()
        return [(row.number, _result(row)) for row in sorted(found, key=lambda row: row.number)]

    def close(self) -> None:
        if self._bundles is not None:
            self._bundles.unpersist()


def partition() -> int:
    """The number of the one that this task works on."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else int(task.partitionId())


@contextmanager
def _in_small_batches(session: Session) -> Iterator[None]:
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = session.conf.get(name)
    session.conf.set(name, str(_ROWS))
    try:
        yield
    finally:
        session.conf.set(name, before)


def _numbers_by_partition(session: Session, partitions: int) -> list[int]:
    """For each partition, a number that Spark puts there; where none is found, any: two tasks are then one."""
    from pyspark.sql import functions as f

    tried = session.range(_TRIES * partitions).select("id", f.pmod(f.hash("id"), f.lit(partitions)).alias("place"))
    found = {row.place: row.id for row in tried.collect()}
    return [found.get(place, place) for place in range(partitions)]


def _making(make: Make[Any, Any], context: bytes) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def do(batches: Iterator[Any]) -> Iterator[Any]:
        held: list[tuple[Any, ...]] = []
        size = 0
        try:
            for number, result, bundles in make(unpacked_context(context), batches):
                for key, *rest, content in bundles:
                    held.append((_encoded(key), *rest, content))
                    size += len(content)
                    if size >= _SENT:
                        yield _batch(held)
                        held, size = [], 0
                held.append((None, number, None, None, _done(result)))
        except MetareviewError as error:
            held.append((None, partition(), None, None, _refused(error)))
        if held:
            yield _batch(held)

    return do


def _batch(rows: Collection[tuple[Any, ...]]) -> Any:
    import pyarrow as pa

    types = {"key": pa.binary(), "number": pa.int64(), "place": pa.int64(), "first": pa.int64(), "content": pa.binary()}
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, of) for column, of in zip(columns, types.values(), strict=True)]
    return pa.RecordBatch.from_arrays(arrays, list(types))


def _using(receive: Receive[Any, Any, Any], context: bytes) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def do(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        chunks: list[tuple[int, bytes]] = []
        found: list[tuple[int, bytes]] = []
        try:
            with receive(unpacked_context(context), _bundles_of(batches, chunks)) as work:
                found += ((number, _done(work(pickle.loads(chunk)))) for number, chunk in chunks)
        except MetareviewError as error:
            found.append((partition(), _refused(error)))
        for number, content in found:
            columns = {"number": pa.array([number], pa.int64()), "content": pa.array([content], pa.binary())}
            yield pa.RecordBatch.from_pydict(columns)

    return do


def _bundles_of(batches: Iterable[Any], chunks: list[tuple[int, bytes]]) -> Iterator[Bundle]:
    """The bundles among the rows; the others say which chunks are to be done."""
    for batch in batches:
        for key, number, place, first, content in zip(*(each.to_pylist() for each in batch.columns), strict=True):
            if key is None:
                chunks.append((number, content))
            else:
                yield Bundle(key.decode("utf-8", "surrogatepass"), number, place, first, content)


def _encoded(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _done(result: object) -> bytes:
    return pickle.dumps((True, result), pickle.HIGHEST_PROTOCOL)


def _refused(error: MetareviewError) -> bytes:
    return pickle.dumps((False, told(error)), pickle.HIGHEST_PROTOCOL)


def _result(row: Any) -> Any:
    """What a task came to; what it refused is raised."""
    done, value = pickle.loads(row.content)
    if not done:
        raise value
    return value
