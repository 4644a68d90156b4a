"""Variance of P+, R+ and F1+ that the jackknife does not show: from strata whose labelled units are all alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from metareview.comments.location import Indices
from metareview.comments.measures import Counts
from metareview.comparison.corrected import Correction
from metareview.comparison.hidden_units import HiddenUnits, extra_variances, hidden_variances, slope
from metareview.comparison.plus_measures import ALL, COMMENTS, COVERED, MATCHED, OWN, PLUS_MEASURES, Pool, Table
from metareview.comparison.unlisted_estimate import Labelled
from metareview.stats import Array, Variance, summed_variances

_OF_COUNTS = {field.name: position for position, field in enumerate(fields(Counts))}
_COLUMNS = {_OF_COUNTS["matched"]: MATCHED, _OF_COUNTS["covered"]: COVERED}


def unseen_variances(
    reviewer: str, table: Table, pool: Pool, labelled: Labelled, correction: Correction | None
) -> dict[str, Variance]:
    """What issues and blocks without a label add to the variance of each measure, by name."""
    keys = [(pr, reviewer) for pr in table.prs]
    found = extra_variances(_blocks(correction), keys, table.sums(), PLUS_MEASURES)
    sample = labelled.sample
    if not sample.alike.any():
        return found
    of_issues = {}
    stratum, moves = _unlabelled(reviewer, table, pool, labelled)
    for measure in PLUS_MEASURES:
        weight = moves @ [slope(measure, table.sums(), {column: 1.0}) for column in (COMMENTS, OWN, ALL)]
        sums = np.array([np.bincount(stratum, each, len(sample.sizes)) for each in (weight, weight**2)])
        variances = hidden_variances(sample.labelled[sample.alike].astype(np.float64), sums[:, sample.alike])
        of_issues[measure.name] = Variance(float(variances.sum()))
    return summed_variances(found, of_issues)


def _blocks(correction: Correction | None) -> Iterator[HiddenUnits]:
    """Blocks of pairs, with the columns that tables have here."""
    for each in correction.hidden if correction is not None and correction.known else ():
        yield replace(each, columns={_COLUMNS[at]: by for at, by in each.columns.items() if at in _COLUMNS})


def _unlabelled(reviewer: str, table: Table, pool: Pool, labelled: Labelled) -> tuple[Indices, Array]:
    """The stratum of each issue without a label, and how many of the reviewer's comments, of its issues and of all
    issues are valid if it is."""
    issues = [
        (issue.stratum, issue.counted.get(reviewer, 0), reviewer in issue.reviewers, 1)
        for pr in table.prs
        for issue in pool.by_pr.get(pr, ())
        if issue.stratum is not None and issue.id not in labelled.issues
    ]
    rows = np.array(issues, np.int64).reshape(-1, 4)
    return rows[:, 0], rows[:, 1:].astype(np.float64)
