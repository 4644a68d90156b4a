"""What a judge is asked: questions with pairs alone, some thousand notes at a time."""

import numpy as np
import pytest

from metareview.comments.case import Case, Rules
from metareview.errors import UsageError
from metareview.judges.protocol import SAME, Answer, Judge
from metareview.model.comment import Comment, Review
from metareview.pipelines.comments.answer import answer_in_batches


class Asked(Judge):
    """Calls everything the same, and remembers what it was asked."""

    name = "asked"

    def __init__(self, score=1.0):
        self.calls, self.score = [], score

    def judge(self, questions):
        self.calls.append([(question.pr, question.negative, len(question.pairs)) for question in questions])
        return [
            Answer(np.full(len(each.pairs), self.score), np.full(len(each.pairs), SAME, np.int8)) for each in questions
        ]


def case(pr, said, wanted, rejected=()):
    """Lines of one file that comments, references and negatives are on."""

    def review(lines):
        return Review(pr, tuple(Comment(f"note {line}", "a.py", None, line, line) for line in lines))

    return Case.of("bot", review(said), review(wanted), review(rejected), Rules(negatives=True))


def test_what_has_no_pairs_is_not_asked():
    judge = Asked()
    cases = [case("far", [1], [50]), case("near", [1, 90], [1], [90]), case("silent", [], [3])]
    [batch] = answer_in_batches(cases, judge)
    assert judge.calls == [[("near", False, 1)], [("near", True, 1)]]
    assert [(each.pr, len(judged.answer.match), len(judged.negative_answer.match)) for each, judged in batch] == [
        ("far", 0, 0), ("near", 1, 1), ("silent", 0, 0),
    ]  # fmt: skip


def test_a_judge_that_asks_no_model_gets_so_many_notes_at_a_time(monkeypatch):
    monkeypatch.setattr("metareview.pipelines.comments.answer.BATCH_NOTES", 5)
    cases = [case(f"pr {number}", [1, 2], [1]) for number in range(5)]
    batches = list(answer_in_batches(cases, Asked()))
    assert [[each.pr for each, _ in batch] for batch in batches] == [["pr 0", "pr 1"], ["pr 2", "pr 3"], ["pr 4"]]


@pytest.mark.parametrize("score", [-0.25, 1.5])
def test_a_score_that_is_no_probability_is_refused(score):
    with pytest.raises(UsageError, match=f"between 0 and 1, found {score}"):
        list(answer_in_batches([case("near", [1], [1])], Asked(score)))
