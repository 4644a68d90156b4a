"""Where the user wants the work to run."""

from __future__ import annotations

from metareview.engines.local import LocalEngine, cores
from metareview.errors import UsageError, did_you_mean

LOCAL, SPARK = "local", "spark"
ENGINES = (LOCAL, SPARK)


def check_engine(engine: str, workers: int | None, spark_master: str | None) -> None:
    """UsageError for an engine that there is not, and for options that contradict each other."""
    if engine not in ENGINES:
        raise UsageError(
            f"--engine {engine!r} is not known. Give one of {', '.join(ENGINES)}.{did_you_mean(engine, ENGINES)}"
        )
    if engine == LOCAL and spark_master is not None:
        raise UsageError("--spark-master goes with --engine spark. Add that, or leave the master out.")
    if engine == SPARK and workers is not None:
        raise UsageError("--workers are processes on this machine, and Spark has its own. Leave one of the two out.")
    if workers is not None and workers < 1:
        raise UsageError(f"--workers {workers} leaves nobody to do the work. Give a whole number from 1.")


def local_engine(workers: int | None, *, worthwhile: bool) -> LocalEngine:
    """As many workers as the user asked for; else one per core, where the work is `worthwhile` enough for processes."""
    return LocalEngine(workers if workers is not None else cores() if worthwhile else 1)
