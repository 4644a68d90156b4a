"""The parts of the variance between repeated runs: against the textbook's analysis of variance and known parts."""

import numpy as np
import pytest

from metareview.comments.measures import Counts, measured
from metareview.comments.records import CommentRecord
from metareview.comments.repeated_runs import VarianceShares, repeats_of, run_order, variance_parts, variance_shares


def layout(table):
    """Each value of a table with pull requests as rows and runs as columns; NaN is left out."""
    prs, runs = np.nonzero(~np.isnan(table))
    return table[prs, runs], prs, runs


def textbook(table):
    """Two-way analysis of variance without replication, from its mean squares."""
    rows, columns = table.shape
    grand = table.mean()
    by_row, by_column = table.mean(axis=1), table.mean(axis=0)
    of_rows = columns * ((by_row - grand) ** 2).sum() / (rows - 1)
    of_columns = rows * ((by_column - grand) ** 2).sum() / (columns - 1)
    rest = ((table - by_row[:, None] - by_column + grand) ** 2).sum() / ((rows - 1) * (columns - 1))
    return [(of_rows - rest) / columns, (of_columns - rest) / rows, rest]


def test_a_full_table_has_the_parts_of_the_textbook():
    drawn = np.random.default_rng(1)
    for shape in ((3, 3), (2, 5), (40, 2), (17, 4)):
        table = drawn.normal(size=shape) + drawn.normal(size=(shape[0], 1)) + drawn.normal(size=(1, shape[1]))
        np.testing.assert_allclose(variance_parts(*layout(table)), textbook(table), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_known_parts_come_out_right_on_average(missing):
    drawn = np.random.default_rng(7)
    found = []
    for _ in range(400):
        table = 5 + 2 * drawn.normal(size=(30, 1)) + drawn.normal(size=(1, 5)) + 1.5 * drawn.normal(size=(30, 5))
        table[drawn.random(table.shape) < missing] = np.nan
        table[:, 0] = np.where(np.isnan(table).all(axis=1), 5.0, table[:, 0])  # every pull request is in some run
        found.append(variance_parts(*layout(table)))
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - [4, 1, 2.25]) < 4 * error).all()


def test_shares_add_up_and_a_part_below_zero_counts_as_none():
    # Row means 1/4, -1/8, -1/8, column means 1/4, 0, -1/4: mean squares 9/64, 3/16, and 3/16 for the rest.
    table = np.array([[0.75, 0, 0], [0.375, -0.375, -0.375], [-0.375, 0.375, -0.375]])
    assert variance_shares(*layout(table)) == VarianceShares(0.0, 0.0, 1.0)
    only_prs = np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    shares = variance_shares(*layout(only_prs))
    assert (shares.pull_requests, shares.runs, shares.residual) == pytest.approx((1, 0, 0), abs=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        [[1.0, 2.0, 3.0]],  # one pull request
        [[1.0], [2.0]],  # one run
        [[1.0, 1.0], [1.0, 1.0]],  # nothing varies
        [[1.0, np.nan], [np.nan, 2.0]],  # no run has a pull request of another
    ],
)
def test_no_shares_where_parts_cannot_be_told_apart(table):
    assert variance_shares(*layout(np.array(table))) is None


def record(pr, run, generated, matched, expected):
    counts = Counts(
        expected=expected,
        generated=generated,
        line_matched=matched,
        matched=matched,
        covered=matched,
        line_covered=matched,
        unmatched=generated - matched,
    )
    return CommentRecord(pr, "bot", None, None, expected, expected, counts=counts, run=run)


THREE_BY_THREE = {  # by run, on each pull request: comments, matches; references are 2, 1, 1
    "run-1": ((2, 2), (1, 1), (1, 0)),
    "run-2": ((2, 1), (0, 0), (1, 1)),
    "run-3": ((1, 1), (1, 0), (2, 0)),
}


def three_by_three():
    return [
        record(f"o/r#{number}", run, *counts, expected)
        for run, of_run in THREE_BY_THREE.items()
        for number, (counts, expected) in enumerate(zip(of_run, (2, 1, 1), strict=True), 1)
    ]


def test_each_run_has_its_own_figures_and_their_spread():
    repeats = repeats_of(three_by_three(), measured(location=True, negatives=False, alignment="optimal"))
    assert repeats.names == ("run-1", "run-2", "run-3")
    assert repeats.prs_per_run == {"run-1": 3, "run-2": 3, "run-3": 3}
    assert [repeats.metrics[run]["f1"] for run in repeats.names] == pytest.approx([6 / 8, 4 / 7, 2 / 8])
    spread = repeats.spread["f1"]
    assert (spread.min, spread.max) == (0.25, 0.75)
    # The mean is 11/21; 19/84, 1/21 and -23/84 lie beyond it.
    assert spread.sd == pytest.approx(((19 / 84) ** 2 / 2 + (1 / 21) ** 2 / 2 + (23 / 84) ** 2 / 2) ** 0.5)
    assert repeats.spread["false_positive_rate"] is None
    assert repeats.variance["positive_recall_rate"] == VarianceShares(0.0, 0.0, 1.0)  # the table above


def test_an_f_that_is_no_ratio_of_sums_has_nearly_the_parts_of_one_that_is():
    records = three_by_three()
    by_pairs, by_coverage = (
        repeats_of(records, measured(location=True, negatives=False, alignment=alignment)).variance["f1"]
        for alignment in ("optimal", "coverage")
    )
    # Here matched and covered are equal, so that both are the same figure.
    assert by_coverage.residual == pytest.approx(by_pairs.residual, abs=1e-6)
    assert by_coverage.runs == pytest.approx(by_pairs.runs, abs=1e-6)


def test_run_nine_comes_before_run_ten():
    assert sorted(["run-10", "run-9", "a", "run-1"], key=run_order) == ["a", "run-1", "run-9", "run-10"]
