"""Score review comments: read, plan, answer, count, keep."""

from __future__ import annotations

from pathlib import Path

from metareview.pipelines.comments.keep import Progress, carry_out
from metareview.pipelines.comments.options import CommentsOptions
from metareview.pipelines.comments.plan import open_plan
from metareview.runs.run import CommentsRun


def evaluate(
    options: CommentsOptions, *, out: Path | None = None, overwrite: bool = False, progress: Progress | None = None
) -> CommentsRun:
    """The whole evaluation; with `out`, the run is kept in that folder."""
    with open_plan(options) as plan:
        return carry_out(plan, out=out, overwrite=overwrite, progress=progress)
