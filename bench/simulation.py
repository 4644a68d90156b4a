"""The statistics against known truth: how often intervals hold it, and how often equal reviewers are called different.

Pull requests are unequal on purpose: a reviewer says 1 to about 40 things on one, and how often it is right differs
from one pull request to the next, for everybody together, as real ones are hard or easy.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from bench.measure import Result, Row
from metareview.comments.measures import Counts, positive_match_rate, table
from metareview.routing.measures import hit_at
from metareview.routing.weeks import by_week
from metareview.stats import Array, differences, holm, intervals
from metareview.ties import pairwise_tests

_GENERATED, _MATCHED, _COVERED, _EXPECTED, _UNMATCHED = (
    list(Counts.__dataclass_fields__).index(name)
    for name in ("generated", "matched", "covered", "expected", "unmatched")
)


def difficulty(rng: np.random.Generator, units: int, rate: float, spread: float = 6.0) -> Array:
    """How often comments on each pull request are right, with this mean; the same on all for an infinite spread."""
    if np.isinf(spread):
        return np.full(units, rate)
    return rng.beta(rate * spread, (1 - rate) * spread, units)


def review(rng: np.random.Generator, right: Array, volume: float = 3.0) -> Array:
    """One reviewer's counts on these pull requests: about `volume` comments on each, some with many, some with none."""
    generated = rng.poisson(rng.gamma(1.5, volume / 1.5, len(right)))
    matched = rng.binomial(generated, right)
    counts = np.zeros((len(right), table([Counts()]).shape[1]))
    counts[:, _GENERATED], counts[:, _MATCHED], counts[:, _UNMATCHED] = generated, matched, generated - matched
    counts[:, _COVERED], counts[:, _EXPECTED] = matched, matched + rng.poisson(3, len(right))
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


def false_alarms(
    units: int, volumes: tuple[float, float], repeats: int, *, rate: float = 0.3, spread: float = 6.0, seed: int = 0
) -> float:
    """How often two reviewers of equal precision are called different at 0.05."""
    rng = np.random.default_rng(seed)
    alarms = tested = 0
    for _ in range(repeats):
        right = difficulty(rng, units, rate, spread)
        a, b = (review(rng, right, volume) for volume in volumes)
        p = differences(a, b, [positive_match_rate])["positive_match_rate"].p
        if p is not None:
            tested += 1
            alarms += p <= 0.05
    return alarms / tested


def spiked_alarms(chance: float, extra: int, repeats: int, seed: int = 0) -> float:
    """How often two reviewers of one kind are called different on 40 pull requests, if either says so much more, and
    nothing right, on a few of them."""
    rng = np.random.default_rng(seed)
    alarms = tested = 0
    for _ in range(repeats):
        right = difficulty(rng, 40, 0.3)
        tables = [review(rng, right) for _ in range(2)]
        for counts in tables:
            counts[:, _GENERATED] += (rng.random(40) < chance) * extra
        p = differences(*tables, [positive_match_rate])["positive_match_rate"].p
        if p is not None:
            tested += 1
            alarms += p <= 0.05
    return alarms / tested


def family(
    units: int, rates: tuple[float, ...], volumes: tuple[float, ...], repeats: int, seed: int = 0
) -> tuple[float, float, float]:
    """How often any two reviewers of equal precision get no letter in common, and how many pairs of unequal ones are
    told apart on average: by the letters, and by Holm over the same tests."""
    rng = np.random.default_rng(seed)
    alarms, ours, by_holm = 0, 0, 0
    for _ in range(repeats):
        hard = rng.beta(3, 3, units)
        tables = {}
        for name, (rate, volume) in enumerate(zip(rates, volumes, strict=True)):
            right = np.clip(hard * rate / 0.5, 0, 1)
            tables[str(name)] = review(rng, right, volume)
        tests = pairwise_tests(tables, positive_match_rate)
        adjusted = holm({pair: test.p for pair, test in tests.items()})
        equal = {(str(a), str(b)) for a, b in combinations(range(len(rates)), 2) if rates[a] == rates[b]}
        separated = {pair for pair, test in tests.items() if test.p_family is not None and test.p_family <= 0.05}
        alarms += bool(separated & equal)
        ours += len(separated - equal)
        by_holm += sum(p is not None and p <= 0.05 for pair, p in adjusted.items() if pair not in equal)
    return alarms / repeats, ours / repeats, by_holm / repeats


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
    for units in (13, 30, 50):
        for ratio in (1, 4, 16):
            for spread, kind in ((6.0, "unequal"), (np.inf, "equal")):
                add(f"equal reviewers called different: {units} {kind} pull requests, volumes {ratio}:1",
                    100 * false_alarms(units, (3, 3 * ratio), 1500, spread=spread), 3.5, 7)  # fmt: skip
    for chance, extra in ((0.02, 40), (0.02, 100), (0.05, 100)):
        add(f"the same with {extra} wrong comments more on {chance:.0%} of 40 pull requests, no target",
            100 * spiked_alarms(chance, extra, 1000), None, None)  # fmt: skip
    for units in (30, 50):
        alarms, _, _ = family(units, (0.3,) * 6, (1, 2, 4, 8, 12, 16), 500)
        add(f"letters that separate any two of six equal reviewers: {units} pull requests", 100 * alarms, None, 7)
        _, ours, by_holm = family(units, (0.2, 0.2, 0.35, 0.35, 0.5, 0.5), (1, 16, 2, 8, 4, 12), 200)
        what, unit = (
            f"pairs of unequal reviewers told apart, {units} pull requests, of 12",
            f"pairs, Holm {by_holm:.2f}",
        )
        rows.append(Row(what, round(ours, 2), unit, "no fewer", ours >= by_holm))
    by_weeks, by_prs = routing_alarms(26, 500)
    add("equal routers called different over 26 weeks that differ, weeks as units", 100 * by_weeks, None, 7)
    add("the same with pull requests as units, as it must not be", 100 * by_prs, None, None)
    return Result("Statistics against a known truth", rows)
