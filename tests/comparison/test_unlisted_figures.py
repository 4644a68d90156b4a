"""P+, R+, F1+ and what stands beside them, worked out by hand."""

from math import isclose
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, t
from unlisted_runs import LEAK, LEAK_AGAIN, RACE, SLOW, STYLE, TYPO, comment, label, make_run, pull

import metareview as mr
from metareview.comments.filters import FilterConfig
from metareview.comparison.frame import open_frame
from metareview.comparison.run_unlisted import figures_of
from metareview.comparison.unlisted import draw_unlisted, unlisted_of
from metareview.comparison.unlisted_estimate import estimate
from metareview.comparison.unlisted_figures import Noise, unlisted_figures
from metareview.comparison.unseen import Unseen
from metareview.model.label import Labels, PairLabel
from metareview.model.unlisted import Issue
from metareview.report.unlisted import plus_lines
from metareview.runs.labels import LabelFile

REFERENCES = {1: [TYPO], 2: [SLOW]}
REVIEWS = {"ann": {1: [TYPO, LEAK, RACE], 2: []}, "bob": {1: [LEAK_AGAIN], 2: [SLOW, STYLE]}}


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path, REFERENCES, REVIEWS)


def named(unlisted):
    """The issue that both say, ann's own and bob's own."""
    by_reviewers = {issue.reviewers: issue for issue in unlisted.issues}
    return by_reviewers["ann", "bob"], by_reviewers["ann",], by_reviewers["bob",]


def test_before_the_first_label_there_are_bounds_and_no_figures(run):
    unlisted = unlisted_of(run)
    found = unlisted_figures(run, unlisted, Labels())
    ann = found.reviewers["ann"]
    assert set(ann.metrics.values()) == set(ann.intervals.values()) == {None}
    # One of 3 comments matches one of 2 references; 2 issues are ann's, 1 is only of others.
    assert ann.bounds["precision_plus"] == pytest.approx((1 / 3, 1))
    assert ann.bounds["recall_plus"] == pytest.approx((1 / 3, 3 / 4))
    assert ann.bounds["f1_plus"] == pytest.approx((1 / 3, 2 * 1 * 0.75 / 1.75))
    assert ann.noise == Noise(unjudged=2)
    assert (found.valid, found.unseen, ann.valid) == (None, None, None)
    # Two of ann's and bob's own, and the one of both.
    assert (found.labelled.sample.missing, found.unjudged_share) == (3, 1.0)
    assert found.without["ann"]["bob"] == {"recall_plus": None, "f1_plus": None}


def test_figures_where_everything_is_labelled(run):
    unlisted = unlisted_of(run)
    both, of_ann, of_bob = named(unlisted)
    labels = Labels(issues=[label(both, "valid"), label(of_ann, "invalid"), label(of_bob, "repeat")])
    found = unlisted_figures(run, unlisted, labels)
    for name in ("ann", "bob"):  # 1 match and 1 valid issue in 3 comments; 2 references and 1 valid issue in all
        metrics = found.reviewers[name].metrics
        assert metrics == pytest.approx({"precision_plus": 2 / 3, "recall_plus": 2 / 3, "f1_plus": 2 / 3})
        for ends in found.reviewers[name].bounds.values():
            assert ends == pytest.approx((2 / 3, 2 / 3))
    assert found.reviewers["ann"].noise == Noise(valid=1, invalid=1)
    assert found.reviewers["bob"].noise == Noise(valid=1, repeated=1)
    assert (found.valid, found.labelled.people, found.labelled.repeats, found.unjudged_share) == (1.0, 3, 1, 0.0)
    # Both references have two sources, and so has the valid issue.
    assert found.unseen == Unseen(0.0, 3.0, 3, {"ann": 0.25, "bob": 0.25})


def test_a_reviewer_left_out_of_the_pool(run):
    unlisted = unlisted_of(run)
    both, of_ann, of_bob = named(unlisted)
    labels = Labels(issues=[label(both, "valid"), label(of_ann, "valid"), label(of_bob, "invalid")])
    found = unlisted_figures(run, unlisted, labels)
    assert found.reviewers["ann"].metrics["recall_plus"] == pytest.approx(3 / 4)
    assert found.reviewers["bob"].metrics["recall_plus"] == pytest.approx(2 / 4)
    # What only ann says is then no issue: it brings ann nothing, and bob has not missed it.
    assert found.without["ann"]["ann"] == pytest.approx({"recall_plus": 2 / 3, "f1_plus": 4 / 6})
    assert found.without["ann"]["bob"] == pytest.approx({"recall_plus": 2 / 3, "f1_plus": 4 / 6})
    assert found.without["bob"]["ann"] == pytest.approx({"recall_plus": 3 / 4, "f1_plus": 6 / 7})


def test_corrected_matches_take_the_place_of_the_judged(run):
    unlisted = unlisted_of(run)
    labels = Labels(issues=[label(issue, "invalid") for issue in unlisted.queue])
    matches = {(pull(1), "ann"): 0.5}
    correction = SimpleNamespace(matched=matches, covered=matches, provisional=False, known=True, hidden=[])
    found = unlisted_figures(run, unlisted, labels, correction)
    assert found.reviewers["ann"].metrics == pytest.approx(
        {"precision_plus": 0.5 / 3, "recall_plus": 0.5 / 2, "f1_plus": 1 / 5}
    )
    assert found.reviewers["bob"].metrics["precision_plus"] == pytest.approx(1 / 3)


def test_nothing_rests_on_a_provisional_correction_with_an_interval(tmp_path):
    numbers = range(1, 21)
    run = make_run(tmp_path, {n: [TYPO] for n in numbers}, {"ann": {n: [TYPO, RACE] for n in numbers}})
    file, unlisted, frame = LabelFile(run.folder), unlisted_of(run), open_frame(run)
    file.append([label(issue, "valid" if n % 2 else "invalid") for n, issue in enumerate(unlisted.queue)])
    assert (figures_of(run).provisional, figures_of(run).provisional_matches) == (False, False)
    blocks = [block for _, block in frame.drawn]
    for block in blocks[:3]:
        pair = PairLabel(block.pr, "ann", *block.pairs[0], TYPO, TYPO, True, "2026-01-01T00:00:00Z")
        file.append([pair])
    found = figures_of(run)
    assert (found.provisional, found.provisional_matches, found.to_dict()["provisional"]) == (True, True, True)
    assert found.reviewers["ann"].metrics["f1_plus"] is not None
    assert set(found.reviewers["ann"].intervals.values()) == {None}
    assert any(line.startswith("Provisional: the matches") for line in plus_lines(found))
    for block in blocks[3:]:
        file.append([PairLabel(block.pr, "ann", *block.pairs[0], TYPO, TYPO, True, "2026-01-01T00:00:00Z")])
    assert figures_of(run).provisional is False
    assert None not in figures_of(run).reviewers["ann"].intervals.values()


def test_intervals_are_over_the_unit_of_the_run(tmp_path):
    """Four pull requests of one repository each time: the same rows as ten pull requests of the same sums."""
    numbers = range(1, 41)
    references = [{"pr": f"https://github.com/o/r{n % 10}/pull/{n}", "comments": [{"note": TYPO}]} for n in numbers]
    reviews = [{**each, "comments": [{"note": TYPO}, {"note": RACE}][: 1 + n % 3]} for n, each in enumerate(references)]
    found = []
    for unit in ("pr", "repository"):
        run = mr.evaluate_comments(
            reviews, reference=references, judge="exact", name="ann", unit=unit, out=tmp_path / unit
        )
        unlisted = unlisted_of(run, budget=40)
        verdicts = [("valid", "invalid")[at % 2] for at in range(len(unlisted.queue))]
        labels = Labels(issues=list(map(label, unlisted.queue, verdicts)))
        found.append(unlisted_figures(run, unlisted, labels).reviewers["ann"])
    by_pr, by_repository = found
    assert by_pr.metrics == by_repository.metrics
    assert by_pr.intervals["precision_plus"] != by_repository.intervals["precision_plus"]


def test_labels_that_are_all_alike_leave_room_for_a_surprise(tmp_path):
    numbers = range(1, 41)
    run = make_run(tmp_path, {n: [TYPO] for n in numbers}, {"ann": {n: [TYPO, RACE] for n in numbers}})
    unlisted = unlisted_of(run, budget=10)
    labels = Labels(issues=[label(issue, "invalid") for issue in unlisted.queue])
    found = unlisted_figures(run, unlisted, labels).reviewers["ann"]
    assert found.metrics == pytest.approx({"precision_plus": 0.5, "recall_plus": 1.0, "f1_plus": 2 / 3})
    # 40 issues, 10 labels, all invalid: half a surprise in 11 labels adds 40 * 30 * p(1 - p) / 11 to the variance of W,
    # and no pull request differs from another.
    p = 0.5 / 11
    extra = 40 * 30 * p * (1 - p) / 11 / 80**2
    clopper = beta.ppf([0.025, 0.975], [20, 21], [21, 20])
    reach = t.ppf(0.975, 39) * np.sqrt(extra) / 0.25
    assert found.intervals["precision_plus"] == pytest.approx((expit(-reach), expit(reach)))
    everything = unlisted_of(run, budget=40)
    labels = Labels(issues=[label(issue, "invalid") for issue in everything.queue])
    found = unlisted_figures(run, everything, labels).reviewers["ann"]
    assert found.intervals["precision_plus"] == pytest.approx(tuple(clopper))


def test_precision_counts_comments_and_recall_issues(tmp_path):
    # Two comments of ann's on one valid issue are no repeats of each other by their words.
    reviews = {"ann": {1: [TYPO, LEAK, LEAK_AGAIN, LEAK]}, "bob": {1: [RACE]}}
    run = make_run(tmp_path, {1: [TYPO]}, reviews, ignore_location=True)
    unlisted = unlisted_of(run)
    leak = next(issue for issue in unlisted.issues if "ann" in issue.reviewers)
    assert leak.repeats == {("ann", 3)}
    before = unlisted_figures(run, unlisted, Labels()).reviewers["ann"]
    assert before.noise == Noise(repeated=1, unjudged=2)
    # M = 1, G = 4, C = 2 comments; R = 1, one issue of its own and one of others only.
    assert before.bounds["precision_plus"] == pytest.approx((1 / 4, 3 / 4))
    assert before.bounds["recall_plus"] == pytest.approx((1 / 2, 1))
    assert before.bounds["f1_plus"] == pytest.approx((2 / 6, 6 / 7))
    ann = unlisted_figures(run, unlisted, Labels(issues=[label(i, "valid") for i in unlisted.queue])).reviewers["ann"]
    p, r = 3 / 4, 2 / 3
    assert ann.metrics == pytest.approx({"precision_plus": p, "recall_plus": r, "f1_plus": 2 * p * r / (p + r)})
    assert ann.noise == Noise(valid=2, repeated=1)


def test_where_several_comments_may_cover_a_reference_f1_is_a_harmonic_mean(tmp_path):
    reviews = {"ann": {1: [TYPO, TYPO, RACE]}, "bob": {1: [STYLE]}}
    run = make_run(tmp_path, {1: [TYPO, SLOW]}, reviews, alignment="coverage")
    unlisted = unlisted_of(run)
    labels = Labels(issues=[label(issue, "valid") for issue in unlisted.queue])
    ann = unlisted_figures(run, unlisted, labels).reviewers["ann"]
    p, r = 3 / 3, (1 + 1) / (2 + 2)
    assert ann.metrics == pytest.approx({"precision_plus": p, "recall_plus": r, "f1_plus": 2 * p * r / (p + r)})


def test_noise_adds_up_to_the_unmatched(tmp_path):
    reviews = {"ann": {1: [LEAK, LEAK_AGAIN, LEAK, RACE, STYLE, SLOW]}}
    run = make_run(tmp_path, {1: [TYPO]}, reviews, negatives={1: [STYLE]})
    unlisted = unlisted_of(run)
    leak = next(issue for issue in unlisted.issues if len(issue.comments) == 3)
    found = unlisted_figures(run, unlisted, Labels(issues=[label(leak, "valid")])).reviewers["ann"]
    # LEAK and twice again; STYLE repeats a negative; nobody was asked about RACE and SLOW.
    assert found.noise == Noise(valid=1, invalid=1, repeated=2, unjudged=2)
    assert found.noise.unmatched == run.summary["reviewers"]["ann"]["unmatched_nums"] == 6
    assert found.noise.unjudged_share == pytest.approx(2 / 6)
    # Nor can what is known to be invalid become valid: at most 3 of 6.
    assert found.bounds["precision_plus"] == pytest.approx((1 / 6, 3 / 6))


def test_a_reviewer_is_held_to_its_own_pull_requests(tmp_path):
    reviews = {"ann": {1: [TYPO]}, "bob": {1: [TYPO], 2: [RACE]}}
    run = make_run(tmp_path, REFERENCES, reviews)
    unlisted = unlisted_of(run)
    labels = Labels(issues=[label(issue, "valid") for issue in unlisted.queue])
    found = unlisted_figures(run, unlisted, labels)
    assert found.reviewers["ann"].metrics["recall_plus"] == 1.0
    assert found.reviewers["bob"].metrics["recall_plus"] == pytest.approx(2 / 3)
    assert found.references == 2


def test_without_unmatched_comments_the_figures_are_the_plain_ones(tmp_path):
    run = make_run(tmp_path, {1: [TYPO, SLOW], 2: [SLOW]}, {"ann": {1: [TYPO], 2: [SLOW]}})
    found = unlisted_figures(run, unlisted_of(run), Labels())
    plain = run.metrics["ann"]
    assert found.reviewers["ann"].metrics == pytest.approx(
        {"precision_plus": 1.0, "recall_plus": plain["positive_recall_rate"], "f1_plus": plain["f1"]}
    )
    assert (found.unjudged_share, found.labelled.sample.missing) == (None, 0)
    block = run.summary["reviewers"]["ann"]["intervals"]
    assert found.reviewers["ann"].intervals["recall_plus"] == pytest.approx(tuple(block["positive_recall_rate"]))


def test_json_has_every_figure(run):
    unlisted = unlisted_of(run)
    document = unlisted_figures(run, unlisted, Labels(issues=[label(i, "valid") for i in unlisted.queue])).to_dict()
    labels = {"people": 3, "models": {}, "corrected": False, "repeats": 0, "missing": 0, "thin": 0, "passed_over": 0}
    assert document["labels"] == labels | {"moved": 0, "stale": 0}
    assert document["provisional"] is False
    ann = document["reviewers"]["ann"]
    assert ann["metrics"] == pytest.approx({"precision_plus": 1.0, "recall_plus": 3 / 5, "f1_plus": 6 / 8})
    assert ann["noise"] == {
        "valid": 2, "invalid": 0, "repeated": 0, "unjudged": 0, "unmatched": 2, "unjudged_share": 0.0
    }  # fmt: skip
    # Both references and LEAK have two sources of three, RACE and STYLE one: 2/3 * 2 * 1 / (2 * 4). Without ann, the
    # references of 2 sources are one, of one source one, and LEAK and STYLE are bob's alone: 1/2 * 3 * 2 / (2 * 2).
    assert document["unseen"] == {
        "by_one": 2.0, "by_two": 3.0, "sources": 3, "floor": pytest.approx(1 / 6),
        "without": {"ann": pytest.approx(0.75), "bob": pytest.approx(0.75)},
    }  # fmt: skip
    import json

    assert json.loads(json.dumps(document)) == document


def test_chao():
    assert Unseen(10, 4, sources=3).floor == pytest.approx(6.0)
    assert Unseen(10, 4, sources=2).floor == pytest.approx(4.5)
    assert Unseen(0.5, 4, sources=3).floor == 0.0


def test_chao_is_called_a_floor(run):
    unlisted = unlisted_of(run)
    found = unlisted_figures(run, unlisted, Labels(issues=[label(issue, "valid") for issue in unlisted.queue]))
    assert list(plus_lines(found))[2] == (
        "About 3 valid issues beside 2 references; at least about 0 more that no reviewer found (Chao's estimate; 1"
        " with any one reviewer left out): a floor, since reviewers miss the same things."
    )


def issues(size, reviewers="a"):
    return [Issue(f"{reviewers}{n}", "pr", tuple((name, n) for name in reviewers)) for n in range(size)]


def test_a_sample_stands_for_its_stratum():
    unlisted = draw_unlisted([*issues(40), *issues(20, "ab")], budget=30)
    one, two = ([i for i in unlisted.queue if i.stratum == stratum] for stratum in (0, 1))
    assert (len(one), len(two)) == (20, 10)
    # 5 of the 20 of one, 4 of the first 5 of two; nobody got to the others.
    labels = [label(issue, "valid" if n < 5 else "repeat") for n, issue in enumerate(one)]
    labels += [label(issue, "valid" if n < 4 else "invalid") for n, issue in enumerate(two[:5])]
    values, labelled = estimate(unlisted, Labels(issues=labels))
    assert isclose(sum(values.values()), 40 * 5 / 20 + 20 * 4 / 5)
    assert values[one[0].id] == pytest.approx(0.25 + 2 * 0.75)
    assert values[one[-1].id] == pytest.approx(0.25 - 2 * 0.25)
    assert values[two[9].id] == pytest.approx(0.8)
    assert (labelled.people, labelled.repeats, labelled.sample.missing) == (25, 15, 0)
    assert labelled.sample.thin == 3  # eight of two's would do


def test_labels_outside_the_sample_never_enter_the_estimate():
    unlisted = draw_unlisted(issues(100), budget=10)
    drawn = [label(issue, "invalid") for issue in unlisted.queue]
    outside = [label(issue, "valid") for issue in unlisted.open if issue.id not in unlisted.drawn]
    values, labelled = estimate(unlisted, Labels(issues=drawn + outside))
    assert set(values.values()) == {0.0}
    assert labelled.people == 10


def test_too_few_labels_say_how_many_more():
    unlisted = draw_unlisted([*issues(40), *issues(20, "ab"), *issues(1, "abc")], budget=30)
    first = next(issue for issue in unlisted.queue if issue.stratum == 0)
    values, labelled = estimate(unlisted, Labels(issues=[label(first, "valid")]))
    assert values is None
    assert labelled.sample.missing == 1 + 2 + 1
    assert labelled.sample.thin == 7 + 8 + 1


def test_a_model_that_labelled_everything_is_corrected_by_people():
    unlisted = draw_unlisted(issues(100), budget=20)
    by_model = [label(issue, "valid", model="m") for issue in unlisted.open]
    alone, who = estimate(unlisted, Labels(issues=by_model))
    assert sum(alone.values()) == 100
    assert (who.people, who.models, who.corrected, who.sample.missing) == (0, {"m": 100}, False, 2)
    assert who.sample.thin == 8
    # People hold 5 of the 20 to be invalid: a quarter of all.
    people = [label(issue, "invalid" if n < 5 else "valid", name="ann") for n, issue in enumerate(unlisted.queue)]
    values, who = estimate(unlisted, Labels(issues=by_model + people))
    assert sum(values.values()) == pytest.approx(75)
    assert (who.people, who.models, who.corrected) == (20, {"m": 100}, True)


def test_a_good_model_makes_the_estimate_narrower():
    unlisted = draw_unlisted(issues(100), budget=20)
    right = {issue.id: "valid" if n % 3 else "invalid" for n, issue in enumerate(unlisted.open)}
    people = [label(issue, right[issue.id]) for issue in unlisted.queue]
    by_model = [label(issue, right[issue.id], model="m") for issue in unlisted.open]
    values, _ = estimate(unlisted, Labels(issues=by_model + people))
    assert list(values.values()) == [float(verdict == "valid") for verdict in right.values()]
    without, _ = estimate(unlisted, Labels(issues=people))
    assert np.var(list(without.values())) > np.var(list(values.values()))


def test_a_model_that_labelled_some_stands_in_for_people():
    unlisted = draw_unlisted(issues(100), budget=20)
    by_model = [label(issue, "valid", model="m") for issue in unlisted.queue]
    people = [label(issue, "invalid", name="ann") for issue in unlisted.queue[:5]]
    values, who = estimate(unlisted, Labels(issues=[*by_model, *people]))
    assert sum(values.values()) == pytest.approx(100 * 15 / 20)
    assert (who.people, who.models, who.corrected) == (5, {"m": 15}, False)


def test_what_is_known_to_be_invalid_counts_as_that():
    known = Issue("k", "pr", (("a", 9),), known_invalid=True)
    unlisted = draw_unlisted([*issues(4), known])
    values, _ = estimate(unlisted, Labels(issues=[label(issue, "valid") for issue in [*unlisted.queue, known]]))
    assert values == {"a0": 1.0, "a1": 1.0, "a2": 1.0, "a3": 1.0, "k": 0.0}


def test_filters_leave_the_counts_as_the_run_has_them(tmp_path):
    references = {1: [comment(TYPO, severity="high"), comment(SLOW, severity="low")]}
    run = make_run(tmp_path, references, {"ann": {1: [TYPO, SLOW, RACE]}}, filters=FilterConfig(severities=["high"]))
    unlisted = unlisted_of(run)
    found = unlisted_figures(run, unlisted, Labels(issues=[label(issue, "valid") for issue in unlisted.queue]))
    assert found.reviewers["ann"].metrics["precision_plus"] == 1.0  # of 2: SLOW counts neither way
    assert found.references == 1
    assert found.unseen == Unseen(1.0, 1.0, 2)
