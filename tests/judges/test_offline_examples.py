"""What known verdicts on the same references do to the offline judge's scores."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.judges.examples import KnownNotes
from metareview.judges.offline import examples
from metareview.judges.offline.examples import ELSEWHERE, NOISE, WORDING, boards, nearness
from metareview.judges.offline.features import Pairs
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.offline.layout import lay_out
from metareview.judges.offline.model import shipped
from metareview.judges.offline.notes import read_notes
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Question

REFERENCES = ["The lock is never released when parsing fails.", "The cache key leaves out the tenant."]
COMMENTS = ["Mutex stays held after an exception in parse", "Rename tmp", "Tenants share entries of the cache"]
KNOWN = KnownNotes(
    ["An exception in parse leaves the mutex held", "Use a clearer name than tmp", "Two tenants share one cache entry"],
    np.array([[SAME, DIFFERENT], [DIFFERENT, DIFFERENT], [UNDECIDED, SAME]], np.int8),
)


class Told:
    """Examples as they are told, for every question."""

    digest = "told"

    def __init__(self, known):
        self._known = known

    def known(self, question):
        return self._known(question) if callable(self._known) else self._known


def all_pairs(comments=COMMENTS, references=REFERENCES):
    return Question(comments, references, np.argwhere(np.ones((len(comments), len(references)))))


def scores(known, question=None):
    [answer] = OfflineJudge(examples=None if known is None else Told(known)).judge([question or all_pairs()])
    return answer


def test_another_wording_helps_and_a_comment_like_a_known_other_one_loses():
    before, after = (scores(known).score.reshape(3, 2) for known in (None, KNOWN))
    assert after[0, 0] > before[0, 0]  # like a known comment on it
    assert after[2, 1] > before[2, 1]
    assert after[1].max() < 0.05
    assert after[0, 1] < 0.1


def test_the_reason_says_what_it_is_like():
    reasons = list(scores(KNOWN).reason)
    assert reasons[0].endswith("; like a known comment on it")
    assert reasons[1].endswith("; more like a known comment on another reference")
    assert reasons[2].endswith("; more like a known comment that raises none of them")
    assert "known" not in scores(None).reason[0]


def test_where_nothing_is_known_the_score_stays():
    before = scores(None)
    for known in (None, lambda question: None, KnownNotes([], np.zeros((0, 2), np.int8))):
        assert scores(known).score.tolist() == before.score.tolist()
    unknown = KnownNotes(KNOWN.notes, np.full((3, 2), UNDECIDED, np.int8))
    assert scores(unknown).score.tolist() == before.score.tolist()


def test_one_threshold_serves_scores_with_examples_and_without():
    assert OfflineJudge(examples=Told(KNOWN)).threshold == OfflineJudge().threshold == shipped().threshold
    assert OfflineJudge(0.7, Told(KNOWN)).threshold == 0.7


def test_equal_notes_match_whatever_is_known():
    denied = KnownNotes([REFERENCES[0].upper()], np.array([[DIFFERENT, DIFFERENT]], np.int8))
    assert scores(denied, all_pairs([REFERENCES[0]])).score[0] >= 0.999


NOTES = st.lists(st.sampled_from([*COMMENTS, *REFERENCES, *KNOWN.notes, "?!", "释放锁", ""]), max_size=6, unique=True)


@settings(max_examples=60, deadline=None)
@given(NOTES, st.randoms(use_true_random=False), NOTES)
def test_the_nearest_known_note_of_each_kind_by_brute_force(known_notes, rng, comments):
    match = np.array([[rng.choice([SAME, DIFFERENT, UNDECIDED]) for _ in REFERENCES] for _ in known_notes], np.int8)
    known = KnownNotes(known_notes, match.reshape(-1, len(REFERENCES)))
    question = all_pairs(comments)
    texts, layout = lay_out([all_pairs(), question, all_pairs([])])
    all_texts, found = boards(texts, [None, known, known])
    notes = read_notes(all_texts, shipped().background)
    pairs = Pairs(notes, layout, *layout.all_pairs())
    near = nearness(pairs, np.arange(layout.start[-1]), [None, known, known], found)
    assert not near.known[: layout.start[1]].any()
    place = {text: number for number, text in enumerate(all_texts)}

    def words(a, b):
        of_a, of_b = (set(notes.terms[[place[note]]].indices.tolist()) for note in (a, b))
        weight = [sum(notes.rarity[term] for term in terms) for terms in (of_a & of_b, of_a, of_b)]
        return weight[0] / math.sqrt(weight[1] * weight[2]) if weight[1] and weight[2] else 0.0

    for row in range(layout.start[1], layout.start[2]):
        comment, reference = divmod(row - int(layout.start[1]), len(REFERENCES))
        for kind in (WORDING, ELSEWHERE, NOISE):
            of_kind = [
                note
                for note, verdicts in zip(known_notes, known.match, strict=True)
                if kind
                == (
                    WORDING
                    if verdicts[reference] == SAME
                    else ELSEWHERE
                    if SAME in verdicts
                    else NOISE
                    if DIFFERENT in verdicts
                    else None
                )
            ]
            assert near.known[row, kind] == bool(of_kind)
            nearest = max((words(comments[comment], note) for note in of_kind), default=0.0)
            assert near.words[row, kind] == pytest.approx(min(nearest, 1.0), abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(3)), st.integers(1, 40))
def test_neither_order_nor_blocks_change_a_score(order, block):
    whole = scores(KNOWN).score.tolist()
    shuffled = KnownNotes([KNOWN.notes[i] for i in order], KNOWN.match[list(order)])
    assert scores(shuffled).score.tolist() == whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "BLOCK", block)
        together = OfflineJudge(examples=Told(KNOWN)).judge([all_pairs(), all_pairs(), all_pairs([])])
    assert together[0].score.tolist() == together[1].score.tolist() == whole


def test_rows_that_are_left_out_are_as_if_they_were_not_there():
    """Also where two questions share what is known, and each leaves out something else."""
    without = {row: KnownNotes([KNOWN.notes[i] for i in kept], KNOWN.match[kept]) for row, kept in KEPT.items()}
    apart = {row: scores(known).score.tolist() for row, known in without.items()}
    sharing = {row: KnownNotes(KNOWN.notes, KNOWN.match, left_out=[row]) for row in KEPT}
    assert {row: scores(known).score.tolist() for row, known in sharing.items()} == apart
    questions = [replace(all_pairs(), reviewer=str(row)) for row in KEPT]
    together = OfflineJudge(examples=Told(lambda question: sharing[int(question.reviewer)])).judge(questions)
    assert [answer.score.tolist() for answer in together] == list(apart.values())
    nothing = KnownNotes(KNOWN.notes, KNOWN.match, left_out=range(3))
    assert scores(nothing).score.tolist() == scores(None).score.tolist()


KEPT = {0: [1, 2], 1: [0, 2], 2: [0, 1]}
