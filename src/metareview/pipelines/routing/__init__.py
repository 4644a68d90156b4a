"""Would these routers have picked the people who really responded? Read, plan, answer, count, keep."""

from __future__ import annotations

from pathlib import Path

from metareview.formats.source import Progress
from metareview.pipelines.collector import garbage_collection_paused
from metareview.pipelines.routing.answer import answer
from metareview.pipelines.routing.count import RoutingResult, count
from metareview.pipelines.routing.keep import keep
from metareview.pipelines.routing.options import RoutingKeywords, RoutingOptions
from metareview.pipelines.routing.plan import make_plan
from metareview.pipelines.routing.read import Inputs, read
from metareview.runs.run import RoutingRun

__all__ = ["Inputs", "RoutingKeywords", "RoutingOptions", "RoutingResult", "evaluate", "keep", "read", "score"]


def evaluate(
    options: RoutingOptions, *, out: Path | None = None, overwrite: bool = False, progress: Progress | None = None
) -> RoutingRun:
    """The whole evaluation; with `out`, the run is kept in that folder. `progress` is told of rankings."""
    options = options.with_datasets()
    return keep(score(read(options), options, progress), options, out=out, overwrite=overwrite)


def score(inputs: Inputs, options: RoutingOptions, progress: Progress | None = None) -> RoutingResult:
    """The records and the summary of what has been read already; nothing is kept."""
    with garbage_collection_paused():
        plan = make_plan(inputs, options)
    # A router of the user's may well make reference cycles, which must be collected.
    with garbage_collection_paused(all(router.built_in for router in plan.routers)):
        answers = answer(plan, progress)
    with garbage_collection_paused():
        return count(answers, plan)
