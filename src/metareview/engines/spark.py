"""Apache Spark: a session on a cluster, and the functions that worker processes map, mapped over its machines.

Only data frames are used: what is sent to tasks goes with the functions that they run. What these refuse comes back
as data, and is raised here: Spark would try it four times, and print Java.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

import msgspec

from metareview.errors import MetareviewError, UsageError
from metareview.working_folder import find_modules, found_modules

Context = TypeVar("Context")
Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
Work = Callable[[Context, Chunk], Result]
Session = Any
"""pyspark.sql.SparkSession; of an extra, and heavy."""
Frame = Any
"""pyspark.sql.DataFrame."""

_INSTALL = 'pip install "metareview[spark]"'
_WAVE_BYTES, _WAVE_CHUNKS = 256 << 20, 1_000
"""What is sent to the cluster at once."""
_TRACEBACK = "Traceback (most recent call last):"
_NEAR = ("local", "spark://127.0.0.1", "spark://localhost", "spark://[::1]")
"""Masters whose workers are on this machine, and have its Python."""


@contextmanager
def spark_session(master: str | None, frame: Frame | None = None) -> Iterator[Session]:
    """That of a frame, or the session that this process has, which stay open; or one of our own on `master`, closed in
    the end.

    UsageError with the fix where neither can be had.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError(f"--engine spark needs an extra. Install it: {_INSTALL}") from error
    if frame is not None:
        yield frame.sparkSession
        return
    active = SparkSession.getActiveSession()
    if active is not None:
        here = active.conf.get("spark.master", "")
        if master is not None and here != master:
            raise UsageError(
                f"this process has a Spark session on {here or 'another master'} already. Stop it, or leave out "
                "--spark-master to use it."
            )
        yield active
        return
    if master is None:
        raise UsageError(
            "there is no Spark session. Give --spark-master URL: spark://host:7077, or local[4] for this machine."
        )
    with _quietly():
        session = _started(SparkSession, master)
    try:
        yield session
    finally:
        session.stop()


def _started(kind: Any, master: str) -> Session:
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise UsageError(
            "Spark runs on Java, and there is none. Install Java 17 or later, on Debian and Ubuntu: "
            "apt-get install default-jre-headless"
        )
    builder = kind.builder.appName("metareview").master(master).config("spark.ui.showConsoleProgress", "false")
    # What is added up by key is small: two hundred partitions of it, Spark's default, take longer than the work.
    builder = builder.config("spark.sql.shuffle.partitions", "8")
    if master.startswith(_NEAR):
        # Spark would take whatever is called python3, and let it import what lies in the working folder.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.config("spark.executorEnv.PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        builder = builder.config("spark.executorEnv.PYTHONSAFEPATH", "1")
    try:
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    except Exception as error:  # Java's and Python's ways to say that nobody answers
        raise UsageError(
            f"Spark cannot be started on {master}: {_cause(error)}. Check that the master runs and can be reached."
        ) from error
    return session


def is_frame(thing: object) -> bool:
    """Whether it is a data frame of Spark's; found out without importing Spark."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.") for kind in type(thing).__mro__
    )


def records_of(frame: Frame) -> list[dict[str, Any]]:
    """A frame's rows, as JSON has them: without what is null."""
    from pyspark.sql import functions as f

    with explained():
        rows = frame.select(f.to_json(f.struct("*")).alias("line")).toLocalIterator()
        return [msgspec.json.decode(row.line) for row in rows]


@contextmanager
def explained() -> Iterator[None]:
    """Turns what a cluster cannot do into a message with the fix; errors of ours pass through."""
    from pyspark.errors import PySparkException

    try:
        with _quietly():
            yield
    except MetareviewError:
        raise
    except Exception as error:
        if not isinstance(error, PySparkException) and type(error).__module__.partition(".")[0] != "py4j":
            raise
        text = str(error)
        if "No module named 'metareview'" in text:
            fix = "Install it in the Python of every worker, or pass it along: spark.submit.pyFiles."
            raise UsageError(f"the cluster's Python does not have metareview. {fix}") from error
        raise UsageError(f"Spark could not do the work: {_cause(error)}") from error


@contextmanager
def _quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        # pandas is as new as it may be, we use none of it, and no user of ours can do anything about it.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def _cause(error: Exception) -> str:
    """The line of a long message that says what happened: that of the last error, Python's or Java's."""
    lines = str(error).splitlines()
    if _TRACEBACK in lines:
        last = len(lines) - lines[::-1].index(_TRACEBACK)
        lines = [line for line in lines[last:] if line and not line[0].isspace()]
    causes = [line.strip().removeprefix("Caused by: ") for line in lines if "Caused by: " in line]
    told = causes[-1] if causes else next((line.strip() for line in lines if line.strip()), type(error).__name__)
    return told[:500].rstrip(".")


@dataclass(frozen=True)
class SparkEngine:
    """A cluster in the place of worker processes."""

    session: Session

    def map(self, work: Work[Context, Chunk, Result], context: Context, chunks: Iterable[Chunk]) -> Iterator[Result]:
        """What the work makes of each chunk, in order: some are sent out together, and waited for."""
        left = iter(chunks)
        while wave := _wave(left):
            yield from self._map(work, context, wave)

    def _map(self, work: Work[Context, Chunk, Result], context: Context, chunks: list[bytes]) -> Iterator[Result]:
        import pyarrow as pa

        table = pa.table({"number": pa.array(range(len(chunks)), pa.int64()), "chunk": pa.array(chunks, pa.binary())})
        with explained():
            frame = self.session.createDataFrame(table).repartition(len(chunks))
            doing = _doing(work, packed_context(context))
            rows = frame.mapInArrow(doing, "number long, done boolean, result binary").collect()
        for row in sorted(rows, key=lambda row: row.number):
            value = pickle.loads(row.result)
            if not row.done:
                raise value
            yield value


def _wave(chunks: Iterator[Any]) -> list[bytes]:
    wave: list[bytes] = []
    size = 0
    for chunk in islice(chunks, _WAVE_CHUNKS):
        wave.append(pickle.dumps(chunk, pickle.HIGHEST_PROTOCOL))
        size += len(wave[-1])
        if size >= _WAVE_BYTES:
            break
    return wave


def packed_context(context: object) -> bytes:
    """What tasks need, as bytes; whatever a notebook defines itself goes along."""
    dumps: Callable[[object, int], bytes] = import_module("pyspark.cloudpickle").dumps
    return pickle.dumps((found_modules(), dumps(context, pickle.HIGHEST_PROTOCOL)), pickle.HIGHEST_PROTOCOL)


@lru_cache(maxsize=1)
def unpacked_context(packed: bytes) -> Any:
    """The same in a task. A process does one after the other: what they share is made once."""
    found, context = pickle.loads(packed)
    find_modules(found)
    return pickle.loads(context)


def _doing(work: Work[Any, Any, Any], context: bytes) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a task does with its chunks."""

    def do(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for number, chunk in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                try:
                    done, value = True, work(unpacked_context(context), pickle.loads(chunk))
                except MetareviewError as error:
                    done, value = False, told(error)
                result = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
                yield pa.RecordBatch.from_pydict({"number": [number], "done": [done], "result": [result]})

    return do


Refusal = TypeVar("Refusal", bound=MetareviewError)


def told(error: Refusal) -> Refusal:
    """The error with its line, which only whoever has the file open can find."""
    _ = getattr(error, "line", None)
    return error
