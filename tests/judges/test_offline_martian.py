"""The offline judge against a strong model's verdicts on real reviews: its weights and their figures."""

import importlib
import json
import sys
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from metareview.benchmark.calibrate import agreement
from metareview.formats.verdicts import read_verdicts
from metareview.judges.known import KnownVerdicts
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.offline.model import VECTORS
from metareview.judges.protocol import Question

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not (DATA / "martian").exists(), reason=f"needs the real data in {DATA}")


STORED = json.loads((files("metareview") / "data" / "offline-2.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        names = ("martian", "learning", "offline_figures")
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(ROOT / "scripts"))


@pytest.fixture(scope="module")
def prepared(scripts):
    return scripts.offline_figures.prepare(DATA, files("metareview") / "data" / VECTORS)


def test_the_verdicts_are_read_as_they_are_listed(scripts, prepared):
    data, _ = prepared
    models = {q.model for q in data.questions}
    assert models == {"gpt-5.2", "opus-4.5", "sonnet-4.5"}
    assert len({q.tool for q in data.questions}) == 34
    for model in models:
        verdicts = json.loads((DATA / "martian" / "verdicts" / f"36-tools-{model}.json").read_text("utf-8"))
        for q in (q for q in data.questions if q.model == model):
            said = verdicts[q.pull][q.tool]
            grid, forced = (
                each.reshape(len(q.question.generated), len(q.question.reference)) for each in (q.label, q.forced)
            )
            assert (grid == 1).any(0).sum() == (grid == 1).sum() == said["tp"]
            missed = {each["golden_comment"] for each in said["false_negatives"]}
            for column, reference in enumerate(q.question.reference):
                assert (grid[:, column] == 0).all() == (reference in missed)
                assert forced[:, column].sum() == (0 if reference in missed else len(grid) - 1)
            assert list(q.question.generated) == sorted(q.question.generated)  # never by position


def test_figures_on_repositories_that_were_held_out(scripts, prepared):
    data, _ = prepared
    left_out = scripts.offline_figures.left_out_repositories(data)
    found = scripts.offline_figures.agreement_figures(data, [left_out])
    assert found["auc"] >= 0.98
    assert found["kappa"]["value"] >= 0.82
    assert found["kappa_with_forced_noes"]["value"] >= 0.82
    assert found["f1_gap_coverage"] <= 0.035
    assert found["f1_gap_one_to_one"] <= 0.035
    low, high = found["kappa"]["interval"]
    assert low < found["kappa"]["value"] < high < 1
    stored = STORED["held_out_figures"]["by_repository"]
    assert stored["kappa"]["value"] == pytest.approx(found["kappa"]["value"], abs=0.005)
    assert stored["kappa"]["interval"] == pytest.approx(found["kappa"]["interval"], abs=0.005)
    assert stored["auc"] == pytest.approx(found["auc"], abs=0.001)
    score = left_out.score[data.sure]
    assert 0.85 < scripts.offline_figures.slope(np.log(score / (1 - score)), data.label[data.sure]) < 1.15


def test_the_script_recreates_the_weights_file(scripts, prepared):
    data, statistics = prepared
    learned = scripts.learning.learn(data.features, data.label, data.counts)
    assert STORED["background"] == statistics
    for name in ("mean", "scale", "weight"):
        assert getattr(learned, name) == pytest.approx([f[name] for f in STORED["features"]], abs=5e-3)
    for name, value in STORED["competition"].items():
        assert getattr(learned.competition, name) == pytest.approx(value, abs=5e-2)


def test_the_slope_that_training_follows_is_the_loss_s_own(scripts, prepared, monkeypatch):
    """Every derivative of the model, against differences of the loss around the starting point."""
    data, _ = prepared
    seen = []

    def watch(function, start, **options):
        seen.append((function, start))
        return real(function, start, **options)

    real = scripts.learning.minimize
    monkeypatch.setattr(scripts.learning, "minimize", watch)
    scripts.learning.learn(data.features, data.label, data.counts)
    values = np.random.default_rng(0).normal(size=(len(data.label), 3))
    scripts.learning.learn_examples(values, data.label, data.counts)
    assert len(seen) == 3
    for function, start in seen:
        at = start + 0.01 * np.arange(1, len(start) + 1)
        _, slope = function(at)
        step = 1e-5
        for i in range(len(at)):
            move = step * (np.arange(len(at)) == i)
            assert (function(at + move)[0] - function(at - move)[0]) / (2 * step) == pytest.approx(
                slope[i], rel=1e-4, abs=1e-2
            )


def test_the_shipped_judge_on_what_it_was_learned_from(prepared):
    """In-sample, so a check of the wiring from question to score, not of quality."""
    data, _ = prepared
    judge = OfflineJudge()
    score = np.concatenate([a.score for a in judge.judge([q.question for q in data.questions])])
    found = agreement(data.label[data.sure], score[data.sure], judge.threshold)
    assert found.auc >= 0.985
    assert found.kappa >= 0.85


def test_known_verdicts_of_other_tools_by_way_of_the_command_s_own_reader(prepared):
    """From the published file to the score: 12 tools, each by what is known of the 11 others. The weights were learned
    on these pull requests, so a check of the wiring; held-out figures are in the weights file."""
    stored = read_verdicts(DATA / "martian" / "verdicts" / "36-tools-opus-4.5.json")
    data, _ = prepared
    asked = [q for q in data.questions if q.model == "opus-4.5"]
    references = {q.pull: q.question.reference for q in asked}
    known = KnownVerdicts.of([stored], references)
    questions = [q.question for q in asked]
    label = np.concatenate([np.where(q.forced, -1, q.label) for q in asked])
    kappas = []
    for judge in (OfflineJudge(), OfflineJudge(examples=known)):
        score = np.concatenate([a.score for a in judge.judge(questions)])
        kappas.append(agreement(label[label >= 0], score[label >= 0], judge.threshold).kappa)
    assert kappas[1] >= kappas[0] + 0.03
    assert kappas[1] >= 0.9


def test_references_against_themselves_all_match():
    pulls = json.loads((DATA / "aacr" / "positive_samples.json").read_text("utf-8"))
    judge = OfflineJudge()
    questions = []
    for pull in pulls:
        notes = [comment["note"] for comment in pull["comments"]]
        questions.append(Question(notes, notes, np.repeat(np.arange(len(notes))[:, None], 2, axis=1)))
    answers = judge.judge(questions)
    assert sum(int(a.match.sum()) for a in answers) == 1505
