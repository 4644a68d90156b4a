"""Intervals of an agreement and cross-fitted thresholds, against leaving out each unit by hand."""

import numpy as np
import pytest
import scipy.stats
from bench.agreement import JUDGES, trials

from metareview.benchmark.calibrate import agreement
from metareview.benchmark.chance import effective_units
from metareview.benchmark.thresholds import best_threshold
from metareview.benchmark.units import GROUP, PULL_REQUEST, Units, units_of

FIGURES = ("kappa", "accuracy", "precision", "recall", "auc")


def sample(seed, units=12, pairs=150):
    """Labels, scores and unequal units: half of the pairs are of the first two."""
    rng = np.random.default_rng(seed)
    of = np.concatenate([np.arange(units), rng.integers(0, 2, pairs // 2), rng.integers(0, units, pairs // 2)])
    labels = (rng.random(len(of)) < 0.3).astype(float)
    scores = np.clip(np.round(0.35 * labels + rng.random(len(of)) * 0.65, 2), 0, 1)
    return labels, scores, Units(GROUP, [f"g{unit}" for unit in range(units)], of)


def by_hand(labels, scores, units, name, sizes):
    """The interval, from one agreement per unit that is left out."""
    figure = getattr(agreement(labels, scores, 0.5), name)
    # A unit without matches has no part in recall, but its mismatches have one in AUC.
    kept = [at for at in range(len(units.names)) if sizes[at] or name == "auc"]
    left = [getattr(agreement(labels[units.of != at], scores[units.of != at], 0.5), name) for at in kept]
    n = len(left)
    error = np.sqrt((n - 1) / n * np.sum((left - np.mean(left)) ** 2))
    used = sizes[sizes > 0]
    reach = scipy.stats.t.ppf(0.975, max(1, used.sum() ** 2 / (used**2).sum() - 1)) * error
    if name == "kappa":
        return np.tanh([np.arctanh(figure) + sign * reach / (1 - figure**2) for sign in (-1, 1)])
    middle = np.log(figure / (1 - figure))
    return [1 / (1 + np.exp(-(middle + sign * reach / (figure * (1 - figure))))) for sign in (-1, 1)]


@pytest.mark.parametrize("seed", range(6))
def test_each_interval_is_what_leaving_out_each_unit_gives(seed):
    labels, scores, units = sample(seed)
    found = agreement(labels, scores, 0.5, units=units)
    assert (found.interval_unit, found.interval_units) == (GROUP, 12)
    called = scores >= 0.5
    weight = {"kappa": np.ones(len(labels)), "accuracy": np.ones(len(labels)), "precision": called}
    weight |= {"recall": labels, "auc": labels}
    for name in FIGURES:
        sizes = np.bincount(units.of, weight[name])
        assert found.intervals[name] == pytest.approx(by_hand(labels, scores, units, name, sizes), abs=1e-9), name
        low, high = found.intervals[name]
        assert low < getattr(found, name) < high


def test_units_that_say_the_same_twice_are_no_more_evidence():
    """Every pair doubled inside its pull request: the same intervals, where independent pairs would narrow them."""
    labels, scores, units = sample(3)
    twice = Units(units.kind, units.names, np.tile(units.of, 2))
    doubled = agreement(np.tile(labels, 2), np.tile(scores, 2), 0.5, units=twice)
    once = agreement(labels, scores, 0.5, units=units)
    for name in FIGURES:
        assert doubled.intervals[name] == pytest.approx(once.intervals[name], abs=1e-9)


def test_one_unit_has_no_interval():
    labels, scores, _ = sample(0)
    found = agreement(labels, scores, 0.5, units=Units(GROUP, ["all"], np.zeros(len(labels), np.int64)))
    assert (found.interval_unit, set(found.intervals.values())) == (None, {None})
    assert found.cross_fitted_kappa is None
    assert agreement(labels, scores, 0.5).intervals == found.intervals


def test_perfect_agreement_counts_the_units_as_trials():
    units = Units(GROUP, list("abcdefgh"), np.repeat(np.arange(8), 2))
    found = agreement([1, 0] * 8, [0.9, 0.1] * 8, 0.5, units=units)
    assert found.kappa == 1
    for name in FIGURES:
        assert found.intervals[name] == pytest.approx((0.025 ** (1 / 8), 1)), name


def test_a_judge_that_never_says_yes():
    units = Units(GROUP, list("abcde"), np.repeat(np.arange(5), 2))
    found = agreement([1, 0] * 5, [0.1, 0.1] * 5, 0.5, units=units)
    assert found.kappa == 0
    assert found.intervals["kappa"] == pytest.approx((0, 1 - 0.025 ** (1 / 5)))
    assert found.intervals["precision"] is None
    assert found.intervals["recall"][0] == 0


def test_a_kappa_below_0_has_an_interval_below_and_around_it():
    labels, scores, units = sample(1)
    found = agreement(1 - labels, scores, 0.5, units=units)
    assert found.kappa < 0
    low, high = found.intervals["kappa"]
    assert -1 <= low < found.kappa < high <= 1


def test_matches_that_are_all_of_one_unit_leave_auc_without_an_interval():
    units = Units(GROUP, ["a", "b", "c"], np.array([0, 0, 1, 1, 2, 2]))
    found = agreement([1, 0, 0, 0, 0, 0], [0.9, 0.2, 0.3, 0.95, 0.1, 0.2], 0.5, units=units)
    assert found.auc == pytest.approx(0.8)
    assert found.intervals["auc"] is None
    assert found.intervals["recall"] is None
    assert found.intervals["accuracy"] is not None


def test_undecided_pairs_take_their_units_with_them():
    labels, scores, units = sample(2)
    gone = scores.copy()
    gone[units.of == 4] = np.nan
    found = agreement(labels, gone, 0.5, units=units)
    rest = units.of != 4
    alone = agreement(labels[rest], scores[rest], 0.5, units=units.part(rest))
    assert found.interval_units == alone.interval_units == 11
    assert found.intervals == alone.intervals


def test_effective_units():
    assert effective_units(np.array([3.0, 3.0, 3.0, 3.0])) == 4
    assert effective_units(np.array([10.0, 0.0])) == 1


def test_pull_requests_are_one_unit_however_they_are_written():
    same = ["https://github.com/Acme/shop/pull/7", "https://api.github.com/repos/acme/shop/pulls/7"]
    units = units_of([*same, "https://github.com/acme/shop/pull/8"], ["a", "b", "c"])
    assert (units.kind, units.of.tolist(), units.lone) == (PULL_REQUEST, [0, 0, 1], 0)


def test_groups_where_no_pull_request_is_named_and_one_unit_of_all_that_name_neither():
    units = units_of(["o/r#1", None, None, None, "o/r#1"], ["x", "x", None, None, None])
    assert (units.kind, units.of.tolist(), units.lone) == (GROUP, [0, 1, 2, 2, 0], 2)
    # A group that is called as we call our own things is a group like any other.
    assert len(units_of([None, None], [None, "group"]).names) == 2


def test_folds_hold_whole_units_whatever_the_order_of_the_labels():
    names = [f"pr {number}" for number in range(23)]
    of = np.arange(200) % 23
    folds = Units(GROUP, names, of).folds()
    assert sorted(set(folds.tolist())) == list(range(10))
    assert len({(unit, fold) for unit, fold in zip(of.tolist(), folds.tolist(), strict=True)}) == 23
    turned = Units(GROUP, names[::-1], 22 - of).folds()
    assert turned.tolist() == folds.tolist()


def test_cross_fitting_by_hand():
    labels, scores, units = sample(5)
    folds = units.folds()
    called = np.zeros(len(labels))
    for fold in range(10):
        chosen, _ = best_threshold(labels[folds != fold], scores[folds != fold])
        called[folds == fold] = scores[folds == fold] >= chosen
    found = agreement(labels, scores, 0.9, units=units)
    expected = agreement(labels, called, 0.5)
    assert found.cross_fitted_kappa == pytest.approx(expected.kappa)
    assert found.cross_fitted_gain == pytest.approx(expected.kappa - found.kappa)
    assert found.best_kappa >= found.cross_fitted_kappa
    low, high = found.intervals["cross_fitted_gain"]
    assert low < found.cross_fitted_gain < high
    assert low > 0  # 0.9 is a bad threshold, and everybody can tell


def test_scores_that_mean_nothing_have_a_best_threshold_in_sample_alone():
    rng = np.random.default_rng(0)
    best, fitted = [], []
    for _ in range(60):
        labels = (rng.random(80) < 0.4).astype(float)
        units = Units(GROUP, [str(unit) for unit in range(20)], np.arange(80) % 20)
        found = agreement(labels, rng.random(80), 0.5, units=units)
        best.append(found.best_kappa)
        fitted.append(found.cross_fitted_kappa)
    assert np.mean(best) > 0.1
    assert abs(np.mean(fitted)) < 0.05


@pytest.mark.parametrize(("units", "known"), [(4, False), (5, True)])
def test_cross_fitting_takes_five_units(units, known):
    labels, scores = np.tile([1.0, 0.0, 0.0], units), np.tile([0.8, 0.3, 0.6], units)
    found = agreement(labels, scores, 0.5, units=Units(GROUP, list("abcde")[:units], np.repeat(np.arange(units), 3)))
    assert (found.cross_fitted_kappa is not None) is known
    if known:
        assert found.cross_fitted_kappa == 1


def test_intervals_hold_a_known_truth():
    """Thirty pull requests of very unequal size, on which a judge errs together; seeded."""
    trial = trials(JUDGES["good"], 30, repeats=150)
    # 95 % of 150 are 142; 132 is 3.8 deviations below.
    assert all(held >= 132 / 150 for held in trial.held.values()), trial.held
    assert trial.known == 1
    assert trial.best > 0 > trial.fitted


def test_labels_that_say_the_opposite_of_the_judge_have_an_interval():
    """Labels the wrong way round, in units of unequal size: kappa is -1, and not without some of them."""
    prs = ["a", "a", "b", "c"]
    found = agreement([1, 0, 1, 0], [0.1, 0.9, 0.1, 0.9], 0.5, units=units_of(prs, [None] * 4))
    assert found.kappa == -1
    # None of three units agrees: the exact upper end is 1 - 0.025 ** (1 / 3).
    assert found.intervals["kappa"] == pytest.approx((-1, 1 - 0.025 ** (1 / 3)))
