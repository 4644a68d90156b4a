"""Many tests at once: Holm's correction, and letters for those that it does not separate."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.stats import PairTest, holm, pairwise_tests, tie_letters


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


def test_every_pair_is_tested_on_the_units_that_both_have():
    """x and y share units 1 and 2: 3 of 4 against 1 of 2. Nothing was counted for z in unit 1."""
    tables = {
        "x": {"1": (2, 2), "2": (1, 2), "3": (0, 9)},
        "y": {"1": (1, 1), "2": (0, 1)},
        "z": {"1": (0, 0)},
        "w": {},
    }
    tests = pairwise_tests(tables, lambda sums: sums[..., 0] / sums[..., 1])
    assert list(tests) == list(itertools.combinations("xyzw", 2))
    assert (tests["x", "y"].units, tests["x", "y"].diff) == (2, 1 / 2 - 3 / 4)
    assert tests["x", "z"] == PairTest(1, None, None, None)
    assert tests["y", "w"] == PairTest(0, None, None, None)
    # Of the four exchanges two have 3/4 against 1/2, two have 2/3 against 2/3: the p value is 1/2.
    assert tests["x", "y"].p == pytest.approx(1 / 2, abs=0.02)
    assert tests["x", "y"].p_holm == tests["x", "y"].p


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
