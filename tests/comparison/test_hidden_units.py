"""The variance of what strata without a surprise may hide."""

import math

import numpy as np
import pytest
from bench.labels import JUDGES, Cell, rare_trials, trials, true_f1

from labelled_runs import People, label_all, records
from metareview.api import evaluate_comments
from metareview.comments.measures import Counts, f1, one_to_one, positive_match_rate, positive_recall_rate, table
from metareview.comparison import corrected
from metareview.comparison.competitors import corrected_alike, read
from metareview.comparison.hidden_units import extra_variances, hidden_units
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.paired import compare
from metareview.comparison.strata import Sample
from metareview.runs.run import load_run
from metareview.stats import Variance, differences, intervals
from metareview.ties import pairwise_tests

A, B = ("p1", "r"), ("p2", "r")


def half_a_surprise(n):
    p = 0.5 / (n + 1)
    return p * (1 - p) / (n + 1)


@pytest.mark.parametrize(
    ("values", "alike"), [([0] * 9, True), ([1] * 9, True), ([0] * 8 + [1], False), ([2] * 9, False), ([0] * 20, False)]
)
def test_strata_without_a_surprise_have_unlabelled_units_and_labels_that_are_all_0_or_all_1(values, alike):
    assert Sample.of([20], [0] * len(values), values).alike.tolist() == [alike]


def test_the_variance_of_a_whole_stratum_and_of_a_part_by_hand():
    sample = Sample.of([20, 10], [0] * 8 + [1] * 8, [0] * 8 + [1] * 7 + [0])
    members = {A: (14, 4), B: (6, 6)}
    known = [(0, A)] * 5 + [(0, B)] * 3 + [(1, A)] * 4 + [(1, B)] * 4
    hidden = hidden_units(sample, members, known, {0: 1.0})
    assert hidden.strata.tolist() == [0]  # the other one had a surprise
    assert hidden.variance([A, B]) == pytest.approx(20 * 12 * half_a_surprise(8))
    assert hidden.variance([A]) == pytest.approx(9 * (9 + 8) * half_a_surprise(8))
    assert hidden.variance([("p3", "r")]) == 0
    # The mean over three runs: the weight of each unit is a third.
    thirds = hidden_units(sample, members, known, {0: 1.0}, runs={A: 3})
    assert thirds.variance([A]) == pytest.approx(hidden.variance([A]) / 9)
    assert hidden_units(sample, members, known, {0: 1.0}, among=np.array([False, True])).variance([A, B]) == 0


def test_units_are_predicted_with_this_variance():
    """u unlabelled units of a stratum from n labelled ones: against many draws of both, with p known."""
    rng = np.random.default_rng(0)
    n, u, p = 30, 50, 0.1
    errors = u * rng.binomial(n, p, 400_000) / n - rng.binomial(u, p, 400_000)
    assert errors.var() == pytest.approx(u * (u + n) * p * (1 - p) / n, rel=0.02)


def test_measures_gain_by_what_they_divide_by():
    sample = Sample.of([20], [0] * 8, [0] * 8)
    column = {name: at for at, name in enumerate(Counts.__dataclass_fields__)}
    totals = table([Counts(expected=40, generated=60, matched=10, covered=15, unmatched=50)])[0]
    both = hidden_units(sample, {A: (20,)}, [(0, A)] * 8, {column["matched"]: 1.0, column["covered"]: 1.0})
    of_comments = hidden_units(sample, {A: (20,)}, [(0, A)] * 8, {column["matched"]: 1.0})
    measures = [positive_match_rate, positive_recall_rate, f1]
    v = 20 * 12 * half_a_surprise(8)
    found = extra_variances([both], [A], totals, [positive_match_rate, one_to_one(f1, "optimal")])
    assert found["positive_match_rate"].value == pytest.approx(v / 60**2)
    # f1 = 2PR / (P + R) with other numbers of comments and references matched: both slopes at once.
    p, r = 10 / 60, 15 / 40
    of_p, of_r = 2 * r**2 / (p + r) ** 2 / 60, 2 * p**2 / (p + r) ** 2 / 40
    assert found["f1"].value == pytest.approx(v * (of_p + of_r) ** 2)
    apart = extra_variances([of_comments], [A], totals, measures)
    of_each = {name: variance.value for name, variance in apart.items()}
    assert of_each == pytest.approx({"positive_match_rate": v / 3600, "f1": v * of_p**2})


def test_extra_variance_widens_intervals_and_leaves_p():
    rng = np.random.default_rng(1)
    generated = rng.integers(3, 9, 40)
    a, b = (
        table(Counts(generated=g, matched=m) for g, m in zip(generated.tolist(), matched.tolist(), strict=True))
        for matched in (rng.binomial(generated, 0.4), rng.binomial(generated, 0.6))
    )
    measures, name = [positive_match_rate], positive_match_rate.name
    plain, wide = (differences(a, b, measures, extra=extra)[name] for extra in (None, {name: Variance(0.01)}))
    assert wide.error == pytest.approx(math.hypot(plain.error, 0.1))
    assert wide.p == plain.p < 0.05
    low, high = plain.interval
    assert low > 0 > wide.interval[0]
    assert wide.interval[1] - wide.interval[0] == pytest.approx((high - low) * wide.error / plain.error)
    # Letters need an interval without 0, too.
    tables = {"a": a, "b": b}
    separated = [
        pairwise_tests(tables, positive_match_rate, extra=extra)["a", "b"].separated
        for extra in (None, {"a": Variance(0.004), "b": Variance(0.006)})
    ]
    assert separated == [True, False]


def test_a_rate_of_0_or_1_keeps_its_exact_interval_and_reaches_further():
    none = table([Counts(generated=3, matched=0)] * 20)
    name = positive_match_rate.name
    _, high = intervals(none, [positive_match_rate])[name]
    wider = intervals(none, [positive_match_rate], {name: Variance(0.0025)})[name]
    t = 2.093024  # 19 degrees of freedom
    assert wider == pytest.approx((0, math.hypot(high, t * 0.05)), abs=1e-6)
    everything = table([Counts(generated=3, matched=3)] * 20)
    assert intervals(everything, [positive_match_rate], {name: Variance(0.0025)})[name] == pytest.approx(
        (1 - wider[1], 1)
    )


@pytest.fixture
def sides(tmp_path):
    """Two runs of a judge that is always right: people find no match where it finds none."""
    reviews, references = records(prs=30, seed=3)
    fewer = [{**review, "comments": review["comments"][::2]} for review in reviews]
    runs = []
    for name, said in (("a", reviews), ("b", fewer)):
        evaluate_comments(said, reference=references, judge=People(), out=tmp_path / name)
        run = load_run(tmp_path / name)
        label_all(run, budget=60)
        runs.append(run)
    return runs


def test_silence_counts_no_comments_where_labels_correct_the_figures(tmp_path):
    """Of the twelve pull requests, y has nine: on the others it said nothing, whatever x did there."""
    reviews, references = records(prs=12, reviewers=("x", "y"))
    missing = {references[at]["pr"] for at in range(3)}
    kept = [review for review in reviews if review["reviewer"] == "x" or review["pr"] not in missing]
    said = sum(len(review["comments"]) for review in kept if review["reviewer"] == "y")
    evaluate_comments(kept, reference=references, judge=People(), out=tmp_path / "run")
    run = load_run(tmp_path / "run")
    label_all(run, budget=1000)
    board = leaderboard([run], all_prs=True)
    assert board.labelled
    [row] = [row for row in board.rows if row.name == "y"]
    assert row.figures.counts.generated == said


def test_compare_and_leaderboard_count_both_sides_hidden_units(sides, monkeypatch):
    competitors, by_labels = corrected_alike([read(run)[0] for run in sides])
    assert by_labels
    prs = list(competitors[0].rows)
    extra = [one.extra_variance(prs, one.measures)["f1"].value for one in competitors]
    assert sum(extra) > 0
    ends = [row.figures.intervals["f1"] for row in leaderboard(sides).rows]
    error = compare(*sides).metrics["f1"].test.error
    monkeypatch.setattr("metareview.comparison.competitors.extra_variances", lambda *_: {})
    assert error**2 == pytest.approx(compare(*sides).metrics["f1"].test.error ** 2 + sum(extra))
    narrower = [row.figures.intervals["f1"] for row in leaderboard(sides).rows]
    assert all(wide[0] < of[0] < of[1] < wide[1] for wide, of in zip(ends, narrower, strict=True))


RARE = Cell(prs=150, budget=40, found=(0.3, 5.7), missed=0.5)


def test_intervals_hold_the_truth_where_a_sure_judge_misses_rare_matches():
    # Of 60 seeded sets; 70 % without what hidden units add. python -m bench truth has more of each cell.
    assert rare_trials(RARE, 60, prs=20_000).coverage >= 0.9


def test_intervals_are_hardly_wider_with_an_ordinary_judge(monkeypatch):
    truth = true_f1(prs=4000)
    wide = trials(JUDGES["good"], truth, 15)
    monkeypatch.setattr(corrected, "extra_variances", lambda *_: {})
    assert wide.width <= 1.2 * trials(JUDGES["good"], truth, 15).width
