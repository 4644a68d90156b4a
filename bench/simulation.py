"""The statistics against known truth: how often intervals hold it, and how often equal reviewers are called different.

Pull requests are unequal on purpose: a reviewer says 1 to about 40 things on one, and how often it is right differs
from one pull request to the next, for everybody together, as real ones are hard or easy.
"""

from __future__ import annotations

import numpy as np

from bench.measure import Result, Row
from metareview.comments.measures import Counts, positive_match_rate
from metareview.routing.measures import hit_at
from metareview.routing.weeks import by_week
from metareview.stats import Array, differences, intervals

COLUMN = {name: position for position, name in enumerate(Counts.__dataclass_fields__)}
"""Where each count stands in a table."""


def difficulty(rng: np.random.Generator, units: int, rate: float, spread: float = 6.0) -> Array:
    """How often comments on each pull request are right, with this mean; the same on all for an infinite spread."""
    if np.isinf(spread):
        return np.full(units, rate)
    return rng.beta(rate * spread, (1 - rate) * spread, units)


def review(rng: np.random.Generator, right: Array, volume: float = 3.0) -> Array:
    """One reviewer's counts on these pull requests: about `volume` comments on each, some with many, some with none."""
    generated = rng.poisson(rng.gamma(1.5, volume / 1.5, len(right)))
    matched = rng.binomial(generated, right)
    counts = np.zeros((len(right), len(COLUMN)))
    columns = {"generated": generated, "matched": matched, "unmatched": generated - matched, "covered": matched}
    for name, values in {**columns, "expected": matched + rng.poisson(3, len(right))}.items():
        counts[:, COLUMN[name]] = values
    return counts


def coverage(units: int, rate: float, repeats: int, seed: int = 0) -> float:
    """How often the interval of precision holds the true rate."""
    rng = np.random.default_rng(seed)
    held = asked = 0
    for _ in range(repeats):
        ends = intervals(review(rng, difficulty(rng, units, rate), 6.0), [positive_match_rate])["positive_match_rate"]
        if ends is not None:
            asked += 1
            held += ends[0] <= rate <= ends[1]
    return held / asked


def routing_alarms(weeks: int, repeats: int, seed: int = 0) -> tuple[float, float]:
    """How often two equal routers are called different at 0.05, by weeks and by pull requests, where one of them suits
    some weeks and the other others: a release, a holiday, a rota."""
    rng = np.random.default_rng(seed)
    by_weeks = by_prs = 0
    for _ in range(repeats):
        week = np.repeat(np.arange(weeks), 1 + rng.poisson(15, weeks))
        leaning = rng.normal(0, 0.2, weeks)[week]
        tables = []
        for sign in (1, -1):
            hits = rng.random(len(week)) < np.clip(0.4 + sign * leaning, 0, 1)
            tables.append(np.column_stack([np.ones(len(week)), hits]))
        measure = hit_at(1)
        by_prs += (differences(*tables, [measure])["hit@1"].p or 1) <= 0.05
        by_weeks += (differences(*(by_week(each, week) for each in tables), [measure])["hit@1"].p or 1) <= 0.05
    return by_weeks / repeats, by_prs / repeats


def run() -> Result:
    rows: list[Row] = []

    def add(what: str, value: float, low: float | None, high: float | None) -> None:
        met = None if high is None else (low or 0) <= value <= high
        target = None if high is None else f"<= {high:g} %" if low is None else f"{low:g} to {high:g} %"
        rows.append(Row(what, round(value, 2), "%", target, met))

    for units in (10, 30, 50, 200):
        for rate in (0.02, 0.3, 0.9):
            add(f"intervals that hold the truth: {units} pull requests, rate {rate}",
                100 * coverage(units, rate, 4000), 92, 98)  # fmt: skip
    by_weeks, by_prs = routing_alarms(26, 500)
    add("equal routers called different over 26 weeks that differ, weeks as units", 100 * by_weeks, None, 7)
    add("the same with pull requests as units, as it must not be", 100 * by_prs, None, None)
    return Result("Statistics against a known truth", rows)
