"""Differences of two samples of pull requests that need not be the same ones."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats
from bench.unpaired import false_alarms, held
from hypothesis import given
from hypothesis import strategies as st

from metareview import unpaired
from metareview.outcomes.measures import COLUMNS, MEASURES
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


def t_statistic(rows_a, rows_b):
    """Welch's t of what each row has more than the common rate brings, from scipy."""
    (y_a, x_a), (y_b, x_b) = (np.array(rows, float).T for rows in (rows_a, rows_b))
    pooled = (y_a.sum() + y_b.sum()) / (x_a.sum() + x_b.sum())
    u_a, u_b = (y_a - pooled * x_a) / x_a.mean(), (y_b - pooled * x_b) / x_b.mean()
    return scipy.stats.ttest_ind(u_b, u_a, equal_var=False)


def rows_of(one):
    return [tuple(row) for row in one.counts[:, :2]]


def test_p_counts_the_splits_that_are_at_least_as_clear():
    rows_a, rows_b = rows_of(A), rows_of(B)[:5]
    rows = rows_a + rows_b
    observed = abs(t_statistic(rows_a, rows_b).statistic)
    splits = [set(chosen) for chosen in combinations(range(11), 6)]
    extreme = sum(
        abs(t_statistic([rows[i] for i in chosen], [rows[i] for i in range(11) if i not in chosen]).statistic)
        >= observed - 1e-9
        for chosen in splits
    )
    assert difference(A, sample(rows_b, prefix="b")).p == pytest.approx(extreme / 462)


def test_random_splits_come_near_to_all_of_them(monkeypatch):
    exact = difference(A, B).p
    monkeypatch.setattr("metareview.unpaired.comb", lambda n, k: 10**9)
    drawn = difference(A, B)
    assert drawn.p != exact
    assert drawn.p == pytest.approx(exact, abs=0.004)
    assert drawn.p == difference(A, B).p


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
    # All signs give the same p; random ones come from other draws.
    assert found.p == pytest.approx(paired.p, abs=1e-12 if n == 8 else 0.01)
    assert found.shared == found.units == n


def test_shared_pull_requests_are_left_out_of_both_sides():
    """Three of each side are shared, and hard for both alike: by brute force over splits and signs."""
    a = sample([(0, 4), (4, 5), (1, 6), (2, 5), (3, 4)], ["s0", "s1", "s2", "a0", "a1"])
    b = sample([(1, 4), (5, 5), (2, 6), (3, 5)], ["s0", "s1", "s2", "b0"])
    pooled = 21 / 44
    e = lambda rows: [y - pooled * x for y, x in rows]  # noqa: E731
    shared_a, shared_b = e(rows_of(a)[:3]), e(rows_of(b)[:3])
    lone = [*rows_of(a)[3:], *rows_of(b)[3:]]

    def statistic(in_b, signs):
        rows_a = [row for at, row in enumerate(lone) if at not in in_b]
        rows_b = [row for at, row in enumerate(lone) if at in in_b]
        x_a, x_b = 15 + sum(x for _, x in rows_a), 15 + sum(x for _, x in rows_b)
        e_a = [s * v for s, v in zip(signs, shared_a, strict=True)] + e(rows_a)
        e_b = [s * v for s, v in zip(signs, shared_b, strict=True)] + e(rows_b)
        c_a, c_b = np.array(e_a) - np.mean(e_a), np.array(e_b) - np.mean(e_b)
        wide_a, wide_b = 5 / 4, 4 / 3
        variance = wide_a * (c_a @ c_a) / x_a**2 + wide_b * (c_b @ c_b) / x_b**2
        variance -= 2 * (wide_a * wide_b) ** 0.5 * (c_a[:3] @ c_b[:3]) / (x_a * x_b)
        return abs(sum(e_b) / x_b - sum(e_a) / x_a) / variance**0.5

    observed = statistic({2}, (1, 1, 1))
    every = [statistic({at}, signs) for at in range(3) for signs in product((1, -1), repeat=3)]
    found = difference(a, b)
    assert found.p == pytest.approx(np.mean([each >= observed * (1 - 1e-9) for each in every]))
    apart = difference(a, sample(rows_of(b), prefix="b"))
    assert found.error < apart.error
    assert (found.shared, found.units) == (3, 6)
    assert found.interval[1] - found.interval[0] < apart.interval[1] - apart.interval[0]


def test_a_pull_request_without_anything_to_measure_does_not_count():
    more = Sample([*A.keys, "b000", "z"], np.vstack([A.counts, np.zeros((2, COLUMNS))]))
    assert difference(more, B) == difference(A, B)


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
    assert found.p == pytest.approx(2 / 924)
    assert found.units_needed(0.1, 0.05) is None


def test_a_side_without_a_figure():
    found = difference(A, sample([], prefix="b"))
    assert (found.value, found.p, found.interval, found.too_few_matches) == (None, None, None, False)


def test_many_pull_requests_go_by_t():
    rng = np.random.default_rng(4)
    a, b = (
        sample([(rng.binomial(x, rate), x) for x in rng.integers(1, 9, 500)], prefix=side)
        for side, rate in (("a", 0.3), ("b", 0.33))
    )
    assert difference(a, b).p == pytest.approx(t_statistic(rows_of(a), rows_of(b)).pvalue)


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
    assert back.p == (None if there.p is None else pytest.approx(there.p))
    if there.interval is not None:
        assert back.interval == (pytest.approx(-there.interval[1]), pytest.approx(-there.interval[0]))


def test_pairs_of_a_ranking_share_the_level_by_holm():
    rng = np.random.default_rng(2)
    samples = {
        name: sample([(rng.binomial(5, rate), 5) for _ in range(30)], prefix=name)
        for name, rate in (("x", 0.7), ("y", 0.4), ("z", 0.4))
    }
    found = independent_pairs(samples, LINES)
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


def test_a_ranking_of_many_shares_the_draws_of_five_hundred_pairs(monkeypatch):
    """Forty bots with a fixed number of pull requests and one shape of splits: 780 pairs, and one set of draws."""
    drawn, judged = [], []
    chosen, statistics = unpaired._chosen, unpaired._Exchange.statistics

    def counting(self, in_b, signs):
        judged.append(len(in_b))
        return statistics(self, in_b, signs)

    monkeypatch.setattr(
        unpaired, "_chosen", lambda rng, size, n, of_b: drawn.append(size) or chosen(rng, size, n, of_b)
    )
    monkeypatch.setattr(unpaired._Exchange, "statistics", counting)
    rng = np.random.default_rng(0)

    def bot(number):
        counts = np.zeros((15, COLUMNS))
        counts[:, 1] = 6
        counts[:, 0] = rng.binomial(6, 0.1 + 0.02 * number, 15)
        return Sample([f"{number}#{pr}" for pr in range(15)], counts)

    tests = independent_pairs({str(number): bot(number) for number in range(40)}, LINES)
    assert len(tests) == 780
    assert sum(drawn) == 10_000 * 500 // 780
    assert sum(judged) <= 10_000 * 500 + 780
    assert min(test.p for test in tests.values() if test.p is not None) == pytest.approx(1 / (1 + sum(drawn)))


def test_random_places_are_the_least_of_random_numbers_also_where_two_are_equal():
    class Few:
        """Random numbers of which many are equal."""

        def random(self, shape, dtype):
            return np.random.default_rng(3).integers(0, 4, shape).astype(dtype)

    for of_b in range(1, 9):
        places = unpaired._chosen(Few(), 50, 9, of_b)
        assert set(places.ravel()) == {0.0, 1.0}
        assert (places.sum(axis=1) == of_b).all()
        drawn = Few().random((50, 9), np.float32)
        assert (np.where(places == 1, drawn, -1).max(axis=1) <= np.where(places == 0, drawn, 9).min(axis=1)).all()
