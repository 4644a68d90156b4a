"""What a reviewer says again on a pull request, against the definition applied to one pair at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.comments import repeats
from metareview.comments.location import may_match
from metareview.comments.repeats import repeated
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import Question
from metareview.model.comment import Comment

LEAK = "The handle is never closed, so `readAll` leaks a file descriptor."
LEAK_AGAIN = "`readAll` leaks: close the handle in a finally block."
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


def test_the_judge_is_only_read_where_notes_must_be_compared(monkeypatch):
    monkeypatch.setattr(repeats, "_score_as_same", None)
    assert repeated([said(LEAK) + said(LEAK_AGAIN, path="b.py") + said(LEAK)]) == [[None, None, 0]]


def by_definition(review, distance, location):
    judge, one_pair = OfflineJudge(), np.zeros((1, 2), np.int64)

    def same(a, b):
        moved = a.commit and b.commit and a.commit != b.commit
        if location and not may_match(a, b, 2**31 if moved else distance):
            return False
        questions = [Question([a.note], [b.note], one_pair), Question([b.note], [a.note], one_pair)]
        scores = [answer.score[0] for answer in judge.judge(questions)]
        return sum(scores) / 2 >= judge.threshold or a.note.split() == b.note.split()

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
        note=st.sampled_from([LEAK, LEAK_AGAIN, RACE, "", "`counter` needs the lock.", "lock", f"  {RACE}\n"]),
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
)
def test_it_is_the_definition_for_each_pair(some, distance, location, size, large):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "PAIRS", size)
        patch.setattr(repeats, "SCORED", size)
        patch.setattr(repeats, "LARGE", large)
        found = repeated(some, line_distance=distance, location=location)
    assert found == [by_definition(review, distance, location) for review in some]
