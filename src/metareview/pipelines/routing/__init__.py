"""Would these routers have picked the people who really responded? Read, plan, answer, count, keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from metareview.collector import garbage_collection_paused
from metareview.engines.choice import SPARK, local_engine
from metareview.engines.local import LocalEngine, sendable
from metareview.engines.spark import Frame, spark_session
from metareview.errors import UsageError
from metareview.formats.gzip_lines import GZIP
from metareview.formats.history import HistoryInput, open_history
from metareview.formats.input_file import InputFile, Progress
from metareview.formats.parquet import MAGIC, rows_in
from metareview.formats.pipes import spooled_pipes
from metareview.model.event import History
from metareview.pipelines.routing.answer import answer
from metareview.pipelines.routing.count import RoutingResult, configured, count
from metareview.pipelines.routing.keep import keep
from metareview.pipelines.routing.large import RANKINGS, Watch, evaluate_large, of_rankings, unwatched
from metareview.pipelines.routing.on_spark import evaluate_on_spark
from metareview.pipelines.routing.options import RoutingKeywords, RoutingOptions
from metareview.pipelines.routing.plan import Plan, plan_cohort, plan_routers
from metareview.pipelines.routing.read import InputFiles, Inputs, read, read_all, read_beside
from metareview.runs.place import check_place, check_same_run
from metareview.runs.routing_json import manifest_config
from metareview.runs.routing_kind import KIND as ROUTING
from metareview.runs.run import RoutingRun

__all__ = [
    "Inputs",
    "RoutingKeywords",
    "RoutingOptions",
    "RoutingResult",
    "evaluate",
    "keep",
    "of_rankings",
    "read",
    "score",
]

_WORTHWHILE = 48 * 2**20
"""Bytes of a history from which worker processes pay: some seconds of work."""
_LARGE = 2**30
"""Bytes from which a history is never held whole, even by one process."""
_PACKED = 8
"""How much larger a file is that was packed with gzip."""
_OF_ROW = 100
"""Bytes of an event, at the least: a Parquet file says how many it has, and hardly how large they are."""
NOTHING = History((), 0, frozenset(), {})


@spooled_pipes()
def evaluate(
    options: RoutingOptions,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    watch: Watch = unwatched,
    check: Callable[[Sequence[str]], None] | None = None,
    frame: Frame | None = None,
) -> RoutingRun:
    """The whole evaluation; with `out`, the run is kept in that folder.

    `watch` shows how far it is, and `check` is told the routers' names before anything is replayed; that the folder can
    hold the run is looked up before, too. `frame`: a data frame of Spark's in the place of the history's files.
    """
    taken = out is not None and check_place(out, overwrite)
    if frame is None:
        options = options.with_datasets()
    files = InputFiles(options, history=frame is None)
    beside = read_beside(options)
    if frame is not None or options.engine == SPARK:
        routers = plan_routers(beside.with_history(NOTHING, ()), options)
        if check is not None:
            check(routers.names)
        with spark_session(options.spark_master, frame) as session:
            return evaluate_on_spark(session, files, beside, routers, frame, out=out, overwrite=overwrite, watch=watch)
    with watch("reading the history (MB)") as progress:
        given = open_history(options.history, progress=progress)
        size = _size(given)
        engine = local_engine(options.workers, worthwhile=size >= _WORTHWHILE)
        is_large = given.format.events is not None and (engine.workers > 1 or size >= _LARGE)
        inputs = None if is_large else beside.with_history(read_all(given, options))
    if inputs is None:
        routers = plan_routers(beside.with_history(NOTHING, ()), options)
        if not sendable((routers, options)):
            if options.workers is not None and options.workers > 1:
                raise UsageError(
                    "A router that this script defines itself cannot be sent to worker processes. Put it into a module"
                    " of its own and import it, or leave --workers out."
                )
            engine = LocalEngine(1)
        if check is not None:
            check(routers.names)
        return evaluate_large(given, files, beside, routers, engine, out=out, overwrite=overwrite, watch=watch)
    hashes = files.hash((*given.files, *beside.files))
    routers = plan_routers(inputs, options)
    if check is not None:
        check(routers.names)
    if out is not None and taken:
        check_same_run(out, ROUTING, manifest_config(configured(routers)), hashes)
    with watch(RANKINGS) as progress:
        result = _score(routers, progress)
    files.check_codeowners()
    with garbage_collection_paused():
        return keep(result, hashes, out=out, overwrite=overwrite)


def _size(given: HistoryInput) -> int:
    """In bytes, unpacked."""
    return sum(map(_unpacked_size, (file for file in given.files if file.path.is_file())))


def _unpacked_size(file: InputFile) -> int:
    size = file.path.stat().st_size
    if file.begins_with(MAGIC):
        return max(size, _OF_ROW * rows_in(file))
    return size * (_PACKED if file.begins_with(GZIP) else 1)


def score(inputs: Inputs, options: RoutingOptions, progress: Progress | None = None) -> RoutingResult:
    """The records and the summary of what has been read already; nothing is kept."""
    return _score(plan_routers(inputs, options), progress)


def _score(routers: Plan, progress: Progress | None) -> RoutingResult:
    """The same by routers that have been made already."""
    with garbage_collection_paused():
        plan = plan_cohort(routers)
    # A router of the user's may well make reference cycles, which must be collected.
    with garbage_collection_paused(all(router.built_in for router in plan.routers)):
        answers = answer(plan, progress)
    with garbage_collection_paused():
        return count(answers, plan)
