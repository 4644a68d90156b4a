"""Would these routers have picked the people who really responded? Read, plan, answer, count, keep."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metareview.pipelines.routing.answer import answer
from metareview.pipelines.routing.count import RoutingResult, count
from metareview.pipelines.routing.keep import keep
from metareview.pipelines.routing.options import RoutingKeywords, RoutingOptions
from metareview.pipelines.routing.plan import make_plan
from metareview.pipelines.routing.read import Inputs, read
from metareview.runs.run import RoutingRun

__all__ = ["Inputs", "RoutingKeywords", "RoutingOptions", "RoutingResult", "evaluate", "score"]


def evaluate(options: RoutingOptions, *, out: Path | None = None, overwrite: bool = False) -> RoutingRun:
    """The whole evaluation; with `out`, the run is kept in that folder."""
    with garbage_collection_paused():
        inputs = read(options)
    return keep(score(inputs, options), options, out=out, overwrite=overwrite)


def score(inputs: Inputs, options: RoutingOptions) -> RoutingResult:
    """The records and the summary of what has been read already; nothing is kept."""
    plan = make_plan(inputs, options)
    # A router of the user's may well make reference cycles, which must be collected.
    with garbage_collection_paused(all(router.built_in for router in plan.routers)):
        answers = answer(plan)
    return count(answers, plan)


@contextmanager
def garbage_collection_paused(pause: bool = True) -> Iterator[None]:
    """Python's cycle collector held off within the block, if `pause`.

    A history is millions of objects that live to the end and form no cycle; walking them again and again takes a
    third of the time.
    """
    if not pause or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
