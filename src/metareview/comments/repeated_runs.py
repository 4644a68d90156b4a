"""How far the repeated runs of one reviewer differ: each one's own figures, their spread, the parts of the variance.

`run_variance` is what intervals and tests take in of it.

Of a measure y / x with the value t, a run counts on a pull request for z = (y - t x) / mean x, which is what it adds to
the figure, to first order. In z = m + pull request + run + rest, all three random, the method of moments gives the
variance of each part from four sums of squares, also where runs lack some pull requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import stdev, variance

import numpy as np
from numpy.typing import NDArray

from metareview.comments.averaging import averaged_by_pull_request
from metareview.comments.measures import MEASURES, Rates, f1, rates, table, total
from metareview.comments.records import CommentRecord
from metareview.model.address import pull_request_key
from metareview.model.measure import Measure, Sums
from metareview.model.words import plural
from metareview.stats import Extra, Variance

_STEP = 1e-5
"""How far counts are moved to see how a figure follows that is no ratio of sums."""
_NOTHING = 1e-18
"""Variances that are 0 on paper are smaller than this."""
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Spread:
    """The least and the greatest figure of a run, and the standard deviation between runs."""

    min: float
    max: float
    sd: float


@dataclass(frozen=True, slots=True)
class VarianceShares:
    """Of the variance of one run on one pull request: the shares that are the pull request's, the run's, and neither's
    alone. They add up to 1."""

    pull_requests: float
    runs: float
    residual: float


@dataclass(frozen=True, slots=True)
class Repeats:
    """The runs of one reviewer beside one another. Pull requests that a filter drops are in no figure."""

    names: tuple[str, ...]
    metrics: Mapping[str, Rates]
    """By run, over its own pull requests."""
    spread: Mapping[str, Spread | None]
    """By metric; None where fewer than two runs have a figure."""
    variance: Mapping[str, VarianceShares | None]
    """By metric; None where it cannot be estimated: one run, one pull request, or nothing that varies."""
    prs_per_run: Mapping[str, int]
    run_variance: Extra = field(default_factory=dict)
    """By metric what runs add to the variance of its mean; without those of which they cannot tell it."""

    @property
    def runs(self) -> int:
        return len(self.names)

    @property
    def interval_label(self) -> str:
        """What the intervals are of."""
        runs = "one run" if self.runs == 1 else plural(self.runs, "run")
        if f1.name in self.run_variance:
            return f"{runs}: the interval is of the mean over further runs on further pull requests"
        return f"{runs}: the interval does not know how much runs differ"

    @property
    def unequal(self) -> bool:
        """Whether some runs lack pull requests that others have."""
        return len(set(self.prs_per_run.values())) > 1


def repeats_of(records: Sequence[CommentRecord], measures: Sequence[Measure]) -> Repeats:
    """Of one reviewer's records, one per pull request and run."""
    names = tuple(sorted({record.run or "" for record in records}, key=run_order))
    scored = sorted((record for record in records if not record.skipped), key=lambda each: pull_request_key(each.pr))
    of_run = {name: [record for record in scored if record.run == name] for name in names}
    means = list(averaged_by_pull_request(map(CommentRecord.without_notes, scored)))
    metrics = {
        name: rates(table(record.counts for record in own).sum(axis=0), measures) for name, own in of_run.items()
    }
    return Repeats(
        names,
        metrics,
        {measure.name: _spread([figures[measure.name] for figures in metrics.values()]) for measure in MEASURES},
        dict.fromkeys((measure.name for measure in MEASURES), None) | _variance(scored, means, measures),
        {name: len(own) for name, own in of_run.items()},
        run_variance(map(rows_of_runs, means), measures),
    )


def rows_of_runs(record: CommentRecord) -> dict[str, Sequence[float]]:
    """The counts of each run that a record is the mean of; nothing where it is no mean."""
    return dict(zip(record.runs, table(each.counts for each in record.of_runs).tolist(), strict=False))


def run_variance(rows: Iterable[Mapping[str, Sequence[float]]], measures: Iterable[Measure]) -> dict[str, Variance]:
    """What the choice of the runs adds to the variance of each measure's mean over them: s² / R, with R - 1 degrees of
    freedom, s² the variance of the R runs' figures on the pull requests that all runs have.

    `rows`: for each pull request the counts of each run that has it. A run without a figure is none of a measure's.
    Measures of which fewer than two runs have a figure are left out: of these nothing is known.
    """
    of_prs = list(rows)
    names = {name for each in of_prs for name in each}
    shared = [each for each in of_prs if len(each) == len(names)]
    if len(names) < 2 or not shared:
        return {}
    sums = [total(np.array([each[name] for each in shared], np.float64)) for name in sorted(names)]
    found = {}
    for measure in measures:
        figures = [value for each in sums if (value := measure.value(each)) is not None]
        if len(figures) > 1:
            found[measure.name] = Variance(variance(figures) / len(figures), len(figures) - 1)
    return found


def run_order(name: str) -> tuple[str, int, str]:
    """What runs are sorted by: run-9 comes before run-10."""
    head = name.rstrip("0123456789")
    number = name[len(head) :]
    return head, int(number[:18] or 0), name


def _spread(values: Sequence[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread(min(known), max(known), stdev(known)) if len(known) > 1 else None


def _variance(
    records: Sequence[CommentRecord], means: Sequence[CommentRecord], measures: Sequence[Measure]
) -> dict[str, VarianceShares | None]:
    """`means`: the records of all runs on a pull request as one."""
    if not records:
        return {}
    prs, runs = _numbered([each.pr for each in records]), _numbered([each.run or "" for each in records])
    mean = table(each.counts for each in means).mean(axis=0)
    counts = table(record.counts for record in records)
    return {measure.name: variance_shares(_added(counts, mean, measure), prs, runs) for measure in measures}


def _numbered(names: Sequence[str]) -> Codes:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _added(counts: Sums, mean: Sums, measure: Measure) -> Sums:
    """What each run on each pull request adds to the figure; NaN where the figure is undefined."""
    if not measure.adds_up:
        step = _STEP * (counts - mean)
        moved: Sums = (measure(mean + step) - measure(mean - step)) / (2 * _STEP)
        return moved
    (y, x), (y_mean, x_mean) = measure.parts(counts), measure.parts(mean)
    if not x_mean:
        return np.full(len(counts), np.nan)
    added: Sums = (y - y_mean / x_mean * x) / x_mean
    return added


def variance_shares(values: Sums, prs: Codes, runs: Codes) -> VarianceShares | None:
    """The parts of the variance as shares; a part below 0 counts as 0. None where they cannot be told apart, or where
    nothing varies."""
    found = variance_parts(values, prs, runs)
    parts = np.zeros(3) if found is None else np.maximum(found, 0.0)
    total = float(parts.sum())
    if total < _NOTHING:
        return None
    of_prs, of_runs, rest = (float(part) / total for part in parts)
    return VarianceShares(of_prs, of_runs, rest)


def variance_parts(values: Sums, prs: Codes, runs: Codes) -> Sums | None:
    """The variances of pull requests, of runs and of the rest: crossed, random, one value for each pull request and run
    or none. Each is right on average, and may come out below 0.

    `prs` and `runs` number the pull request and the run of each value from 0. None where a part cannot be told from the
    others.
    """
    n = len(values)
    per_pr, per_run = np.bincount(prs), np.bincount(runs)
    if len(per_pr) < 2 or len(per_run) < 2 or np.isnan(values).any():
        return None
    by_pr, by_run = np.bincount(prs, values) ** 2 / per_pr, np.bincount(runs, values) ** 2 / per_run
    of_mean = values.sum() ** 2 / n
    squares = np.array([by_pr.sum(), by_run.sum(), (values**2).sum()]) - of_mean
    # What each of these is on average, less that of the mean, in terms of the three variances.
    expected_mean = np.array([(per_pr**2).sum() / n, (per_run**2).sum() / n, 1.0])
    expected = np.array([[n, len(per_pr), len(per_pr)], [len(per_run), n, len(per_run)], [n, n, n]]) - expected_mean
    if np.linalg.matrix_rank(expected) < 3:
        return None
    parts: Sums = np.linalg.solve(expected, squares)
    return parts
