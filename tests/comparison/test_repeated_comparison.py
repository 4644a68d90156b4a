"""Differences of reviewers with repeated runs: nobody is better while runs of one reviewer differ as much."""

from html import unescape
from statistics import variance

import pytest
from scipy.stats import t

from metareview.api import compare, evaluate_comments
from metareview.comparison.leaderboard import leaderboard
from metareview.report.comparison import comparison_section, leaderboard_section, ties_remark
from metareview.report.markdown import as_markdown
from metareview.report.page.page import as_html

PRS = 24
REFERENCES = [
    {
        "pr": f"o/r#{number}",
        "comments": [{"path": "a.py", "from_line": 9 * at, "note": f"issue {at}"} for at in range(4)],
    }
    for number in range(PRS)
]


def reviews(reviewer, *found, prs=PRS):
    """Each run finds so many of the four issues, on every fourth pull request one less."""
    return [
        {
            "pr": f"o/r#{number}",
            "reviewer": reviewer,
            "run": f"run-{run}",
            "comments": [
                {"path": "a.py", "from_line": 9 * at, "note": f"issue {at}" if at < hits - (number % 4 == 0) else "?"}
                for at in range(4)
            ],
        }
        for run, hits in enumerate(found, 1)
        for number in range(prs)
    ]


def evaluated(*of_reviewers):
    records = [record for each in of_reviewers for record in each]
    return evaluate_comments(records, reference=REFERENCES, judge="exact", repeat=True)


MOODY = evaluated(reviews("moody", 4, 2), reviews("low", 2, 2))
"""Runs of one differ by more than the two reviewers do."""
STEADY = evaluated(reviews("steady", 3, 3), reviews("low", 2, 2))


def test_nobody_is_better_while_the_runs_differ_as_much():
    result = compare(MOODY, reviewers=["low", "moody"])
    metric = result.metrics["f1"]
    assert metric.p_holm < 0.001
    assert metric.interval_holds_0
    assert metric.winner(0.05) is None
    assert "is better" not in result.verdict
    assert compare(STEADY, reviewers=["low", "steady"]).metrics["f1"].winner(0.05) == "b"


def test_the_interval_of_a_difference_has_the_variance_of_both_sides_runs():
    run = evaluated(reviews("a", 4, 2, 3), reviews("b", 2, 1))
    result = compare(run, reviewers=["a", "b"]).metrics["positive_recall_rate"]
    rates = [[sum(hits - (number % 4 == 0) for number in range(PRS)) / (4 * PRS) for hits in of_runs]
             for of_runs in ((4, 2, 3), (2, 1))]  # fmt: skip
    of_a, of_b = (variance(each) / len(each) for each in rates)
    # Both lose the same on every fourth pull request: the jackknife's variance of the difference is 0.
    freedom = (of_a + of_b) ** 2 / (of_a**2 / 2 + of_b**2 / 1)
    reach = t.ppf(0.975, freedom) * (of_a + of_b) ** 0.5
    assert result.interval == pytest.approx((result.diff - reach, result.diff + reach))


def test_letters_go_by_the_same_interval():
    moody, steady = leaderboard([MOODY]), leaderboard([STEADY])
    assert [row.ties for row in moody.rows] == ["a", "a"]
    assert [row.ties for row in steady.rows] == ["a", "b"]
    assert "cannot be told apart" in moody.headline
    own = MOODY.summary["reviewers"]["moody"]["intervals"]["f1"]
    assert moody.rows[0].figures.intervals["f1"] == pytest.approx(own)


def test_gates_go_by_the_same_interval():
    worse = compare(MOODY, reviewers=["moody", "low"]).with_gates(["f1"], {"positive_recall_rate": 0.3})
    assert [gate.passed for gate in worse.gates] == [True, False]  # neither a loss nor its absence is shown
    shown = compare(STEADY, reviewers=["steady", "low"]).with_gates(["f1"], {"positive_recall_rate": 0.3})
    assert [gate.passed for gate in shown.gates] == [False, True]


def test_silent_pull_requests_are_those_of_every_run():
    run = evaluated(reviews("moody", 4, 2, prs=20), reviews("low", 2, 2))
    board = leaderboard([run], all_prs=True)
    moody = next(row for row in board.rows if row.name == "moody")
    silent = [{"pr": f"o/r#{number}", "reviewer": "moody", "run": f"run-{of}", "comments": []}
              for number in range(20, PRS) for of in (1, 2)]  # fmt: skip
    said = evaluated(reviews("moody", 4, 2, prs=20), silent, reviews("low", 2, 2))
    assert moody.figures.intervals["f1"] == pytest.approx(said.summary["reviewers"]["moody"]["intervals"]["f1"])


def test_no_number_of_pull_requests_makes_up_for_two_runs():
    result = compare(MOODY, reviewers=["low", "moody"], plan=0.05)
    assert result.plan.units["f1"] is None
    assert "runs differ too much for so few of them" in result.verdict


def plain(text):
    return unescape(text).replace("\u200b", "")


def test_every_report_says_what_an_interval_is_of():
    once = [{**each, "run": "run-1"} for each in reviews("once", 3)]
    run = evaluated(reviews("moody", 4, 2), once)
    several = "moody: 2 runs: the interval is of the mean over further runs on further pull requests."
    single = "once: one run: the interval does not know how much runs differ."
    board = leaderboard([run])
    for text in (as_markdown(run), as_html(run), ties_remark(board), leaderboard_section(board)):
        assert several in plain(text)
        assert single in plain(text)
    assert {row["repeats"]["interval_of"] for row in board.to_dict()["rows"]} == {
        several.partition(": ")[2][:-1],
        single.partition(": ")[2][:-1],
    }
    result = compare(run, reviewers=["once", "moody"])
    sentence = (
        "The interval of a difference is of means over further runs of moody (2 runs) on further pull requests, and"
        " does not know how much runs of once (1 run) differ."
    )
    assert sentence in result.verdict
    assert sentence in plain(comparison_section(result))
    document = result.to_dict()
    assert document["runs"] == {"a": {"number": 1, "known": False}, "b": {"number": 2, "known": True}}
    assert document["interval_of"] == f"t{sentence[1:-1]}"


def test_nothing_is_said_where_no_run_is_repeated():
    records = [{name: value for name, value in each.items() if name != "run"} for each in reviews("a", 3)]
    others = [{name: value for name, value in each.items() if name != "run"} for each in reviews("b", 2)]
    run = evaluate_comments([*records, *others], reference=REFERENCES, judge="exact")
    result = compare(run, reviewers=["a", "b"])
    assert "runs" not in result.to_dict()
    assert "further runs" not in result.verdict + ties_remark(leaderboard([run])) + as_markdown(run) + as_html(run)
