"""Who is asked about, and what the answers say of everybody."""

from itertools import combinations, zip_longest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.comparison.strata import LEAST, Sample, allocate, draw, draw_units, estimated, least_draw, passed_over


@given(st.lists(st.tuples(st.integers(1, 400), st.floats(0.01, 100)), min_size=1, max_size=12), st.integers(1, 500))
def test_the_budget_is_spent_and_every_stratum_has_its_minimum(strata, budget):
    sizes, weights = zip(*strata, strict=True)
    drawn = allocate(sizes, weights, budget)
    assert all(min(LEAST, size) <= number <= size for size, number in zip(sizes, drawn, strict=True))
    assert sum(drawn) == min(sum(sizes), max(budget, least_draw(sizes)))


def test_what_is_free_goes_by_weight():
    # Minimum for the last (8), then 112 between the others by 1 : 3.
    assert allocate([500, 500, 500], [1.0, 3.0, 0.001], 120) == [28, 84, 8]
    assert allocate([500, 20, 500], [1.0, 10.0, 1.0], 120) == [50, 20, 50]
    assert allocate([3, 4], [1.0, 1.0], 120) == [3, 4]
    assert allocate([100, 100, 100], [1.0, 1.0, 1.0], 100) == [34, 33, 33]


def test_the_draw_is_repeatable_and_takes_turns():
    stratum = [0] * 50 + [1] * 25
    order = draw(stratum, [20, 10], seed=3)
    assert order == draw(stratum, [20, 10], seed=3) != draw(stratum, [20, 10], seed=4)
    assert len(set(order)) == 30
    assert [stratum[unit] for unit in order[:4]] == [0, 1, 0, 1]  # two of each first
    for stop in (9, 15, 30):
        of_second = sum(stratum[unit] for unit in order[:stop])
        assert of_second == pytest.approx(stop / 3, abs=1)


def test_each_unit_is_as_likely_to_be_drawn_as_the_next():
    hits = np.zeros(10)
    for seed in range(2000):
        hits[draw([0] * 10, [3], seed)] += 1
    assert hits == pytest.approx(np.full(10, 600), abs=90)  # over four standard deviations


def test_the_estimate_by_hand():
    nan = float("nan")
    y = estimated([0, 0, 0, 0, 1], [1, 0, nan, nan, 1])
    # Mean 0.5 of two of four: 0.5 + 2(1 - 0.5), 0.5 + 2(0 - 0.5), 0.5, 0.5; the other stratum is known whole.
    assert y == pytest.approx([1.5, -0.5, 0.5, 0.5, 1.0])
    assert estimated([0, 0, 0], [1, nan, nan]) is None
    assert Sample.of([3, 1], [0], [1.0]).missing == 2


@given(st.integers(0, 2**32 - 1))
def test_its_sum_is_that_of_the_stratified_mean(seed):
    rng = np.random.default_rng(seed)
    stratum = rng.integers(0, 3, 60)
    value = rng.random(60)
    labelled = np.zeros(60, bool)
    for h in range(3):
        labelled[rng.permutation(np.flatnonzero(stratum == h))[:5]] = True
    y = estimated(stratum, np.where(labelled, value, np.nan))
    assert y is not None
    expected = sum((stratum == h).sum() * value[(stratum == h) & labelled].mean() for h in range(3))
    assert y.sum() == pytest.approx(expected)


def test_a_perfect_prediction_leaves_no_noise_and_a_wrong_one_no_bias():
    stratum, value = [0] * 6, np.array([1, 0, 1, 0, 0, 1.0])

    def sums(predicted):
        for drawn in combinations(range(6), 3):
            some = np.where(np.isin(np.arange(6), drawn), value, np.nan)
            yield estimated(stratum, some, predicted).sum()

    assert list(sums(value)) == pytest.approx([3.0] * 20)
    assert np.mean(list(sums(1 - value))) == pytest.approx(3.0)
    assert np.mean(list(sums(None))) == pytest.approx(3.0)


def test_passed_over_is_what_stands_open_before_a_labelled_one_of_its_stratum():
    def asked(text):
        """`a`, `b`: strata; capital: labelled."""
        return [("ab".index(each.lower()), each.isupper()) for each in text]

    assert passed_over(asked("")) == 0
    assert passed_over(asked("AABBab")) == 0
    assert passed_over(asked("abAB")) == 2
    assert passed_over(asked("aBbBBa")) == 1  # the open a has no labelled a after it
    assert passed_over(asked("aaA")) == 2


@pytest.mark.parametrize(
    ("labelled", "over", "missing_units", "provisional", "complete"),
    [
        ((1, 2), 0, 1, False, False),  # no estimate, so nothing that could be provisional
        ((2, 3), 0, 0, True, False),
        ((7, 3), 0, 0, True, False),
        ((8, 2), 0, 0, True, False),  # the stratum of three has two
        ((8, 3), 0, 0, False, True),
        ((8, 3), 1, 0, True, False),
        ((20, 3), 0, 0, False, True),
    ],
)
def test_an_estimate_is_provisional_until_each_stratum_has_eight_labels_or_all_and_none_was_passed_over(
    labelled, over, missing_units, provisional, complete
):
    known = [0] * labelled[0] + [1] * labelled[1]
    sample = Sample.of([20, 3], known, [0.0] * len(known), over)
    assert (sample.missing, sample.provisional, sample.complete) == (missing_units, provisional, complete)


@given(st.integers(0, 2**32 - 1), st.integers(20, 120), st.integers(1, 80))
def test_what_was_drawn_stays_drawn_and_keeps_its_stratum_whatever_changes_since(seed, budget, more):
    rng = np.random.default_rng(seed)

    def keys(units):
        """Each unit's stratum by the verdicts of the day."""
        return {unit: "abc"[int(rng.choice(3, p=shares))] for unit in units}

    def weights(stratum, strata):
        chances = rng.random(len(strata))
        return [chances[h] * sum(each == h for each in stratum) for h in range(len(strata))]

    def sizes(found):
        return [sum(at == h for at in found.stratum.values()) for h in range(len(found.strata))]

    def drawn_of(found):
        return [sum(found.stratum[unit] == h for unit in found.drawn) for h in range(len(found.strata))]

    shares = rng.dirichlet(np.ones(3))
    units = list(range(int(rng.integers(30, 200))))
    first = draw_units(keys(units), weights, budget, seed, order=lambda key: (key,))
    shares = rng.dirichlet(np.ones(3))  # other verdicts, and units that were not there
    later = [*units, *range(1000, 1000 + int(rng.integers(0, 60)))]
    again = draw_units(keys(later), weights, budget + more, seed, order=lambda key: (key,), before=first)

    assert set(first.drawn) <= set(again.drawn)
    assert len(set(again.drawn)) == len(again.drawn)
    assert {unit: again.stratum[unit] for unit in units} == dict(first.stratum)
    assert list(again.strata[: len(first.strata)]) == list(first.strata)
    assert all(again.stratum[unit] >= len(first.strata) for unit in later if unit not in first.stratum)
    assert all(after >= before for before, after in zip(drawn_of(first), drawn_of(again), strict=False))
    assert all(number >= min(LEAST, size) for number, size in zip(drawn_of(again), sizes(again), strict=True))
    # No more than the budget, unless what was drawn and the minimum of each stratum take more.
    least = [max(min(LEAST, size), before) for size, before in zip_longest(sizes(again), drawn_of(first), fillvalue=0)]
    assert len(again.drawn) == min(len(later), max(budget + more, sum(least)))
