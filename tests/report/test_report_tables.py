"""Tables of text in the terminal and in notebooks: what fits, and text as text."""

import pytest
from report_samples import hostile, routing_run, two_reviewers

from metareview.comparison.paired import compare
from metareview.report.notebook import comparison_html, run_table
from metareview.report.numbers import interval, p_value, ranked, share, signed, signed_interval
from metareview.report.tables import Column, reviewers_table, routers_table
from metareview.report.terminal import fitted, wrapped


def drawn(table, width):
    head, body, _ = fitted(table, width)
    return head + body


def test_a_narrow_terminal_keeps_the_columns_that_decide_and_names_the_others(tmp_path):
    table = reviewers_table(two_reviewers(tmp_path).result)
    wide, narrow = drawn(table, 200), drawn(table, 80)
    assert wide[0].split("  ")[0] == "reviewer"
    for head in ("pull requests", "comments", "95 % interval", "line F1", "noise", "false positives", "F1 bounds"):
        assert head in wide[0]
    assert fitted(table, 200)[2] == []
    assert max(map(len, narrow)) <= 80
    assert fitted(table, 80)[2] == ["line F1", "noise", "false positives", "F1 bounds"]
    # sharp: P 1, R 3/4, F1 6/7; nothing undecided, so its bounds are its F1.
    assert narrow[2].split()[:8] == ["sharp", "2", "of", "2", "3", "1.000", "0.750", "0.857"]
    assert wide[1].endswith("0.857–0.857")


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 200])
def test_no_figure_is_ever_cut(tmp_path, width):
    table = reviewers_table(two_reviewers(tmp_path).result)
    shown = drawn(table, width)
    left_out = fitted(table, width)[2]
    words = " ".join(shown).split()
    for column in table:
        assert column.head in left_out or column.text or set(column.cells[0].split()) <= set(words)


def test_a_long_name_takes_more_lines_where_nothing_is_left_to_leave_out():
    table = [Column("name", ["a-reviewer-with-a-name-of-forty-characters"], text=True), Column("F1", ["0.500"])]
    shown = drawn(table, 20)
    assert max(map(len, shown)) <= 20
    assert "".join(line[:13].strip() for line in shown[1:]) == table[0].cells[0]
    assert shown[1].endswith("0.500")


def test_of_equal_columns_the_last_goes_first_and_the_highest_before_them():
    def column(head, optional):
        return Column(head, ["0123456789"], optional=optional)

    table = [column("a", 0), column("b", 1), column("c", 2), column("d", 1)]
    assert [fitted(table, width)[2] for width in (46, 45, 33, 21)] == [[], ["c"], ["c", "d"], ["b", "c", "d"]]


@pytest.mark.parametrize(
    ("line", "width", "lines"),
    [
        ("one two three four", 20, ["one two three four"]),
        ("one two three four five", 20, ["one two three four", "five"]),
        ("  in one two three four", 20, ["  in one two three", "  four"]),
        ("see https://github.com/owner/repo/pull/1 now", 20, ["see", "https://github.com/owner/repo/pull/1", "now"]),
        ("well-known-hyphens stay whole", 20, ["well-known-hyphens", "stay whole"]),
        ("", 20, [""]),
    ],
)
def test_text_wraps_at_words(line, width, lines):
    assert wrapped(line, width) == lines


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        # Each of these characters takes two cells of the 20.
        ("机器人评审 and others", ["机器人评审 and", "others"]),
        ("这个缓存的键没有包含租户标识", ["这个缓存的键没有包含", "租户标识"]),
        ("  in 缓存的键没有包含租户", ["  in 缓存的键没有包", "  含租户"]),
        ("见 https://github.com/owner/repo/pull/1 页", ["见", "https://github.com/owner/repo/pull/1", "页"]),
        ("👍 one two three four", ["👍 one two three", "four"]),
        ("一  二", ["一  二"]),
    ],
)
def test_text_wraps_at_the_cells_that_wide_characters_take(line, lines):
    assert wrapped(line, 20) == lines


def test_columns_of_wide_names_are_aligned():
    table = [Column("name", ["机器人", "bot"], text=True), Column("F1", ["0.500", "0.250"])]
    assert fitted(table, 40)[:2] == (["name       F1"], ["机器人  0.500", "bot     0.250"])


def test_a_notebook_shows_the_figures_and_no_markup_of_others(tmp_path):
    shown = run_table(two_reviewers(tmp_path))
    assert "<td>sharp</td><td>2 of 2</td><td>3</td><td>1.000</td><td>0.750</td><td>0.857</td>" in shown
    assert "<b>rude" not in run_table(hostile(tmp_path))
    assert "&lt;b&gt;rude" in run_table(hostile(tmp_path))
    assert "<td>first</td><td>3 of 3</td><td>0.333</td><td>0.667</td><td>0.667</td><td>0.500</td>" in run_table(
        routing_run()
    )


def test_a_comparison_in_a_notebook_ends_with_its_verdict(tmp_path):
    result = compare(two_reviewers(tmp_path), reviewers=["loud", "sharp"])
    shown = comparison_html(result)
    # Precision of loud 1/4, of sharp 1.
    assert "<td>precision</td><td>0.250</td><td>1.000</td><td>+0.750</td>" in shown
    assert shown.endswith("</p>")
    assert "there are too few matches to test" in shown


def test_every_interval_of_a_router_where_there_is_room():
    [head, *_] = drawn(routers_table(routing_run().result, all_intervals=True), 200)
    assert head.count("95 % interval") == 4


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
