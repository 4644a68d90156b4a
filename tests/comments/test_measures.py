import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.comments.measures import (
    MEASURES,
    Counts,
    f_beta,
    measured,
    positive_match_rate,
    rates,
    rates_of_each,
    recall_table,
    table,
)
from metareview.errors import UsageError
from metareview.model.measure import find_measure


def figures(**counts):
    return rates(table([Counts(**counts)])[0], measured(location=True, negatives=True))


def test_the_sample_output_of_the_evaluator_runner():
    # 10 references, 8 comments, 6 by line, 5 in full: precision 5/8, recall 5/10, F1 = 2 * 5/8 * 1/2 / (9/8).
    found = figures(
        expected=10, generated=8, matched=5, covered=5, line_matched=6, line_covered=6, unmatched=3, negatives_matched=2
    )
    assert found["positive_match_rate"] == 0.625
    assert found["positive_recall_rate"] == 0.5
    assert found["f1"] == pytest.approx(5 / 9)
    assert found["positive_line_match_rate"] == 0.75
    assert found["positive_line_recall_rate"] == 0.6
    assert found["line_f1"] == pytest.approx(2 / 3)
    assert found["unmatched_rate"] == 0.375
    assert found["false_positive_rate"] == 0.25


def test_silence_has_no_precision_and_an_f1_of_zero():
    found = figures(expected=4)
    assert found["positive_match_rate"] is None
    assert found["unmatched_rate"] is None
    assert found["positive_recall_rate"] == 0
    assert found["f1"] == 0


def test_nothing_said_where_nothing_was_to_be_said_is_undefined():
    assert set(figures().values()) == {None}


def test_comments_where_there_are_no_references_have_no_recall_and_an_f1_of_zero():
    found = figures(generated=3, unmatched=3)
    assert found["positive_match_rate"] == 0
    assert found["positive_recall_rate"] is None
    assert found["f1"] == 0


def test_measures_work_on_many_sums_at_once():
    rows = [Counts(generated=4, matched=matched) for matched in (0, 1, 2, 3, 4, 0)]
    sums = table(rows).reshape(2, 3, -1)
    assert positive_match_rate(sums).tolist() == [[0, 0.25, 0.5], [0.75, 1, 0]]


def test_counts_come_back_from_a_table():
    counts = Counts(10, 8, 6, 5, 5, 6, 3, 2, 1, 0)
    assert Counts.from_sums(table([counts])[0], location=True) == counts
    assert Counts.from_sums(table([counts])[0], location=False) == counts.without_lines()


@given(st.lists(st.tuples(*[st.integers(0, 9) | st.floats(0, 9)] * 3), max_size=4))
def test_a_table_of_references_is_that_of_their_counts(tallies):
    counts = [Counts(expected=all_of_them, covered=some, line_covered=near) for all_of_them, some, near in tallies]
    assert recall_table(tallies).tolist() == table(counts).tolist()


def test_counts_that_are_not_known_are_0_in_a_table():
    assert table([Counts(1, 2).without_lines()]).tolist() == [[1, 2, 0, 0, 0, 0, 0, 0, 0, 0]]
    assert table([]).shape == (0, 10)


@pytest.mark.parametrize(
    ("typed", "name"),
    [("precision", "positive_match_rate"), ("F1", "f1"), ("Line_Recall", "positive_line_recall_rate"),
     ("noise", "unmatched_rate"), ("false_positives", "false_positive_rate"), ("unmatched_rate", "unmatched_rate")],
)  # fmt: skip
def test_a_measure_is_found_by_either_name_whatever_the_case(typed, name):
    assert find_measure(typed, MEASURES, "--sort").name == name


def test_an_unknown_measure_is_answered_with_those_that_there_are():
    with pytest.raises(UsageError, match=r"--sort: unknown metric 'f2'.*precision, recall, f1"):
        find_measure("f2", MEASURES, "--sort")


def test_beta_two_minds_recall_more():
    # P 1/2, R 1: F2 = 5 * 1/2 / (4 * 1/2 + 1) = 5/6
    assert f_beta(2).value(table([Counts(expected=1, generated=2, matched=1, covered=1)])[0]) == pytest.approx(5 / 6)


def test_what_was_not_asked_is_null():
    found = rates(table([Counts(generated=2)])[0], measured(location=False, negatives=False))
    assert found["line_f1"] is None
    assert found["false_positive_rate"] is None
    assert found["positive_match_rate"] == 0


counts = st.builds(Counts, *[st.integers(0, 12).map(lambda thirds: thirds / 3)] * 10)


@given(st.lists(counts, max_size=5), st.booleans(), st.booleans())
def test_rates_of_many_are_those_of_each(several, location, negatives):
    available = measured(location=location, negatives=negatives)
    several = several if location else [each.without_lines() for each in several]
    found = rates_of_each(table(several), available)
    assert found == [rates(table([each])[0], available) for each in several]
