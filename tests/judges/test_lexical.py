import numpy as np
import pytest

from metareview.errors import UsageError
from metareview.judges.protocol import Judge, Question
from metareview.judges.registry import JUDGES, make_judge

PAIRS = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
QUESTION = Question(
    generated=["The handle\n is never  closed ", "Close the file handle after reading the whole file"],
    reference=["The handle is never closed", "close the file handle after reading"],
    pairs=PAIRS,
)


def test_exact_compares_after_trimming_and_collapsing_white_space():
    [answer] = make_judge("exact").judge([QUESTION])
    assert answer.match.tolist() == [1, 0, 0, 0]
    assert answer.score.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_rouge_is_the_recall_of_the_reference_above_the_threshold():
    [answer] = make_judge("rouge").judge([QUESTION])
    # By hand: [the handle] of 5 tokens; [close the file handle after reading] of 6.
    assert answer.score.tolist() == [1.0, pytest.approx(2 / 6), pytest.approx(2 / 5), 1.0]
    assert answer.match.tolist() == [1, 0, 0, 1]


def test_a_score_equal_to_the_threshold_is_no_match():
    question = Question(["a b c d e f g"], ["a b c d e f g x y z"], np.array([(0, 0)]))
    [answer] = make_judge("rouge").judge([question])
    assert answer.score.tolist() == [0.7]
    assert answer.match.tolist() == [0]
    [answer] = make_judge("rouge", 0.69).judge([question])
    assert answer.match.tolist() == [1]


@pytest.mark.parametrize("name", ["none", "exact", "rouge"])
def test_judges_answer_every_question_in_order(name):
    nothing = Question(["a"], [], np.empty((0, 2), np.int64))
    answers = make_judge(name).judge([nothing, QUESTION, nothing])
    assert [len(answer.score) for answer in answers] == [0, 4, 0]
    assert [len(answer.match) for answer in answers] == [0, 4, 0]
    assert isinstance(make_judge(name), Judge)


def test_an_unknown_judge_and_a_needless_threshold_are_refused():
    with pytest.raises(UsageError, match=", ".join(JUDGES)):
        make_judge("oracle")
    with pytest.raises(UsageError, match="does not score"):
        make_judge("exact", 0.5)
    with pytest.raises(UsageError, match="from 0 to 1"):
        make_judge("rouge", 1.5)
