"""The offline judge against a strong model's verdicts on real reviews: its weights and their figures."""

import importlib
import json
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from metareview.benchmark.calibrate import agreement
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import Question

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not (DATA / "martian").exists(), reason=f"needs the real data in {DATA}")


@pytest.fixture(scope="module")
def training():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        yield importlib.import_module("train_offline")
    finally:
        sys.path.remove(str(ROOT / "scripts"))


@pytest.fixture(scope="module")
def prepared(training):
    return training.prepare(DATA)


def test_the_verdicts_are_read_as_they_are_listed(prepared):
    data, _ = prepared
    assert len(data.questions) == 12 * 30
    assert len({q.tool for q in data.questions}) == 12
    verdicts = json.loads((DATA / "martian" / "evaluations.json").read_text("utf-8"))
    assert (data.label == 1).sum() == sum(said["tp"] for pull in verdicts.values() for said in pull.values())
    for q in data.questions:
        said = verdicts[q.pull][q.tool]
        grid = q.label.reshape(len(q.question.generated), len(q.question.reference))
        assert grid.shape == (said["total_candidates"], said["total_golden"])
        assert (grid == 1).any(0).sum() == said["tp"]


def test_figures_on_pull_requests_that_were_held_out(training, prepared):
    found = training.evaluate(prepared[0])
    assert found["auc"] >= 0.98
    assert found["kappa"] >= 0.80
    assert found["f1_gap_coverage"] <= 0.04
    assert found["f1_gap_one_to_one"] <= 0.04
    assert min(found["tools_separated_by_model"]) > 0
    assert max(found["of_these_reversed"]) == 0
    assert 0.85 < found["calibration_slope"] < 1.15
    for repository in found["left_out_repository"].values():
        assert repository["auc"] >= 0.97
        assert repository["kappa"] >= 0.77
    stored = json.loads((files("metareview") / "data" / "offline-1.json").read_text("utf-8"))
    assert stored["threshold"] == pytest.approx(found["threshold"], abs=0.02)
    assert stored["held_out_figures"]["auc"] == pytest.approx(found["auc"], abs=0.001)
    assert stored["held_out_figures"]["kappa"] == pytest.approx(found["kappa"], abs=0.01)


def test_the_script_recreates_the_weights_file(training, prepared):
    data, statistics = prepared
    learned = training.learn(data.features, data.label, np.ones(len(data.label), bool))
    stored = json.loads((files("metareview") / "data" / "offline-1.json").read_text("utf-8"))
    assert stored["background"] == statistics
    for name in ("mean", "scale", "weight"):
        assert getattr(learned, name) == pytest.approx([f[name] for f in stored["features"]], abs=2e-3)
    for name, value in stored["competition"].items():
        assert getattr(learned.competition, name) == pytest.approx(value, abs=2e-2)


def test_the_slope_that_training_follows_is_the_loss_s_own(training, prepared, monkeypatch):
    """Every derivative of the model, against differences of the loss around the starting point."""
    data, _ = prepared
    seen = []

    def watch(function, start, **options):
        seen.append((function, start))
        return real(function, start, **options)

    real = training.minimize
    monkeypatch.setattr(training, "minimize", watch)
    training.learn(data.features, data.label, np.ones(len(data.label), bool))
    for function, start in seen:
        at = start + 0.01 * np.arange(1, len(start) + 1)
        _, slope = function(at)
        step = 1e-5
        for i in range(len(at)):
            move = step * (np.arange(len(at)) == i)
            assert (function(at + move)[0] - function(at - move)[0]) / (2 * step) == pytest.approx(
                slope[i], rel=1e-4, abs=1e-3
            )


def test_the_shipped_judge_on_what_it_was_learned_from(prepared):
    """In-sample, so a check of the wiring from question to score, not of quality."""
    data, _ = prepared
    judge = OfflineJudge()
    score = np.concatenate([a.score for a in judge.judge([q.question for q in data.questions])])
    known = data.label >= 0
    found = agreement(data.label[known], score[known], judge.threshold)
    assert found.auc >= 0.98
    assert found.kappa >= 0.81


def test_references_against_themselves_all_match():
    pulls = json.loads((DATA / "aacr" / "positive_samples.json").read_text("utf-8"))
    judge = OfflineJudge()
    questions = []
    for pull in pulls:
        notes = [comment["note"] for comment in pull["comments"]]
        questions.append(Question(notes, notes, np.repeat(np.arange(len(notes))[:, None], 2, axis=1)))
    answers = judge.judge(questions)
    assert sum(int(a.match.sum()) for a in answers) == 1505
