"""Questions with too many notes: the same formulas, fewer rivals, and memory that does not grow with all pairs."""

import random
import tracemalloc

import numpy as np
import pytest

from metareview.benchmark.calibrate import calibrate
from metareview.formats.labels import NotePairLabel
from metareview.judges.examples import KnownNotes
from metareview.judges.offline import layout, nearest_rivals
from metareview.judges.offline.features import QuestionTerms
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import DIFFERENT, SAME, Question

WORDS = """the cache key lacks tenant so one customer reads data of another lock is never released when `readAll` throws
handle leaks descriptor counter incremented without retry loop has no limit and `maxWait` overflows after index off by
one at end query injects user input log prints password token expires twice null check missing in branch"""


def notes(count, seed, longest=14):
    """Distinct ones."""
    rng, words = random.Random(seed), WORDS.split()
    found = {}
    while len(found) < count:
        note = " ".join(rng.choices(words, k=rng.randint(1, longest)))
        found[note + rng.choice(["", ".", f" `x{len(found)}`"])] = None
    return list(found)


def ask(generated, reference, pairs=None):
    every = np.stack(np.divmod(np.arange(len(generated) * len(reference)), len(reference)), axis=1)
    return Question(generated, reference, every if pairs is None else np.array(pairs, np.int64))


class Told:
    """Known verdicts on every question's references: the first known note raises the first, the second none."""

    digest = "told"

    def known(self, question):
        first = [SAME if note == min(question.reference) else DIFFERENT for note in question.reference]
        match = np.array([first, [DIFFERENT] * len(first), [DIFFERENT] * len(first)], np.int8)
        return KnownNotes(["the cache key has no tenant", "spelling", "retry without a limit"], match, [2])


@pytest.mark.parametrize("examples", [None, Told()])
def test_with_all_notes_as_rivals_every_pair_scores_as_in_a_small_question(monkeypatch, examples):
    questions = [ask(notes(40, 1), notes(25, 2)), ask(notes(3, 3), notes(1, 4)), ask(["", "a b"], ["a  b", "?"])]
    judge = OfflineJudge(examples=examples)
    expected = judge.judge(questions)
    monkeypatch.setattr(nearest_rivals, "PAIRS", 0)
    monkeypatch.setattr(nearest_rivals, "RIVALS", 40)
    monkeypatch.setattr(layout, "WORD_PAIRS", 100)
    for answer, wanted in zip(judge.judge(questions), expected, strict=True):
        assert answer.score.tolist() == wanted.score.tolist()
        assert answer.match.tolist() == wanted.match.tolist()
        assert list(answer.reason) == list(wanted.reason)


def test_nothing_depends_on_the_order_of_notes_or_pairs(monkeypatch):
    monkeypatch.setattr(nearest_rivals, "PAIRS", 0)
    monkeypatch.setattr(nearest_rivals, "RIVALS", 3)
    generated, reference = notes(30, 1), notes(20, 2)
    generated += generated[:3]
    pairs = [(i, j) for i in range(33) for j in range(20) if (i * 7 + j) % 3 == 0]
    [answer] = OfflineJudge().judge([ask(generated, reference, pairs)])
    told = {
        (generated[i], reference[j]): said
        for (i, j), said in zip(pairs, zip(answer.score, answer.reason, strict=True), strict=True)
    }
    rng = random.Random(5)
    rng.shuffle(generated)
    rng.shuffle(reference)
    at = [(generated.index(one), reference.index(other)) for one, other in told]
    rng.shuffle(at)
    [again] = OfflineJudge().judge([ask(generated, reference, at)])
    for (i, j), score, reason in zip(at, again.score, again.reason, strict=True):
        assert told[generated[i], reference[j]] == (score, reason)


def test_only_pairs_that_are_asked_about_and_their_rivals_are_scored(monkeypatch):
    scored = []
    features = QuestionTerms.features

    def counted(self, notes, tables, question):
        scored.append(int(tables.start[-1]))
        return features(self, notes, tables, question)

    monkeypatch.setattr(QuestionTerms, "features", counted)
    generated, reference = notes(1_500, 1), notes(700, 2)
    pairs = [(3 * row, row) for row in range(10)]
    [answer] = OfflineJudge().judge([ask(generated, reference, pairs)])
    assert len(answer.score) == 10
    # Ten pairs, each with 16 other references; on each of these at most 170 references 16 other comments.
    assert sum(scored) <= 10 * 17 * (1 + 16) * layout.WASTE


@pytest.mark.parametrize("references", [0, 30])
def test_a_crowded_question_may_ask_about_nothing(references):
    nothing, few = ask(notes(1_200, 1), notes(references, 2), np.zeros((0, 2))), ask(notes(3, 1), notes(2, 2))
    answers = OfflineJudge().judge([few, nothing, few])
    assert [len(answer.score) for answer in answers] == [6, 0, 6]
    assert list(answers[1].reason) == []
    assert answers[0].score.tolist() == answers[2].score.tolist()


def test_a_crowded_question_still_tells_matches_from_others():
    generated, reference = notes(1_200, 1), notes(300, 2, longest=25)
    pairs = []
    for row in range(0, 300, 3):
        generated[row] = f"{reference[row]} {generated[row].split()[0]}"
        pairs += [(row, row), (row + 1, row)]
    [answer] = OfflineJudge().judge([ask(generated, reference, pairs)])
    assert np.median(answer.score[::2]) > 0.4
    assert np.median(answer.score[1::2]) < 0.05
    equal = ask([*generated, reference[1]], reference, [(1_200, 1)])
    assert OfflineJudge().judge([equal])[0].score[0] >= 0.999


def peak(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_square_of_a_pull_requests_comments():
    OfflineJudge().judge([ask(["a b"], ["a c"])])  # the weights are read
    few, many = (ask(notes(number, 1), notes(1, 2)) for number in (1_500, 6_000))
    used = [peak(lambda question=question: OfflineJudge().judge([question])) for question in (few, many)]
    assert used[1] < 6 * used[0]  # 16 times as many pairs of comments
    assert used[1] < 100e6  # with the likeness of all pairs of comments: 1,480 MB


def test_a_group_of_many_labels_takes_little_memory():
    a, b = notes(1_200, 1), notes(1_200, 2)
    labels = [
        NotePairLabel(one, other, row % 2 == 0, group="g") for row, (one, other) in enumerate(zip(a, b, strict=True))
    ]
    found = []
    assert peak(lambda: found.append(calibrate(labels, OfflineJudge()))) < 100e6  # with all 1,440,000 pairs: 240 MB
    assert found[0].agreement.n == 1_200
    assert found[0].agreement.errors == 0
