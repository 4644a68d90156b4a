"""What the disagreement of two people says of a corrected figure."""

import numpy as np
import pytest

from labelled_runs import label_all, make_run
from metareview.comments.blocks import Block
from metareview.comparison.corrected import corrected, corrected_figures, corrected_to_dict, correction_of
from metareview.comparison.frame import frame_of
from metareview.comparison.held_labels import HeldLabels
from metareview.comparison.label_errors import Disagreement, disagreement_of, excess_matches
from metareview.model.label import Labels, PairLabel
from metareview.report.labels import correction_lines
from metareview.runs.labels import LabelFile

AT = "2026-01-01T00:00:00+00:00"


def block(number):
    return Block(str(number), "r", "matches", ((0, 0),), (0.01,), 0, 0.0099)


def correction_by(frame, *people):
    """`people`: of each the verdicts by pull request."""
    pairs = [
        PairLabel(pr, "r", 0, 0, "a", "b", verdict, AT, f"person {number}")
        for number, verdicts in enumerate(people)
        for pr, verdict in verdicts.items()
    ]
    return corrected(frame, HeldLabels(Labels(pairs), 0))


def test_the_error_rate_is_that_of_two_people_who_err_equally_often():
    found = Disagreement(100, 18)
    assert found.error_rate == pytest.approx(0.1)  # 2 * 0.1 * 0.9 = 0.18
    assert Disagreement(30, 0).error_rate == 0
    assert Disagreement(30, 15).error_rate is None


def test_the_excess_by_hand():
    frame = frame_of([block(number) for number in range(60)], budget=40)
    drawn = [each.pr for _, each in frame.drawn]
    # The first labels all 40, 8 of them a match; the second 20, and differs on 4 of these.
    first = {pr: at < 8 for at, pr in enumerate(drawn)}
    second = {pr: verdict != (at < 4) for at, (pr, verdict) in enumerate(list(first.items())[:20])}
    correction = correction_by(frame, first, second)
    found = correction.disagreement
    assert (found.blocks, found.differ) == (20, 4)
    e = (1 - 0.6**0.5) / 2
    # Of equally many verdicts the latest holds, so that 4 of the 40 are labelled a match.
    assert e > 0.1
    keys = [(str(number), "r") for number in range(60)]
    assert excess_matches(correction.labelled, e, keys)["matches"] == pytest.approx(
        60 * 0.1
    )  # the true share is cut to 0
    assert excess_matches(correction.labelled, 0.05, keys[:30])["matches"] == pytest.approx(30 * (0.1 - 0.05 / 0.9))


def test_fewer_than_twenty_shared_blocks_say_nothing():
    frame = frame_of([block(number) for number in range(60)], budget=40)
    drawn = [each.pr for _, each in frame.drawn]
    first, second = dict.fromkeys(drawn, False), dict.fromkeys(drawn[:19], True)
    assert correction_by(frame, first, second).disagreement is None
    assert correction_by(frame, first).disagreement is None
    taken_back = dict.fromkeys(drawn[:1])
    both = correction_by(frame, first, dict.fromkeys(drawn[:20], True))
    assert both.disagreement == Disagreement(20, 20)
    pairs = [*both.held.labels.pairs, *(PairLabel(pr, "r", 0, 0, "a", "b", None, AT, "person 1") for pr in taken_back)]
    assert disagreement_of(both.labelled, Labels(pairs)) is None


def test_it_foretells_what_wrong_labels_do_to_a_low_rate():
    """6 % are matches, and each of two people is wrong about 5 % of the blocks."""
    rng = np.random.default_rng(0)
    keys = [(str(number), "r") for number in range(2000)]
    moved, foretold = [], []
    for seed in range(20):
        frame = frame_of([block(number) for number in range(2000)], budget=300, seed=seed)
        truth = rng.random(2000) < 0.06
        drawn = [each.pr for _, each in frame.drawn]
        wrong = rng.random((2, len(drawn))) < 0.05
        people = [{pr: bool(truth[int(pr)] ^ each) for pr, each in zip(drawn, of, strict=True)} for of in wrong]
        correction = correction_by(frame, *people)
        estimate = sum(correction.matched.values()) / 2000
        by_truth = correction_by(frame, {pr: bool(truth[int(pr)]) for pr in drawn})
        moved.append(estimate - sum(by_truth.matched.values()) / 2000)
        foretold.append(excess_matches(correction.labelled, correction.disagreement.error_rate, keys)["matches"] / 2000)
    assert np.mean(moved) == pytest.approx(0.05 * (1 - 2 * 0.06), abs=0.008)
    assert np.mean(foretold) == pytest.approx(np.mean(moved), abs=0.008)


def test_reports_say_it_in_a_sentence(tmp_path):
    run = make_run(tmp_path / "run", prs=30)
    frame = label_all(run, name="anna", budget=60)
    correction = correction_of(run)
    assert correction.disagreement is None
    figures = corrected_figures(run, correction)
    assert figures["x"].label_bias is None
    assert "two_people" not in corrected_to_dict(correction, figures)["frame"]
    assert not any("people" in line for line in correction_lines(correction, figures))

    # Ben says the opposite of every pair of the first 12 blocks with one pair, before Anna, whose word holds.
    single = [each for _, each in frame.drawn if len(each.pairs) == 1]
    turned = {(each.pr, *each.pairs[0]) for each in single[:12]}
    said = LabelFile(run.folder).read().pairs
    other = [
        PairLabel(
            *one.key, one.comment_note, one.reference_note, one.match ^ ((one.pr, *one.key[2:]) in turned), AT, "ben"
        )
        for one in said
    ]
    LabelFile(run.folder).append([*other, *said])
    correction = correction_of(run)
    figures = corrected_figures(run, correction)
    assert correction.disagreement == Disagreement(len(frame.drawn), 12)
    bias = figures["x"].label_bias
    recall = bias["positive_recall_rate"]
    (line,) = [each for each in correction_lines(correction, figures) if "people" in each]
    share, rate = 100 * 12 / len(frame.drawn), 100 * correction.disagreement.error_rate
    how = "high" if recall > 0 else "low"
    assert line == (
        f"Two people disagree on 12 of {len(frame.drawn)} blocks ({share:.0f} %): if each errs as often as that implies"
        f" ({rate:.0f} %), recall may be too {how} by {abs(recall):.2f}."
    )
    document = corrected_to_dict(correction, figures)
    assert document["frame"]["two_people"]["differ"] == 12
    assert document["corrected"]["x"]["label_bias"] == bias
    assert bias["unmatched_rate"] == pytest.approx(-bias["positive_match_rate"])
