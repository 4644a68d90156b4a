"""Scores without rivals, many at once, against the judge asked about one pair at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.judges.offline import alone
from metareview.judges.offline.alone import MutualScores
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import Question

ONE_PAIR = np.zeros((1, 2), np.int64)
NOTES = [
    "The handle is never closed, so `readAll` leaks a file descriptor.",
    "`readAll` leaks: close the handle in a finally block.",
    "Race: `counter` is incremented without the lock.",
    "Rename `max_wait` to `maxWait`.",
    "rename   `max_wait` to\n`maxWait`.",
    "max_wait",
    "",
    "   ",
    "!!!",
    "the and of",
    "日本語のコメント 未使用",
    " ".join(f"word{number} thing" for number in range(300)),
    " ".join(f"word{number} thing" for number in range(250, 550)),
]


def one_at_a_time(notes):
    """By its definition: each pair a question of its own, either way round."""
    questions = [Question([a], [b], ONE_PAIR) for a in notes for b in notes]
    scores = np.array([answer.score[0] for answer in OfflineJudge().judge(questions)]).reshape(len(notes), -1)
    return (scores + scores.T) / 2


def all_at_once(notes):
    every = np.arange(len(notes))
    return MutualScores(notes).between(every, every)


def test_scores_are_those_of_the_judge():
    expected = one_at_a_time(NOTES)
    np.testing.assert_allclose(all_at_once(NOTES), expected, rtol=0, atol=2e-9)
    threshold = MutualScores(NOTES).threshold
    assert expected[0, 1] >= threshold > expected[0, 2]  # so that the comparison is about something


def test_the_size_of_a_tile_changes_nothing(monkeypatch):
    whole = all_at_once(NOTES)
    monkeypatch.setattr(alone, "WORDS", 20)
    np.testing.assert_array_equal(all_at_once(NOTES), whole)


def test_only_what_is_asked_for_is_scored():
    whole = all_at_once(NOTES)
    some = MutualScores(NOTES).between(np.array([3, 0]), np.array([1, 4, 0]))
    np.testing.assert_array_equal(some, whole[np.ix_([3, 0], [1, 4, 0])])


@pytest.mark.parametrize("sparse", [0, 10_000])
def test_pairs_score_the_same_one_by_one_and_in_a_table(monkeypatch, sparse):
    monkeypatch.setattr(alone, "SPARSE", sparse)
    monkeypatch.setattr(alone, "CELLS", 2_000)
    whole, scores = all_at_once(NOTES), MutualScores(NOTES)
    one, other = np.random.default_rng(0).integers(0, len(NOTES), (2, 300))
    np.testing.assert_allclose(scores.of_pairs(one, other), whole[one, other], rtol=0, atol=2e-9)
    assert scores.same(np.array([0, 0]), np.array([1, 2])).tolist() == [True, False]
    assert scores.of_pairs(one[:0], other[:0]).tolist() == []


def test_equal_notes_but_for_white_space_are_the_same_and_empty_ones_are_not():
    scores = all_at_once(NOTES)
    assert scores[3, 4] >= 0.999
    assert scores[6, 7] < MutualScores(NOTES).threshold


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text("ab lockLeak_ .\né", max_size=40), min_size=2, max_size=5))
def test_any_notes_score_as_one_at_a_time(notes):
    expected = one_at_a_time(notes)
    np.testing.assert_allclose(all_at_once(notes), expected, rtol=0, atol=2e-9)
    one, other = np.indices(expected.shape).reshape(2, -1)
    one_by_one = MutualScores(notes)._one_by_one(one, other)
    np.testing.assert_allclose(one_by_one, expected.ravel(), rtol=0, atol=2e-9)


@pytest.mark.parametrize("notes", [["leak", "leak"], ["a b", "b a"]])
def test_it_is_symmetric(notes):
    scores = all_at_once(notes)
    assert scores[0, 1] == scores[1, 0]
