"""Bounds against every way to decide the undecided pairs, one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.comments.case import Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.comments.measures import MEASURES
from metareview.comments.outcome import JudgedCase, make_record
from metareview.comments.summary import CommentsConfig, summarise
from metareview.judges.protocol import Answer
from metareview.model.comment import Comment, Review

URL = "https://github.com/owner/repo/pull/7"
UNDECIDED, NO, YES = -1, 0, 1


def notes(count, **fields):
    """Comments on one line, so that all of them may match by location."""
    return tuple(Comment(note=f"n{n}", path="a.py", from_line=1, to_line=1, **fields) for n in range(count))


def config(rules):
    plain = dict.fromkeys(("threshold", "name", "format", "reference_format", "limit"))
    return CommentsConfig(
        judge="x", judge_parameters={}, line_distance=1, alignment=rules.alignment, ignore_location=False,
        location=True, filters=rules.filters, all_prs=False, seed=0, negatives=rules.negatives, **plain,
    )  # fmt: skip


def case_of(said, references, rejected, **options):
    rules = Rules(negatives=True, **options)
    sides = Review(URL, notes(said)), Review(URL, references), Review(URL, notes(rejected))
    return Case.of("bot", *sides, rules)


def answer(verdicts):
    match = np.array(verdicts, np.int8)
    return Answer(np.where(match == UNDECIDED, np.nan, match * 1.0), match)


def judged(case, verdicts, rejected):
    return JudgedCase(case, answer(verdicts), answer(rejected))


def extremes(case, verdicts, rejected):
    """The least and greatest value of each measure over all decisions; None where one leaves it undefined."""
    found = {measure.name: [] for measure in MEASURES}
    choices = [[v] if v != UNDECIDED else [NO, YES] for v in (*verdicts, *rejected)]
    for decided in product(*choices):
        record = make_record(judged(case, decided[: len(verdicts)], decided[len(verdicts) :]))
        for name, value in record.rates.items():
            found[name].append(value)
    return {name: None if None in values else (min(values), max(values)) for name, values in found.items()}


verdict = st.sampled_from([NO, YES, UNDECIDED, UNDECIDED])


def sides(draw):
    said, expected, rejected = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    verdicts = draw(st.lists(verdict, min_size=said * expected, max_size=said * expected))
    against = draw(st.lists(verdict, min_size=said * rejected, max_size=said * rejected))
    return said, expected, rejected, verdicts, against


def bounds_of(case, verdicts, rejected):
    record = make_record(judged(case, verdicts, rejected))
    return summarise([record], config(case.rules)).bounds, record


@settings(deadline=None, max_examples=150)
@given(st.data(), st.sampled_from(["optimal", "coverage"]))
def test_bounds_are_the_least_and_the_greatest_of_all_decisions(data, alignment):
    said, expected, rejected, verdicts, against = sides(data.draw)
    case = case_of(said, notes(expected), rejected, alignment=alignment)
    found, _ = bounds_of(case, verdicts, against)
    for name, ends in extremes(case, verdicts, against).items():
        assert found[name] == (None if ends is None else pytest.approx(ends)), name


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_bounds_of_coverage_with_a_comment_filter(data):
    """Precision, recall, F1 and noise are worked out; the others are not, and say so."""
    said, expected, rejected, verdicts, against = sides(data.draw)
    kinds = data.draw(st.lists(st.sampled_from(["Performance", "Code Defect"]), min_size=expected, max_size=expected))
    references = tuple(
        Comment(note=f"n{n}", path="a.py", from_line=1, to_line=1, category=k) for n, k in enumerate(kinds)
    )
    filters = FilterConfig(comment_categories=["Performance"])
    case = case_of(said, references, rejected, alignment="coverage", filters=filters)
    found, record = bounds_of(case, verdicts, against)
    true = extremes(case, verdicts, against)
    for measure in MEASURES:
        if record.counts.undecided and measure.needs:
            assert found[measure.name] is None
        elif true[measure.name] is not None:
            assert found[measure.name] == pytest.approx(true[measure.name]), measure.name


@pytest.mark.parametrize(
    "options", [{"alignment": "greedy"}, {"filters": FilterConfig(comment_contexts=["Diff Level"])}]
)
def test_bounds_that_are_not_worked_out_are_null(options):
    case = case_of(2, notes(2, context="Diff Level"), 1, **options)
    undecided, _ = bounds_of(case, [YES, NO, UNDECIDED, NO], [NO, NO])
    assert set(undecided.values()) == {None}
    # With nothing undecided there is one way to decide, and the bounds are the figures.
    decided, record = bounds_of(case, [YES, NO, NO, NO], [NO, NO])
    assert decided["f1"] == (record.rates["f1"],) * 2


def test_the_ends_of_false_positives_come_from_opposite_decisions_about_references():
    """One comment, undecided with the reference and the same as the negative: 1 if it is no match, 0 if it is one."""
    found, _ = bounds_of(case_of(1, notes(1), 1), [UNDECIDED], [YES])
    assert found["false_positive_rate"] == (0, 1)
    assert found["f1"] == (0, 1)
