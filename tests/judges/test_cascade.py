"""The cascade asks where the first judge is unsure and the answer can still add a pair; nothing else."""

import random
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.comments.align import Graph, align
from metareview.judges.builtin.cascade import CascadeJudge
from metareview.judges.cascade.lists import ListRules
from metareview.judges.cascade.pairs import PairRules
from metareview.judges.protocol import Answer, Judge, ModelJudge, Question, Usage
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

    def planned_calls(self, questions):
        return sum(len(question.pairs) for question in questions)

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


def cascade(scores, truth, *, fails=(), **options):
    model = Model({(f"g{g}", f"r{r}") for g, r in truth}, fails)
    one_to_one = options.pop("one_to_one", True)
    rules = PairRules(**{"low": 0.1, "low_after_no": 0.1, "high": 0.9, **options})
    judge = CascadeJudge(First(scores), model, rules, one_to_one=one_to_one)
    [answer] = judge.judge([question(scores)])
    return answer, model


def test_clear_pairs_are_not_asked_about():
    answer, model = cascade({(0, 0): 0.95, (1, 1): 0.05}, truth=[])
    assert model.rounds == []
    assert answer.match.tolist() == [1, 0]
    assert list(answer.by) == ["judge", "judge"]


def test_every_bound_is_among_its_parameters():
    judge = CascadeJudge(First({}), Model(set()), PairRules(low=0.2, low_after_no=0.1, high=0.9))
    assert judge.parameters == {"low": 0.2, "low_after_no": 0.1, "high": 0.9}


def test_it_counts_the_calls_it_would_make_and_makes_none():
    model = Model(set())
    judge = CascadeJudge(First({(0, 0): 0.95, (1, 1): 0.5, (2, 2): 0.4, (3, 3): 0.05}), model, PairRules(0.1, 0.9))
    assert judge.planned_calls([question(judge.first.scores)]) == 2
    assert model.rounds == []


def test_what_is_known_of_the_model_is_known_of_the_cascade():
    model = Model(set())
    judge = CascadeJudge(First({}), model, ListRules())
    assert isinstance(judge, ModelJudge)
    judge.progress = print
    assert (model.progress, judge.progress) == (print, print)
    assert judge.usage is model.usage
    judge.close()
    assert model.closed == 1


def test_an_unsure_pair_is_asked_about_and_the_model_decides():
    answer, model = cascade({(0, 0): 0.6, (1, 1): 0.4}, truth=[(1, 1)])
    assert sorted(model.asked) == [("g0", "r0"), ("g1", "r1")]
    assert answer.match.tolist() == [0, 1]
    assert list(answer.by) == ["model", "model"]
    assert answer.reason[0] == "asked"


def test_a_yes_to_the_likeliest_spares_the_others():
    scores = {(0, 0): 0.8, (1, 0): 0.6, (2, 0): 0.4}
    answer, model = cascade(scores, truth=[(0, 0), (1, 0)])
    assert model.rounds == [[("g0", "r0")]]
    assert answer.match.tolist() == [1, 1, 0]  # what was not asked keeps the first judge's verdict
    assert "not asked" in answer.reason[1]
    answer, model = cascade(scores, truth=[(2, 0)])
    assert model.rounds == [[("g0", "r0")], [("g1", "r0")], [("g2", "r0")]]
    assert answer.match.tolist() == [0, 0, 1]


def test_a_no_makes_the_rivals_worth_a_question():
    scores = {(0, 0): 0.6, (1, 0): 0.2, (2, 1): 0.2}
    answer, model = cascade(scores, truth=[(1, 0), (2, 1)], low=0.3, low_after_no=0.1)
    assert model.rounds == [[("g0", "r0")], [("g1", "r0")]]  # g2 stands first for r1, and is clear
    assert answer.match.tolist() == [0, 1, 0]
    _, model = cascade(scores, truth=[(0, 0)], low=0.3, low_after_no=0.1)
    assert model.rounds == [[("g0", "r0")]]


def test_a_clear_pair_settles_its_reference():
    _, model = cascade({(0, 0): 0.95, (1, 0): 0.6}, truth=[(1, 0)])
    assert model.rounds == []


def test_a_pair_matters_where_it_can_move_others_along():
    # r0 has g0 for sure, but if g0 also raises r1, then g1 on r0 makes two pairs of one.
    _, model = cascade({(0, 0): 0.95, (0, 1): 0.5, (1, 0): 0.5}, truth=[(0, 1), (1, 0)])
    assert sorted(model.asked) == [("g0", "r1"), ("g1", "r0")]


def test_under_coverage_a_pair_matters_while_either_note_is_unsettled():
    scores = {(0, 0): 0.95, (1, 0): 0.6, (1, 1): 0.95, (0, 1): 0.6, (2, 0): 0.5}
    _, model = cascade(scores, truth=[], one_to_one=False)
    assert model.asked == [("g2", "r0")]


def test_a_failure_stays_undecided():
    answer, _ = cascade({(0, 0): 0.6}, truth=[(0, 0)], fails=[("g0", "r0")])
    assert answer.match.tolist() == [-1]
    assert np.isnan(answer.score[0])
    assert answer.reason[0] == "broken"


def test_questions_are_asked_together():
    scores = {(0, 0): 0.5}
    model = Model(set())
    judge = CascadeJudge(First(scores), model, PairRules(0.1, 0.9))
    judge.judge([question(scores)] * 3)
    assert [len(batch) for batch in model.rounds] == [3]


def pairs_of(answer, asked):
    keep = answer.match == 1
    edges = asked.pairs[keep]
    notes = [[Comment(note=note) for note in side] for side in (asked.generated, asked.reference)]
    return align("optimal", Graph(edges[:, 0], edges[:, 1], answer.score[keep]), *notes).pairs


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6))
def test_as_many_pairs_as_asking_about_everything_unsure(seed, n_generated, n_reference):
    """Whatever was not asked could not have added a pair: the count equals that of asking about every unsure pair."""
    rng = random.Random(seed)
    scores = {
        (g, r): rng.choice([0.02, 0.3, 0.6, 0.8, 0.97])
        for g in range(n_generated)
        for r in range(n_reference)
        if rng.random() < 0.6
    }
    if not scores:
        return
    truth = [pair for pair, score in scores.items() if 0.1 <= score <= 0.9 and rng.random() < score]
    answer, model = cascade(scores, truth)
    whole = {pair: 1.0 if pair in truth or score > 0.9 else 0.0 for pair, score in scores.items()}
    everything, _ = cascade(whole, truth)
    asked = question(scores)
    known = np.array([by == "model" for by in answer.by]) | (answer.score > 0.9)
    certain = Answer(answer.score, np.where(known, answer.match, 0).astype(np.int8))
    assert len(pairs_of(certain, asked)) == len(pairs_of(everything, asked))
    assert len(model.asked) == len(set(model.asked))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_no_more_is_asked_than_was_planned_whatever_the_answers(seed, n_generated, n_reference, one_to_one):
    rng = random.Random(seed)
    scores = {
        (g, r): rng.choice([0.01, 0.03, 0.05, 0.3, 0.6, 0.8, 0.97])
        for g in range(n_generated)
        for r in range(n_reference)
    }
    asked = question(scores)
    truth = {pair for pair in product(asked.generated, asked.reference) if rng.random() < 0.2}
    model = Model(truth, fails={pair for pair in product(asked.generated, asked.reference) if rng.random() < 0.1})
    judge = CascadeJudge(First(scores), model, PairRules(0.1, 0.9, 0.02), one_to_one=one_to_one)
    planned = judge.planned_calls([asked])
    judge.judge([asked])
    assert len(model.asked) <= planned


def test_what_a_no_would_make_unsure_is_planned_for():
    # A no to the likeliest pair brings in the two below the bound that share a note with it; the last shares none.
    scores = {(0, 0): 0.5, (0, 1): 0.05, (1, 0): 0.05, (2, 2): 0.05}
    model = Model(set())
    judge = CascadeJudge(First(scores), model, PairRules(0.1, 0.9, 0.02))
    assert judge.planned_calls([question(scores)]) == 3
    judge.judge([question(scores)])
    assert len(model.asked) == 3


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
    assert judge.planned_calls([question(scores)]) == 2
    judge.judge([question(scores)])
    assert len(model.asked) == 2
