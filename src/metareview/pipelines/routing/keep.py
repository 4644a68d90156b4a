"""Keep a finished evaluation in the folder of its run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metareview.errors import UsageError
from metareview.pipelines.routing.count import RoutingResult
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.read import hash_inputs
from metareview.runs.folder import RESULTS, RunFolder, read_lines
from metareview.runs.routing_json import manifest_config, record_to_json, summary_to_json


def keep(result: RoutingResult, folder: Path, options: RoutingOptions) -> None:
    """Write what the folder does not hold yet; UsageError where it holds something else.

    The figures are worked out before the folder is opened: a replay costs seconds, and a router of the user's may
    have changed since the run that is there.
    """
    records = {_key(record): record for record in map(record_to_json, result.records)}
    config = manifest_config(result.summary.config)
    inputs = hash_inputs(options)
    with RunFolder(folder, "routing", config, inputs, overwrite=options.overwrite, key=_key) as run:
        kept = run.done if run.summary is None else {_key(old): old for old in read_lines(folder / RESULTS)}
        if any(kept.get(key, record) != record for key, record in records.items()):
            raise UsageError(
                f"{folder} holds a run of the same inputs with other results: a router has changed since. "
                "Choose another --out, or pass --overwrite."
            )
        if run.summary is None:
            for key, record in records.items():
                if key not in run.done:
                    run.append(record)
            run.finish(summary_to_json(result.summary, folder), list(records))


def _key(record: Mapping[str, Any]) -> tuple[str, str]:
    return record["repo"], str(record["pr"])
