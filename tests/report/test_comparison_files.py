"""Comparisons and leaderboards written as files."""

from __future__ import annotations

import csv
import json

import pytest

from labelled_outcomes import make_run, outcome, pr
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.paired import compare
from metareview.errors import UsageError
from metareview.report.comparison_files import write_table


def run_of(folder, name, rows, first):
    records = {
        (pr(first + number), name): [outcome(at, at < changed) for at in range(known)]
        for number, (changed, known) in enumerate(rows)
    }
    return make_run(folder, records, "none")


@pytest.fixture
def runs(tmp_path):
    hostile = "=1+1 <b>&_%$#{}~^\\|[x](y)\n"
    return (
        run_of(tmp_path / "a", hostile, [(0, 4), (1, 5), (0, 3), (1, 2), (0, 6)], 1),
        run_of(tmp_path / "b", "later", [(3, 4), (3, 3), (4, 5), (1, 2)], 50),
    )


def written(result, tmp_path, suffix):
    return write_table(result, tmp_path / f"out{suffix}").read_text("utf-8")


def test_csv_has_all_digits_and_no_formula(runs, tmp_path):
    result = compare(*runs, by=["path"])
    lines = list(csv.DictReader(written(result, tmp_path, ".csv").splitlines()))
    metric = result.metrics["lines_changed"]
    first = lines[0]
    assert first["metric"] == "lines_changed"
    assert float(first["diff"]) == metric.diff
    assert (float(first["low"]), float(first["high"])) == metric.interval
    assert (first["known_a"], first["known_b"]) == ("20", "14")
    assert first["reviewer_a"].startswith("'=1+1")
    assert lines[-1]["by"] == "path"
    assert lines[-1]["value"] == "a.py"
    liked = next(line for line in lines if line["metric"] == "liked")
    assert (liked["a"], liked["diff"], liked["p"]) == ("", "", "")


def test_json_is_what_the_command_prints(runs, tmp_path):
    result = compare(*runs)
    assert json.loads(written(result, tmp_path, ".json")) == json.loads(json.dumps(result.to_dict()))


def test_tex_escapes_what_it_was_given(runs, tmp_path):
    text = written(compare(*runs), tmp_path, ".tex")
    head = next(line for line in text.splitlines() if line.startswith("outcome &"))
    shown = (
        r"=1+1 \textless{}b\textgreater{}\&\_\%\$\#\{\}"
        r"\textasciitilde{}\textasciicircum{}\textbackslash{}\textbar{}[x](y)"
    )
    assert head.split(" & ")[1] == shown
    assert "disliked" not in "".join(line for line in text.splitlines() if not line.startswith("%"))
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    # What the table rests on stands above it, in one comment: no line of it is typeset.
    assert text.splitlines()[0].startswith("% later is better on lines changed")


def test_the_page_escapes_and_needs_nothing_else(runs, tmp_path):
    page = written(compare(*runs, by=["path"]), tmp_path, ".html")
    assert "<b>&_" not in page
    assert "&lt;b&gt;&amp;_" in page
    assert "Lines changed by path" in page
    assert "Two samples of pull requests, 5 of " in page
    assert "<script" not in page


def test_markdown_says_what_a_figure_is_over(runs, tmp_path):
    text = written(compare(*runs), tmp_path, ".md")
    assert "| lines changed | 0.100 &#40;20&#41; | 0.786 &#40;14&#41; |" in text
    assert "In brackets: the comments that a rate is over" in text


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html", ".csv"])
def test_a_leaderboard_is_written_too(runs, tmp_path, suffix):
    board = leaderboard(runs)
    text = written(board, tmp_path, suffix)
    assert text.index("later") < text.index("1+1")
    assert "0.78" in text
    if suffix != ".csv":
        assert "paired" not in text


def test_a_suffix_that_is_not_known(runs, tmp_path):
    with pytest.raises(UsageError, match=r"the suffix decides the format.*\.tex \(a LaTeX table\)"):
        write_table(leaderboard(runs), tmp_path / "x.xml")
