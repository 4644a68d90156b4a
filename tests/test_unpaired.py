"""Differences of two samples of pull requests that need not be the same ones."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats
from bench.unpaired import before_and_after, false_alarms, held, week_alarms
from hypothesis import given
from hypothesis import strategies as st

from metareview import unpaired
from metareview.comparison.sample_units import in_units
from metareview.outcomes.measures import COLUMNS, MEASURES
from metareview.routing.weeks import BLOCKS
from metareview.stats import differences, intervals
from metareview.unpaired import Sample, independent_differences, independent_pairs

LINES = MEASURES[0]


def sample(rows, names=None, prefix="a"):
    """A sample whose pull requests have (lines changed, comments on lines)."""
    counts = np.zeros((len(rows), COLUMNS))
    if rows:
        counts[:, :2] = rows
    return Sample(names or [f"{prefix}{number:03}" for number in range(len(rows))], counts)


def difference(a, b, seed=0):
    return independent_differences(a, b, [LINES], seed=seed)["lines_changed"]


A = sample([(1, 4), (0, 3), (2, 6), (1, 5), (0, 2), (2, 4)])
B = sample([(3, 4), (2, 5), (4, 6), (1, 3), (5, 7), (2, 2), (3, 8)], prefix="b")


def rows_of(one):
    return [tuple(row) for row in one.counts[:, :2]]


def figure(rows):
    return sum(y for y, _ in rows) / sum(x for _, x in rows)


def t_statistic(a, b):
    """|B - A| over the jackknife's standard error, from dicts of rows by unit: each unit is left out of both."""
    units = sorted({*a, *b})

    def difference(left_out=None):
        sides = ([row for unit, row in side.items() if unit != left_out] for side in (a, b))
        of_a, of_b = map(figure, sides)
        return of_b - of_a

    without = [difference(unit) for unit in units]
    mean = sum(without) / len(without)
    variance = (len(units) - 1) / len(units) * sum((each - mean) ** 2 for each in without)
    return abs(difference()) / math.sqrt(variance)


def brute_force(a, b):
    """The share of all deals that are as clear: lone units to either side, sizes kept, shared ones exchanged or not."""
    shared = sorted(a.keys() & b.keys())
    lone = {**{unit: row for unit, row in a.items() if unit not in b}, **{u: row for u, row in b.items() if u not in a}}
    observed, deals = t_statistic(a, b), []
    for in_b in combinations(sorted(lone), len(b) - len(shared)):
        for bits in product((False, True), repeat=len(shared)):
            ours = {unit: row for unit, row in lone.items() if unit not in in_b}
            theirs = {unit: lone[unit] for unit in in_b}
            for unit, exchanged in zip(shared, bits, strict=True):
                ours[unit], theirs[unit] = (b[unit], a[unit]) if exchanged else (a[unit], b[unit])
            deals.append(t_statistic(ours, theirs))
    return float(np.mean([each >= observed * (1 - 1e-9) for each in deals]))


def by_unit(one):
    return dict(zip(one.keys, rows_of(one), strict=True))


def near(p):
    """Within four standard errors of 10,000 draws."""
    return pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 10_000) + 1e-4)


@pytest.mark.parametrize("size", [5, 7])
def test_p_is_near_the_share_of_all_deals_that_are_as_clear(size):
    b = sample(rows_of(B)[:size], prefix="b")
    found = difference(A, b)
    assert found.p == near(brute_force(by_unit(A), by_unit(b)))
    assert found.p == difference(A, b).p  # the same draws every time
    assert found.least_p == pytest.approx(2 / math.comb(6 + size, 6))


def test_value_and_interval_by_hand():
    """Zou and Donner: the distance of each end is the root of the sum of squared distances of the sides' own ends."""
    found = difference(A, B)
    theta_a, theta_b = 6 / 24, 20 / 35
    (low_a, high_a), (low_b, high_b) = (intervals(each.counts, [LINES])["lines_changed"] for each in (A, B))
    assert found.value == pytest.approx(theta_b - theta_a)
    assert found.interval == (
        pytest.approx(found.value - np.hypot(theta_b - low_b, high_a - theta_a)),
        pytest.approx(found.value + np.hypot(high_b - theta_b, theta_a - low_a)),
    )
    assert (found.units, found.units_a, found.units_b, found.shared) == (13, 6, 7, 0)


def jackknife(rows):
    y, x = np.array(rows, float).T
    without = (y.sum() - y) / (x.sum() - x)
    return (len(y) - 1) / len(y) * ((without - without.mean()) ** 2).sum()


def test_what_could_be_found_follows_welch():
    found = difference(A, B)
    var_a, var_b = jackknife(rows_of(A)), jackknife(rows_of(B))
    freedom = (var_a + var_b) ** 2 / (var_a**2 / 5 + var_b**2 / 6)
    assert found.error == pytest.approx((var_a + var_b) ** 0.5)
    reach = scipy.stats.t.ppf(0.975, freedom) + scipy.stats.t.ppf(0.8, freedom)
    assert found.detectable(0.05) == pytest.approx(reach * found.error)
    each = found.units_needed(0.2, 0.05)

    def findable(n):
        reach = scipy.stats.t.ppf(0.975, 2 * n - 2) + scipy.stats.t.ppf(0.8, 2 * n - 2)
        return reach * ((var_a * 6 + var_b * 7) / n) ** 0.5

    assert findable(each) <= 0.2 < findable(each - 1)


@pytest.mark.parametrize("n", [8, 40])
def test_where_all_pull_requests_are_shared_it_is_the_paired_test(n):
    rng = np.random.default_rng(n)
    x_a, x_b = rng.integers(1, 6, n), rng.integers(1, 12, n)
    names = [f"pr{number}" for number in range(n)]
    a, b = (sample(list(zip(rng.binomial(x, p), x, strict=True)), names) for x, p in ((x_a, 0.3), (x_b, 0.5)))
    paired = differences(a.counts, b.counts, [LINES])["lines_changed"]
    found = difference(a, b)
    assert found.value == pytest.approx(paired.value)
    assert found.error == pytest.approx(paired.error)
    assert found.p == paired.p
    assert found.shared == found.units == n


def test_shared_pull_requests_are_left_out_of_both_sides_and_exchanged():
    """Three of each side are shared, and hard for both alike."""
    a = sample([(0, 4), (4, 5), (1, 6), (2, 5), (3, 4), (2, 7)], ["s0", "s1", "s2", "a0", "a1", "a2"])
    b = sample([(1, 4), (5, 5), (2, 6), (3, 5), (4, 5)], ["s0", "s1", "s2", "b0", "b1"])
    found = difference(a, b)
    assert found.p == near(brute_force(by_unit(a), by_unit(b)))
    apart = difference(a, sample(rows_of(b), prefix="b"))
    assert found.error < apart.error
    assert (found.shared, found.units) == (3, 8)
    assert found.interval[1] - found.interval[0] < apart.interval[1] - apart.interval[0]
    assert found.least_p == pytest.approx(2 / (math.comb(5, 2) * 2**3))


def test_a_pull_request_without_anything_to_measure_does_not_count():
    more = Sample([*A.keys, "z"], np.vstack([A.counts, np.zeros((1, COLUMNS))]))
    assert difference(more, B) == difference(A, B)


def test_a_pull_request_that_one_side_only_kept_silent_on_is_shared():
    """A has B's first one too, without a comment: its two rows are exchanged, and it is not dealt to either side."""
    more = Sample([*A.keys, "b000"], np.vstack([A.counts, np.zeros((1, COLUMNS))]))
    found = difference(more, B)
    assert found.p == near(brute_force(by_unit(more), by_unit(B)))
    assert (found.value, found.units, found.shared) == (pytest.approx(difference(A, B).value), 13, 0)
    assert found.least_p == pytest.approx(2 / (math.comb(12, 6) * 2))


def test_a_sample_against_itself_is_no_difference():
    found = difference(A, A)
    assert (found.value, found.p, found.interval, found.detectable(0.05)) == (0.0, 1.0, (0.0, 0.0), None)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param([(0, 9), (1, 9), (0, 9), (1, 9)], [(2, 9), (1, 9), (0, 9), (1, 9)], id="3 matches of 36"),
        pytest.param([(9, 9), (8, 9), (9, 9), (8, 9)], [(7, 9), (8, 9), (9, 9), (8, 9)], id="33 of 36"),
        pytest.param([(9, 20)] * 3, [(1, 20), (3, 20), (2, 20), (1, 20)], id="3 pull requests"),
    ],
)
def test_too_few_to_test(a, b):
    found = difference(sample(a), sample(b, prefix="b"))
    assert found.p is None
    assert found.too_few_matches
    assert found.value is not None


def test_a_side_that_is_all_or_nothing_still_has_an_interval():
    """0 of 6 pull requests and 6 of 6: Clopper and Pearson, 0 to 0.459 and 0.541 to 1."""
    found = difference(sample([(0, 3)] * 6), sample([(3, 3)] * 6, prefix="b"))
    assert found.value == 1.0
    assert found.interval == (pytest.approx(1 - np.hypot(0.4593, 0.4593), abs=1e-4), 1.0)
    assert found.p == near(2 / 924)
    assert found.units_needed(0.1, 0.05) is None


def test_a_side_without_a_figure():
    found = difference(A, sample([], prefix="b"))
    assert (found.value, found.p, found.interval, found.too_few_matches) == (None, None, None, False)


def test_many_pull_requests_come_near_the_normal_distribution():
    rng = np.random.default_rng(4)
    a, b = (
        sample([(rng.binomial(x, rate), x) for x in rng.integers(1, 9, 500)], prefix=side)
        for side, rate in (("a", 0.3), ("b", 0.33))
    )
    found = difference(a, b)
    assert found.p == pytest.approx(2 * scipy.stats.norm.sf(abs(found.value) / found.error), abs=0.01)


def test_keys_are_distinct():
    with pytest.raises(ValueError, match="distinct"):
        sample([(1, 2), (1, 2)], ["x", "x"])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=4, max_size=9), st.integers(0, 9))
def test_exchanging_the_sides_turns_the_sign_and_nothing_else(rows, shared):
    half = len(rows) // 2
    a = sample([(y, y + more) for y, more in rows[:half]])
    names = [*a.keys[:shared], *(f"b{number}" for number in range(len(rows)))][: len(rows) - half]
    b = sample([(y, y + more) for y, more in rows[half:]], names)
    there, back = difference(a, b), difference(b, a)
    assert back.value == (None if there.value is None else pytest.approx(-there.value))
    # Deals are drawn, and others for the sides turned round.
    assert back.p == (None if there.p is None else near(there.p))
    if there.interval is not None:
        assert back.interval == (pytest.approx(-there.interval[1]), pytest.approx(-there.interval[0]))


def test_pairs_of_a_ranking_share_the_level_by_holm():
    rng = np.random.default_rng(2)
    samples = {
        name: sample([(rng.binomial(5, rate), 5) for _ in range(30)], prefix=name)
        for name, rate in (("x", 0.7), ("y", 0.4), ("z", 0.4))
    }
    pairs = {(one, other): (samples[one], samples[other]) for one, other in combinations(samples, 2)}
    found = independent_pairs(pairs, LINES)
    alone = {pair: difference(samples[pair[0]], samples[pair[1]]) for pair in found}
    assert list(found) == [("x", "y"), ("x", "z"), ("y", "z")]
    # One that is not clear is drawn for less long.
    assert [test.p for test in found.values()] == [pytest.approx(each.p, abs=0.03) for each in alone.values()]
    assert found["x", "z"].p_family == pytest.approx(3 * alone["x", "z"].p)
    assert [test.separated for test in found.values()] == [True, True, False]


@pytest.mark.parametrize(("sizes", "volumes"), [((15, 15), (1, 4)), ((10, 100), (4, 1))])
def test_equal_bots_are_rarely_called_different(sizes, volumes):
    """300 samples: 5 % is 15 of them, and over 28 would come by chance once in a thousand."""
    assert false_alarms(sizes, volumes, rate=0.3, alike=0.3, repeats=300).alarms <= 28 / 300


def test_intervals_hold_the_true_difference():
    """400 samples: 95 % are 380 of them; under 364 would come by chance once in a thousand."""
    assert held((12, 40), (1, 4), rates=(0.2, 0.5), alike=0.3, repeats=400) >= 364 / 400


def test_a_ranking_of_many_shares_the_draws_of_a_fixed_number_of_pairs(monkeypatch):
    """Six bots, 15 pairs, the draws of 5: at most a third of 10,000 each, so that the clearest p is 1 of 3,334."""
    monkeypatch.setattr(unpaired, "_DRAWN_IN_FULL", 5)
    rng = np.random.default_rng(0)
    bots = {str(n): sample([(y, 6) for y in rng.binomial(6, 0.1 + 0.15 * n, 15)], prefix=f"{n}#") for n in range(6)}
    tests = independent_pairs({pair: (bots[pair[0]], bots[pair[1]]) for pair in combinations(bots, 2)}, LINES)
    assert min(test.p for test in tests.values() if test.p is not None) == pytest.approx(1 / 3334)


def test_weeks_that_differ_are_not_taken_for_a_difference_of_bots():
    """150 sets of 26 weeks each, sd 1: over pull requests, the former units, a quarter is called different."""
    rng = np.random.default_rng(1)
    a, b, weeks = before_and_after(rng, 26, 1.0)
    assert (in_units(a, b, weeks).units.kind, in_units(a, b, weeks).shared) == (BLOCKS, 0)
    by_block, by_pr = week_alarms(26, 1.0, 150, seed=3)
    assert by_block <= 0.1
    assert by_pr >= 0.15


def test_a_bot_that_is_better_is_found_over_blocks_of_weeks():
    assert week_alarms(26, 0.5, 60, better=1.0, seed=4)[0] >= 0.8
