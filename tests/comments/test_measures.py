import numpy as np
import pytest

from metareview.comments.measures import COUNTS, MEASURES, measured, rates, table


def figures(**counts):
    names = {"expected": "positive_expected_nums", "total": "total_generated_nums", "matched": "positive_match_nums",
             "covered": "positive_covered_nums", "line": "positive_line_match_nums",
             "line_covered": "positive_line_covered_nums", "unmatched": "unmatched_nums",
             "negative": "negative_match_nums"}  # fmt: skip
    sums = table([{names[key]: value for key, value in counts.items()}])[0]
    return rates(sums, measured(place=True, negatives=True))


def test_the_sample_output_of_the_evaluator_runner():
    # 10 references, 8 comments, 6 by line, 5 in full: precision 5/8, recall 5/10, F1 = 2 * 5/8 * 1/2 / (9/8).
    found = figures(
        expected=10, total=8, matched=5, covered=5, line=6, line_covered=6, unmatched=3, negative=2
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
    found = figures(total=3, unmatched=3)
    assert found["positive_match_rate"] == 0
    assert found["positive_recall_rate"] is None
    assert found["f1"] == 0


def test_measures_work_on_many_sums_at_once():
    sums = np.zeros((2, 3, len(COUNTS)))
    sums[..., COUNTS.index("total_generated_nums")] = 4
    sums[..., COUNTS.index("positive_match_nums")] = np.arange(6).reshape(2, 3) % 5
    assert MEASURES["positive_match_rate"](sums).tolist() == [[0, 0.25, 0.5], [0.75, 1, 0]]


def test_what_was_not_asked_is_null():
    found = rates(table([{"total_generated_nums": 2}])[0], measured(place=False, negatives=False))
    assert found["line_f1"] is None
    assert found["false_positive_rate"] is None
    assert found["positive_match_rate"] == 0
