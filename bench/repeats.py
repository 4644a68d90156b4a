"""Repeated runs against a known truth: how often an interval holds the mean over further runs on further pull requests,
and how often one of two equal reviewers is called better.

Each run of a reviewer is better or worse on all pull requests at once, by a shift of its own on the logit scale. Beside
each cell stands the interval over pull requests alone, as it was before: it does not know that runs differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.measure import Result, Row
from metareview.comments.measures import Counts, f1, one_to_one
from metareview.comments.repeated_runs import run_variance
from metareview.stats import NO_VARIANCE, Array, Extra, Interval, differences, intervals
from metareview.ties import pairwise_tests

Rng = np.random.Generator
F1 = one_to_one(f1, "optimal")
SPREAD = 0.3
"""The standard deviation of the shifts of runs, on the logit scale."""
_RECALL, _DIFFICULTY, _REFERENCES, _WRONG = -0.4, 0.8, 3.0, 3.0
"""The mean logit of finding a reference, its standard deviation between pull requests, the mean number of references
beyond the first, and of comments that match none."""
_COLUMN = {name: position for position, name in enumerate(Counts.__dataclass_fields__)}


def truth(spread: float = SPREAD) -> float:
    """F1 over all runs and all pull requests, by quadrature."""
    at, weight = np.polynomial.hermite_e.hermegauss(60)
    logit = _RECALL + np.hypot(_DIFFICULTY, spread) * at
    references = 1 + _REFERENCES
    matched = references * float((weight / (1 + np.exp(-logit))).sum() / weight.sum())
    return 2 * matched / (matched + _WRONG + references)


def pull_requests(rng: Rng, units: int) -> tuple[Array, Array]:
    """Of each pull request the number of references, and the logit of finding one."""
    return 1.0 + rng.poisson(_REFERENCES, units), rng.normal(_RECALL, _DIFFICULTY, units)


def reviewed(rng: Rng, expected: Array, logit: Array, runs: int, spread: float = SPREAD) -> list[Array]:
    """The table of each run of one reviewer on these pull requests."""
    tables = []
    for shift in rng.normal(0, spread, runs):
        matched = rng.binomial(expected.astype(np.int64), 1 / (1 + np.exp(-(logit + shift))))
        wrong = rng.poisson(_WRONG, len(expected))
        counts = np.zeros((len(expected), len(_COLUMN)))
        columns = {"expected": expected, "generated": matched + wrong, "unmatched": wrong}
        for name, values in {**columns, "matched": matched, "covered": matched}.items():
            counts[:, _COLUMN[name]] = values
        tables.append(counts)
    return tables


def averaged(tables: Sequence[Array]) -> tuple[Array, Extra]:
    """The mean counts on each pull request, and what the choice of runs adds to the variance of F1."""
    rows = ({str(run): row for run, row in enumerate(of_runs)} for of_runs in zip(*tables, strict=True))
    return np.mean(tables, axis=0), run_variance(rows, [F1])


def coverage(units: int, runs: int, repeats: int, *, spread: float = SPREAD, seed: int = 0) -> tuple[float, float]:
    """How often the interval of F1 holds the truth, and how often that over pull requests alone does."""
    rng, true = np.random.default_rng(seed), truth(spread)
    held = alone = 0
    for _ in range(repeats):
        counts, extra = averaged(reviewed(rng, *pull_requests(rng, units), runs, spread))
        held += _holds(intervals(counts, [F1], extra)[F1.name], true)
        alone += _holds(intervals(counts, [F1])[F1.name], true)
    return held / repeats, alone / repeats


def _holds(ends: Interval | None, value: float) -> bool:
    return ends is not None and ends[0] <= value <= ends[1]


def false_alarms(units: int, runs: int, repeats: int, *, seed: int = 0) -> tuple[float, float, float]:
    """How often two equal reviewers, with runs of their own on the same pull requests, have p <= 0.05, how often one of
    them is called better, and how often it was while the interval of the difference was over pull requests alone."""
    rng = np.random.default_rng(seed)
    small = better = former = 0
    for _ in range(repeats):
        expected, logit = pull_requests(rng, units)
        (a, of_a), (b, of_b) = (averaged(reviewed(rng, expected, logit, runs)) for _ in range(2))
        extra = {F1.name: of_a.get(F1.name, NO_VARIANCE) + of_b.get(F1.name, NO_VARIANCE)}
        found = differences(a, b, [F1], extra=extra)[F1.name]
        if found.p is not None and found.p <= 0.05:
            small += 1
            better += not _holds(found.interval, 0.0)
            former += not _holds(differences(a, b, [F1])[F1.name].interval, 0.0)
    return small / repeats, better / repeats, former / repeats


def separated(reviewers: int, units: int, runs: int, repeats: int, *, seed: int = 0) -> tuple[float, float]:
    """How often any two of so many equal reviewers share no letter, and how often they did while runs did not count."""
    rng = np.random.default_rng(seed)
    now = former = 0
    for _ in range(repeats):
        expected, logit = pull_requests(rng, units)
        means = {str(name): averaged(reviewed(rng, expected, logit, runs)) for name in range(reviewers)}
        tables = {name: counts for name, (counts, _) in means.items()}
        extra = {name: of_runs.get(F1.name, NO_VARIANCE) for name, (_, of_runs) in means.items()}
        now += any(test.separated for test in pairwise_tests(tables, F1, extra=extra).values())
        former += any(test.separated for test in pairwise_tests(tables, F1).values())
    return now / repeats, former / repeats


HELD: Sequence[tuple[int, int, float, float]] = (
    (30, 3, SPREAD, 90.5),
    (100, 3, SPREAD, 90.5),
    (30, 2, SPREAD, 88.5),
    (100, 2, SPREAD, 88.5),
    (100, 5, SPREAD, 90.5),
    (30, 3, 0.0, 93.5),
    (100, 3, 0.0, 93.5),
)
"""Pull requests, runs, the spread of runs, and the share of intervals, in per cent, that must hold the truth."""


def run() -> Result:
    rows: list[Row] = []
    for units, runs, spread, least in HELD:
        held, alone = coverage(units, runs, 4000, spread=spread)
        what = f"intervals of F1 that hold the mean over further runs: {runs} runs, spread {spread:g}, {units} requests"
        rows.append(Row.above(f"{what} (over pull requests alone: {100 * alone:.1f} %)", 100 * held, "%", least))
    for units, runs in ((30, 2), (30, 3), (100, 2), (100, 3)):
        small, better, former = false_alarms(units, runs, 500)
        what = f"equal reviewers, one called better: {runs} runs, spread {SPREAD:g}, {units} requests"
        beside = f"(p <= 0.05: {100 * small:.1f} %; over pull requests alone: {100 * former:.1f} %)"
        rows.append(Row.below(f"{what} {beside}", 100 * better, "%", 7))
    for units in (30, 100):
        now, former = separated(6, units, 3, 100)
        what = f"any two of 6 equal reviewers told apart by letters: 3 runs, spread {SPREAD:g}, {units} requests"
        rows.append(Row(f"{what} (over pull requests alone: {100 * former:.1f} %)", round(100 * now, 2), "%"))
    return Result("Repeated runs", rows)
