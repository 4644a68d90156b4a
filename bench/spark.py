"""Spark on this machine against as many worker processes, on the same events: what a cluster costs beside its work.

Both are timed within a process of their own, Spark from when its session is up and its Python workers have done a
first, empty task; how long that takes is a row of its own. BENCH_SCALE=0.01 tries everything at a hundredth of the
size; such figures have no target.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from bench.measure import Result, Row, alone, compared
from bench.scale_data import write_events

SCALE = float(os.environ.get("BENCH_SCALE") or 1)
EVENTS, REPOSITORIES = round(10_000_000 * SCALE), 2_000
PART = 0.05
"""The share of all events that is measured several times."""
ROUNDS = 3
CORES = 2
MASTER = f"local[{CORES}]"
AT_MOST = 1.6
"""How many times as long as worker processes Spark may take."""
_PEER = "two workers"


@dataclass(frozen=True)
class Timed:
    """An evaluation: seconds until it could begin, seconds that it took, and everything that it found."""

    begun: float
    taken: float
    figures: object


def run() -> Result:
    title = f"Spark: {MASTER} against {CORES} worker processes, start-up excluded"
    if lacking := _lacking():
        return Result(title, [lacking])
    with _events(1.0) as history:
        found, local = _on_spark(history), _on_workers(history)
    assert found.figures == local.figures, "the figures depend on the engine"
    told = f"{EVENTS:,} events, {REPOSITORIES:,} repositories"
    times, what = found.taken / local.taken, f"{told}: times as long as {_PEER}"
    rows = [
        Row("start-up of a session, with its Python workers", found.begun, "s"),
        Row(f"{told}, Spark", found.taken, "s"),
        Row(f"{told}, {_PEER}", local.taken, "s"),
        Row(what, times, "times") if SCALE != 1 else Row.below(what, times, "times", AT_MOST),
    ]
    return Result(title, [*rows, *ratios().rows])


def ratios() -> Result:
    """Spark against worker processes, in turns."""
    if lacking := _lacking():
        return Result("Spark", [lacking])
    with _events(PART) as history:
        ours, theirs = partial(_on_spark, history), partial(_on_workers, history)
        assert ours().figures == theirs().figures, "the figures depend on the engine"
        found = compared(ours, theirs, rounds=ROUNDS, clock=lambda work: work().taken)
    row = Row.ratio(f"{round(EVENTS * PART):,} events on Spark", found.ratio, peer=_PEER)
    return Result("Spark", [row])


def _lacking() -> Row | None:
    """What there is to say where Spark cannot run."""
    if find_spec("pyspark") is None:
        return Row.missing(f"against {_PEER}", "pyspark")
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        return Row.missing(f"against {_PEER}", "Java")
    return None


@contextmanager
def _events(share: float) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="metareview-bench-") as name:
        history = Path(name) / "events.jsonl"
        write_events(history, round(EVENTS * share), repos=REPOSITORIES)
        yield history


def _on_spark(history: Path) -> Timed:
    found: Timed = alone(timed_on_spark, history).answer
    return found


def _on_workers(history: Path) -> Timed:
    found: Timed = alone(timed_on_workers, history).answer
    return found


def timed_on_spark(history: Path) -> Timed:
    """In a process that has no session yet."""
    from metareview.engines.spark import explained, spark_session

    began = time.perf_counter()
    with spark_session(MASTER) as session:
        with explained():
            session.range(0, CORES, 1, CORES).mapInArrow(_nothing, "id long").collect()
        return _timed(history, began, engine="spark")


def timed_on_workers(history: Path) -> Timed:
    """In this process, which has workers as any command has."""
    return _timed(history, time.perf_counter(), workers=CORES)


def _timed(history: Path, began: float, **options: object) -> Timed:
    from metareview.pipelines.routing import RoutingOptions, evaluate

    ready = time.perf_counter()
    given = RoutingOptions(history, routers=["popularity", "mentions"], **options)  # type: ignore[arg-type]
    run = evaluate(given, out=history.with_name("run"), overwrite=True)
    return Timed(ready - began, time.perf_counter() - ready, run.summary | {"run": None})


def _nothing(batches: Iterator[object]) -> Iterator[object]:
    return batches
