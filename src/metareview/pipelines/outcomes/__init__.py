"""What became of review comments: read, plan, follow, answer, keep."""

from __future__ import annotations

from pathlib import Path

from metareview.pipelines.outcomes.keep import Progress, carry_out
from metareview.pipelines.outcomes.options import OutcomesOptions
from metareview.pipelines.outcomes.plan import open_plan
from metareview.runs.run import OutcomesRun


def evaluate(
    options: OutcomesOptions, *, out: Path | None = None, overwrite: bool = False, progress: Progress | None = None
) -> OutcomesRun:
    """The whole of it; with `out`, the run is kept in that folder."""
    with open_plan(options) as plan:
        return carry_out(plan, out=out, overwrite=overwrite, progress=progress)
