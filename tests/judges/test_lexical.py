import numpy as np
import pytest

from metareview.judges.builtin.exact import ExactJudge
from metareview.judges.builtin.none import NoJudge
from metareview.judges.builtin.rouge import RougeJudge
from metareview.judges.protocol import Judge, ModelJudge, Question

PAIRS = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
QUESTION = Question(
    generated=["The handle\n is never  closed ", "Close the file handle after reading the whole file"],
    reference=["The handle is never closed", "close the file handle after reading"],
    pairs=PAIRS,
)


def test_exact_compares_after_trimming_and_collapsing_white_space():
    [answer] = ExactJudge().judge([QUESTION])
    assert answer.match.tolist() == [1, 0, 0, 0]
    assert answer.score.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_rouge_is_the_recall_of_the_reference_above_the_threshold():
    [answer] = RougeJudge().judge([QUESTION])
    # By hand: [the handle] of 5 tokens; [close the file handle after reading] of 6.
    assert answer.score.tolist() == [1.0, pytest.approx(2 / 6), pytest.approx(2 / 5), 1.0]
    assert answer.match.tolist() == [1, 0, 0, 1]


def test_a_score_equal_to_the_threshold_is_no_match():
    question = Question(["a b c d e f g"], ["a b c d e f g x y z"], np.array([(0, 0)]))
    [answer] = RougeJudge().judge([question])
    assert answer.score.tolist() == [0.7]
    assert answer.match.tolist() == [0]
    [answer] = RougeJudge(0.69).judge([question])
    assert answer.match.tolist() == [1]


@pytest.mark.parametrize("kind", [NoJudge, ExactJudge, RougeJudge])
def test_judges_answer_every_question_in_order(kind):
    nothing = Question(["a"], [], np.empty((0, 2), np.int64))
    answers = kind().judge([nothing, QUESTION, nothing])
    assert [len(answer.score) for answer in answers] == [0, 4, 0]
    assert [len(answer.match) for answer in answers] == [0, 4, 0]
    assert isinstance(kind(), Judge)
    assert not isinstance(kind(), ModelJudge)
