"""The unit of intervals and tests of reviewers that are compared, and their counts by pull request."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from metareview.comments.units import PULL_REQUEST, ReviewerTable, check_unit
from metareview.comparison.competitors import Competitor
from metareview.errors import UsageError
from metareview.runs.run import is_comments


def over_one_unit(everybody: Sequence[Competitor], unit: str | None) -> list[Competitor]:
    """Everybody with intervals and tests over this unit, or that of their runs; UsageError where these have several."""
    if unit is not None:
        check_unit(unit)
        if not all(is_comments(one.run) for one in everybody):
            raise UsageError("--unit is for runs of comments: those of others have units of their own.")
    units = {one.run.result.config.unit for one in everybody if is_comments(one.run)} if unit is None else {unit}
    if len(units) > 1:
        raise UsageError(
            "The runs have intervals over pull requests and over repositories. Choose: --unit pr, or --unit repository."
        )
    return [replace(one, unit=next(iter(units), PULL_REQUEST)) for one in everybody]


def tables_of(everybody: Mapping[str, Competitor], prs: Collection[str]) -> list[ReviewerTable]:
    """The counts of reviewers on these pull requests, by label; none of anybody else."""
    return [
        ReviewerTable(label, [one.rows[key].pr or key for key in prs], one.counts(prs))
        for label, one in everybody.items()
        if is_comments(one.run)
    ]
