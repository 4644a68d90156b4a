"""Two reviewers, and many, against a known truth: how often equal ones are called different, and unequal ones found.

Pull requests are unequal on purpose. `sign_flips` is the test that was used before: beside the studentised exchange, it
shows what each kind of data does to a test that does not look at the error of a difference. Volumes and rates are those
with which sign flips are off by about as much as was known of them; with others the exchange rejects 1 to 6 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bench.measure import Result, Row
from bench.simulation import (
    COLUMN,
    Rng,
    burst_review,
    difficulty,
    review,
    reviewed,
    share,
    uneven_review,
    uneven_volume,
)
from metareview.comments.measures import f1, one_to_one, positive_match_rate, positive_recall_rate
from metareview.model.measure import Measure
from metareview.stats import Array, differences
from metareview.ties import pairwise_tests

Pair = tuple[Array, Array]
F1 = one_to_one(f1, "optimal")
_FLIPS = 2000


def uneven(rng: Rng, units: int) -> Pair:
    """Equal precision; either makes about two right comments on each pull request, and very uneven numbers of wrong
    ones: few on most, dozens on some."""
    return uneven_review(rng, units), uneven_review(rng, units)


def uneven_at_one_precision(rng: Rng, units: int) -> Pair:
    """Another reading of very uneven volumes: comments are right as often where there are many."""
    right = difficulty(rng, units, 0.3)
    return uneven_volume(rng, right), uneven_volume(rng, right)


def with_bursts(rng: Rng, units: int) -> Pair:
    """Equal precision; on 4 % of its pull requests either makes 100 wrong comments more."""
    right = difficulty(rng, units, 0.3)
    return burst_review(rng, right), burst_review(rng, right)


def sixteen_fold(rng: Rng, units: int) -> Pair:
    """Equal precision; the second makes sixteen times as many comments."""
    right = difficulty(rng, units, 0.3)
    return review(rng, right, 3), review(rng, right, 48)


def of_recall(rng: Rng, units: int, better: float = 1.0) -> Pair:
    """On the same references, of which the second finds `better` times as many."""
    found, expected = difficulty(rng, units, 0.3), 1 + rng.poisson(3, units)

    def one(times: float) -> Array:
        matched = rng.binomial(expected, np.clip(times * found, 0, 1))
        return reviewed(matched + rng.poisson(3, units), matched, expected)

    return one(1.0), one(better)


def of_precision(rng: Rng, units: int, better: float) -> Pair:
    """The second is right `better` times as often."""
    right = difficulty(rng, units, 0.3)
    return review(rng, right, 4), review(rng, np.clip(better * right, 0, 1), 4)


def alike_but_for_one(rng: Rng, units: int = 40) -> Pair:
    """Two versions, right half of the time, that differ on 8 of the pull requests, by chance alone; on one of all,
    either makes 200 wrong comments more."""
    right = difficulty(rng, units, 0.5)
    before = review(rng, right)
    after, again = before.copy(), review(rng, right)
    others = rng.choice(units, 8, replace=False)
    after[others] = again[others]
    # Both have the same references, also where the later version was drawn anew.
    after[:, COLUMN["expected"]] = before[:, COLUMN["expected"]]
    worse = (before, after)[rng.integers(2)]
    one = rng.integers(units)
    worse[one, [COLUMN["generated"], COLUMN["unmatched"]]] += 200
    return before, after


class Calls(NamedTuple):
    """Shares of the sets that are tested."""

    small: float
    """With p <= 0.05."""
    better: float
    """In which one is called better: p <= 0.05, and an interval of the difference without 0."""
    former: float
    """With p <= 0.05 by sign flips."""
    tested: int

    @classmethod
    def over(cls, sets: Sequence[tuple[bool, bool, bool]]) -> Calls:
        small, better, former = (sum(column) / len(sets) for column in zip(*sets, strict=True))
        return cls(small, better, former, len(sets))


def called_different(
    draw: Callable[[Rng, int], Pair], measure: Measure, units: int, repeats: int, seed: int = 0
) -> Calls:
    """How often two reviewers are called different, by the exchange and by the former test."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        a, b = draw(rng, units)
        each = differences(a, b, [measure])[measure.name]
        if each.p is not None:
            low, high = each.interval or (0.0, 0.0)
            small = each.p <= 0.05
            found.append((small, small and not low <= 0 <= high, sign_flips(a, b, measure) <= 0.05))
    return Calls.over(found)


def sign_flips(a: Array, b: Array, measure: Measure) -> float:
    """The former p: random signs for what each unit has more than the pooled rate would bring."""
    values = _contributions(a, b, measure)
    return float((1 + (np.abs(_signs(len(values)) @ values) >= abs(values.sum()) - 1e-12).sum()) / (1 + _FLIPS))


def sign_flips_of_all(tables: Sequence[Array], measure: Measure) -> float:
    """The least p among all pairs by the former test: the share of sign flips in which any pair, over the root of its
    sum of squares, reaches the greatest."""
    values = np.column_stack([_contributions(a, b, measure) for a, b in combinations(tables, 2)])
    values /= np.sqrt((values**2).sum(axis=0))
    greatest = np.abs(_signs(len(values)) @ values).max(axis=1)
    return float((1 + (greatest >= np.abs(values.sum(axis=0)).max() - 1e-12).sum()) / (1 + _FLIPS))


def _contributions(a: Array, b: Array, measure: Measure) -> Array:
    (y_a, x_a), (y_b, x_b) = measure.parts(a), measure.parts(b)
    pooled = (y_a.sum() + y_b.sum()) / (x_a.sum() + x_b.sum())
    values: Array = (y_b - pooled * x_b) / x_b.mean() - (y_a - pooled * x_a) / x_a.mean()
    return values


@cache
def _signs(units: int) -> Array:
    return np.where(np.random.default_rng(0).integers(0, 2, (_FLIPS, units), dtype=np.bool_), -1.0, 1.0)


def separated(reviewers: int, units: int, repeats: int, *, bursts: bool, volume: float = 6.0, seed: int = 0) -> Calls:
    """How often any two of so many equal reviewers are called different, or get no letter in common (`better`)."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        right = difficulty(rng, units, 0.3)
        tables = [(burst_review if bursts else review)(rng, right, volume) for _ in range(reviewers)]
        tests = pairwise_tests(dict(zip(map(str, range(reviewers)), tables, strict=True)), positive_match_rate).values()
        found.append(
            (
                any(test.p_family is not None and test.p_family <= 0.05 for test in tests),
                any(test.separated for test in tests),
                sign_flips_of_all(tables, positive_match_rate) <= 0.05,
            )
        )
    return Calls.over(found)


def told_apart(units: int, repeats: int, seed: int = 0) -> float:
    """How many of the 12 pairs of reviewers that differ, of six at three levels and other volumes, the letters tell
    apart on average."""
    rng = np.random.default_rng(seed)
    rates, volumes = (0.2, 0.2, 0.35, 0.35, 0.5, 0.5), (1, 16, 2, 8, 4, 12)
    unequal = [(str(a), str(b)) for a, b in combinations(range(6), 2) if rates[a] != rates[b]]
    found = 0
    for _ in range(repeats):
        hard = rng.beta(3, 3, units)
        tables = {
            str(name): review(rng, np.clip(2 * rate * hard, 0, 1), volume)
            for name, (rate, volume) in enumerate(zip(rates, volumes, strict=True))
        }
        tests = pairwise_tests(tables, positive_match_rate)
        found += sum(tests[pair].separated for pair in unequal)
    return found / repeats


EQUAL: list[tuple[str, Callable[[Rng, int], Pair], Measure, int, float]] = [
    ("very uneven volumes (log-sd 1.5)", uneven, positive_match_rate, 10, 4.9),
    ("very uneven volumes (log-sd 1.5)", uneven, positive_match_rate, 30, 5.0),
    ("very uneven volumes at one precision", uneven_at_one_precision, positive_match_rate, 10, 4.9),
    ("very uneven volumes at one precision", uneven_at_one_precision, positive_match_rate, 30, 5.0),
    ("bursts of wrong comments on 4 %", with_bursts, positive_match_rate, 30, 4.9),
    ("bursts of wrong comments on 4 %", with_bursts, positive_match_rate, 40, 5.4),
    ("sixteen-fold volume", sixteen_fold, positive_match_rate, 10, 2.8),
    ("sixteen-fold volume", sixteen_fold, positive_match_rate, 30, 4.7),
    ("recall", of_recall, positive_recall_rate, 10, 3.4),
    ("recall", of_recall, positive_recall_rate, 30, 5.2),
    ("alike but on 8, and 200 wrong comments on one", alike_but_for_one, positive_match_rate, 40, 4.5),
]
"""What is drawn, the measure, pull requests, and the share of sets with p <= 0.05, in per cent, that is to be met."""
UNEQUAL: list[tuple[str, Callable[[Rng, int], Pair], Measure, float]] = [
    ("precision", partial(of_precision, better=1.47), positive_match_rate, 41.0),
    ("recall", partial(of_recall, better=1.56), positive_recall_rate, 75.0),
    ("F1", partial(of_recall, better=1.52), F1, 65.0),
]
"""The same of true differences, which are as large as the former test finds in 41, 71 and 65 % of the sets."""
LETTERS = ((6, True), (12, True), (6, False))
"""Reviewers, and whether they have bursts."""


def run(repeats: int = 1500) -> Result:
    rows: list[Row] = []

    def add(what: str, found: Calls, better: str, low: float, high: float | None = None) -> None:
        rows.append(share(what, found.small, found.tested, low, high))
        rows.append(share("  the former test", found.former, found.tested))
        rows.append(share(f"  {better}", found.better, found.tested))

    for what, draw, measure, units, bar in EQUAL:
        found = called_different(draw, measure, units, repeats)
        add(f"equals with p <= 0.05: {what}, {units} pull requests", found, "called better", bar)
    for what, draw, measure, bar in UNEQUAL:
        found = called_different(draw, measure, 30, repeats)
        add(f"true differences with p <= 0.05: {what}, 30 pull requests", found, "called better", bar)
    for reviewers, bursts in LETTERS:
        found = separated(reviewers, 30, repeats // 4, bursts=bursts)
        kind = "bursts" if bursts else "no bursts"
        what = f"sets with p <= 0.05 for any two of {reviewers} equal reviewers, {kind}, 30 pull requests"
        add(what, found, "no letter in common", 2, 7)
    for units in (30, 50):
        what = f"pairs of unequal reviewers told apart by letters, {units} pull requests, of 12"
        rows.append(Row(what, round(told_apart(units, repeats // 20), 2), "pairs"))
    return Result("Equal and unequal reviewers", rows)
