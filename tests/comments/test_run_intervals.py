"""Intervals of repeated runs: of the mean over further runs on further pull requests, by hand and against a truth."""

from statistics import variance

import numpy as np
import pytest
from bench.repeats import coverage, false_alarms
from scipy.special import expit, logit
from scipy.stats import t

from metareview.comments.filters import FilterConfig
from metareview.comments.measures import Counts, measured, positive_match_rate, positive_recall_rate
from metareview.comments.records import DIMENSIONS, CommentRecord, Tally
from metareview.comments.repeated_runs import run_variance
from metareview.comments.summary import CommentsConfig, summarise
from metareview.runs.repeats_json import repeats_to_json
from metareview.stats import Variance

PRECISION, RECALL = positive_match_rate.name, positive_recall_rate.name


def config(**changed):
    fixed = {"judge": "exact", "judge_parameters": {}, "threshold": None, "line_distance": 0, "alignment": "optimal"}
    more = {"ignore_location": True, "location": False, "filters": FilterConfig(), "all_prs": False, "name": None}
    rest = {"format": None, "reference_format": None, "limit": None, "seed": 0, "negatives": False, "repeat": True}
    return CommentsConfig(**fixed | more | rest | changed)


def record(number, run, generated, matched, expected, repository="o/r", language="Go", severity=None):
    counts = Counts(
        expected=expected, generated=generated, matched=matched, covered=matched, unmatched=generated - matched
    ).without_lines()
    slices = {name: {} for name in DIMENSIONS}
    if severity:
        slices["severity"] = {severity: Tally(expected, matched, 0)}
    pr = f"https://github.com/{repository}/pull/{number}"
    return CommentRecord(
        pr, "bot", language, None, expected, expected, counts=counts, rates={PRECISION: 0.0, RECALL: 0.0, "f1": 0.0},
        run=run, slices=slices,
    )  # fmt: skip


RUNS = {"run-1": (3, 1, 2, 0, 2), "run-2": (1, 0, 2, 1, 1), "run-3": (2, 2, 4, 1, 3)}
"""Matches of each run on five pull requests; of 4 references and by 5 comments each."""


def five(**more):
    by_pr = [(number, run, hits[number - 1]) for number in range(1, 6) for run, hits in RUNS.items()]
    return [record(number, run, 5, hits, 4, **more) for number, run, hits in by_pr]


def expected_interval(rows, runs, trials):
    """`rows`: mean matches of each unit and what they are of; `runs`: each run's rate on what all runs have."""
    y, x = np.array(rows, float).T
    rate = y.sum() / x.sum()
    without = (y.sum() - y) / (x.sum() - x)
    n, count = len(rows), len(runs)
    of_units, of_runs = (n - 1) / n * ((without - without.mean()) ** 2).sum(), variance(runs) / count
    whole = of_units + of_runs
    freedom = whole**2 / (of_units**2 / (n - 1) + of_runs**2 / (count - 1))
    reach = t.ppf(0.975, freedom) * whole**0.5 / (rate * (1 - rate))
    assert trials == n
    return expit(logit(rate) - reach), expit(logit(rate) + reach)


MEANS = [sum(hits) / 3 for hits in zip(*RUNS.values(), strict=True)]


def test_the_variance_of_runs_stands_beside_that_of_pull_requests_in_every_metric():
    block = summarise(five(), config(), 5)
    sums = [sum(hits) for hits in RUNS.values()]
    by_comments = expected_interval([(mean, 5) for mean in MEANS], [each / 25 for each in sums], 5)
    assert block.intervals[PRECISION] == pytest.approx(by_comments)
    assert block.intervals[RECALL] == pytest.approx(
        expected_interval([(mean, 4) for mean in MEANS], [each / 20 for each in sums], 5)
    )
    assert block.intervals["f1"] == pytest.approx(
        expected_interval([(mean, 4.5) for mean in MEANS], [each / 22.5 for each in sums], 5)
    )
    low, high = block.intervals["unmatched_rate"]
    assert (1 - high, 1 - low) == pytest.approx(by_comments)


def test_slices_take_their_own_pull_requests_and_references():
    records = [
        record(number, run, 5, hits[number - 1], 4, language="Go" if number < 4 else "C", severity="high")
        for number in range(1, 6)
        for run, hits in RUNS.items()
    ]
    block = summarise(records, config(), 5)
    in_go = [sum(hits[:3]) for hits in RUNS.values()]
    go = expected_interval([(mean, 5) for mean in MEANS[:3]], [each / 15 for each in in_go], 3)
    assert block.by_pull_request["language"]["Go"].intervals[PRECISION] == pytest.approx(go)
    of_kind = block.by_reference["severity"]["high"].intervals
    assert of_kind[RECALL] == pytest.approx(block.intervals[RECALL])


def test_over_repositories_each_of_them_is_a_unit():
    records = [
        record(number, run, 5, hits[number - 1], 4, repository=f"o/{'aabbc'[number - 1]}")
        for number in range(1, 6)
        for run, hits in RUNS.items()
    ]
    rows = [(MEANS[0] + MEANS[1], 10), (MEANS[2] + MEANS[3], 10), (MEANS[4], 5)]
    runs = [sum(hits) / 25 for hits in RUNS.values()]
    found = summarise(records, config(unit="repository"), 5).intervals[PRECISION]
    assert found == pytest.approx(expected_interval(rows, runs, 3))


def test_runs_are_set_against_one_another_on_the_pull_requests_that_all_have():
    kept = [each for each in five() if (each.run, each.pr[-1]) != ("run-3", "5")]
    block = summarise(kept, config(), 5)
    means = [*MEANS[:4], (2 + 1) / 2]
    runs = [sum(hits[:4]) / 20 for hits in RUNS.values()]
    assert block.intervals[PRECISION] == pytest.approx(expected_interval([(mean, 5) for mean in means], runs, 5))
    assert block.repeats.run_variance[PRECISION] == Variance(pytest.approx(variance(runs) / 3), 2)


def test_one_run_has_no_second_term_and_says_so():
    alone = [each for each in five() if each.run == "run-1"]
    once = summarise(alone, config(), 5)
    unnamed = [
        CommentRecord(**{name: getattr(each, name) for name in each.__slots__} | {"run": None}) for each in alone
    ]
    assert once.intervals == summarise(unnamed, config(repeat=False), 5).intervals
    assert once.repeats.interval_label == "one run: the interval does not know how much runs differ"
    assert repeats_to_json(once.repeats)["interval_of"] == once.repeats.interval_label
    three = summarise(five(), config(), 5).repeats
    assert three.interval_label == "3 runs: the interval is of the mean over further runs on further pull requests"


def test_runs_that_share_nothing_do_not_tell_how_much_they_differ():
    apart = [each for each in five() if (each.run == "run-1") == (each.pr[-1] in "12") and each.run != "run-3"]
    block = summarise(apart, config(), 5)
    assert block.repeats.runs == 2
    assert block.repeats.run_variance == {}
    assert block.repeats.interval_label == "2 runs: the interval does not know how much runs differ"


def test_a_silent_run_has_no_precision_to_differ_by():
    rows = [{"1": counts(4, 2), "2": counts(4, 3), "3": counts(0, 0)}]
    found = run_variance(rows, measured(location=False, negatives=False, alignment="optimal"))
    assert found[PRECISION] == Variance(pytest.approx(variance([0.5, 0.75]) / 2), 1)
    assert found[RECALL] == Variance(pytest.approx(variance([0.5, 0.75, 0.0]) / 3), 2)


def counts(generated, matched, expected=4):
    row = Counts(
        expected=expected, generated=generated, matched=matched, covered=matched, unmatched=generated - matched
    )
    return [float(each) for each in row.values()]


def test_runs_that_cancel_out_on_every_pull_request_still_widen_the_interval():
    """The mean is a half on each, so that no pull request moves it: all of the error is that of the runs."""
    near = [record(number, run, 40, hits, 40) for number in range(1, 5) for run, hits in (("a", 19), ("b", 21))]
    reach = t.ppf(0.975, 1) * (variance([19 / 40, 21 / 40]) / 2) ** 0.5 / 0.25
    found = summarise(near, config(), 4).intervals[PRECISION]
    assert found == pytest.approx((expit(-reach), expit(reach)))


def test_intervals_hold_the_mean_over_further_runs():
    held, alone = coverage(100, 3, 300)
    assert 0.905 <= held <= 0.98
    assert alone < 0.8  # over pull requests alone, as it was


def test_two_runs_and_few_pull_requests_hold_it_too():
    held, alone = coverage(30, 2, 300)
    assert 0.885 <= held <= 0.98
    assert alone < 0.87


def test_equal_reviewers_whose_runs_differ_are_seldom_called_better():
    small, better, former = false_alarms(100, 3, 25)
    assert better <= 0.12
    assert min(small, former) > 0.25
