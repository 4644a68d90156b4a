"""The figures of calibrate, against hand counts and against the definitions spelled out."""

import itertools
import math
from dataclasses import asdict

import numpy as np
import pytest

from metareview.benchmark.calibrate import agreement, auc, reliability
from metareview.stats import kappa


def test_hand_counted():
    # At 0.5: called 1, 1, 0, 1; labels 1, 0, 0, 1. tp 2, fp 1, tn 1, fn 0.
    found = agreement([1, 0, 0, 1], [0.9, 0.6, 0.2, 0.5], 0.5)
    assert (found.n, found.errors) == (4, 0)
    assert found.accuracy == 0.75
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == 1
    # Observed 3/4; expected (3*2 + 1*2) / 16 = 1/2; kappa (1/4) / (1/2).
    assert found.kappa == pytest.approx(0.5)
    # Of the four (match, mismatch) pairs of scores only 0.5 against 0.6 is the wrong way round.
    assert found.auc == 0.75


def test_best_threshold_is_exact():
    # Calling the highest 1, 2, 3, 4 scores: kappa is 0.5, 0, 0.5, 0. The first of the best wins.
    found = agreement([1, 0, 0, 1], [0.9, 0.6, 0.2, 0.5], 0.5)
    assert found.best_kappa == pytest.approx(0.5)
    assert found.best_threshold == pytest.approx(0.75)
    assert agreement([1, 0, 0, 1], [0.9, 0.6, 0.2, 0.5], found.best_threshold).kappa == pytest.approx(0.5)


def test_best_threshold_parts_neighbouring_floats():
    low = 0.5
    high = math.nextafter(low, 1)
    found = agreement([0, 1], [low, high], 0.9)
    assert found.best_kappa == 1
    assert agreement([0, 1], [low, high], found.best_threshold).kappa == 1


def test_errors_are_counted_and_left_out():
    found = agreement([1, 0, 1], [0.9, 0.1, float("nan")], 0.5)
    assert (found.n, found.errors, found.accuracy, found.kappa) == (3, 1, 1.0, 1.0)


def test_nothing_decided_and_nothing_at_all():
    for labels, scores, n in (([1], [float("nan")], 1), ([], [], 0)):
        found = agreement(labels, scores, 0.5)
        assert (found.n, found.errors) == (n, n)
        assert found.kappa is found.auc is found.accuracy is found.best_threshold is None


def test_only_one_kind_of_label():
    found = agreement([1, 1], [0.9, 0.2], 0.5)
    assert found.auc is None
    assert found.kappa == 0
    assert agreement([0, 0], [0.1, 0.2], 0.5).kappa is None
    assert agreement([0, 0], [0.1, 0.2], 0.5).recall is None
    assert agreement([0, 0], [0.1, 0.2], 0.5).precision is None


def test_ties_count_half():
    assert auc([1, 0], [0.5, 0.5]) == 0.5
    assert auc([1, 0, 0], [0.5, 0.5, 0.1]) == 0.75


@pytest.mark.parametrize("seed", range(5))
def test_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 60)
    scores = np.round(rng.random(60), 1)
    won = [
        (scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j])
        for i, j in itertools.product(range(60), repeat=2)
        if labels[i] == 1 and labels[j] == 0
    ]
    assert auc(labels, scores) == pytest.approx(np.mean(won))

    def cohen(threshold):
        called = scores >= threshold
        table = np.array([[((called == a) & (labels == b)).mean() for b in (0, 1)] for a in (0, 1)])
        chance = table.sum(1) @ table.sum(0)
        return (np.trace(table) - chance) / (1 - chance)

    found = agreement(labels, scores, 0.4)
    assert found.kappa == pytest.approx(cohen(0.4))
    assert found.best_kappa == pytest.approx(max(cohen(t) for t in np.unique(scores)))
    assert cohen(found.best_threshold) == pytest.approx(found.best_kappa)


def test_kappa_from_counts():
    # The example of Cohen's kappa in the literature: 20 and 15 agreements, 5 and 10 disagreements, 50 cases.
    assert kappa(20, 25, 30, 50) == pytest.approx(0.4)


def test_reliability_bins():
    bins = reliability([1, 0, 1, 1], [0.0, 0.05, 0.95, 1.0], bins=10)
    assert [(b.low, b.high, b.n, b.match_rate) for b in bins] == [(0.0, 0.1, 2, 0.5), (0.9, 1.0, 2, 1.0)]
    assert [b.mean_score for b in bins] == pytest.approx([0.025, 0.975])


def test_json_names():
    found = asdict(agreement([1, 0], [0.9, 0.1], 0.5))
    names = "n errors kappa accuracy precision recall auc threshold best_threshold best_kappa reliability"
    new = "intervals interval_unit interval_units cross_fitted_kappa cross_fitted_gain"
    assert list(found) == [*names.split(), *new.split()]
    first = found["reliability"][0]
    assert first.pop("interval") == pytest.approx((0, 0.975))  # one trial: the chance of no hit is 0.025 at 0.975
    assert first == {"low": 0.1, "high": 0.2, "n": 1, "mean_score": 0.1, "match_rate": 0.0}


@pytest.mark.parametrize(("labels", "scores"), [([1], [0.1, 0.2]), ([2], [0.5]), ([[1]], [[0.5]])])
def test_refuses_what_is_no_labelling(labels, scores):
    with pytest.raises(ValueError, match="labels"):
        agreement(labels, scores, 0.5)
