"""Many tests at once: Holm's correction, and letters for those that it does not separate."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from bench.equal_reviewers import alike_but_for_one, separated, told_apart
from bench.simulation import review
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview import exchange, ties
from metareview.comments.measures import Counts, one_to_one, positive_match_rate, table
from metareview.comments.measures import f1 as general_f1
from metareview.exchange import Exchange
from metareview.stats import differences, holm
from metareview.ties import PairTest, pairwise_tests, tie_letters


def test_holm_by_hand():
    # .005 x 4, .01 x 3, .03 x 2, then .04 x 1 = .04, which may not fall below .06.
    found = holm({"f1": 0.01, "recall": 0.04, "precision": 0.03, "line_f1": 0.005})
    assert list(found) == ["f1", "recall", "precision", "line_f1"]
    assert found == pytest.approx({"f1": 0.03, "recall": 0.06, "precision": 0.06, "line_f1": 0.02})


def test_holm_ends_at_one_and_leaves_out_what_was_not_tested():
    assert holm({"a": 0.6, "b": None, "c": 0.02, "d": 0.7}) == {"a": 1.0, "b": None, "c": 0.06, "d": 1.0}
    assert holm({("x", "y"): 0.04}) == {("x", "y"): 0.04}
    assert holm({"a": None}) == {"a": None}
    assert holm({}) == {}


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0.001, 0.999))
def test_holm_rejects_what_the_step_down_procedure_rejects(ps, alpha):
    """Holm (1979): go up from the smallest while p <= alpha / (tests left)."""
    rejected = set()
    for step, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        if (len(ps) - step) * ps[index] > alpha:
            break
        rejected.add(index)
    assert {index for index, p in holm(dict(enumerate(ps))).items() if p <= alpha} == rejected


def tables(seed, rates, units=30, volumes=None):
    rng = np.random.default_rng(seed)
    hard = rng.beta(3, 3, units)
    volumes = volumes or [4] * len(rates)
    return {
        name: review(rng, np.clip(hard * rate * 2, 0, 1), volume)
        for name, rate, volume in zip("uvwxyz", rates, volumes, strict=False)
    }


def squared(a, b, measure):
    """T² by the definition: the difference over what each unit adds to it, squared and summed."""
    (y_a, x_a), (y_b, x_b) = measure.parts(a), measure.parts(b)
    of_a, of_b = y_a.sum() / x_a.sum(), y_b.sum() / x_b.sum()
    added = (y_b - of_b * x_b) / x_b.sum() - (y_a - of_a * x_a) / x_a.sum()
    return (of_b - of_a) ** 2 / (added**2).sum()


def test_pairs_step_down_as_the_definition_says():
    """Every draw of one bit per unit worked out anew, one pair and one draw at a time."""
    four = tables(1, (0.2, 0.3, 0.4, 0.45), units=8, volumes=[12] * 4)
    tests = pairwise_tests(four, positive_match_rate)
    assert list(tests) == list(itertools.combinations("uvwx", 2))
    observed = {(one, other): squared(four[one], four[other], positive_match_rate) for one, other in tests}
    order = sorted(tests, key=lambda pair: -observed[pair])
    bits = np.random.default_rng(0).integers(0, 2, size=(8, 10_000), dtype=np.bool_).T
    drawn = {pair: [] for pair in tests}
    patterns, times = np.unique(bits, axis=0, return_counts=True)
    for (one, other), found in drawn.items():
        for pattern in patterns:
            swap = pattern[:, np.newaxis]
            a, b = np.where(swap, four[other], four[one]), np.where(swap, four[one], four[other])
            found.append(squared(a, b, positive_match_rate))
    greatest = 0.0
    for at, pair in enumerate(order):
        least = observed[pair] * (1 - 1e-9)
        reached = np.any([np.array(drawn[later]) >= least for later in order[at:]], axis=0) @ times
        greatest = max(greatest, (1 + reached) / 10_001)
        assert tests[pair].p_family == pytest.approx(greatest)
        assert tests[pair].p == pytest.approx((1 + (np.array(drawn[pair]) >= least) @ times) / 10_001)


def test_what_has_too_few_matches_or_no_figure_is_not_separated():
    few = table([Counts(generated=3, matched=1)] + [Counts(generated=2)] * 11)
    none = table([Counts()] * 12)
    many = table([Counts(generated=9, matched=8)] * 12)
    tests = pairwise_tests({"few": few, "none": none, "many": many}, positive_match_rate)
    assert tests["few", "none"] == PairTest(None, None, None)
    assert (tests["few", "many"].p, tests["few", "many"].p_family) == (None, None) or tests["few", "many"].p <= 0.05
    same = pairwise_tests({"one": many, "other": many}, positive_match_rate)
    assert same["one", "other"] == PairTest(0.0, 1.0, 1.0)


def test_more_pairs_than_a_block_change_nothing(monkeypatch):
    four = tables(2, (0.2, 0.3, 0.4, 0.45))
    whole = pairwise_tests(four, positive_match_rate)
    for module in (exchange, ties):
        monkeypatch.setattr(module, "BLOCK_CELLS", 400_000)
    assert pairwise_tests(four, positive_match_rate) == whole


def test_letters_seldom_separate_equal_reviewers_also_where_some_have_bursts():
    """Six equal reviewers, 80 sets of 30 pull requests, 100 wrong comments more on 4 % of them: about 5 %, and a third
    by sign flips."""
    found = separated(6, 30, 80, bursts=True, seed=9)
    assert found.better <= found.small <= 0.13 < found.former


def test_letters_tell_unequal_reviewers_apart():
    """Two each at 0.2, 0.35 and 0.5, who say 1 to 16 things: about half of the 12 pairs."""
    assert 4 <= told_apart(30, 20, seed=10) <= 9


def test_letters_by_hand():
    assert tie_letters(["x", "y", "z"], []) == {"x": "a", "y": "a", "z": "a"}
    every = [("x", "y"), ("y", "z"), ("z", "x")]
    assert tie_letters(["x", "y", "z"], every) == {"x": "a", "y": "b", "z": "c"}
    # Each is tied with its neighbours up to two ranks away.
    far = [("v", "y"), ("v", "z"), ("w", "z")]
    assert tie_letters(list("vwxyz"), far) == {"v": "a", "w": "ab", "x": "abc", "y": "bc", "z": "c"}
    # The first is separated from the second, yet tied with the third: not a run of ranks.
    assert tie_letters(["x", "y", "z"], [("y", "x")]) == {"x": "a", "y": "b", "z": "ab"}
    assert tie_letters(["x"], []) == {"x": "a"}
    assert tie_letters([], []) == {}


@st.composite
def rankings(draw):
    names = [f"tool{number}" for number in range(draw(st.integers(0, 9)))]
    pairs = list(itertools.combinations(names, 2))
    chosen = [pair for pair in pairs if draw(st.booleans())]
    return names, draw(st.permutations([pair[:: draw(st.sampled_from([1, -1]))] for pair in chosen]))


@settings(deadline=None)
@given(rankings())
def test_two_share_a_letter_if_and_only_if_they_are_not_separated(ranking):
    names, separated = ranking
    letters = tie_letters(names, separated)
    apart = {frozenset(pair) for pair in separated}
    assert list(letters) == names
    for one, other in itertools.combinations(names, 2):
        assert bool(set(letters[one]) & set(letters[other])) == (frozenset((one, other)) not in apart)
    used = "".join(letters.values())
    assert all(letters.values())
    # Without any one of the letters some tie, or somebody's only letter, would be lost.
    for letter in set(used):
        rest = {name: set(held) - {letter} for name, held in letters.items()}
        assert not all(rest.values()) or any(
            not rest[one] & rest[other]
            for one, other in itertools.combinations(names, 2)
            if frozenset((one, other)) not in apart
        )
    # a is the leader's, letters are read in order, and the order of the pairs says nothing.
    assert not names or letters[names[0]][0] == "a"
    assert all(list(held) == sorted(held) for held in letters.values())
    assert tie_letters(names, set(separated)) == letters


def test_letters_stay_few_where_there_are_exponentially_many_groups():
    """30 rivalries among 60 tools: 2^30 largest groups without a rivalry, of which a few show every tie."""
    names = [str(number) for number in range(60)]
    rivals = [(names[number], names[number + 1]) for number in range(0, 60, 2)]
    letters = tie_letters(names, rivals)
    assert len(set("".join(letters.values()))) < 100
    for one, other in itertools.combinations(names, 2):
        assert bool(set(letters[one]) & set(letters[other])) == ((one, other) not in rivals)


def test_names_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="distinct"):
        tie_letters(["x", "x"], [])
    with pytest.raises(ValueError, match="'x' cannot be separated from itself"):
        tie_letters(["x", "y"], [("x", "x")])
    with pytest.raises(KeyError, match="z"):
        tie_letters(["x", "y"], [("x", "z")])


def test_equal_rates_at_other_volumes_are_no_difference_but_for_rounding():
    """1 of 46 against 3 of 144 comments, 3 references: the same F1 on every pull request, up to rounding."""
    f1 = one_to_one(general_f1, "optimal")
    a = table([Counts(expected=3, generated=46, matched=1, covered=1)] * 20)
    b = table([Counts(expected=3, generated=144, matched=3, covered=3)] * 20)
    assert pairwise_tests({"a": a, "b": b}, f1)["a", "b"].p_family == 1


def test_one_pull_request_does_not_separate_two_that_did_the_same_on_all_others():
    """B says 200 more on one of 40: only its rows can be exchanged, which gives the same difference turned round."""
    same = [Counts(generated=5, matched=2)] * 39
    a, b = table([*same, Counts(generated=5, matched=2)]), table([*same, Counts(generated=205, matched=2)])
    found = pairwise_tests({"a": a, "b": b}, positive_match_rate)["a", "b"]
    assert (found.p, found.p_family, found.separated) == (1, 1, False)


def test_two_are_not_separated_while_the_interval_of_their_difference_holds_0():
    """Two versions alike but on 8 of 40, and 200 wrong comments on one: p is small in one set of twenty by chance."""
    rng = np.random.default_rng(0)
    small = 0
    for a, b in (alike_but_for_one(rng) for _ in range(200)):
        found = pairwise_tests({"a": a, "b": b}, positive_match_rate)["a", "b"]
        low, high = differences(a, b, [positive_match_rate])["positive_match_rate"].interval
        if found.p_family is not None and found.p_family <= 0.05 and low <= 0 <= high:
            small += 1
            assert not found.separated
    assert small


def test_what_a_test_needs_of_a_table_is_worked_out_once_and_not_for_each_of_its_pairs():
    asked = []

    def parts(sums):
        asked.append(sums.shape)
        return positive_match_rate.parts(sums)

    counted = replace(positive_match_rate, parts=parts)

    def parts_taken(reviewers):
        asked.clear()
        rng = np.random.default_rng(reviewers)
        everybody = {str(n): review(rng, rng.beta(3, 3, 20), 4) for n in range(reviewers)}
        assert len(pairwise_tests(everybody, counted)) == reviewers * (reviewers - 1) / 2
        return len(asked)

    assert parts_taken(20) == 2 * parts_taken(10) <= 100


@pytest.mark.parametrize("measure", [positive_match_rate, general_f1, one_to_one(general_f1, "optimal")], ids=str)
def test_pairs_taken_together_have_the_differences_and_the_t_of_each_alone(measure):
    everybody = tables(3, (0.2, 0.3, 0.3, 0.5, 0.6))
    everybody["silent"], everybody["twin"] = np.zeros_like(everybody["u"]), everybody["u"].copy()
    found = pairwise_tests(everybody, measure)
    together = Exchange(list(everybody.values()), measure).observed
    for (one, other), t in zip(found, together, strict=True):
        alone = differences(everybody[one], everybody[other], [measure])[measure.name]
        assert found[one, other].value == alone.value
        assert (found[one, other].p is None) == (alone.p is None)
        if alone.p is not None:
            [apart] = Exchange([everybody[one], everybody[other]], measure).observed
            assert t == pytest.approx(apart)
