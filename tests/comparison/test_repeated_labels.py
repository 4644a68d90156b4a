"""Labels on repeated runs: blocks are those of each run, and what they estimate is the mean over runs."""

import json
from dataclasses import replace

import numpy as np
import pytest

from labelled_runs import Lenient, People, label_all, records
from metareview.api import evaluate_comments
from metareview.comments.measures import table
from metareview.comparison.corrected import corrected_figures, correction_of
from metareview.comparison.frame import draw_frame, open_frame
from metareview.comparison.overridden import overridden_matches
from metareview.runs.frame_json import frame_from_json, frame_to_json
from metareview.runs.run import load_run
from metareview.stats import intervals


def repeated(folder, judge, alignment="optimal", **options):
    """Three runs of x, with other comments each, on the same references; the third lacks two pull requests."""
    reviews, references = [], []
    for number in (1, 2, 3):
        drawn, of_seed = records(prs=12, seed=number, **options)
        references = references or of_seed
        reviews += [{**each, "run": f"run-{number}"} for each in (drawn[:-2] if number == 3 else drawn)]
    evaluate_comments(reviews, reference=references, judge=judge, alignment=alignment, repeat=True, out=folder)
    return load_run(folder)


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
def test_with_every_block_labelled_the_figures_are_those_of_people(tmp_path, alignment):
    ours = repeated(tmp_path / "lenient", Lenient(), alignment)
    truth = repeated(tmp_path / "people", People(), alignment)
    label_all(ours, budget=10_000)
    correction = correction_of(ours)
    figures = corrected_figures(ours, correction)["x"]
    expected = truth.summary["reviewers"]["x"]
    for name in ("positive_match_rate", "positive_recall_rate", "f1"):
        assert figures.judged[name] == pytest.approx(ours.summary["reviewers"]["x"]["metrics"][name])
        assert figures.metrics[name] == pytest.approx(expected["metrics"][name])
        rows = np.array([correction.row(record.key, table([record.counts])[0]) for record in ours.read_records()])
        [measure] = [each for each in ours.result.measures if each.name == name]
        runs = ours.result.reviewers["x"].repeats.run_variance
        assert figures.intervals[name] == pytest.approx(intervals(rows, [measure], runs)[name])
    assert ours.summary["reviewers"]["x"]["metrics"]["f1"] != pytest.approx(expected["metrics"]["f1"])


def test_the_frame_knows_its_runs_and_survives_its_file(tmp_path):
    run = repeated(tmp_path / "run", Lenient())
    frame = draw_frame(run)
    counts = {int(pr.rsplit("/", 1)[1]): number for (pr, _), number in frame.runs.items()}
    assert counts == {number: 3 if number <= 10 else 2 for number in range(1, 13)}
    assert frame_from_json(json.loads(json.dumps(frame_to_json(frame)))) == frame
    broken = frame_to_json(frame)
    broken["runs"][0][2] = 0
    with pytest.raises(ValueError, match="no run"):
        frame_from_json(broken)


def test_a_sample_is_right_on_average(tmp_path):
    run = repeated(tmp_path / "run", Lenient(), places=3)
    truth = repeated(tmp_path / "truth", People(), places=3)
    expected = truth.summary["reviewers"]["x"]["metrics"]["f1"]
    found = []
    for seed in range(60):
        (run.folder / "frame.json").unlink(missing_ok=True)
        (run.folder / "labels.jsonl").unlink(missing_ok=True)
        open_frame(run, budget=40, seed=seed)
        label_all(run)
        found.append(corrected_figures(run, correction_of(run))["x"].metrics["f1"])
    assert abs(np.mean(found) - expected) < 4 * np.std(found) / len(found) ** 0.5
    assert np.std(found) > 0


def test_labels_put_in_one_run_change_a_third(tmp_path):
    run = repeated(tmp_path / "run", Lenient(), "coverage")
    record = next(run.read_records())
    pairs = [pair for pair in run.read_pairs() if (pair.pr, pair.reviewer) == record.key]
    as_judged = overridden_matches(record, pairs, {}, coverage=True)
    assert as_judged == pytest.approx((record.counts.matched, record.counts.covered))
    one = next(pair for pair in pairs if pair.run == "run-2" and pair.aligned)
    others = [pair for pair in pairs if pair.generated == one.generated and pair.eligible]
    without = overridden_matches(
        record, pairs, {(pair.generated, pair.reference): False for pair in others}, coverage=True
    )
    assert as_judged[0] - without[0] == pytest.approx(1 / 3)
    assert overridden_matches(replace(record, runs=()), pairs, {}, coverage=True)[0] == pytest.approx(3 * as_judged[0])
