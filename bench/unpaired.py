"""The unpaired test against known truth: how often two equal bots on their own pull requests are called different, how
often unequal ones are, and how often the interval holds the difference.

A pull request has 1 to 20 comments, most have few; one side may make four times as many. `alike` is the correlation of
comments on one pull request. Before and after: one bot takes over from another, pull requests of one week share an
effect on the log odds, and either side has as many weeks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from bench.measure import Result, Row
from bench.simulation import share
from metareview.comparison.sample_units import Weeks, in_units
from metareview.outcomes.measures import COLUMNS, MEASURES
from metareview.unpaired import IndependentDifference, Sample, independent_differences

LINES = MEASURES[0]
CASES = (
    ((6, 6), (1, 4), 0.3, 0.0),
    ((6, 6), (1, 1), 0.3, 0.3),
    ((15, 15), (1, 4), 0.1, 0.0),
    ((15, 15), (1, 1), 0.3, 0.3),
    ((15, 15), (1, 4), 0.3, 0.3),
    ((40, 40), (1, 1), 0.1, 0.3),
    ((40, 40), (1, 4), 0.3, 0.0),
    ((40, 40), (1, 4), 0.9, 0.3),
    ((200, 200), (1, 4), 0.02, 0.3),
    ((10, 100), (1, 1), 0.3, 0.3),
    ((10, 100), (1, 4), 0.9, 0.3),
    ((10, 100), (4, 1), 0.1, 0.0),
    ((10, 100), (4, 1), 0.3, 0.3),
)
"""Pull requests of each, volumes of each, the rate, the correlation."""
WEEKS = ((26, 0.5), (26, 1.0), (52, 0.5), (52, 1.0))
"""Weeks of each side, and the standard deviation of what the pull requests of a week share."""
DRAWS = 499
"""Fewer than commands make, which costs a little power and no truth."""
MOSTLY = 0.5
"""Where fewer samples than this have enough comments to test, those that have are no longer a fair sample."""


@dataclass(frozen=True)
class Alarms:
    """Shares of the simulated comparisons: called different of those tested, tested of all, intervals that hold."""

    alarms: float
    tested: float
    held: float


def draw(rng: np.random.Generator, side: str, units: int, volume: int, rate: float, alike: float) -> Sample:
    """One bot's pull requests."""
    comments = np.minimum(rng.geometric(0.25, units), 20) * volume
    spread = 1 / alike - 1 if alike else np.inf
    heeded = rng.beta(rate * spread, (1 - rate) * spread, units) if alike else rate
    counts = np.zeros((units, COLUMNS))
    counts[:, 0], counts[:, 1] = rng.binomial(comments, heeded), comments
    return Sample([f"{side}{number}" for number in range(units)], counts)


def _compared(
    sizes: tuple[int, int], volumes: tuple[int, int], rates: tuple[float, float], alike: float, repeats: int, seed: int
) -> list[IndependentDifference]:
    rng = np.random.default_rng(seed)
    found = []
    for number in range(repeats):
        a, b = (draw(rng, *each, alike) for each in zip("ab", sizes, volumes, rates, strict=True))
        found.append(independent_differences(a, b, [LINES], seed=number, draws=DRAWS)[LINES.name])
    return found


def false_alarms(
    sizes: tuple[int, int], volumes: tuple[int, int], *, rate: float, alike: float, repeats: int, seed: int = 0
) -> Alarms:
    return _alarms(_compared(sizes, volumes, (rate, rate), alike, repeats, seed), 0.0)


def held(
    sizes: tuple[int, int],
    volumes: tuple[int, int],
    *,
    rates: tuple[float, float],
    alike: float,
    repeats: int,
    seed: int = 0,
) -> float:
    """How often the interval holds the true difference."""
    return _alarms(_compared(sizes, volumes, rates, alike, repeats, seed), rates[1] - rates[0]).held


def before_and_after(
    rng: np.random.Generator, weeks: int, sd: float, better: float = 0.0
) -> tuple[Sample, Sample, Weeks]:
    """Two bots, one in so many weeks after the other, and the week of each pull request, about five a week.

    The rate is 0.3; the second has `better` on the log odds more.
    """
    of_week: dict[str, int] = {}
    samples = []
    for number, side in enumerate("ab"):
        week = np.repeat(np.arange(weeks), 1 + rng.poisson(4, weeks))
        heeded = expit(logit(0.3) + number * better + rng.normal(0, sd, weeks))[week]
        comments = np.minimum(rng.geometric(0.25, len(week)), 20)
        counts = np.zeros((len(week), COLUMNS))
        counts[:, 0], counts[:, 1] = rng.binomial(comments, heeded), comments
        samples.append(Sample([f"{side}{at}" for at in range(len(week))], counts))
        of_week |= zip(samples[-1].keys, (number * weeks + week).tolist(), strict=True)
    return samples[0], samples[1], of_week


def week_alarms(weeks: int, sd: float, repeats: int, *, better: float = 0.0, seed: int = 0) -> tuple[float, float]:
    """How often the test has p <= 0.05 over blocks of weeks, and over pull requests, as it was before."""
    rng = np.random.default_rng(seed)
    by_block = by_pr = 0
    for number in range(repeats):
        a, b, of_week = before_and_after(rng, weeks, sd, better)
        blocks = in_units(a, b, of_week)
        for_blocks, for_prs = (
            independent_differences(*sides, [LINES], seed=number, draws=DRAWS)[LINES.name].p or 1.0
            for sides in ((blocks.a, blocks.b), (a, b))
        )
        by_block += for_blocks <= 0.05
        by_pr += for_prs <= 0.05
    return by_block / repeats, by_pr / repeats


def _alarms(found: list[IndependentDifference], truth: float) -> Alarms:
    ps = [each.p for each in found if each.p is not None]
    ends = [each.interval for each in found if each.interval is not None]
    return Alarms(
        alarms=float(np.mean([p <= 0.05 for p in ps])) if ps else float("nan"),
        tested=len(ps) / len(found),
        held=float(np.mean([low <= truth <= high for low, high in ends])),
    )


def run(repeats: int = 400) -> Result:
    rows: list[Row] = []

    def add(what: str, value: float, target: str | None, met: bool | None) -> None:
        rows.append(Row(what, round(100 * value, 1), "%", target, met))

    # Three standard errors of a simulation of this size beyond 6.5 and 92 %.
    most, fewest = 0.065 + 3 * (0.065 * 0.935 / repeats) ** 0.5, 0.92 - 3 * (0.92 * 0.08 / repeats) ** 0.5
    for sizes, volumes, rate, alike in CASES:
        found = false_alarms(sizes, volumes, rate=rate, alike=alike, repeats=repeats)
        other = rate + 0.2 if rate < 0.5 else rate - 0.2
        unequal = _alarms(_compared(sizes, volumes, (rate, other), alike, repeats, 1), other - rate)
        where = (
            f"{sizes[0]} and {sizes[1]} pull requests, volumes {volumes[0]}:{volumes[1]}, rate {rate}, alike {alike:g}"
        )
        # Where few have enough comments to be tested, those that have are the odd ones: then it is the share of all.
        alarms = found.alarms if found.tested >= MOSTLY else found.alarms * found.tested
        add(f"equal bots called different: {where}", alarms, "<= 6.5 %", alarms <= most)
        add(f"of which could be tested: {where}", found.tested, None, None)
        add(f"bots 0.2 apart called different: {where}", unequal.alarms, None, None)
        for truth, each in (("equal", found), ("0.2 apart", unequal)):
            add(f"intervals that hold the difference, {truth}: {where}", each.held, ">= 92 %", each.held >= fewest)
    for weeks, sd in WEEKS:
        where = f"before and after, {weeks} weeks each, weeks differ (sd {sd:g})"
        by_block, by_pr = week_alarms(weeks, sd, repeats)
        rows.append(share(f"equal bots called different: {where}, blocks of weeks", by_block, repeats, 5.0))
        rows.append(share("  over pull requests, the former units", by_pr, repeats))
        found_by_block, _ = week_alarms(weeks, sd, repeats, better=1.0)
        rows.append(share(f"bots 1 apart on the log odds called different: {where}", found_by_block, repeats))
    return Result("Two samples of pull requests against a known truth", rows)
