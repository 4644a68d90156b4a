"""Scores without rivals, many at once, against the judge asked about one pair at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.judges.offline import layout
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.offline.similarity import NoteSimilarity
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


def every_pair(notes):
    """All at once."""
    one, other = np.indices((len(notes), len(notes))).reshape(2, -1)
    return NoteSimilarity(notes).of_pairs(one, other).reshape(len(notes), -1)


def test_scores_are_those_of_the_judge():
    expected = one_at_a_time(NOTES)
    np.testing.assert_allclose(every_pair(NOTES), expected, rtol=0, atol=2e-9)
    threshold = NoteSimilarity(NOTES).threshold
    assert expected[0, 1] >= threshold > expected[0, 2]  # so that the comparison is about something


@pytest.mark.parametrize("setting", [{"WASTE": 0}, {"WASTE": 10_000}, {"WORD_PAIRS": 1}, {"WORD_PAIRS": 2_000}])
def test_the_size_of_tables_changes_nothing(monkeypatch, setting):
    whole = every_pair(NOTES)
    for name, value in setting.items():
        monkeypatch.setattr(layout, name, value)
    np.testing.assert_array_equal(every_pair(NOTES), whole)
    one, other = np.random.default_rng(0).integers(0, len(NOTES), (2, 300))
    scores = NoteSimilarity(NOTES)
    np.testing.assert_array_equal(scores.of_pairs(one, other), whole[one, other])
    assert scores.similar(np.array([0, 0]), np.array([1, 2])).tolist() == [True, False]
    assert scores.of_pairs(one[:0], other[:0]).tolist() == []


def test_equal_notes_but_for_white_space_are_the_same_and_empty_ones_are_not():
    scores = every_pair(NOTES)
    assert scores[3, 4] >= 0.999
    assert scores[6, 7] < NoteSimilarity(NOTES).threshold


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text("ab lockLeak_ .\né", max_size=40), min_size=2, max_size=5))
def test_any_notes_score_as_one_at_a_time(notes):
    np.testing.assert_allclose(every_pair(notes), one_at_a_time(notes), rtol=0, atol=2e-9)


@pytest.mark.parametrize("notes", [["leak", "leak"], ["a b", "b a"]])
def test_it_is_symmetric(notes):
    scores = every_pair(notes)
    assert scores[0, 1] == scores[1, 0]
