"""Two routers against a known truth, where neighbouring weeks resemble each other: how often equal ones are called
different, over blocks of weeks and over single weeks, and how often a true difference is found.

One router suits some weeks and the other one others, as a release, a holiday or a rota has it: `e` of a week is added
to the first one's rates and taken from the second one's. `e` has a standard deviation of 0.065 and follows an AR(1), so
that neighbouring weeks have the given correlation; of 0.05, 0.06, 0.065, 0.07 and 0.1 that one comes nearest to what
single weeks and blocks were known to reject. A week has about 16 pull requests; ranks are drawn apart for each
router.
"""

from __future__ import annotations

import numpy as np

from bench.measure import Result, Row
from bench.simulation import Rng, share
from metareview.routing.measures import MRR, hit_at
from metareview.routing.weeks import Blocks, Place, by_unit, span_of
from metareview.stats import Array, differences, holm, summed

MEASURES = tuple(each.in_column(1 + at) for at, each in enumerate((hit_at(1), hit_at(3), hit_at(5), MRR)))
HIT = MEASURES[0]
_WITHIN = np.array([0.4, 0.5, 0.58, 0.64, 0.7])
"""How often the target is within the first 1 to 5."""
_WEEK_SD = 0.065
_PRS = 15
BETTER = 0.1
"""What a better router has more at each of these."""

LONG, SHORT = (40, 52, 104, 208), (20, 26)
EQUAL = (
    (0.3, LONG, 4, 7),
    (0.5, LONG, 5, 7),
    (0.8, LONG, 6, 16),
    (0.3, SHORT, 8, 11),
    (0.5, SHORT, 8, 11),
    (0.8, SHORT, 22, 22),
)
"""Correlation of neighbouring weeks, weeks, and the range of shares with p <= 0.05, in per cent, that is to be met."""


def week_effects(rng: Rng, weeks: int, correlation: float) -> Array:
    """A stationary AR(1)."""
    steps = rng.normal(0, _WEEK_SD, weeks)
    steps[1:] *= (1 - correlation**2) ** 0.5
    effects = np.empty(weeks)
    last = 0.0
    for week, step in enumerate(steps.tolist()):
        effects[week] = last = correlation * last + step
    return effects


def routed(rng: Rng, weeks: int, correlation: float, better: float = 0.0) -> tuple[list[Place], Array, Array]:
    """Weeks as places, and the sums of two routers over the pull requests of each; the second is `better`."""
    prs = 1 + rng.poisson(_PRS, weeks)
    week = np.repeat(np.arange(weeks), prs)
    effects = week_effects(rng, weeks, correlation)[week]
    tables = []
    for shift in (effects, better - effects):
        within = (_WITHIN[:, np.newaxis] + shift >= rng.random(len(week))).sum(axis=0)
        ranks = np.where(within, 1 + len(_WITHIN) - within, 0)
        worth = [np.bincount(week, weights=measure.worth(ranks), minlength=weeks) for measure in MEASURES]
        tables.append(np.column_stack([prs, *worth]))
    return [(at, "") for at in range(weeks)], tables[0], tables[1]


def false_alarms(weeks: int, correlation: float, repeats: int, seed: int = 0) -> float:
    """How often two equal routers have p <= 0.05 over blocks of weeks."""
    rng = np.random.default_rng(seed)
    alarms = 0
    for _ in range(repeats):
        places, a, b = routed(rng, weeks, correlation)
        alarms += (differences(by_unit(a, places), by_unit(b, places), [HIT])[HIT.name].p or 1.0) <= 0.05
    return alarms / repeats


def false_alarms_of_weeks(weeks: int, correlation: float, repeats: int, seed: int = 0) -> float:
    """The same over single weeks, as it was before."""
    rng = np.random.default_rng(seed)
    drawn = (routed(rng, weeks, correlation)[1:] for _ in range(repeats))
    return sum((differences(a, b, [HIT])[HIT.name].p or 1.0) <= 0.05 for a, b in drawn) / repeats


def power(weeks: int, correlation: float, repeats: int, *, length: int | None = None, seed: int = 0) -> float:
    """How many of four metrics show a better router after Holm's correction, on average; `length` of blocks, where
    that is not to be chosen by the number of weeks."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(repeats):
        places, *tables = routed(rng, weeks, correlation, BETTER)
        if length is None:
            a, b = (by_unit(each, places) for each in tables)
        else:
            blocks = Blocks(0, span_of(week for week, _ in places), length)
            a, b = (summed(each, [blocks.block_of(week) for week, _ in places])[1] for each in tables)
        ps = holm({name: each.p for name, each in differences(a, b, MEASURES).items()})
        found += sum(p is not None and p <= 0.05 for p in ps.values())
    return found / repeats / len(MEASURES)


def run(repeats: int = 1500) -> Result:
    rows: list[Row] = []
    for correlation, each, low, high in EQUAL:
        for weeks in each:
            what = f"equal routers with p <= 0.05: {weeks} weeks, correlation of neighbours {correlation}"
            # A share of 20 % has twice the standard error of one of 5 %.
            sets = 3 * repeats if correlation > 0.5 else repeats
            rows.append(share(what, false_alarms(weeks, correlation, sets), sets, low, high))
    few = repeats // 2
    for correlation in (0.3, 0.5, 0.8):
        what = f"  over single weeks, the former units: 52 weeks, correlation {correlation}"
        rows.append(share(what, false_alarms_of_weeks(52, correlation, few), few))
    for correlation in (0.3, 0.5, 0.8):
        what = f"four metrics that show a router {BETTER:g} better after Holm: 52 weeks, correlation {correlation}"
        rows.append(share(what, power(52, correlation, few), few, 40, 65))
    rows.append(share("  over 7 blocks of 7 weeks: 2 / 2^7 is more than 0.05 / 4", power(52, 0.3, few, length=7), few))
    return Result("Equal and unequal routers", rows)
