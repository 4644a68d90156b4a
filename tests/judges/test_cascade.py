"""The cascade asks where the first judge is unsure and the answer can still add a pair; nothing else."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.comments.align import Graph, align
from metareview.errors import UsageError
from metareview.judges.builtin.cascade import CascadeJudge
from metareview.judges.cascade_questions import ListRules
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import Answer, Judge, ModelJudge, Planned, Question, Usage
from metareview.judges.remote.embedding import EmbeddingJudge
from metareview.judges.remote.llm import LlmJudge
from metareview.judges.remote.settings import ModelSettings
from metareview.model.comment import Comment


class First(Judge):
    """Gives the probabilities it was told."""

    name = "first"

    def __init__(self, scores):
        self.scores = scores

    def judge(self, questions):
        scores = [np.array([self.scores[tuple(pair)] for pair in q.pairs.tolist()], float) for q in questions]
        return [Answer(s, (s >= 0.5).astype(np.int8), "first") for s in scores]


class Model(ModelJudge):
    """Knows the truth; remembers what it was asked, round by round."""

    name = "model"

    def __init__(self, truth, fails=()):
        self.truth, self.fails, self.rounds, self.usage = truth, set(fails), [], Usage()
        self.closed = 0

    def judge(self, questions):
        asked = [[(q.generated[g], q.reference[r]) for g, r in q.pairs.tolist()] for q in questions]
        self.rounds.append([pair for pairs in asked for pair in pairs])
        return [self._answer(pairs) for pairs in asked]

    def _answer(self, pairs):
        failed = np.array([pair in self.fails for pair in pairs], bool)
        match = np.where(failed, -1, [pair in self.truth for pair in pairs]).astype(np.int8)
        reasons = ["broken" if fails else "asked" for fails in failed]
        return Answer(np.where(failed, np.nan, 0.9), match, reasons, "model")

    def planned(self, questions):
        return Planned(sum(len(question.pairs) for question in questions))

    def close(self):
        self.closed += 1

    @property
    def asked(self):
        return [pair for batch in self.rounds for pair in batch]


def question(scores):
    generated = range(max(g for g, _ in scores) + 1)
    reference = range(max(r for _, r in scores) + 1)
    pairs = np.array(sorted(scores), np.int64).reshape(-1, 2)
    return Question([f"g{i}" for i in generated], [f"r{i}" for i in reference], pairs)


def test_every_bound_is_among_its_parameters():
    judge = CascadeJudge(First({}), Model(set()), ListRules(low=0.2, high=0.9, worth=0.05))
    assert judge.parameters == {"low": 0.2, "high": 0.9, "worth": 0.05}


def test_what_is_known_of_the_model_is_known_of_the_cascade():
    model = Model(set())
    judge = CascadeJudge(First({}), model, ListRules())
    assert isinstance(judge, ModelJudge)
    judge.progress = print
    assert (model.progress, judge.progress) == (print, print)
    assert judge.usage is model.usage
    judge.close()
    assert model.closed == 1


def in_lists(scores, truth, *, one_to_one=True, note_length=1, **rules):
    model = Model({(f"g{g}", f"r{r}") for g, r in truth})
    asked = question(scores)
    longer = [[note + " " * (note_length - len(note)) for note in side] for side in (asked.generated, asked.reference)]
    model.truth = {(longer[0][g], longer[1][r]) for g, r in truth}
    judge = CascadeJudge(First(scores), model, ListRules(**{"worth": 0.01, **rules}), one_to_one=one_to_one)
    [answer] = judge.judge([Question(*longer, asked.pairs)])
    return answer, [(g.strip(), r.strip()) for g, r in model.asked]


def test_a_list_holds_the_notes_that_leave_doubts_and_no_settled_ones():
    scores = {(0, 0): 0.6, (1, 1): 0.999, (2, 2): 0.001, (0, 1): 0.001, (1, 0): 0.3, (2, 0): 0.001}
    answer, asked = in_lists(scores, truth=[(0, 0)])
    # g1 and r1 belong together for sure, so that g1 cannot add r0; g2 fits nothing.
    assert asked == [("g0", "r0")]
    assert answer.match.tolist() == [1, 0, 0, 1, 0, 0]


def test_sure_pairs_of_notes_in_a_list_are_put_to_the_model_too():
    scores = {(0, 0): 0.6, (1, 1): 0.6, (0, 1): 0.001, (1, 0): 0.001}
    answer, asked = in_lists(scores, truth=[(0, 1)])
    assert sorted(asked) == [("g0", "r0"), ("g0", "r1"), ("g1", "r0"), ("g1", "r1")]
    assert answer.match.tolist() == [0, 1, 0, 0]


def test_a_review_is_asked_about_once():
    model = Model(set())
    scores = {(0, 0): 0.5, (1, 0): 0.4, (2, 0): 0.3}
    CascadeJudge(First(scores), model, ListRules()).judge([question(scores)] * 2)
    assert [len(batch) for batch in model.rounds] == [6]


def test_doubts_must_be_worth_the_text():
    scores = {(0, 0): 0.02}
    assert in_lists(scores, truth=[(0, 0)], worth=0.001)[1] == [("g0", "r0")]
    answer, asked = in_lists(scores, truth=[(0, 0)], worth=0.1)
    assert asked == []
    assert answer.match.tolist() == [0]
    assert "not asked" in answer.reason[0]
    # The same doubt in more text: the instruction has more than 1,000 characters, the notes 20,000.
    assert in_lists(scores, truth=[], worth=0.002, note_length=10_000)[1] == []


def test_a_reference_that_is_hardly_ever_wrong_is_left_out_of_a_list():
    scores = {(0, 0): 0.5, (0, 1): 0.012, (1, 1): 0.9899}
    _, asked = in_lists({**scores, (1, 1): 0.994}, truth=[])
    assert {r for _, r in asked} == {"r0", "r1"}  # 0.006 and 0.012 together are more than 0.01
    _, asked = in_lists({(0, 0): 0.5, (1, 1): 0.994}, truth=[])
    assert {r for _, r in asked} == {"r0"}


def test_under_coverage_a_list_asks_for_second_comments_too():
    scores = {(0, 0): 0.999, (1, 0): 0.6}
    assert in_lists(scores, truth=[(1, 0)])[1] == []
    assert in_lists(scores, truth=[(1, 0)], one_to_one=False)[1] == [("g1", "r0")]


def test_a_list_that_the_model_fails_on_stays_undecided():
    model = Model(set(), fails=[("g0", "r0")])
    [answer] = CascadeJudge(First({(0, 0): 0.6}), model, ListRules()).judge([question({(0, 0): 0.6})])
    assert answer.match.tolist() == [-1]
    assert np.isnan(answer.score[0])


def test_what_a_list_would_hold_is_what_it_holds():
    model, scores = Model(set()), {(0, 0): 0.5, (1, 1): 0.5, (2, 2): 0.0001}
    judge = CascadeJudge(First(scores), model, ListRules())
    assert judge.planned([question(scores)]).calls == 2
    judge.judge([question(scores)])
    assert len(model.asked) == 2


def test_a_clear_pair_settles_its_reference_unless_it_can_be_moved_along():
    assert in_lists({(0, 0): 0.999, (1, 0): 0.6}, truth=[(1, 0)])[1] == []
    # r0 has g0 for sure, but if g0 also raises r1, then g1 on r0 makes two pairs of one.
    _, asked = in_lists({(0, 0): 0.999, (0, 1): 0.5, (1, 0): 0.5}, truth=[(0, 1), (1, 0)])
    assert {("g0", "r1"), ("g1", "r0")} <= set(asked)


def aligned(question, match, score):
    edges = question.pairs[match == 1]
    notes = [[Comment(note=note) for note in side] for side in (question.generated, question.reference)]
    return align("optimal", Graph(edges[:, 0], edges[:, 1], score[match == 1]), *notes).pairs


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6))
def test_as_many_pairs_as_asking_about_everything_unsure(seed, n_generated, n_reference):
    """Pairs that are not asked about could not have added a pair."""
    rng = random.Random(seed)
    scores = {
        (g, r): rng.choice([0.02, 0.3, 0.6, 0.8, 0.97])
        for g in range(n_generated)
        for r in range(n_reference)
        if rng.random() < 0.6
    }
    if not scores:
        return
    truth = [pair for pair, score in scores.items() if score > 0.9 or (score > 0.1 and rng.random() < score)]
    answer, asked = in_lists(scores, truth, worth=0, low=0.1, high=0.9)
    whole, model = question(scores), np.array([by == "model" for by in answer.by])
    certain = np.where(model | (answer.score > 0.9), answer.match, 0)
    everything = np.array([int(tuple(pair) in truth) for pair in whole.pairs.tolist()])
    assert len(aligned(whole, certain, answer.score)) == len(aligned(whole, everything, answer.score))
    assert len(asked) == len(set(asked))


# The threshold


def test_a_threshold_cuts_the_final_score_whoever_gave_it():
    scores = {(0, 0): 0.6, (1, 1): 0.999, (2, 2): 0.001, (0, 1): 0.001, (1, 0): 0.001}
    for threshold, matches in ((None, 2), (0.9, 2), (0.95, 1), (0.9995, 0), (0.0005, 5)):
        judge = CascadeJudge(First(scores), Model({("g0", "r0")}), threshold=threshold)
        [answer] = judge.judge([question(scores)])
        assert judge.model.asked == [("g0", "r0")]  # whatever the threshold
        assert answer.score[0] == 0.9  # the model's
        assert answer.match.sum() == matches
        assert judge.threshold == threshold


def test_an_undecided_pair_stays_so_at_any_threshold():
    for threshold in (0, 0.5, 1):
        judge = CascadeJudge(First({(0, 0): 0.6}), Model(set(), fails=[("g0", "r0")]), threshold=threshold)
        [answer] = judge.judge([question({(0, 0): 0.6})])
        assert answer.match.tolist() == [-1]


def test_a_cut_outside_the_bounds_is_a_warning():
    """The bounds say which pairs are asked about, the threshold what a score comes to."""
    first, rules = First({}), ListRules(low=0.2, high=0.8)
    assert CascadeJudge(first, Model(set()), rules, threshold=0.2).warnings == ()
    for threshold, between, verdict in ((0.1, "0.10 and 0.20", "match"), (0.9, "0.80 and 0.90", "do not match")):
        assert list(CascadeJudge(first, Model(set()), rules, threshold=threshold).warnings) == [
            f"pairs that first scores between {between} {verdict} without the model: it is asked from 0.20 to 0.80,"
            f" and the cut is {threshold:.2f}"
        ]
    first.threshold = 0.5
    assert len(CascadeJudge(first, Model(set()), ListRules(low=0.7)).warnings) == 1


def test_an_impossible_threshold_is_refused_by_every_judge_with_one_message():
    server = ModelSettings("http://127.0.0.1:9/v1", "m")
    makers = (
        lambda: CascadeJudge(First({}), Model(set()), threshold=1.5),
        lambda: OfflineJudge(1.5),
        lambda: LlmJudge(server, threshold=1.5),
        lambda: EmbeddingJudge(server, threshold=1.5),
    )
    for make in makers:
        with pytest.raises(UsageError, match=r"^--threshold must be from 0 to 1, found 1\.5\. Give one that is\.$"):
            make()
