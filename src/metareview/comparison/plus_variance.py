"""Variance of P+, R+ and F1+ that the jackknife does not show: from strata whose labelled units are all alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from metareview.comments.measures import Counts
from metareview.comparison.corrected import Correction
from metareview.comparison.hidden_units import HiddenUnits, extra_variances, hidden_variances, slope
from metareview.comparison.plus_measures import ALL, COMMENTS, COVERED, MATCHED, OWN, PLUS_MEASURES, Pool, Table
from metareview.comparison.unlisted_estimate import Labelled
from metareview.stats import Array

_OF_COUNTS = {field.name: position for position, field in enumerate(fields(Counts))}
_COLUMNS = {_OF_COUNTS["matched"]: MATCHED, _OF_COUNTS["covered"]: COVERED}


def unseen_variances(
    reviewer: str, table: Table, pool: Pool, labelled: Labelled, correction: Correction | None
) -> dict[str, float]:
    """What issues and blocks without a label add to the variance of each measure, by name."""
    keys = [(pr, reviewer) for pr in table.prs]
    found = extra_variances(_blocks(correction), keys, table.sums(), PLUS_MEASURES)
    strata = np.flatnonzero(labelled.sample.alike)
    for measure in PLUS_MEASURES:
        slopes = [slope(measure, table.sums(), {column: 1.0}) for column in (COMMENTS, OWN, ALL)]
        weights = _weights(reviewer, table, pool, labelled, slopes)[:, strata]
        found[measure.name] += float(hidden_variances(labelled.sample.labelled[strata].astype(float), weights).sum())
    return found


def _blocks(correction: Correction | None) -> Iterator[HiddenUnits]:
    """Blocks of pairs, with the columns that tables have here."""
    for each in correction.hidden if correction is not None and correction.known else ():
        yield replace(each, columns={_COLUMNS[at]: by for at, by in each.columns.items() if at in _COLUMNS})


def _weights(reviewer: str, table: Table, pool: Pool, labelled: Labelled, slopes: list[float]) -> Array:
    """(2, strata): sums, over the issues without a label, of what a measure moves by if one is valid, and of the
    squares of that."""
    found = np.zeros((2, len(labelled.sample.sizes)))
    for issue in (issue for pr in table.prs for issue in pool.by_pr.get(pr, ())):
        if issue.stratum is not None and issue.id not in labelled.issues:
            moved = float(np.dot(slopes, [issue.counted(reviewer), reviewer in issue.reviewers, 1]))
            found[:, issue.stratum] += moved, moved**2
    return found
