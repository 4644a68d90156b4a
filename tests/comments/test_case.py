"""Counting: negatives, filters, undecided pairs, noteless comments, slices."""

import numpy as np
import pytest

from metareview.comments.case import Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.comments.pairs import pairs_of
from metareview.errors import UsageError
from metareview.judges.protocol import Answer, Judge
from metareview.judges.registry import open_judge
from metareview.model.comment import Comment, Review
from metareview.pipelines.comments import count
from metareview.pipelines.comments.answer import answer_in_batches
from metareview.runs.comments_json import pair_to_json, record_to_json

URL = "https://github.com/owner/repo/pull/7"


def at(line, note, **fields):
    return Comment(note=note, path="a.py", side="right", from_line=line, to_line=line, **fields)


def record_of(generated, expected, rejected=(), judge=None, **rules):
    """The record and the pairs of one case, as a run's files hold them."""
    case = Case.of(
        "bot",
        Review(URL, tuple(generated)),
        Review(URL, tuple(expected), language="Go", pr_category="Bug Fix"),
        Review(URL, tuple(rejected)),
        Rules(negatives=bool(rejected), **rules),
    )
    with open_judge(judge or "exact") as opened:
        [(_, judged, record)] = count.records_of(answer_in_batches([case], opened))
    return record_to_json(record), [pair_to_json(pair) for pair in (pairs_of(judged, record) if judged else ())]


def test_line_and_full_alignments_are_separate():
    record, pairs = record_of([at(1, "x"), at(1, "y"), at(50, "z")], [at(1, "y"), at(2, "q")])
    assert record["positive_line_match_nums"] == 2
    assert record["positive_match_nums"] == 1
    assert record["unmatched_nums"] == 2
    assert record["total_generated_nums"] == 3
    assert [(p["generated"], p["reference"]) for p in pairs if p["aligned"]] == [(1, 0)]
    assert [p["gap"] for p in pairs] == [0, 1, 0, 1]


def test_comments_without_a_note_are_not_counted_but_keep_their_position():
    record, pairs = record_of([at(1, " \n"), at(1, "x")], [at(1, ""), at(1, "x")])
    assert (record["total_generated_nums"], record["positive_expected_nums"]) == (1, 1)
    assert [(p["generated"], p["reference"]) for p in pairs] == [(1, 1)]
    assert record["matched_reference_comments"][0]["reference"] == 1


def test_equal_comments_are_as_many_as_they_are():
    record, _ = record_of([at(1, "x")] * 3, [at(1, "x")] * 2)
    assert (record["positive_match_nums"], record["unmatched_nums"]) == (2, 1)


def test_only_comments_that_no_reference_explains_are_compared_with_negatives():
    rejected = [at(1, "x"), at(5, "bad"), at(9, "worse")]
    record, pairs = record_of([at(1, "x"), at(5, "bad"), at(5, "bad"), at(40, "worse")], [at(1, "x")], rejected)
    # The second "bad" finds its negative taken; "worse" stands elsewhere.
    assert record["negative_match_nums"] == 1
    assert record["negative_expected_nums"] == 3
    assert record["false_positive_rate"] == 0.25
    assert {(p["generated"], p["reference"]) for p in pairs if p["negative"]} == {(1, 1), (2, 1)}
    assert [p["generated"] for p in pairs if p["negative"] and p["aligned"]] == [1]


def test_a_comment_filter_leaves_out_comments_that_were_right_about_something_else():
    expected = [at(1, "slow", category="Performance"), at(9, "leak", category="Code Defect")]
    said = [at(1, "slow"), at(9, "leak"), at(20, "nonsense")]
    record, _ = record_of(said, expected, filters=FilterConfig(comment_categories=["Performance"]))
    assert (record["original_good_comments_count"], record["filtered_good_comments_count"]) == (2, 1)
    assert record["total_generated_nums"] == 2  # "leak" was right, about what is not asked here
    assert record["left_out_nums"] == 1
    assert record["positive_match_rate"] == 0.5
    assert record["positive_recall_rate"] == 1
    assert record["positive_line_match_nums"] == 1


def test_under_coverage_a_comment_that_also_raises_a_kept_reference_stays():
    expected = [at(1, "x", category="Performance"), at(1, "x", category="Code Defect")]
    filters = FilterConfig(comment_categories=["performance"])
    record, _ = record_of([at(1, "x")], expected, alignment="coverage", filters=filters)
    assert (record["total_generated_nums"], record["positive_match_nums"]) == (1, 1)


def test_a_pull_request_filter_skips_and_says_why():
    record, pairs = record_of([at(1, "x")], [at(1, "x")], filters=FilterConfig(project_languages=["Rust"]))
    assert record["skipped"]
    assert "Go" in record["skip_reason"]
    assert (record["original_good_comments_count"], record["filtered_good_comments_count"]) == (1, 0)
    assert pairs == []
    record, _ = record_of([at(1, "x")], [at(1, "x")], filters=FilterConfig(project_languages=["go"]))
    assert not record["skipped"]


def test_under_coverage_every_pair_with_a_negative_is_aligned():
    rejected = [at(5, "bad"), at(6, "bad"), at(6, "other")]
    record, pairs = record_of([at(5, "bad"), at(6, "bad")], [at(1, "x")], rejected, alignment="coverage")
    assert record["negative_match_nums"] == 2
    aligned = [(p["generated"], p["reference"]) for p in pairs if p["aligned"]]
    assert sorted(aligned) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert all(p["negative"] for p in pairs if p["aligned"])


def test_reference_slices_count_what_was_raised():
    expected = [at(1, "a", severity="High"), at(5, "b", severity="High"), at(9, "c", context="Diff Level")]
    record, _ = record_of([at(1, "a"), at(5, "other")], expected)
    assert record["reference_slices"]["severity"] == {"High": [2, 1, 2], "unknown": [1, 0, 0]}
    assert record["reference_slices"]["context"] == {"unknown": [2, 1, 2], "Diff Level": [1, 0, 0]}


class Hesitant(Judge):
    """Decides nothing about notes that hold a question mark."""

    name = "hesitant"

    def judge(self, questions):
        answers = []
        for question in questions:
            pairs = [(question.generated[g], question.reference[r]) for g, r in question.pairs.tolist()]
            open_ = np.array(["?" in a + b for a, b in pairs], bool)
            same = np.array([a.strip("?") == b.strip("?") for a, b in pairs], bool)
            score = np.where(open_, np.nan, same.astype(float))
            answers.append(Answer(score, np.where(open_, -1, same).astype(np.int8), "because"))
        return answers


def test_an_undecided_pair_is_an_error_with_bounds_and_no_mismatch():
    record, pairs = record_of([at(1, "x"), at(1, "y?")], [at(1, "x"), at(1, "y")], [at(1, "y")], judge=Hesitant())
    # "y?" is undecided against both references and the negative, so there are three errors.
    assert record["judge_error_nums"] == 3
    assert record["positive_match_nums"] == 1
    assert record["negative_match_nums"] == 0
    least, most = record["undecided_bounds"]
    assert (least["positive_match_nums"], most["positive_match_nums"]) == (1, 2)
    # "y?" repeats the negative only if it matches no reference.
    assert (least["negative_match_nums"], most["negative_match_nums"]) == (0, 1)
    assert [p["match"] for p in pairs] == [True, False, None, None, None]
    assert [p["score"] for p in pairs] == [1.0, 0.0, None, None, None]


def test_pairs_beyond_the_distance_are_kept_and_count_for_nothing():
    said, expected = [at(1, "x"), at(40, "x")], [at(9, "x")]
    near, _ = record_of(said, expected)
    record, pairs = record_of(said, expected, [at(12, "x")], reach=20)
    assert (record["positive_match_nums"], record["positive_line_match_nums"]) == (0, 0)
    assert record["negative_match_nums"] == 0
    assert record["llm_comparisons"] == near["llm_comparisons"] == []
    assert [(p["gap"], p["match"], p["eligible"], p["aligned"]) for p in pairs] == [
        (8, True, False, False),
        (11, True, False, False),
    ]


def test_where_place_is_not_asked_line_figures_are_null():
    record, pairs = record_of([Comment(note="x")], [Comment(note="x")], location=False)
    assert record["positive_match_nums"] == 1
    for name in ("positive_line_match_nums", "positive_line_covered_nums", "line_f1", "positive_line_match_rate"):
        assert record[name] is None
    assert record["match_details"][0]["line_match"] is None
    assert pairs[0]["gap"] is None


@pytest.mark.parametrize(("alignment", "line", "full"), [("optimal", 2, 2), ("coverage", 3, 3), ("greedy", 1, 1)])
def test_the_three_alignments_by_place_alone(alignment, line, full):
    record, _ = record_of(
        [at(1, "a"), at(1, "b"), at(2, "c")], [at(1, "x"), at(2, "y")], judge="none", meaning=False, alignment=alignment
    )
    assert (record["positive_line_match_nums"], record["positive_match_nums"]) == (line, full)


def test_a_note_beyond_reason_is_judged_on_its_beginning():
    case = Case.of("bot", Review(URL, (at(1, "x" * 100_001),)), Review(URL, (at(1, "y" * 100_000),)), None, Rules())
    question = case.question()
    assert [len(question.generated[0]), len(question.reference[0])] == [20_000, 100_000]


class Forgetful(Judge):
    name = "forgetful"

    def __init__(self, answers):
        self.answers = answers

    def judge(self, questions):
        return self.answers


@pytest.mark.parametrize("answers", [[], [Answer(np.ones(2), np.ones(2, np.int8))]])
def test_a_judge_that_does_not_answer_what_it_was_asked_is_refused_by_name(answers):
    with pytest.raises(UsageError, match="judge forgetful: it must return one answer per question"):
        record_of([at(1, "x")], [at(1, "x")], judge=Forgetful(answers))


@pytest.mark.parametrize("score", [np.inf, -0.1, 1.5])
def test_a_score_that_is_no_probability_is_refused(score):
    class Wild(Judge):
        name = "wild"

        def judge(self, questions):
            return [Answer(np.full(len(q.pairs), score), np.ones(len(q.pairs), np.int8)) for q in questions]

    with pytest.raises(UsageError, match="judge wild: a score must lie between 0 and 1, found"):
        record_of([at(1, "x")], [at(1, "x")], judge=Wild())
