"""Intervals and tests against scipy, against all arrangements of small sets, and by simulation."""

from __future__ import annotations

import doctest
import itertools
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import metareview.stats
from metareview.errors import UsageError
from metareview.stats import bootstrap_difference, bootstrap_intervals, minimum_detectable_difference, permutation_test


def ratio(sums):
    return sums[..., 0] / sums[..., 1]


def table(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def reviews(rng: np.random.Generator, units: int, rate: float = 0.4, hardness: float = 5.0) -> np.ndarray:
    """Matched and generated comments; pull requests differ in how hard they are, the true ratio is `rate`."""
    generated = 1 + rng.poisson(4, units)
    easy = rng.beta(rate * hardness, (1 - rate) * hardness, units)
    return np.stack([rng.binomial(generated, easy), generated], axis=1).astype(np.float64)


# --- intervals


@pytest.mark.parametrize(("units", "resamples"), [(7, 999), (40, 2000), (600, 3000)])
def test_intervals_equal_scipys_on_the_same_draws(units, resamples):
    # 600 x 3000 draws are more than one block: blocks must not change the stream.
    counts = reviews(np.random.default_rng(units), units)
    theirs = scipy.stats.bootstrap(
        (counts[:, 0], counts[:, 1]),
        lambda matched, generated, axis: matched.sum(axis) / generated.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        confidence_level=0.9,
        method="percentile",
        rng=np.random.default_rng(3),
    ).confidence_interval
    ours = bootstrap_intervals(counts, {"ratio": ratio}, resamples=resamples, seed=3, level=0.9)["ratio"]
    assert ours == pytest.approx((theirs.low, theirs.high), rel=1e-12)


def test_intervals_of_a_skewed_mean_equal_scipys():
    values = np.random.default_rng(5).lognormal(size=30)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    counts = np.stack([values, np.ones(30)], axis=1)
    ours = bootstrap_intervals(counts, {"mean": ratio})["mean"]
    assert ours == pytest.approx((theirs.low, theirs.high), rel=1e-12)


def test_difference_equals_scipys_and_is_b_minus_a():
    rng = np.random.default_rng(11)
    a, b = reviews(rng, 25, 0.3), reviews(rng, 25, 0.6)
    theirs = scipy.stats.bootstrap(
        (*a.T, *b.T),
        lambda am, ag, bm, bg, axis: bm.sum(axis) / bg.sum(axis) - am.sum(axis) / ag.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=1500,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    ours = bootstrap_difference(a, b, {"ratio": ratio}, resamples=1500)["ratio"]
    assert ours == pytest.approx((theirs.low, theirs.high), rel=1e-12)
    assert ours[0] > 0


def test_difference_of_equal_runs_is_exactly_zero():
    counts = reviews(np.random.default_rng(1), 20)
    assert bootstrap_difference(counts, counts, {"ratio": ratio}) == {"ratio": (0.0, 0.0)}


def test_pairing_cancels_what_is_hard_for_both():
    """B matches one more comment of ten in every pull request, however hard: always 0.1 better."""
    matched = np.random.default_rng(2).integers(0, 10, 30).astype(np.float64)
    ten = np.full(30, 10.0)
    a, b = np.stack([matched, ten], axis=1), np.stack([matched + 1, ten], axis=1)
    assert bootstrap_difference(a, b, {"ratio": ratio})["ratio"] == pytest.approx((0.1, 0.1), abs=1e-12)
    low, high = bootstrap_intervals(a, {"ratio": ratio})["ratio"]
    assert high - low > 0.1


def test_undefined_resamples_are_drawn_again():
    """Against all 4^4 resamples of a set where 81 of 256 are undefined, given that they are defined."""
    counts = table((1, 1), (0, 1), (0, 0), (0, 0))
    ratios = []
    for drawn in itertools.product(range(4), repeat=4):
        matched, generated = counts[list(drawn)].sum(axis=0)
        if generated:
            ratios.append(matched / generated)
    # At these levels no end lies near a step of the distribution, so the ends are exact.
    for level in (0.1, 0.2, 0.5):
        expected = tuple(np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf"))
        found = bootstrap_intervals(counts, {"ratio": ratio}, level=level, resamples=20_000)["ratio"]
        assert found == pytest.approx(expected), level
    # With a single resample, one that is only left out would leave nothing.
    values = [bootstrap_intervals(counts, {"r": ratio}, resamples=1, seed=seed)["r"] for seed in range(2000)]
    means = np.array([low for low, high in values if low == high])
    assert len(means) == 2000
    assert means.mean() == pytest.approx(np.mean(ratios), abs=5 * np.std(ratios) / np.sqrt(2000))


def test_a_metric_has_the_same_interval_and_p_in_any_company():
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 2, (5, 4)).astype(np.float64), rng.integers(0, 2, (5, 4)).astype(np.float64)
    a[0], b[0] = 1, 1
    metrics = {
        "sum": lambda s: s[..., 0],
        "often": lambda s: s[..., 0] / s[..., 1],
        "seldom": lambda s: np.where(s[..., 0] == 3, s[..., 2], np.nan),
    }
    a[:, 0] = [1, 1, 1, 0, 0]
    alone = {name: bootstrap_intervals(a, {name: metric})[name] for name, metric in metrics.items()}
    assert bootstrap_intervals(a, metrics) == alone
    assert all(alone.values())
    b[:, 0] = [0, 1, 1, 1, 0]
    alone = {name: permutation_test(a, b, {name: metric})[name] for name, metric in metrics.items()}
    assert permutation_test(a, b, metrics) == alone
    assert all(alone.values())


def test_what_is_undefined_has_no_interval_and_no_p():
    counts = table((0, 0, 5), (0, 0, 7))
    metrics = {"ratio": ratio, "total": lambda s: s[..., 2]}
    assert bootstrap_intervals(counts, metrics)["ratio"] is None
    assert bootstrap_intervals(counts, metrics)["total"] == (10.0, 14.0)
    other = table((1, 1, 5), (0, 1, 8))
    assert bootstrap_difference(counts, other, metrics)["ratio"] is None
    assert permutation_test(counts, other, metrics)["ratio"] is None
    assert minimum_detectable_difference(counts, other, metrics)["ratio"] is None


def test_a_count_over_nothing_is_undefined_too():
    """4 / 0 is infinite in floats: a quarter of the resamples of these two units, drawn again like 0 / 0."""
    assert bootstrap_intervals(table((2, 0), (1, 4)), {"ratio": ratio}, level=0.1)["ratio"] == (0.75, 0.75)
    assert bootstrap_intervals(table((2, 0)), {"ratio": ratio}) == {"ratio": None}


def test_no_unit_has_no_interval_and_no_p():
    none = np.empty((0, 2))
    constant = {"one": lambda s: np.ones(s.shape[:-1])}
    assert bootstrap_intervals(none, constant) == {"one": None}
    assert permutation_test(none, none, constant) == {"one": None}
    assert minimum_detectable_difference(none, none, constant) == {"one": None}


def test_a_metric_that_is_hardly_ever_defined_ends_without_interval():
    """Defined only if each of 10 units is drawn once: 10!/10^10, 4 in 10,000 resamples."""
    all_once = {"all": lambda s: np.where((s == 1).all(axis=-1), 1.0, np.nan)}
    assert bootstrap_intervals(np.eye(10), all_once, resamples=50) == {"all": None}


def test_one_unit_gives_the_estimate():
    assert bootstrap_intervals(table((1, 3)), {"ratio": ratio}) == {"ratio": (1 / 3, 1 / 3)}


def test_seeds():
    counts = reviews(np.random.default_rng(4), 30)
    first = bootstrap_intervals(counts, {"ratio": ratio}, seed=1)
    assert bootstrap_intervals(counts, {"ratio": ratio}, seed=1) == first
    assert bootstrap_intervals(counts, {"ratio": ratio}, seed=2) != first
    other = reviews(np.random.default_rng(5), 30)
    p = permutation_test(counts, other, {"ratio": ratio}, seed=1)
    assert permutation_test(counts, other, {"ratio": ratio}, seed=1) == p
    assert permutation_test(counts, other, {"ratio": ratio}, seed=2) != p


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b, m: bootstrap_intervals(a, m, resamples=400),
        lambda a, b, m: permutation_test(a, b, m, permutations=400),
    ],
    ids=["bootstrap", "permutation"],
)
def test_memory_does_not_grow_with_units_times_resamples(call):
    rng = np.random.default_rng(0)
    a, b = reviews(rng, 100_000), reviews(rng, 100_000, 0.5)
    tracemalloc.start()
    call(a, b, {"ratio": ratio})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All weights at once would be 400 x 100,000 x 8 = 320 MB.
    assert peak < 64_000_000


# --- the paired test


def all_swaps(a: np.ndarray, b: np.ndarray, metric: Callable[[np.ndarray], np.ndarray]) -> float:
    """p over every arrangement where the metric is defined on both sides."""
    differences = []
    for swapped in itertools.product([False, True], repeat=len(a)):
        mask = np.array(swapped)[:, np.newaxis]
        with np.errstate(invalid="ignore"):
            differences.append(metric(np.where(mask, a, b).sum(0)) - metric(np.where(mask, b, a).sum(0)))
    known = np.array([difference for difference in differences if not np.isnan(difference)])
    return float(np.mean(np.abs(known) >= abs(known[0]) - 1e-12))


@pytest.mark.parametrize("seed", range(6))
def test_p_agrees_with_scipy_and_with_all_arrangements(seed):
    rng = np.random.default_rng(seed)
    a, b = reviews(rng, 11, 0.35), reviews(rng, 11, 0.55)
    both = np.concatenate([a, b])  # scipy swaps single numbers, so it is given row numbers
    theirs = scipy.stats.permutation_test(
        (np.arange(11), np.arange(11, 22)),
        lambda x, y, axis: ratio(both[y].sum(axis=-2)) - ratio(both[x].sum(axis=-2)),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,  # all 2^11
    ).pvalue
    exact = all_swaps(a, b, ratio)
    assert exact == pytest.approx(theirs)
    ours = permutation_test(a, b, {"ratio": ratio})["ratio"]
    assert ours == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 10_000) + 1e-4)


def test_p_of_means_agrees_with_scipy():
    rng = np.random.default_rng(21)
    a, b = 1 / rng.integers(1, 8, 12), 1 / rng.integers(1, 5, 12)  # reciprocal ranks
    theirs = scipy.stats.permutation_test(
        (a, b), lambda x, y, axis: y.mean(axis) - x.mean(axis), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    ones = np.ones(12)
    ours = permutation_test(np.stack([a, ones], 1), np.stack([b, ones], 1), {"mrr": ratio})["mrr"]
    assert 0.01 < theirs < 0.9
    assert ours == pytest.approx(theirs, abs=4 * np.sqrt(theirs * (1 - theirs) / 10_000) + 1e-4)


def test_permutations_that_are_undefined_are_drawn_again():
    """A speaks in one pull request and B in two others: a side is silent in 2 of the 8 arrangements."""
    a = table((3, 4), (0, 0), (0, 0), (0, 0))
    b = table((0, 0), (1, 2), (0, 1), (0, 0))
    # Left are 3/4 against 1/3 (twice, by symmetry), 4/6 against 0/1 (twice), 3/5 against 1/2 (twice).
    assert all_swaps(a, b, ratio) == pytest.approx(4 / 6)
    assert permutation_test(a, b, {"ratio": ratio})["ratio"] == pytest.approx(4 / 6, abs=0.02)


def test_p_of_equal_runs_is_exactly_one():
    counts = reviews(np.random.default_rng(1), 20) / 7
    assert permutation_test(counts, counts.copy(), {"ratio": ratio}, permutations=100) == {"ratio": 1.0}


def test_p_is_one_where_runs_differ_but_the_metric_does_not():
    a, b = table((1, 2), (2, 4), (3, 7)), table((2, 4), (1, 2), (3, 7))
    assert permutation_test(a, b, {"ratio": ratio}) == {"ratio": 1.0}


def test_p_has_a_floor_and_does_not_depend_on_who_is_a():
    # B is better everywhere: of 2^40 arrangements only two are as extreme, and none of 999 hits them.
    a, b = table(*[(0, 1)] * 40), table(*[(1, 1)] * 40)
    assert permutation_test(a, b, {"ratio": ratio}, permutations=999) == {"ratio": 1 / 1000}
    rng = np.random.default_rng(6)
    a, b = reviews(rng, 15), reviews(rng, 15)
    assert permutation_test(a, b, {"ratio": ratio}) == permutation_test(b, a, {"ratio": ratio})


# --- by simulation


def test_no_difference_is_called_one_in_about_five_of_a_hundred_trials():
    rng = np.random.default_rng(2024)
    ps = []
    for trial in range(1000):
        a, b = reviews(rng, 50), reviews(rng, 50)
        ps.append(permutation_test(a, b, {"ratio": ratio}, permutations=999, seed=trial)["ratio"])
    assert 0.03 <= np.mean(np.array(ps) < 0.05) <= 0.07


def test_intervals_hold_the_truth_in_about_95_of_a_hundred_trials():
    rng = np.random.default_rng(2025)
    single = paired = 0
    for trial in range(1000):
        a, b = reviews(rng, 60, 0.4), reviews(rng, 60, 0.5)
        low, high = bootstrap_intervals(a, {"ratio": ratio}, resamples=1000, seed=trial)["ratio"]
        single += low <= 0.4 <= high
        low, high = bootstrap_difference(a, b, {"ratio": ratio}, resamples=1000, seed=trial)["ratio"]
        paired += low <= 0.1 <= high
    assert 920 <= single <= 980
    assert 920 <= paired <= 980


def test_a_minimum_detectable_difference_is_detected_four_times_in_five():
    """Differences of deviation 1 on 100 units: 2.8016 / sqrt(100), and a test finds a mean of that size."""
    rng = np.random.default_rng(7)
    one = np.ones(100)
    true = (1.959964 + 0.841621) / 10
    sizes, hits = [], 0
    for trial in range(500):
        shared = rng.normal(size=100)
        a = np.stack([shared, one], axis=1)
        b = np.stack([shared + rng.normal(true, 1, 100), one], axis=1)
        sizes.append(minimum_detectable_difference(a, b, {"mean": ratio}, resamples=200, seed=trial)["mean"])
        hits += permutation_test(a, b, {"mean": ratio}, permutations=499, seed=trial)["mean"] <= 0.05
    # A bootstrap divides by n where a sample's deviation divides by n - 1.
    assert np.mean(sizes) == pytest.approx(true * np.sqrt(99 / 100), rel=0.015)
    assert 0.75 <= hits / 500 <= 0.85


def test_minimum_detectable_difference_follows_alpha_and_power():
    rng = np.random.default_rng(3)
    a, b = reviews(rng, 40), reviews(rng, 40)
    default = minimum_detectable_difference(a, b, {"ratio": ratio})["ratio"]
    strict = minimum_detectable_difference(a, b, {"ratio": ratio}, alpha=0.01, power=0.9)["ratio"]
    assert strict / default == pytest.approx((2.575829 + 1.281552) / (1.959964 + 0.841621), rel=1e-6)


def test_without_noise_nothing_is_known_of_what_is_detectable():
    counts = reviews(np.random.default_rng(1), 20)
    assert minimum_detectable_difference(counts, counts, {"ratio": ratio}) == {"ratio": None}
    one_unit = minimum_detectable_difference(table((1, 2)), table((2, 2)), {"ratio": ratio})
    assert one_unit == {"ratio": None}


# --- refusals


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, m: bootstrap_intervals(t, m, level=95), "level must lie between 0 and 1, got 95"),
        (lambda t, m: bootstrap_intervals(t, m, resamples=0), "resamples must be at least 1, got 0"),
        (lambda t, m: permutation_test(t, t, m, permutations=0), "permutations must be at least 1"),
        (lambda t, m: minimum_detectable_difference(t, t, m, alpha=0), "alpha must lie between 0 and 1"),
        (lambda t, m: minimum_detectable_difference(t, t, m, power=1), "power must lie between 0 and 1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(call, message):
    with pytest.raises(UsageError, match=message):
        call(table((1, 2)), {"ratio": ratio})


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        permutation_test(table((1, 2)), table((1, 2), (1, 2)), {"ratio": ratio})
    with pytest.raises(ValueError, match=r"\(units, columns\)"):
        bootstrap_intervals(np.array([1.0, 2.0]), {"ratio": ratio})


# --- the examples


def test_the_examples_of_the_documentation_are_true():
    page = Path(__file__).parent.parent / "docs" / "statistics.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried > 10) == (0, True)
    failed, tried = doctest.testmod(metareview.stats)
    assert (failed, tried) == (0, 3)
