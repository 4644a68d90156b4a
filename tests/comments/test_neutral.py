"""Neutral references: a comment that matches one, and no other reference, counts neither for nor against."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.api import evaluate_comments
from metareview.comments.case import Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.comments.outcome import JudgedCase, make_record
from metareview.judges.protocol import Answer
from metareview.model.comment import Comment, Review

URL = "https://github.com/owner/repo/pull/7"


def notes(count, neutral=(), **fields):
    """Comments on one line, so that all of them may match by location."""
    return tuple(
        Comment(note=f"n{n}", path="a.py", from_line=1, to_line=1, neutral=n in neutral or None, **fields)
        for n in range(count)
    )


def record_of(said, expected, verdicts, neutral=(), rejected=0, against=(), **options):
    """The record of comments and references whose pairs have these verdicts, in order; -1 is undecided."""
    case = Case.of(
        "bot",
        Review(URL, notes(said)),
        Review(URL, notes(expected, neutral)),
        Review(URL, notes(rejected)),
        Rules(negatives=rejected > 0, **options),
    )
    answers = (
        Answer(np.where(np.array(v) < 0, np.nan, np.array(v, float)), np.array(v, np.int8)) for v in (verdicts, against)
    )
    return make_record(JudgedCase(case, *answers))


@pytest.mark.parametrize("alignment", ["optimal", "coverage", "greedy"])
def test_a_comment_that_matches_a_neutral_reference_is_left_out_of_the_total(alignment):
    # Comment 0 matches reference 0, comment 1 the neutral reference 1, comment 2 nothing.
    record = record_of(3, 2, [1, 0, 0, 1, 0, 0], neutral={1}, alignment=alignment)
    counts = record.counts
    assert (counts.expected, counts.generated, counts.matched, counts.unmatched) == (1, 2, 1, 1)
    assert record.left_out == 1
    assert [each.left_out for each in record.comments] == [False, True, False]
    assert [(each.kept, each.covered) for each in record.references] == [(True, True), (False, False)]
    assert record.rates["positive_match_rate"] == 0.5
    assert record.rates["positive_recall_rate"] == 1


def test_references_come_first_and_any_number_of_comments_may_be_neutral():
    # Comment 0 matches both; 1 and 2 match the neutral one alone.
    record = record_of(3, 2, [1, 1, 0, 1, 0, 1], neutral={1})
    assert (record.counts.matched, record.counts.generated) == (1, 1)
    assert record.rates["f1"] == 1


def test_a_comment_that_lost_its_reference_to_a_better_one_may_still_be_neutral():
    # Both comments match reference 0, which has room for one; the other also matches the neutral one.
    record = record_of(2, 2, [1, 1, 1, 1], neutral={1})
    assert (record.counts.matched, record.counts.generated, record.left_out) == (1, 1, 1)


def test_by_location_alone_a_neutral_reference_takes_what_the_references_leave():
    record = record_of(3, 2, [1] * 6, neutral={1}, meaning=False)
    counts = record.counts
    assert (counts.line_matched, counts.matched, counts.generated, counts.expected) == (1, 1, 1, 1)


def test_a_neutral_comment_is_not_held_against_the_negatives():
    record = record_of(1, 1, [1], neutral={0}, rejected=1, against=[1])
    assert (record.counts.negatives_matched, record.counts.generated) == (0, 0)
    assert record.rates["positive_match_rate"] is None


def test_bounds_are_not_worked_out_beside_neutral_references():
    record = record_of(1, 2, [-1, 1], neutral={1})
    assert record.counts.undecided == 1
    assert record.bounds is None


def test_a_filter_and_a_neutral_reference_leave_out_one_comment_each():
    references = (
        Comment("a", "a.py", from_line=1, severity="high"),
        Comment("b", "a.py", from_line=1, severity="low"),
        Comment("c", "a.py", from_line=1, severity="high", neutral=True),
    )
    case = Case.of(
        "bot", Review(URL, notes(4)), Review(URL, references), None, Rules(filters=FilterConfig(severities=["High"]))
    )
    verdicts = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    record = make_record(
        JudgedCase(
            case,
            Answer(np.array(verdicts, float), np.array(verdicts, np.int8)),
            Answer(np.zeros(0), np.zeros(0, np.int8)),
        )
    )
    assert (record.counts.expected, record.counts.generated, record.counts.matched) == (1, 2, 1)
    assert [each.left_out for each in record.comments] == [False, True, True, False]


@given(st.data())
def test_neutral_references_change_neither_matches_nor_recall(data):
    said, expected = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    neutral = data.draw(st.sets(st.integers(0, expected - 1)))
    verdicts = data.draw(st.lists(st.sampled_from([0, 1]), min_size=said * expected, max_size=said * expected))
    alignment = data.draw(st.sampled_from(["optimal", "coverage", "greedy"]))
    record = record_of(said, expected, verdicts, neutral=neutral, alignment=alignment)
    table = np.array(verdicts).reshape(said, expected)
    real = [column for column in range(expected) if column not in neutral]
    without = record_of(said, len(real), table[:, real].ravel().tolist(), alignment=alignment)
    assert (record.counts.matched, record.counts.covered) == (without.counts.matched, without.counts.covered)
    assert record.counts.expected == len(real)
    matched = {comment for comment, _ in record.matches}
    alike = {row for row in range(said) if row not in matched and any(table[row, column] for column in neutral)}
    assert {each.position for each in record.comments if each.left_out} == alike
    assert record.counts.generated == said - len(alike)


def test_neutral_true_in_a_file_is_honoured():
    reference = [{"pr": URL, "comments": [{"note": "leaks the handle"}, {"note": "name it better", "neutral": True}]}]
    generated = [{"pr": URL, "reviewer": "bot", "comments": [{"note": "name it better"}, {"note": "leaks the handle"}]}]
    run = evaluate_comments(generated, reference=reference, judge="exact")
    block = run.result.reviewers["bot"]
    assert (block.counts.expected, block.counts.generated, block.counts.matched) == (1, 1, 1)
