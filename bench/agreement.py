"""The intervals of `calibrate` against a known truth, and what thresholds are worth beyond the labels that chose them.

Pull requests are unequal on purpose: one has a single labelled pair, another sixty; matches are common on some and rare
on others; and the judge's scores lean up or down on a whole pull request, so that it errs there as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from bench.measure import Result, Row
from metareview.benchmark.calibrate import FIGURES, agreement
from metareview.benchmark.units import Units
from metareview.stats import Array

THRESHOLD = 0.5
TRUTH_UNITS = 100_000
REPEATS = 1_000
JUDGES = {"poor": 0.3, "fair": 1.0, "good": 1.8, "all but perfect": 3.0}
"""How far apart the scores of matches and of mismatches lie: kappa is about 0.1, 0.4, 0.75 and 0.97."""
NAMES = [measure.name for measure in FIGURES]


def labelled(rng: np.random.Generator, units: int, apart: float) -> tuple[Array, Array, Units]:
    """Labels, scores and the pull requests that they are of: 14 % match, as on Code Review Bench."""
    sizes = 1 + rng.poisson(rng.gamma(1.0, 8.0, units))
    of = np.repeat(np.arange(units), sizes)
    common, leaning = rng.beta(0.14 * 4, 0.86 * 4, units), rng.normal(0, 0.7, units)
    match = rng.random(len(of)) < common[of]
    scores = expit(rng.normal(0, 1, len(of)) + leaning[of] + np.where(match, apart, -apart))
    return match.astype(np.float64), scores, Units("pull_request", [str(unit) for unit in range(units)], of)


@dataclass(frozen=True)
class Trial:
    """What many drawn sets of labels gave."""

    held: dict[str, float]
    """How often each figure's interval holds the truth, of those that have one."""
    known: float
    """How often kappa has an interval."""
    width: float
    """That of kappa's, on average."""
    best: float
    fitted: float
    """Kappa of the best threshold in sample, and cross-fitted, less what the best threshold is worth in truth."""


def trials(apart: float, units: int, repeats: int = REPEATS, seed: int = 0) -> Trial:
    labels, scores, _ = labelled(np.random.default_rng(99), TRUTH_UNITS, apart)
    whole = agreement(labels, scores, THRESHOLD)
    truth = {name: getattr(whole, name) for name in NAMES}
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        drawn_labels, drawn_scores, drawn_units = labelled(rng, units, apart)
        found.append(agreement(drawn_labels, drawn_scores, THRESHOLD, units=drawn_units))
    held, widths = {}, []
    for name in NAMES:
        ends = [interval for each in found if (interval := each.intervals[name]) is not None]
        held[name] = float(np.mean([low <= truth[name] <= high for low, high in ends]))
        widths.append(float(np.mean([high - low for low, high in ends])))
    fitted = [(each.best_kappa, each.cross_fitted_kappa) for each in found if each.cross_fitted_kappa is not None]
    best, cross = np.array(fitted).mean(axis=0) - (whole.best_kappa or 0)
    known = float(np.mean([each.intervals["kappa"] is not None for each in found]))
    return Trial(held, known, widths[0], float(best), float(cross))


def run() -> Result:
    rows: list[Row] = []
    for name, apart in JUDGES.items():
        for units in (5, 10, 30, 100):
            trial = trials(apart, units)
            what = f"a {name} judge, {units} pull requests"
            for figure, held in trial.held.items():
                told = f"{what}: intervals of {figure} that hold the truth"
                rows.append(Row(told, round(100 * held, 1), "%", ">= 91 %", held >= 0.91))
            known, fitted = f"kappa; {trial.known:.0%} have one", f"kappa; cross-fitted {trial.fitted:+.3f}"
            rows.append(Row(f"{what}: width of kappa's", round(trial.width, 3), known))
            rows.append(Row(f"{what}: best kappa in sample, too high by", round(trial.best, 3), fitted))
    return Result("Agreement with labels against a known truth", rows)
