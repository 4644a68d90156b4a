"""Which blocks people are asked about, and what their labels make of a run's figures."""

import json
from collections import Counter

import numpy as np
import pytest
from bench.labels import JUDGES, trials, true_f1

from labelled_runs import Lenient, People, label_all, make_run, records
from metareview import api
from metareview.api import compare, evaluate_comments, load_run
from metareview.comments.blocks import Block
from metareview.comparison.corrected import Correction, corrected_figures, correction_of
from metareview.comparison.frame import LabelledFrame, draw_frame, frame_of, open_frame
from metareview.comparison.leaderboard import leaderboard
from metareview.errors import InputError, UsageError
from metareview.judges.protocol import UNDECIDED, Answer
from metareview.runs.frame_json import frame_from_json, frame_to_json
from metareview.runs.labels import FRAME, LABELS


def block(pr, judged=0, unsure=0.0, reviewer="x", counted="matches"):
    return Block(str(pr), reviewer, counted, ((0, 0),), (0.5,), judged, unsure)


def test_strata_are_reviewer_judged_matching_and_unsureness():
    cases = [(0, 0.0), (0, 0.049), (0, 0.05), (0, 0.149), (0, 0.15), (0, 0.25), (1, 0.0), (2, 0.0), (1, 0.2)]
    frame = frame_of([block(at, *case) for at, case in enumerate(cases)], budget=100)
    sizes = {(stratum.judged, stratum.unsure): stratum.size for stratum in frame.strata}
    assert sizes == {(False, 0): 2, (False, 1): 2, (False, 2): 2, (True, 0): 2, (True, 2): 1}
    assert {stratum.reviewer for stratum in frame.strata} == {"x"}
    assert len(frame.drawn) == frame.blocks == 9


def test_where_the_minimum_takes_more_than_the_budget_strata_are_coarser():
    blocks = [
        block(pr, pr % 2, (0.0, 0.1, 0.2)[pr % 3], reviewer) for reviewer in ("x", "y", "z") for pr in range(120)
    ]  # 3 reviewers x 2 x 3, 20 blocks in each: the minimum is 144
    by_budget = {budget: frame_of(blocks, budget=budget) for budget in (144, 143, 47, 15)}
    assert [len(frame.strata) for frame in by_budget.values()] == [18, 6, 2, 1]
    assert {stratum.reviewer for stratum in by_budget[143].strata} == {None}
    assert [len(frame.drawn) for frame in by_budget.values()] == [144, 143, 47, 15]
    with pytest.raises(UsageError, match="--budget must be 8 or more"):
        frame_of(blocks, budget=7)


def test_more_are_drawn_where_the_judge_is_unsure():
    blocks = [block(pr, 0, 0.0 if pr < 500 else 0.25) for pr in range(1000)]
    frame = frame_of(blocks)
    drawn = Counter(frame.strata[stratum].unsure for stratum, _ in frame.drawn)
    # sqrt(0.04) to sqrt(0.25) is 2 to 5: of 120, 34.3 and 85.7.
    assert drawn == {0: 34, 2: 86}


def test_a_larger_budget_adds_to_what_was_drawn(tmp_path):
    run = make_run(tmp_path / "run", prs=40)
    small = open_frame(run, budget=20)
    assert open_frame(run) == small == open_frame(run, budget=12)
    large = open_frame(run, budget=40)
    assert {block for _, block in small.drawn} < {block for _, block in large.drawn}
    assert len(large.drawn) == 40
    assert open_frame(run) == large


class Hesitant(Lenient):
    """Leaves half of the pull requests undecided until it is asked again."""

    name, hesitates = "hesitant", True

    def _answer(self, question):
        answer = super()._answer(question)
        if self.hesitates and sum(map(len, question.generated)) % 2:
            return Answer(np.full(len(question.pairs), np.nan), np.full(len(question.pairs), UNDECIDED, np.int8))
        return answer


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
@pytest.mark.parametrize("knows_all", [True, False])
def test_a_sample_that_grows_after_verdicts_were_decided_keeps_what_was_drawn(tmp_path, alignment, knows_all):
    judge = Hesitant()
    reviews, references = records(prs=60, reviewers=("x", "y"))
    options = {"reference": references, "judge": judge, "alignment": alignment, "out": tmp_path / "run"}
    evaluate_comments(reviews, **options)
    small = open_frame(load_run(tmp_path / "run"), budget=60)
    if not knows_all:  # a file of an older version
        stored = json.loads((tmp_path / "run" / FRAME).read_text("utf-8"))
        stored.pop("blocks", None)
        (tmp_path / "run" / FRAME).write_text(json.dumps(stored), "utf-8")
    judge.hesitates = False
    decided = load_run(evaluate_comments(reviews, **options).folder)
    assert open_frame(decided).drawn == small.drawn
    large = open_frame(decided, budget=100)
    assert {(at, block) for at, block in small.drawn} < {(at, block) for at, block in large.drawn}
    assert len(large.drawn) >= 100
    if knows_all:
        assert len(large.drawn) == 100
        assert (large.strata, large.members) == (small.strata, small.members)
    assert open_frame(decided) == large


def test_blocks_that_come_later_are_strata_of_their_own():
    small = frame_of([block(pr) for pr in range(50)], budget=20)
    large = frame_of([block(pr, judged=pr % 2) for pr in range(80)], budget=50, before=small)
    assert [(stratum.judged, stratum.size) for stratum in large.strata] == [(False, 50), (False, 15), (True, 15)]
    assert {block for _, block in small.drawn} < {block for _, block in large.drawn}
    assert Counter(stratum for stratum, _ in large.drawn).total() == 50


def test_the_frame_survives_its_file(tmp_path):
    run = make_run(tmp_path / "run")
    frame = draw_frame(run)
    assert frame_from_json(json.loads(json.dumps(frame_to_json(frame)))) == frame
    assert open_frame(run) == frame
    (run.folder / FRAME).write_text('{"schema": "metareview.frame/1"', "utf-8")
    with pytest.raises(InputError, match="broken frame"):
        open_frame(run)


def test_another_run_in_the_folder_gets_a_frame_of_its_own_and_labels_stay(tmp_path):
    run = make_run(tmp_path / "run")
    label_all(run, only=5)
    before = (run.folder / LABELS).read_bytes()
    reviews, references = records(seed=1)
    evaluate_comments(reviews, reference=references, judge=People(), out=run.folder, overwrite=True)
    again = load_run(run.folder)
    assert correction_of(again) is None
    open_frame(again)
    correction = correction_of(again)
    assert (run.folder / LABELS).read_bytes() == before
    assert correction is not None
    assert correction.held.stale == len(before.splitlines())  # other notes: none of them counts
    assert correction.labelled.done == 0


def test_greedy_runs_and_runs_without_pairs_have_no_frame(tmp_path):
    reviews, references = records(prs=3)
    greedy = evaluate_comments(reviews, reference=references, alignment="greedy", judge=People())
    with pytest.raises(UsageError, match="greedy"):
        draw_frame(greedy)
    far = [{"pr": reviews[0]["pr"], "reviewer": "x", "comments": [{"path": "b.py", "from_line": 1, "note": "x"}]}]
    with pytest.raises(UsageError, match="nothing to label"):
        draw_frame(evaluate_comments(far, reference=references, judge=People()))


def test_the_estimate_by_hand():
    blocks = [block(pr, judged) for pr, judged in enumerate((0, 0, 0, 0, 1, 1))]
    frame = frame_of(blocks, budget=8)
    known = {("0", "x", 0, 0): True, ("1", "x", 0, 0): False, ("4", "x", 0, 0): True, ("5", "x", 0, 0): False}
    # Stratum of no match: 4 blocks, 2 labelled, mean 0.5, N/n = 2. Of a match: all known.
    found = LabelledFrame(frame, known).estimate("matches")
    assert found == {
        ("0", "x"): pytest.approx(1.5),
        ("1", "x"): pytest.approx(-0.5),
        ("2", "x"): pytest.approx(0.5),
        ("3", "x"): pytest.approx(0.5),
        ("4", "x"): pytest.approx(1),
        ("5", "x"): pytest.approx(0),
    }


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
def test_with_everything_labelled_the_figures_are_those_of_people(tmp_path, alignment):
    reviews, references = records(prs=30, reviewers=("x", "y"))
    options = {"reference": references, "alignment": alignment}
    truth = evaluate_comments(reviews, judge=People(), **options)
    run = make_run(tmp_path / "run", prs=30, reviewers=("x", "y"))
    if alignment == "coverage":
        evaluate_comments(reviews, judge=Lenient(), out=tmp_path / "coverage", **options)
        run = load_run(tmp_path / "coverage")
    label_all(run, budget=10_000)
    correction = correction_of(run)
    assert correction is not None
    found = corrected_figures(run, correction)
    for name, figures in found.items():
        people = truth.result.reviewers[name]
        for metric in ("positive_match_rate", "positive_recall_rate", "f1", "unmatched_rate"):
            assert figures.metrics[metric] == pytest.approx(people.metrics[metric])
            assert figures.intervals[metric] == pytest.approx(people.intervals[metric])
        assert figures.judged["f1"] == run.metrics[name]["f1"] != pytest.approx(people.metrics["f1"])
        assert figures.plan is not None
        assert figures.plan.at_best == pytest.approx(figures.plan.half_width)


def test_until_every_stratum_has_two_there_is_no_figure(tmp_path):
    run = make_run(tmp_path / "run", prs=40)
    frame = label_all(run, only=1)
    correction = correction_of(run)
    assert correction is not None
    assert not correction.known
    assert corrected_figures(run, correction) == {}
    assert correction.labelled.sample.missing == sum(min(2, stratum.size) for stratum in frame.strata) - 1
    assert correction.labelled.sample.passed_over == 0
    last = {(block.pr, block.reviewer, *pair): True for _, block in frame.drawn[-1:] for pair in block.pairs}
    of_last = [stratum for stratum, _ in frame.drawn].count(frame.drawn[-1][0])
    assert LabelledFrame(frame, last).sample.passed_over == of_last - 1


def test_while_blocks_are_passed_over_there_is_no_interval(tmp_path):
    run = make_run(tmp_path / "run", prs=60)
    frame = label_all(run)
    assert correction_of(run).complete
    _, block = next(each for each in frame.drawn if frame.strata[each[0]].size > 12)
    verdicts = {
        key: value for key, value in correction_of(run).labelled.verdicts.items() if key[0] != block.pr
    }  # somebody found a whole pull request too hard
    labelled = LabelledFrame(frame, verdicts)
    assert labelled.sample.passed_over > 0
    assert labelled.estimate("matches") is not None
    assert not Correction(labelled, correction_of(run).held, {}, {}).complete


def test_until_every_stratum_has_eight_compare_goes_by_the_judge(tmp_path):
    run = make_run(tmp_path / "run", prs=60, reviewers=("x", "y"))
    frame = label_all(run, only=4 * 6)
    correction = correction_of(run)
    assert correction is not None
    assert correction.known
    assert not correction.complete
    assert correction.labelled.sample.thin > 0
    provisional = corrected_figures(run, correction)["x"]
    assert provisional.metrics["f1"] is not None
    assert (provisional.intervals["f1"], provisional.plan) == (None, None)
    assert compare(run, reviewers=["x", "y"]).labelled is None
    label_all(run)
    assert correction_of(run).complete
    assert compare(run, reviewers=["x", "y"]).labelled == (len(frame.drawn),) * 2


def test_a_run_tells_in_python_what_its_labels_make_of_it(tmp_path):
    run = make_run(tmp_path / "run", prs=30)
    assert api.load_run(run.folder).corrected is None
    frame = label_all(run)
    told = api.load_run(run.folder).corrected
    assert told["frame"]["labelled"] == told["frame"]["drawn"] == len(frame.drawn)
    figures = corrected_figures(run, correction_of(run))["x"]
    assert told["corrected"]["x"]["metrics"] == figures.metrics
    assert told["corrected"]["x"]["intervals"]["f1"] == list(figures.intervals["f1"])


def test_what_is_labelled_outside_the_frame_changes_no_estimate(tmp_path):
    run = make_run(tmp_path / "run", prs=60, places=6)
    label_all(run, budget=60)
    correction = correction_of(run)
    drawn = {(block.pr, block.reviewer, *pair) for _, block in correction.labelled.frame.drawn for pair in block.pairs}
    everything = draw_frame(run, budget=10_000)
    outside = {
        (block.pr, block.reviewer, *pair): True for _, block in everything.drawn for pair in block.pairs
    }  # somebody says yes to all the rest
    outside = {key: value for key, value in outside.items() if key not in drawn}
    assert outside
    more = LabelledFrame(correction.labelled.frame, {**correction.labelled.verdicts, **outside})
    assert more.estimate("matches") == correction.matched


def test_compare_and_leaderboard_use_corrected_figures_where_both_have_them(tmp_path):
    a = make_run(tmp_path / "a", prs=30)
    reviews, references = records(prs=30)
    worse = [{**review, "comments": review["comments"][:1]} for review in reviews]
    evaluate_comments(worse, reference=references, judge=Lenient(), out=tmp_path / "b")
    b = load_run(tmp_path / "b")
    label_all(a, budget=10_000)
    as_judged = compare(a, b)
    assert as_judged.labelled is None
    assert any("A has labels that correct its figures and B has too few" in each for each in as_judged.warnings)
    assert as_judged.metrics["f1"].a == a.metrics["x"]["f1"]
    label_all(b, budget=10_000)
    result = compare(a, b)
    truth = [
        evaluate_comments(each, reference=references, judge=People()).metrics["x"]["f1"] for each in (reviews, worse)
    ]
    assert [result.metrics["f1"].a, result.metrics["f1"].b] == pytest.approx(truth)
    assert "corrected by people's labels of" in result.verdict
    assert set(result.to_dict()["corrected_by_blocks"]) == {"a", "b"}
    board = leaderboard([a, b])
    assert [row.figures.metrics["f1"] for row in board.rows] == pytest.approx(sorted(truth, reverse=True))
    assert board.headline.endswith("blocks.")
    assert board.to_dict()["corrected_by_blocks"] == board.labelled
    # The counts of a row stay the judge's own.
    judged = {row.name: row for row in board.rows}
    assert judged["x"].figures.counts.generated in {run.result.reviewers["x"].counts.generated for run in (a, b)}


def test_the_plan_says_how_many_blocks_the_goal_takes(tmp_path):
    run = make_run(tmp_path / "run", prs=400)
    label_all(run, budget=120)
    correction = correction_of(run)
    plan = corrected_figures(run, correction)["x"].plan
    assert plan.half_width > 0.03 > plan.at_best
    label_all(run, budget=plan.blocks)
    again = corrected_figures(run, correction_of(run))["x"]
    low, high = again.intervals["f1"]
    assert (high - low) / 2 == pytest.approx(0.03, rel=0.15)


def test_with_few_pull_requests_no_number_of_labels_is_enough(tmp_path):
    run = make_run(tmp_path / "run", prs=12)
    label_all(run)
    plan = corrected_figures(run, correction_of(run))["x"].plan
    assert plan.blocks is None
    assert plan.at_best > 0.03
    assert plan.prs > 12


def test_where_people_say_what_the_judge_says_the_plan_fits_the_interval(tmp_path):
    # No two labelled blocks of a stratum differ: beside the pull requests, half a surprise is in the error of each.
    at = {"path": "a.py", "from_line": 1, "to_line": 1}
    prs = [f"https://github.com/o/r/pull/{number}" for number in range(60)]
    references = [{"pr": pr, "comments": [{**at, "note": "i0 said"}]} for pr in prs]
    notes = ["i0 said" if number % 3 else "i1 said" for number in range(60)]
    reviews = [
        {"pr": pr, "reviewer": "x", "comments": [{**at, "note": note}]} for pr, note in zip(prs, notes, strict=True)
    ]
    evaluate_comments(reviews, reference=references, judge=People(), out=tmp_path / "run")
    run = load_run(tmp_path / "run")
    label_all(run, budget=40)
    found = corrected_figures(run, correction_of(run))["x"]
    assert found.metrics["f1"] == pytest.approx(run.metrics["x"]["f1"])
    low, high = found.intervals["f1"]
    assert found.plan.half_width == pytest.approx((high - low) / 2, rel=0.1)
    assert found.plan.at_best < found.plan.half_width
    assert found.plan.blocks is None
    label_all(run, budget=60)
    found = corrected_figures(run, correction_of(run))["x"]
    low, high = found.intervals["f1"]
    assert found.plan.at_best == pytest.approx(found.plan.half_width) == pytest.approx((high - low) / 2, rel=0.1)


def test_corrected_intervals_are_over_the_units_of_the_run(tmp_path):
    reviews, references = records(prs=24)
    for each in (*reviews, *references):  # two pull requests in each of twelve repositories
        number = int(each["pr"].rpartition("/")[2])
        each["pr"] = f"https://github.com/o/r{number // 2}/pull/{number}"
    widths = []
    for unit in ("pr", "repository"):
        evaluate_comments(reviews, reference=references, judge=People(), unit=unit, out=tmp_path / unit)
        run = load_run(tmp_path / unit)
        label_all(run, budget=10_000)
        found = corrected_figures(run, correction_of(run))["x"]
        # With every block labelled and a judge that is right, they are the run's own.
        assert found.intervals["f1"] == pytest.approx(run.result.reviewers["x"].intervals["f1"])
        widths.append(found.intervals["f1"])
    assert widths[0] != widths[1]


@pytest.mark.parametrize("judge", list(JUDGES))
def test_intervals_hold_the_truth_whatever_the_judge(judge):
    truth = true_f1(prs=4000)
    trial = trials(JUDGES[judge], truth, repeats=60, seed=5)
    assert trial.coverage >= 0.85  # 95 % of 60, three standard errors down; python -m bench labels has 1,000
    assert abs(trial.bias) < 0.012
    if judge == "lenient":
        assert trial.judged_bias > 0.15  # what the correction is for


def test_a_good_judge_makes_labels_go_further():
    truth = true_f1(prs=4000)
    good, alone = (trials(JUDGES["good"], truth, repeats=30, seed=6, strata=strata) for strata in (True, False))
    assert good.width < 0.75 * alone.width
    assert np.isfinite(good.width)
