"""Tables of text in the terminal and in notebooks: what fits, and text as text."""

from io import StringIO

import pytest
from report_samples import hostile, routing_run, two_reviewers
from rich.console import Console

from metareview.comparison.paired import compare
from metareview.report.notebook import comparison_html, run_table
from metareview.report.numbers import interval, p_value, ranked, share, signed, signed_interval
from metareview.report.tables import reviewers_table, routers_table
from metareview.report.terminal import as_rich


def drawn(table, width):
    out = StringIO()
    Console(file=out, width=width).print(as_rich(table, width))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_narrow_terminal_keeps_the_columns_that_decide(tmp_path):
    table = reviewers_table(two_reviewers(tmp_path).result)
    wide, narrow = drawn(table, 140), drawn(table, 100)
    assert wide[0].split() == [
        *("reviewer", "PRs", "comments", "precision", "recall", "F1", "95", "%", "line", "F1", "noise"),
        *("false", "positives", "undecided", "F1", "bounds"),
    ]
    assert "false positives" not in narrow[0]
    assert [line.split()[0] for line in narrow[1:]] == ["sharp", "loud"]
    # sharp: P 1, R 3/4, F1 6/7; nothing undecided, so its bounds are its F1.
    assert drawn(table, 80)[1].split()[1:4] == ["1.000", "0.750", "0.857"]
    assert wide[1].endswith("0.857–0.857")


def test_a_notebook_shows_the_figures_and_no_markup_of_others(tmp_path):
    shown = run_table(two_reviewers(tmp_path))
    assert "<td>sharp</td><td>2</td><td>3</td><td>1.000</td><td>0.750</td><td>0.857</td>" in shown
    assert "<b>rude" not in run_table(hostile(tmp_path))
    assert "&lt;b&gt;rude" in run_table(hostile(tmp_path))
    assert "<td>first</td><td>0.333</td><td>0.667</td><td>0.667</td><td>0.500</td>" in run_table(routing_run())


def test_a_comparison_in_a_notebook_ends_with_its_verdict(tmp_path):
    result = compare(two_reviewers(tmp_path), reviewers=["loud", "sharp"])
    shown = comparison_html(result)
    # Precision of loud 1/4, of sharp 1.
    assert "<td>precision</td><td>0.250</td><td>1.000</td><td>+0.750</td>" in shown
    assert shown.endswith("</p>")
    assert "there are too few matches to test" in shown


def test_every_interval_of_a_router_where_there_is_room():
    [head, *_] = drawn(routers_table(routing_run().result, all_intervals=True), 200)
    assert head.count("95 %") == 4


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (interval(None), "–"),
        (interval((0.1, 0.25)), "0.100–0.250"),
        (signed_interval((-0.1, 0.25)), "-0.100 to +0.250"),
        (signed(-0.0004), "-0.0004"),
        (p_value(0.0004), "<0.001"),
        (p_value(0.0314), "0.031"),
        (share(1, 3), "33%"),
        (share(1, 0), "–"),
    ],
)
def test_a_figure_reads_the_same_everywhere(shown, text):
    assert shown == text


def test_ranks_go_by_figure_then_name_and_whoever_has_none_is_last():
    metrics = {"b": {"f1": 0.5}, "none": {"f1": None}, "a": {"f1": 0.5}, "zero": {"f1": 0.0}, "best": {"f1": 0.9}}
    assert ranked(metrics, "f1") == ["best", "a", "b", "zero", "none"]
