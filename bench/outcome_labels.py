"""Corrected outcomes against known truth: how often the intervals of `addressed` hold it, for good and useless judges.

Made-up pull requests: how many comments they have and how often these are heeded differs from one to the next. Of some
comments nobody can tell. A judge says of each what it thinks, well or badly, or a team has none and goes by lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.labels import held_row
from bench.measure import Result, Row
from metareview.comparison.outcome_corrected import CORRECTED, corrected_figures, corrected_rows
from metareview.comparison.outcome_frame import LabelledOutcomes, outcome_frame
from metareview.model.addressed import FULLY, NOT, PARTLY, UNKNOWN
from metareview.model.label import OutcomeKey
from metareview.outcomes.sample import ADDRESSED, CANNOT_TELL, CHANGED, NOT_ADDRESSED, UNCHANGED, UNSURE, Unit

VERDICTS = (FULLY, PARTLY, NOT, UNKNOWN)
GROUPS = (ADDRESSED, ADDRESSED, NOT_ADDRESSED, UNSURE)
Chances = tuple[tuple[float, ...], ...]
"""For each true verdict the chances of what the judge says, in the same order."""
JUDGES: dict[str, Chances] = {
    "good": ((0.80, 0.12, 0.05, 0.03), (0.25, 0.55, 0.15, 0.05), (0.03, 0.05, 0.87, 0.05), (0.10, 0.10, 0.30, 0.50)),
    "lenient": ((0.90, 0.08, 0.01, 0.01), (0.60, 0.35, 0.04, 0.01), (0.25, 0.25, 0.49, 0.01), (0.4, 0.3, 0.28, 0.02)),
    "random": ((0.25, 0.25, 0.40, 0.10),) * 4,
}
SURE = ((0.5, 0.0, 0.5, 0.0), (0.0, 0.5, 0.5, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 1.0, 0.0))
"""Chances of a judge that misses half of what was addressed, and calls nothing else addressed."""
RARELY = (0.3, 5.7)
"""How often comments are heeded where that is rare."""
HEEDED = (1.5, 2.5)
LINES = {CHANGED: (0.50, 0.30, 0.15, 0.30), UNCHANGED: (0.10, 0.20, 0.35, 0.20), CANNOT_TELL: (0.4, 0.5, 0.5, 0.5)}
"""For each true verdict how often lines changed, stayed, or that cannot be told."""


@dataclass(frozen=True)
class World:
    """What happened on some pull requests: the truth, and what a judge makes of it."""

    units: list[Unit]
    truth: dict[OutcomeKey, str]
    prs: int

    def rate(self) -> float:
        decided = [verdict for verdict in self.truth.values() if verdict != UNKNOWN]
        return sum(verdict != NOT for verdict in decided) / len(decided)

    def judged_rate(self) -> float:
        groups = [unit.group for unit in self.units]
        return groups.count(ADDRESSED) / (groups.count(ADDRESSED) + groups.count(NOT_ADDRESSED))


def world(
    rng: np.random.Generator, judge: Chances | None, prs: int = 200, heeded_by: tuple[float, float] = HEEDED
) -> World:
    """`judge` None: there is none, and comments are told apart by whether their lines changed."""
    sizes = rng.poisson(rng.gamma(1.5, 4 / 1.5, prs))
    of_unit = np.repeat(np.arange(prs), sizes)
    heeded = np.repeat(rng.beta(*heeded_by, prs), sizes)
    unknown = rng.random(len(of_unit)) < 0.10
    addressed = rng.random(len(of_unit)) < heeded
    fully = rng.random(len(of_unit)) < 0.65
    true = np.where(unknown, 3, np.where(addressed, np.where(fully, 0, 1), 2))
    chances = np.array(judge if judge else np.array(list(LINES.values())).T)
    chances = chances / chances.sum(axis=1, keepdims=True)
    said = (rng.random((len(true), 1)) > np.cumsum(chances[true], axis=1)).sum(axis=1).clip(0, chances.shape[1] - 1)
    names = GROUPS if judge else tuple(LINES)
    units = [
        Unit(str(pr), "r", position, names[group], None)
        for position, (pr, group) in enumerate(zip(of_unit.tolist(), said.tolist(), strict=True))
    ]
    return World(units, {unit.key: VERDICTS[each] for unit, each in zip(units, true.tolist(), strict=True)}, prs)


def true_rate(seed: int = 99, prs: int = 100_000, heeded_by: tuple[float, float] = HEEDED) -> float:
    """Over very many pull requests: the truth that intervals are held to. No judge changes it."""
    return world(np.random.default_rng(seed), JUDGES["random"], prs, heeded_by).rate()


@dataclass(frozen=True)
class Trial:
    """What many draws gave: how often the interval held the truth, its mean width, the mean error."""

    coverage: float
    width: float
    bias: float
    judged_bias: float | None
    """That of the judge's own figure."""


def trials(
    judge: Chances | None,
    truth: float,
    repeats: int,
    *,
    budget: int = 120,
    seed: int = 0,
    heeded_by: tuple[float, float] = HEEDED,
) -> Trial:
    rng = np.random.default_rng(seed)
    held, widths, errors, judged_errors = [], [], [], []
    for repeat in range(repeats):
        made = world(rng, judge, heeded_by=heeded_by)
        labelled = LabelledOutcomes(outcome_frame(made.units, budget=budget, seed=repeat), made.truth)
        by_key = corrected_rows(labelled) or {}
        figures = corrected_figures(labelled, by_key, [(str(pr), "r") for pr in range(made.prs)], {})
        name = CORRECTED[0].name
        low, high = figures.intervals[name] or (np.nan, np.nan)
        held.append(low <= truth <= high)
        widths.append(high - low)
        errors.append((figures.metrics[name] or 0.0) - truth)
        judged_errors.append(made.judged_rate() - truth if judge else np.nan)
    return Trial(
        *(float(np.mean(each)) for each in (held, widths, errors)),
        judged_bias=float(np.mean(judged_errors)) if judge else None,
    )


def run(repeats: int = 1000) -> Result:
    """Each judge, and none, on 200 pull requests with 120 labelled comments; then a sure one that misses rare ones."""
    truth = true_rate()
    rows: list[Row] = []
    for judge in (*JUDGES, None):
        trial = trials(JUDGES[judge] if judge else None, truth, repeats)
        held = 100 * trial.coverage
        whose = f"a {judge} judge" if judge else "no judge"
        what = f"{whose}, 200 pull requests, 120 comments"
        own = "" if trial.judged_bias is None else f"; the judge's own {trial.judged_bias:+.3f}"
        rows += [
            held_row(f"{what}: intervals of addressed that hold the truth", held),
            Row(f"{what}: their width", round(trial.width, 3), "rate"),
            Row(f"{what}: mean error", round(trial.bias, 4), f"rate{own}"),
        ]
    rare = trials(SURE, true_rate(heeded_by=RARELY), repeats, budget=40, heeded_by=RARELY)
    held = round(100 * rare.coverage, 1)
    what = "a sure judge that misses half of the few addressed, 200 pull requests, 40 comments"
    rows.append(Row(f"{what}: intervals of addressed that hold the truth", held, "%", "90 % or more", held >= 90))
    return Result(f"Corrected outcomes against a known truth (addressed {truth:.3f})", rows)
