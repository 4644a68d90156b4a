"""A second source of variance in intervals and tests: by hand, with its degrees of freedom, and where it is alone."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta, t

from metareview.comments.measures import Counts, positive_match_rate, table
from metareview.stats import NO_VARIANCE, Variance, differences, intervals
from metareview.ties import pairwise_tests

PRECISION = positive_match_rate.name


def counts(*rows):
    """Comments and matches of each unit."""
    return table(Counts(generated=x, matched=y, unmatched=x - y) for x, y in rows)


A = counts((5, 2), (4, 1), (6, 3), (3, 0), (7, 2), (5, 1))
B = counts((5, 4), (4, 3), (6, 5), (3, 2), (7, 4), (5, 3))


def jackknife(one, other=None):
    """The variance of a rate, or of a difference of two, with each unit left out by hand."""

    def rate(rows):
        return sum(row[3] for row in rows) / sum(row[1] for row in rows)

    def figure(left_out):
        kept = [rate([row for at, row in enumerate(rows) if at != left_out]) for rows in (one, other or one)]
        return kept[1] - kept[0] if other else kept[0]

    one, other = one.tolist(), None if other is None else other.tolist()
    without = [figure(at) for at in range(len(one))]
    n = len(without)
    return (n - 1) / n * sum((each - sum(without) / n) ** 2 for each in without)


def test_variances_add_with_the_degrees_of_freedom_of_welch_and_satterthwaite():
    whole = Variance(0.002, 9) + Variance(0.001, 2) + Variance(0.003, 4)
    assert whole.value == pytest.approx(0.006)
    assert whole.freedom == pytest.approx(0.006**2 / (0.002**2 / 9 + 0.001**2 / 2 + 0.003**2 / 4))
    other_order = Variance(0.003, 4) + (Variance(0.001, 2) + Variance(0.002, 9))
    assert (other_order.value, other_order.freedom) == pytest.approx((whole.value, whole.freedom))
    assert Variance(0.1, 3) + NO_VARIANCE == NO_VARIANCE + Variance(0.1, 3) == Variance(0.1, 3)


def test_a_bound_leaves_the_degrees_of_freedom_of_what_it_is_added_to():
    assert Variance(0.25) + Variance(0.5, 3) == Variance(0.5, 3) + Variance(0.25) == Variance(0.75, 3)
    assert (Variance(0.25) + Variance(0.5)).freedom is None
    whole = jackknife(A) + 0.004
    reach = t.ppf(0.975, 5) * whole**0.5 / (0.3 * 0.7)
    expected = expit(logit(0.3) - reach), expit(logit(0.3) + reach)
    assert intervals(A, [positive_match_rate], {PRECISION: Variance(0.004)})[PRECISION] == pytest.approx(expected)


@pytest.mark.parametrize("extra", [Variance(0.004, 2), Variance(0.004, math.inf)])
def test_the_interval_of_a_rate_takes_it_in_on_the_scale_of_the_log_odds(extra):
    of_units = jackknife(A)
    whole = of_units + 0.004
    freedom = whole**2 / (of_units**2 / 5 + 0.004**2 / extra.freedom)
    reach = t.ppf(0.975, freedom) * whole**0.5 / (0.3 * 0.7)
    expected = expit(logit(0.3) - reach), expit(logit(0.3) + reach)
    assert intervals(A, [positive_match_rate], {PRECISION: extra})[PRECISION] == pytest.approx(expected)


def test_without_a_second_source_nothing_changes():
    alone = intervals(A, [positive_match_rate])
    assert intervals(A, [positive_match_rate], {}) == intervals(A, [positive_match_rate], {"f1": Variance(1)}) == alone
    assert differences(A, B, [positive_match_rate]) == differences(A, B, [positive_match_rate], extra={})


def test_where_no_unit_moves_the_rate_the_second_source_is_all_of_the_error():
    half = counts((2, 1), (4, 2), (2, 1), (4, 2))
    by_trials = beta.ppf(0.025, 2, 3), beta.ppf(0.975, 3, 2)
    assert intervals(half, [positive_match_rate])[PRECISION] == pytest.approx(by_trials)
    found = intervals(half, [positive_match_rate], {PRECISION: Variance(0.01, 2)})[PRECISION]
    reach = t.ppf(0.975, 2) * 0.1 / 0.25
    assert found == pytest.approx((expit(-reach), expit(reach)))


def test_a_rate_of_0_stays_within_its_end():
    none = counts((2, 0), (4, 0), (2, 0))
    alone = beta.ppf(0.975, 1, 3)
    low, high = intervals(none, [positive_match_rate], {PRECISION: Variance(0.001, 9)})[PRECISION]
    assert (low, high) == pytest.approx((0, (alone**2 + t.ppf(0.975, 9) ** 2 * 0.001) ** 0.5))


def test_the_interval_of_a_difference_takes_it_in_and_p_does_not():
    alone = differences(A, B, [positive_match_rate])[PRECISION]
    more = differences(A, B, [positive_match_rate], extra={PRECISION: Variance(0.01, 3)})[PRECISION]
    of_units = jackknife(A, B)
    freedom = (of_units + 0.01) ** 2 / (of_units**2 / 5 + 0.01**2 / 3)
    reach = t.ppf(0.975, freedom) * (of_units + 0.01) ** 0.5
    assert more.interval == pytest.approx((0.4 - reach, 0.4 + reach))
    assert more.error == pytest.approx((of_units + 0.01) ** 0.5)
    assert (more.p, more.value) == (alone.p, alone.value)
    assert more.detectable(0.05) == pytest.approx((t.ppf(0.975, freedom) + t.ppf(0.8, freedom)) * more.error)


def test_more_units_lessen_the_variance_of_units_alone():
    extra = Variance(0.0004, 4)
    found = differences(A, B, [positive_match_rate], extra={PRECISION: extra})[PRECISION]
    of_units = jackknife(A, B) * 6

    def shown(n):
        whole = of_units / n + extra.value
        freedom = whole**2 / ((of_units / n) ** 2 / (n - 1) + extra.value**2 / extra.freedom)
        return (t.ppf(0.975, freedom) + t.ppf(0.8, freedom)) * whole**0.5

    needed = found.units_needed(0.1, 0.05)
    assert shown(needed) <= 0.1 < shown(needed - 1)
    assert needed > differences(A, B, [positive_match_rate])[PRECISION].units_needed(0.1, 0.05)
    assert found.units_needed(0.01, 0.05) is None  # whatever the number of units, the other part stays


def test_letters_need_an_interval_without_0_with_both_sides_variance():
    rng = np.random.default_rng(1)
    generated = 4 + rng.poisson(3, 30)
    a, b = (counts(*zip(generated.tolist(), rng.binomial(generated, rate), strict=True)) for rate in (0.3, 0.6))
    alone = pairwise_tests({"a": a, "b": b}, positive_match_rate)["a", "b"]
    assert alone.separated
    for name in "ab":
        wide = pairwise_tests({"a": a, "b": b}, positive_match_rate, extra={name: Variance(0.05, 2)})["a", "b"]
        assert not wide.separated
        assert (wide.p, wide.p_family) == (alone.p, alone.p_family)
    narrow = {name: Variance(1e-5, 2) for name in "ab"}
    assert pairwise_tests({"a": a, "b": b}, positive_match_rate, extra=narrow)["a", "b"].separated


def test_on_a_leaderboard_intervals_of_repeated_runs_hold_for_all_pairs_at_once():
    """Rates 0.25 and 0.55, to which the runs of either add 0.004 with 2 degrees of freedom, so that 4 in all: t is 2.78
    for one pair and 3.96 for three, and the difference is 3.35 standard errors."""
    a, b, c = (counts(*((10, matched) for matched in row)) for row in ([2, 3] * 10, [5, 6] * 10, [2, 3, 3, 2] * 5))
    extra = {name: Variance(0.004, 2) for name in "abc"}
    assert pairwise_tests({"a": a, "b": b}, positive_match_rate, extra=extra)["a", "b"].separated
    of_three = pairwise_tests({"a": a, "b": b, "c": c}, positive_match_rate, extra=extra)["a", "b"]
    assert (of_three.p_family <= 0.05, of_three.separated) == (True, False)
    bounds = {name: Variance(0.004) for name in "abc"}
    assert pairwise_tests({"a": a, "b": b, "c": c}, positive_match_rate, extra=bounds)["a", "b"].separated
