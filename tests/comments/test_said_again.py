"""What a reviewer says again on a pull request, against the definition applied to one pair at a time."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.comments import repeats
from metareview.comments.alike_notes import AlikeNotes
from metareview.comments.location import may_match
from metareview.comments.repeats import repeated
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import Question
from metareview.model.comment import Comment
from metareview.text.rouge import EncodedTexts

LEAK = "The handle is never closed, so `readAll` leaks a file descriptor."
LEAK_AGAIN = "The handle here is never closed, so `readAll` leaks a descriptor."
LEAK_LOOSELY = "`readAll` leaks a descriptor: the handle is never closed."
"""Five of its nine words stand in LEAK in the same order, and of LEAK's eleven as many."""
RACE = "Race: `counter` is incremented without the lock."


def said(*notes, path="a.py", line=3, **more):
    return [Comment(note=note, path=path, from_line=line, **more) for note in notes]


def test_what_is_said_again_points_at_the_first_that_says_it():
    assert repeated([said(LEAK, RACE, LEAK_AGAIN, LEAK, RACE)]) == [[None, None, 0, 0, 1]]


def test_reviews_are_apart():
    assert repeated([said(LEAK), said(LEAK, RACE), [], said(RACE, RACE)]) == [[None], [None, None], [], [None, 0]]


def test_places_are_compared_unless_the_run_compares_none():
    far = [*said(LEAK), *said(LEAK, line=5), *said(LEAK, path="b.py"), *said(LEAK, line=7)]
    assert repeated([far]) == [[None, None, None, None]]
    assert repeated([far], line_distance=2) == [[None, 0, None, 1]]
    assert repeated([far], location=False) == [[None, 0, 0, 0]]


def test_notes_that_are_equal_but_for_white_space_are_the_same_whatever_they_are():
    assert repeated([said("!! ?", "!!   ?\n", "??")]) == [[None, 0, None]]


def test_notes_in_other_scripts_are_compared_by_their_words():
    chinese = "缓存的键没有包含租户，因此一个客户会读到另一个客户的数据"
    again = "缓存的键没有包含租户标识，因此一个客户可能会读到另一个客户的数据。"
    # All 27 characters of the first are in the second, which has 31; the third shares seven with it.
    assert repeated([said(chinese, again, "变量的名字没有说明它包含什么数据")]) == [[None, 0, None]]
    assert repeated([said("Le café est fermé", "Le cafe\u0301 est ferme\u0301")]) == [[None, 0]]


def test_earlier_is_by_time_and_else_by_position():
    late, early, unknown = (said(LEAK, at=at)[0] for at in ("2025-01-02T00:00:00Z", "2025-01-01T23:00:00-01:00", None))
    assert repeated([[late, early]]) == [[None, 0]]  # the same instant: the position decides
    early = said(LEAK, at="2025-01-01T23:00:00Z")[0]
    assert repeated([[late, early]]) == [[1, None]]
    # Without a time it stands behind what it follows; so never do all of them repeat one another.
    assert repeated([[late, unknown, early]]) == [[2, 2, None]]
    assert repeated([[unknown, late, early]]) == [[None, 0, 0]]
    assert repeated([[*said(LEAK, at="soon"), unknown]]) == [[None, 0]]


def test_lines_of_different_commits_are_not_compared():
    first = said(LEAK, line=3, commit="aaa")
    assert repeated([first + said(LEAK_AGAIN, line=90, commit="bbb")]) == [[None, 0]]
    assert repeated([first + said(LEAK_AGAIN, line=90, commit="aaa")]) == [[None, None]]
    assert repeated([first + said(LEAK_AGAIN, line=90)]) == [[None, None]]
    assert repeated([first + said(LEAK_AGAIN, line=90, commit="bbb", path="b.py")]) == [[None, None]]


def test_what_does_not_count_neither_repeats_nor_is_repeated():
    reply = said(LEAK, in_reply_to="1")
    assert repeated([reply + said(LEAK, " ", LEAK, " ")]) == [[None, None, None, 1, None]]


def test_only_what_is_asked_about_is_answered_for():
    review = said(LEAK, LEAK, LEAK)
    assert repeated([review], asked=[[True, False, True]]) == [[None, None, 0]]
    assert repeated([review, review], asked=[[False] * 3, [True] * 3]) == [[None] * 3, [None, 0, 0]]


def test_notes_are_only_compared_where_they_must_be(monkeypatch):
    monkeypatch.setattr(EncodedTexts, "shared_pairs", None)
    assert repeated([said(LEAK) + said(LEAK_AGAIN, path="b.py") + said(LEAK)]) == [[None, None, 0]]


def test_other_words_say_the_same_only_on_the_same_lines():
    assert repeated([said(LEAK, LEAK_LOOSELY)]) == [[None, 0]]
    assert repeated([said(LEAK, LEAK_LOOSELY)], location=False) == [[None, None]]
    assert repeated([said(LEAK, LEAK_LOOSELY, line=None)]) == [[None, None]]
    assert repeated([said(LEAK, commit="aaa") + said(LEAK_LOOSELY, commit="bbb")]) == [[None, None]]


def test_two_issues_on_the_same_lines_are_no_repeat_however_alike_the_judge_finds_them():
    about = ("Debug log should be removed.", "Logging invalid components may become a log-injection vector.")
    assert repeated([said(*about)]) == [[None, None]]


def by_definition(review, distance, location):
    judge, one_pair = OfflineJudge(), np.zeros((1, 2), np.int64)

    def same(a, b):
        moved = a.commit and b.commit and a.commit != b.commit
        if location and not may_match(a, b, 2**31 if moved else distance):
            return False
        if a.note.split() == b.note.split():
            return True
        words = min(EncodedTexts([a.note, b.note]).recall_pairs([(0, 1), (1, 0)]))
        on_lines = all(each.path and (each.from_line or each.to_line) for each in (a, b))
        if words > 0.7 or moved or not (location and on_lines):
            return words > 0.7
        questions = [Question([a.note], [b.note], one_pair), Question([b.note], [a.note], one_pair)]
        scores = [answer.score[0] for answer in judge.judge(questions)]
        return words > 1 / 3 and sum(scores) / 2 >= judge.threshold

    order = [number for number, comment in enumerate(review) if comment.counted]
    if all(review[number].at for number in order):
        order.sort(key=lambda number: review[number].at)
    found = [None] * len(review)
    for rank, later in enumerate(order):
        found[later] = next((earlier for earlier in order[:rank] if same(review[earlier], review[later])), None)
    return found


@st.composite
def reviews(draw):
    timed = draw(st.booleans())
    comments = st.builds(
        Comment,
        note=st.sampled_from(
            [LEAK, LEAK_AGAIN, LEAK_LOOSELY, RACE, "", "`counter` needs the lock.", "lock", f"  {RACE}\n"]
        ),
        path=st.sampled_from(["a.py", "b.py", None]),
        side=st.sampled_from(["left", "right", None]),
        from_line=st.one_of(st.none(), st.integers(1, 6)),
        commit=st.sampled_from(["c1", draw(st.sampled_from(["c1", "c2"])), None]),
        in_reply_to=st.sampled_from([None, None, None, "7"]),
        at=st.sampled_from(["2025-01-01T00:00:00Z", "2025-01-01T10:00:00Z", "2025-02-01T00:00:00Z"])
        if timed
        else st.none(),
    )
    return draw(st.lists(comments, max_size=8))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(reviews(), max_size=4),
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from([1, 3, 10_000]),
    st.sampled_from([1, 100]),
    st.sampled_from([0, 1, 32]),
)
def test_it_is_the_definition_for_each_pair(some, distance, location, size, large, neighbours):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "PAIRS", size)
        patch.setattr(repeats, "SCORED", size)
        patch.setattr(repeats, "LARGE", large)
        patch.setattr(repeats, "NEIGHBOURS", neighbours)
        found = repeated(some, line_distance=distance, location=location)
    assert found == [by_definition(review, distance, location) for review in some]


def random_notes(count, words, seed, longest=30):
    rng = random.Random(seed)
    return [
        " ".join(f"w{int(rng.paretovariate(0.6)) % words}" for _ in range(rng.randint(0, longest)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("words", [5, 60, 2_000])
def test_no_pair_that_may_be_alike_is_left_out(words):
    notes = random_notes(150, words, seed=words)
    every = np.array([(one, other) for one in range(150) for other in range(40, 90)], np.int64)
    shared = EncodedTexts(notes).shared_pairs(every)
    wanted = {tuple(pair) for pair, share in zip(every.tolist(), shared, strict=True) if share > 1 / 3}
    one, other = AlikeNotes(notes).sharing(np.arange(150), 40, 90)
    found = list(zip(one.tolist(), other.tolist(), strict=True))
    assert found == sorted(set(found))
    assert wanted <= set(found)


def test_the_words_that_two_texts_share_are_the_lesser_recall():
    texts = EncodedTexts(["close the file handle", "The handle: close the handle!", ""])
    pairs = [(0, 1), (1, 0), (0, 2), (2, 2), (1, 1)]
    both = np.minimum(texts.recall_pairs(pairs), texts.recall_pairs([pair[::-1] for pair in pairs]))
    assert texts.shared_pairs(pairs).tolist() == both.tolist() == [0.6, 0.6, 0.0, 0.0, 1.0]


def test_of_many_comments_on_the_same_lines_few_are_compared(monkeypatch):
    compared = []
    shared_pairs = EncodedTexts.shared_pairs
    monkeypatch.setattr(
        EncodedTexts, "shared_pairs", lambda self, pairs: compared.append(len(pairs)) or shared_pairs(self, pairs)
    )
    rng = random.Random(3)
    others = [" ".join(f"w{rng.randrange(2_000)}" for _ in range(20)) for _ in range(1_000)]
    assert sum(first is not None for first in repeated([said(*others)])[0]) < 100
    assert sum(compared) < 20_000  # of 499,500 pairs
    compared.clear()
    alike = [f"{LEAK} It is the case number {number} of this kind." for number in range(1_000)]
    assert repeated([said(*alike)]) == [[None, *[0] * 999]]
    assert sum(compared) < 2_000


def test_of_many_comments_on_one_file_those_near_each_other_are_compared(monkeypatch):
    compared = []
    sharing = AlikeNotes.sharing
    monkeypatch.setattr(AlikeNotes, "sharing", lambda *given: compared.append(given) or sharing(*given))
    review = [Comment(note=LEAK, path="a.py", from_line=line) for line in range(1, 2_001)]
    assert repeated([review]) == [[None, *range(1_999)]]
    assert not compared
