"""Keep a finished evaluation, in the folder of its run or in memory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from metareview.pipelines.routing.count import RoutingResult
from metareview.runs.files import RESULTS
from metareview.runs.routing_json import manifest_config, record_line
from metareview.runs.routing_kind import KIND as ROUTING
from metareview.runs.run import Manifest, RoutingRun, Run, now
from metareview.runs.sound import broken_runs_told
from metareview.runs.writer import RunWriter, changed_since

_BLOCK = 1_000
"""Records that are written at once."""


def keep(
    result: RoutingResult, inputs: Mapping[str, str], *, out: Path | None = None, overwrite: bool = False
) -> RoutingRun:
    """Write what the folder does not hold yet; UsageError where it holds something else. `inputs`: hashes by name.

    The figures are worked out before the folder is opened: a replay costs seconds, and a router of the user's may
    have changed since the run that is there.
    """
    config = manifest_config(result.summary.config)
    if out is None:
        manifest = Manifest(ROUTING.name, config, inputs, started=now(), status="finished")
        return Run(ROUTING, result.summary, manifest, None, result.records)
    with RunWriter(out, ROUTING, config, inputs, overwrite=overwrite) as writer:
        kept = writer.done
        if writer.finished is not None:
            with broken_runs_told(out):
                kept = {ROUTING.key(record): record for record in writer.finished.read_records()}
        order = list(map(ROUTING.key, result.records))
        if kept and any(kept.get(key, record) != record for key, record in zip(order, result.records, strict=True)):
            raise changed_since(out)
        if writer.finished is not None:
            summary = result.summary.with_gates(writer.finished.result.build_gates)
            return Run(ROUTING, summary, writer.finished.manifest, out)
        new = iter(result.records)
        if writer.done:
            new = (record for key, record in zip(order, result.records, strict=True) if key not in writer.done)
        while block := list(islice(new, _BLOCK)):
            writer.append_lines([(RESULTS, b"".join(map(record_line, block)))])
        return writer.finish(result.summary, order)
