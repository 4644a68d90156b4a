"""Two reviewers, and many, against a known truth: how often equal ones are called different, and unequal ones found.

Pull requests are unequal on purpose. `sign_flips` is the test that was used before: beside the studentised exchange, it
shows what each kind of data does to a test that does not look at the error of a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np

from bench.measure import Result, Row
from bench.simulation import COLUMN, difficulty, review
from metareview.comments.measures import f1, one_to_one, positive_match_rate, positive_recall_rate
from metareview.model.measure import Measure
from metareview.stats import Array, differences
from metareview.ties import pairwise_tests

Rng = np.random.Generator
Pair = tuple[Array, Array]
F1 = one_to_one(f1, "optimal")
_FLIPS = 2000


def reviewed(generated: Array, matched: Array, expected: Array) -> Array:
    """A table of counts, one-to-one."""
    counts = np.zeros((len(generated), len(COLUMN)))
    columns = {"generated": generated, "matched": matched, "covered": matched, "expected": expected}
    for name, values in {**columns, "unmatched": generated - matched}.items():
        counts[:, COLUMN[name]] = values
    return counts


def uneven(rng: Rng, units: int) -> Pair:
    """Equal precision; how much each says differs between pull requests with a standard deviation of 1.5 in logs."""
    right = difficulty(rng, units, 0.3)

    def one() -> Array:
        generated = rng.poisson(np.exp(rng.normal(np.log(4), 1.5, units)))
        matched = rng.binomial(generated, right)
        return reviewed(generated, matched, matched)

    return one(), one()


def with_bursts(rng: Rng, units: int) -> Pair:
    """Equal precision; on 4 % of its pull requests either says 100 wrong things more."""
    right = difficulty(rng, units, 0.3)
    return _bursts(rng, review(rng, right)), _bursts(rng, review(rng, right))


def _bursts(rng: Rng, counts: Array, chance: float = 0.04, extra: int = 100) -> Array:
    more = (rng.random(len(counts)) < chance) * extra
    counts[:, COLUMN["generated"]] += more
    counts[:, COLUMN["unmatched"]] += more
    return counts


def sixteen_fold(rng: Rng, units: int) -> Pair:
    """Equal precision; the second says sixteen times as much."""
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
    """Two versions that differ on 8 of the pull requests, by chance alone; on one of all, either says 200 wrong things
    more."""
    right = difficulty(rng, units, 0.3)
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


def called_different(
    draw: Callable[[Rng, int], Pair], measure: Measure, units: int, repeats: int, seed: int = 0
) -> tuple[float, float, float]:
    """How often p is at most 0.05, how often one is called better, and how often sign flips would have had p <= 0.05;
    of the sets that are tested at all."""
    rng = np.random.default_rng(seed)
    tested = small = better = former = 0
    for _ in range(repeats):
        a, b = draw(rng, units)
        found = differences(a, b, [measure])[measure.name]
        if found.p is None:
            continue
        tested += 1
        small += found.p <= 0.05
        low, high = found.interval or (0.0, 0.0)
        better += found.p <= 0.05 and not low <= 0 <= high
        former += sign_flips(a, b, measure) <= 0.05
    return small / tested, better / tested, former / tested


def sign_flips(a: Array, b: Array, measure: Measure) -> float:
    """The former p: random signs for what each unit has more than the pooled rate would bring."""
    (y_a, x_a), (y_b, x_b) = measure.parts(a), measure.parts(b)
    pooled = (y_a.sum() + y_b.sum()) / (x_a.sum() + x_b.sum())
    values = (y_b - pooled * x_b) / x_b.mean() - (y_a - pooled * x_a) / x_a.mean()
    signs = np.where(np.random.default_rng(0).integers(0, 2, (_FLIPS, len(values)), dtype=np.bool_), -1.0, 1.0)
    return float((1 + (np.abs(signs @ values) >= abs(values.sum()) - 1e-12).sum()) / (1 + _FLIPS))


def separated(reviewers: int, units: int, repeats: int, *, bursts: bool, seed: int = 0) -> tuple[float, float]:
    """How often any two of so many equal reviewers get no letter in common: by p and interval, and by p alone."""
    rng = np.random.default_rng(seed)
    by_letters = by_p = 0
    for _ in range(repeats):
        right = difficulty(rng, units, 0.3)
        tables = {str(number): review(rng, right, 4) for number in range(reviewers)}
        for counts in tables.values() if bursts else ():
            _bursts(rng, counts)
        tests = pairwise_tests(tables, positive_match_rate).values()
        by_letters += any(test.separated for test in tests)
        by_p += any(test.p_family is not None and test.p_family <= 0.05 for test in tests)
    return by_letters / repeats, by_p / repeats


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
    ("bursts of wrong comments on 4 %", with_bursts, positive_match_rate, 30, 4.9),
    ("bursts of wrong comments on 4 %", with_bursts, positive_match_rate, 40, 5.4),
    ("sixteen-fold volume", sixteen_fold, positive_match_rate, 10, 2.8),
    ("sixteen-fold volume", sixteen_fold, positive_match_rate, 30, 4.7),
    ("recall", of_recall, positive_recall_rate, 10, 3.4),
    ("recall", of_recall, positive_recall_rate, 30, 5.2),
    ("alike but on 8, and 200 wrong comments on one", alike_but_for_one, positive_match_rate, 40, 4.5),
]
"""What is drawn, the measure, pull requests, and the share of sets with p <= 0.05, in per cent, that is to be met."""
UNEQUAL: list[tuple[str, Callable[[Rng, int], Pair], Measure]] = [
    ("precision", partial(of_precision, better=1.47), positive_match_rate),
    ("recall", partial(of_recall, better=1.56), positive_recall_rate),
    ("F1", partial(of_recall, better=1.5), F1),
]


def run() -> Result:
    rows: list[Row] = []

    def add(what: str, value: float, target: float | None = None) -> None:
        """Met: within a point and a half of the target, and what chance adds in so many sets."""
        met = None if target is None else abs(100 * value - target) <= 1.5
        rows.append(Row(what, round(100 * value, 2), "%", None if target is None else f"{target:g} ± 1.5 %", met))

    for what, draw, measure, units, target in EQUAL:
        small, better, former = called_different(draw, measure, units, 4000)
        add(f"p <= 0.05 between equals: {what}, {units} pull requests", small, target)
        add(f"  called better (former test: p <= 0.05 in {100 * former:.1f} %)", better)
    for what, draw, measure in UNEQUAL:
        small, better, former = called_different(draw, measure, 30, 2000)
        add(f"power at 30 pull requests: {what}, p <= 0.05 (former test: {100 * former:.1f} %)", small)
        add("  called better", better)
    for reviewers, bursts, target in ((6, True, 7.0), (12, True, 6.0), (6, False, None), (12, False, None)):
        by_letters, by_p = separated(reviewers, 30, 400, bursts=bursts)
        kind = "bursts" if bursts else "no bursts"
        add(f"any two of {reviewers} equal reviewers told apart, {kind}, 30 pull requests: p alone", by_p, target)
        add("  letters as shown: p and interval", by_letters)
    for units in (30, 50):
        what = f"pairs of unequal reviewers told apart by letters, {units} pull requests, of 12"
        rows.append(Row(what, round(told_apart(units, 200), 2), "pairs"))
    return Result("Equal and unequal reviewers", rows)
