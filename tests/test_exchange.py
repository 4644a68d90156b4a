"""The studentised exchange against brute force in exact fractions, and by simulation with a known truth."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from bench.equal_reviewers import (
    EQUAL,
    alike_but_for_one,
    called_different,
    of_precision,
    of_recall,
    sixteen_fold,
    uneven,
    with_bursts,
)

from metareview.comments.measures import (
    Counts,
    f1,
    f_beta,
    one_to_one,
    positive_match_rate,
    positive_recall_rate,
    table,
)
from metareview.exchange import exchange_test

INFINITE = "infinite"


def counts(rows):
    """Tables of (comments, matched, references, covered) per pull request."""
    return table(Counts(generated=g, matched=m, expected=e, covered=c) for g, m, e, c in rows)


def precision(rows):
    """The figure and what each unit adds to it; None where nothing stands below the line."""
    x, y = (sum(Fraction(row[at]) for row in rows) for at in (0, 1))
    return None if x == 0 else (y / x, [(row[1] - y / x * row[0]) / x for row in rows])


def harmonic(weight):
    """F of precision and recall where matches are not one-to-one: the delta method over both ratios."""

    def figure(rows):
        x1, y1, x2, y2 = (sum(Fraction(row[at]) for row in rows) for at in range(4))
        if x1 == x2 == 0:
            return None
        p, r = (y1 / x1 if x1 else Fraction(0)), (y2 / x2 if x2 else Fraction(0))
        under = weight * p + r
        if under == 0:
            return Fraction(0), [Fraction(0)] * len(rows)
        slopes = (1 + weight) * r**2 / under**2, (1 + weight) * weight * p**2 / under**2
        of_p = [slopes[0] * (row[1] - p * row[0]) / x1 if x1 else Fraction(0) for row in rows]
        of_r = [slopes[1] * (row[3] - r * row[2]) / x2 if x2 else Fraction(0) for row in rows]
        added = list(map(sum, zip(of_p, of_r, strict=True)))
        return (1 + weight) * p * r / under, added

    return figure


def t_squared(a, b, figure):
    found = figure(a), figure(b)
    if None in found:
        return INFINITE
    (of_a, added_a), (of_b, added_b) = found
    squares = sum((theirs - ours) ** 2 for ours, theirs in zip(added_a, added_b, strict=True))
    if of_a == of_b:
        return Fraction(0)
    return INFINITE if squares == 0 else (of_b - of_a) ** 2 / squares


def brute_force(a, b, figure, columns):
    """Every exchange of the units whose rows differ, each worked out anew in fractions."""
    differing = [at for at in range(len(a)) if any(a[at][column] != b[at][column] for column in columns)]
    observed, extreme = t_squared(a, b, figure), 0
    for bits in itertools.product((False, True), repeat=len(differing)):
        ours, theirs = list(a), list(b)
        for at in itertools.compress(differing, bits):
            ours[at], theirs[at] = b[at], a[at]
        t = t_squared(ours, theirs, figure)
        extreme += t == INFINITE or (observed != INFINITE and t >= observed * (1 - Fraction(1, 10**9)) ** 2)
    return extreme / 2 ** len(differing), len(differing)


def made_up(seed):
    """Two reviewers on 2 to 7 pull requests: often equal rows, sometimes a burst, sometimes silence."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    expected = rng.integers(0, 4, n)
    sides = []
    for _ in range(2):
        generated = rng.integers(0, 5, n) * (rng.random() > 0.1)
        rows = zip(generated, rng.binomial(generated, 0.4), expected, rng.binomial(expected, 0.5), strict=True)
        sides.append([tuple(map(int, row)) for row in rows])
    a, b = sides
    b = [ours if rng.random() < 0.3 else theirs for ours, theirs in zip(a, b, strict=True)]
    if rng.random() < 0.3:
        b[0] = (b[0][0] + 200, *b[0][1:])
    return a, b


@pytest.mark.parametrize("seed", range(60))
def test_p_is_that_of_every_exchange_worked_out_in_fractions(seed):
    a, b = made_up(seed)
    for measure, figure, columns in (
        (positive_match_rate, precision, (0, 1)),
        (f1, harmonic(1), range(4)),
        (f_beta(2), harmonic(4), range(4)),
    ):
        if figure(a) is None or figure(b) is None:
            continue
        p, differing = exchange_test(counts(a), counts(b), measure)
        assert (p, differing) == (pytest.approx(brute_force(a, b, figure, columns)[0]), differing)
        assert differing == brute_force(a, b, figure, columns)[1]


def test_by_hand_p_is_one_of_few_values_and_at_least_2_in_2_to_the_n():
    """B is right once more on each of three: only all exchanged, or none, are as extreme."""
    a, b = counts([(4, 1, 0, 0), (5, 2, 0, 0), (6, 1, 0, 0)]), counts([(4, 2, 0, 0), (5, 3, 0, 0), (6, 2, 0, 0)])
    assert exchange_test(a, b, positive_match_rate) == (2 / 8, 3)


def test_equal_runs_have_p_one_and_nothing_to_exchange():
    a = counts([(4, 1, 2, 1), (5, 2, 2, 1)])
    assert exchange_test(a, a, positive_match_rate) == (1.0, 0)


def test_units_that_say_more_of_the_same_are_no_difference():
    """B says four times as much on each, as often right: T is 0, so everything is as extreme."""
    a = counts([(4, 2, 0, 0), (8, 4, 0, 0), (2, 1, 0, 0)])
    b = counts([(16, 8, 0, 0), (32, 16, 0, 0), (8, 4, 0, 0)])
    assert exchange_test(a, b, positive_match_rate)[0] == 1


def test_a_difference_without_any_spread_is_as_extreme_as_can_be():
    """Everything of A is wrong, everything of B right: no residual on either side, T is infinite."""
    a, b = counts([(3, 0, 0, 0)] * 6), counts([(3, 3, 0, 0)] * 6)
    assert exchange_test(a, b, positive_match_rate) == (2 / 64, 6)


def test_an_exchange_that_leaves_a_side_without_comments_is_extreme():
    """B comments on one of two, A on the other: exchanging either leaves a side silent, both gives T again."""
    a, b = counts([(4, 1, 0, 0), (0, 0, 0, 0)]), counts([(0, 0, 0, 0), (4, 3, 0, 0)])
    assert exchange_test(a, b, positive_match_rate) == (1.0, 2)


def test_nothing_right_on_either_side_is_no_difference():
    """T is 0 / 0 after every exchange: 0, also where F1 has P + R = 0."""
    a, b = counts([(4, 0, 2, 0), (3, 0, 2, 0)]), counts([(1, 0, 2, 0), (9, 0, 2, 0)])
    assert exchange_test(a, b, positive_match_rate) == (1.0, 2)
    assert exchange_test(a, b, f1) == (1.0, 2)


@pytest.mark.parametrize("n", [1, 2, 5, 13])
def test_p_is_never_below_2_in_2_to_the_n(n):
    """The clearest of all differences: only it, and all units exchanged, are as extreme."""
    a, b = counts([(3, 0, 0, 0)] * n), counts([(3, 3, 0, 0)] * n)
    p, differing = exchange_test(a, b, positive_match_rate)
    assert differing == n
    assert p == 2 / 2**n


@pytest.mark.parametrize("units", [14, 18])
def test_from_14_differing_units_on_draws_come_near_all_exchanges(units):
    rng = np.random.default_rng(units)
    a, b = of_precision(rng, units, 1.6)
    a[:, 1] += 1
    b[:, 1] += 2  # so that all units differ
    p, differing = exchange_test(a, b, positive_match_rate)
    assert differing == units
    bits = ((np.arange(2**units)[:, np.newaxis] >> np.arange(units)) & 1).astype(float)
    (y_a, x_a), (y_b, x_b) = positive_match_rate.parts(a), positive_match_rate.parts(b)
    t = []
    for block in np.array_split(bits, 64):
        ours, theirs = (
            [np.where(block, other, own) for own, other in sides]
            for sides in (((y_a, y_b), (x_a, x_b)), ((y_b, y_a), (x_b, x_a)))
        )
        rates = [y.sum(axis=1, keepdims=True) / x.sum(axis=1, keepdims=True) for y, x in (ours, theirs)]
        added = [
            (y - rate * x) / x.sum(axis=1, keepdims=True) for (y, x), rate in zip((ours, theirs), rates, strict=True)
        ]
        t.append(np.abs(rates[1] - rates[0])[:, 0] / np.sqrt(((added[1] - added[0]) ** 2).sum(axis=1)))
    found = np.concatenate(t)
    exact = np.mean(found >= found[0] * (1 - 1e-9))
    assert p == pytest.approx(exact, abs=5 * math.sqrt(exact / 10_000) + 1e-4)
    assert exchange_test(a, b, positive_match_rate)[0] == p  # the same draws every time


def test_f1_is_one_test_whichever_way_it_is_written():
    """One-to-one, matches over the mean size and the harmonic mean are one figure with the same slopes."""
    rng = np.random.default_rng(3)
    a, b = of_recall(rng, 12, 1.5)
    assert exchange_test(a, b, one_to_one(f1, "optimal"))[0] == exchange_test(a, b, f1)[0]


# --- against a known truth: a few hundred sets each, so that chance adds about 3 points to either side


@pytest.mark.parametrize(("draw", "units"), [(uneven, 10), (uneven, 30), (with_bursts, 30), (alike_but_for_one, 40)])
def test_equal_reviewers_are_seldom_called_different_where_sign_flips_called_them_so(draw, units):
    """300 sets: about 5 %, where sign flips have 13, 13, 18 and 98 %."""
    found = called_different(draw, positive_match_rate, units, 300, seed=3)
    assert 0.015 <= found.small <= 0.085 < found.former
    assert found.better <= found.small


@pytest.mark.parametrize(
    "cell", [cell for cell in EQUAL if cell[1] in (sixteen_fold, of_recall)], ids=lambda cell: f"{cell[0]}, {cell[3]}"
)
def test_no_kind_of_data_has_many_false_alarms(cell):
    _, draw, measure, units, _ = cell
    assert 0.005 <= called_different(draw, measure, units, 200, seed=5).small <= 0.085


def test_nobody_is_called_better_for_one_pull_request_with_200_wrong_comments():
    """p alone is right 19 times in 20; together with the interval nobody is ever called better for that."""
    found = called_different(alike_but_for_one, positive_match_rate, 40, 200, seed=1)
    assert found.better <= 0.01
    assert found.former > 0.9


def test_true_differences_are_found_as_often_as_by_sign_flips():
    found = called_different(lambda rng, n: of_recall(rng, n, 1.56), positive_recall_rate, 30, 300)
    assert 0.68 <= found.small <= 0.82
    assert found.small >= found.former - 0.02
