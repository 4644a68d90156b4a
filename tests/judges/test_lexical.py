import tracemalloc

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


def test_exact_holds_no_object_for_each_pair():
    """A thousand comments on one line against a thousand references: what is held are arrays and one list."""
    notes = [f"note {number}" for number in range(1000)]
    question = Question(generated=notes, reference=notes, pairs=np.indices((1000, 1000)).reshape(2, -1).T)
    tracemalloc.start()
    [answer] = ExactJudge().judge([question])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.match.sum() == 1000
    assert answer.match.reshape(1000, 1000).diagonal().all()
    assert peak < 60 * len(question.pairs)


@pytest.mark.parametrize(
    ("generated", "reference", "same"),
    [
        ("缓存　没有过期\n", "缓存 没有过期", True),
        ("le café\u00a0est fermé", "le cafe\u0301 est ferme\u0301", True),
        ("le café est fermé", "le cafe est ferme", False),
        ("ＡＰＩ", "API", False),
        ("👍", " 👍", True),
        ("!!!", "!!!", True),
    ],
)
def test_exact_knows_the_white_space_of_all_scripts_and_both_ways_to_write_an_accent(generated, reference, same):
    [answer] = ExactJudge().judge([Question([generated], [reference], np.array([(0, 0)]))])
    assert answer.match.tolist() == [same]


def test_rouge_compares_notes_in_other_scripts():
    reference = ["缓存的键没有包含租户，会读到别人的数据", "Файл не закрывается при ошибке"]
    generated = ["缓存的键里没有包含租户，因此会读到别人的数据。", "При ошибке файл не закрывается", "变量名不清楚"]
    [answer] = RougeJudge().judge([Question(generated, reference, np.array([(0, 0), (2, 0), (1, 1), (0, 1)]))])
    # By hand: every character of the reference; none in common; [файл не закрывается] of 5 words; none in common.
    assert answer.score.tolist() == [1.0, 0.0, pytest.approx(3 / 5), 0.0]
    assert answer.match.tolist() == [1, 0, 0, 0]


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
