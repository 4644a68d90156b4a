"""Figures as functions of the line distance and the threshold, from stored pairs."""

import json
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metareview.api import evaluate_comments, load_run
from metareview.comments.filters import FilterConfig
from metareview.comparison.sensitivity import sensitivity
from metareview.errors import InputError, UsageError
from metareview.formats.comments import jsonl
from metareview.judges.builtin.rouge import RougeJudge
from metareview.judges.protocol import SAME, Answer, Judge, ModelJudge, Planned, Usage
from metareview.model.comment import Comment, Review
from model_server import ModelServer, Reply, matches, verdict

AACR = Path(__file__).resolve().parents[3] / "shared" / "data" / "aacr"
DEMO = Path(__file__).resolve().parents[2] / "src" / "metareview" / "data" / "demo"


def pull(number):
    return f"https://github.com/owner/repo/pull/{number}"


def note(text, line=1, **fields):
    return Comment(note=text, path="a.py", side="right", from_line=line, to_line=line, **fields)


def write(path, reviews):
    path.write_text(jsonl.write(reviews)[""], encoding="utf-8")
    return path


def demo_run(out, **options):
    evaluate_comments(DEMO / "reviews", reference=DEMO / "references.jsonl", out=out, **options)
    return load_run(out)


def at(curves, reviewer, value):
    position = curves["values"].index(value)
    return {metric: figures[position] for metric, figures in curves["reviewers"][reviewer].items()}


@pytest.mark.parametrize(
    "options",
    [
        {"judge": "rouge", "negatives": DEMO / "negatives.jsonl"},
        {"judge": "rouge", "alignment": "coverage", "line_distance": 3, "threshold": 0.42},
        {"judge": "rouge", "alignment": "greedy", "negatives": DEMO / "negatives.jsonl"},
        {"judge": "rouge", "filters": FilterConfig(comment_categories=["Code Defect"]), "threshold": 0.3},
        {"judge": "rouge", "filters": FilterConfig(project_languages=["Go", "Python"])},
        {"judge": "none", "line_distance": 0},
        {"judge": "none", "alignment": "greedy"},
        {"judge": "exact", "line_distance": 25},
        {"judge": "rouge", "ignore_location": True, "threshold": 0.3},
    ],
    ids=str,
)
def test_the_curves_pass_through_the_runs_own_figures(tmp_path, options):
    run = demo_run(tmp_path / "run", **options)
    found = sensitivity(run).to_dict()
    for name in ("line_distance", "threshold"):
        if found[name] is None:
            continue
        assert found[name]["at"] == run.manifest.config[name]
        for reviewer, block in run.summary["reviewers"].items():
            assert at(found[name], reviewer, found[name]["at"]) == block["metrics"]
    assert (found["line_distance"] is None) == bool(options.get("ignore_location"))
    assert (found["threshold"] is None) == (options["judge"] != "rouge")
    json.dumps(found, allow_nan=False)


def confidence(comment, reference):
    """Something between 0.5 and 1 that only the two notes decide."""
    return 0.5 + zlib.crc32(f"{comment}|{reference}".encode()) % 50 / 100


def model_answer(exchange):
    """Vectors by the length of a text; every pair is called the same, with more or less confidence."""
    if exchange.path.endswith("embeddings"):
        rows = [{"index": i, "embedding": [1, len(text) % 7]} for i, text in enumerate(exchange.body["input"])]
        return Reply(200, {"data": rows, "usage": {"prompt_tokens": 7, "total_tokens": 7}})
    if not exchange.is_list:
        return verdict(True, confidence(*exchange.notes))
    references, comments = exchange.listed
    found = [
        {"reference": r, "comment": c, "confidence": confidence(comment, reference), "reason": "because"}
        for r, reference in enumerate(references)
        for c, comment in enumerate(comments)
    ]
    return matches(*found)


@pytest.mark.parametrize("threshold", [0.2, 0.9])
@pytest.mark.parametrize(
    "options",
    [
        {"judge": "rouge"},
        {"judge": "offline"},
        {"judge": "embedding"},
        {"judge": "llm"},
        {"judge": "llm", "ask": "review"},
        {"judge": "cascade"},
        {"judge": "cascade", "alignment": "coverage"},
        {"judge": "cascade", "cascade": "frugal"},
        {"judge": "cascade", "cascade_low": 0.3, "cascade_high": 0.6},  # which do not bound the threshold
    ],
    ids=str,
)
def test_the_curve_of_every_judge_with_a_threshold_passes_through_runs_at_it_and_at_another(
    tmp_path, monkeypatch, options, threshold
):
    monkeypatch.chdir(tmp_path)
    options |= {"cache": tmp_path / "verdicts.sqlite"}
    with ModelServer(model_answer) as server:
        for kind in ("LLM", "EMBEDDING"):
            for name, value in (("MODEL_URL", server.url), ("MODEL", "test-model"), ("API_KEY", "k")):
                monkeypatch.setenv(f"{kind}_{name}", value)
        run = demo_run(tmp_path / "run", threshold=threshold, **options)
        other = demo_run(tmp_path / "other", threshold=0.65, **options)
    curves = sensitivity(run).to_dict()["threshold"]
    for reviewer, block in run.summary["reviewers"].items():
        assert at(curves, reviewer, threshold) == block["metrics"]
        assert at(curves, reviewer, 0.65) == other.summary["reviewers"][reviewer]["metrics"]


def test_the_curve_of_a_judge_with_a_rule_of_its_own_passes_through_its_run(tmp_path):
    class Above(Judge):
        name, threshold = "above", 0.5

        def judge(self, questions):
            return [Answer(np.full(len(q.pairs), 0.5), np.zeros(len(q.pairs), np.int8)) for q in questions]

    run = demo_run(tmp_path / "run", judge=Above())
    curves = sensitivity(run).to_dict()["threshold"]
    for reviewer, block in run.summary["reviewers"].items():
        assert at(curves, reviewer, 0.5) == block["metrics"]


def test_the_threshold_of_a_cascade_cuts_the_final_score_whoever_gave_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ModelServer(model_answer) as server:
        for name, value in (("MODEL_URL", server.url), ("MODEL", "test-model"), ("API_KEY", "k")):
            monkeypatch.setenv(f"LLM_{name}", value)
        run = demo_run(tmp_path / "run", judge="cascade", cascade="frugal", threshold=0.9, cache=tmp_path / "v.sqlite")
    pairs = [json.loads(line) for line in (tmp_path / "run" / "pairs.jsonl").read_text("utf-8").splitlines()]
    assert {pair["by"] for pair in pairs} == {"judge", "model"}
    assert all(pair["match"] == (pair["score"] >= 0.9) for pair in pairs)
    assert run.manifest.config["threshold"] == 0.9


def test_a_run_in_memory_has_the_curves_of_its_folder(tmp_path):
    options = {"judge": "rouge", "negatives": DEMO / "negatives.jsonl"}
    stored = sensitivity(demo_run(tmp_path / "run", **options)).to_dict()
    run = evaluate_comments(DEMO / "reviews", reference=DEMO / "references.jsonl", **options)
    assert sensitivity(run).to_dict() == stored | {"run": None}


@pytest.mark.parametrize("distance", [0, 2, 3, 8, 20])
def test_another_distance_is_what_another_run_would_find(tmp_path, distance):
    """But for a false positive rate that the run never asked for, which is null and not guessed."""
    options = {"negatives": DEMO / "negatives.jsonl", "judge": "rouge", "threshold": 0.3}
    curves = sensitivity(demo_run(tmp_path / "run", line_distance=1, **options)).to_dict()["line_distance"]
    other = demo_run(tmp_path / "other", line_distance=distance, **options)
    for reviewer, block in other.summary["reviewers"].items():
        found = at(curves, reviewer, distance)
        unasked = found["false_positive_rate"] is None
        assert not (unasked and distance > 1)
        assert found == block["metrics"] | ({"false_positive_rate": None} if unasked else {})


@pytest.mark.parametrize("threshold", [0.05, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("alignment", ["optimal", "coverage", "greedy"])
def test_another_threshold_is_what_another_run_would_find(tmp_path, threshold, alignment):
    options = {"negatives": DEMO / "negatives.jsonl", "judge": "rouge", "alignment": alignment}
    curves = sensitivity(demo_run(tmp_path / "run", **options)).to_dict()["threshold"]
    other = demo_run(tmp_path / "other", threshold=threshold, **options)
    for reviewer, block in other.summary["reviewers"].items():
        found = at(curves, reviewer, threshold)
        unasked = found["false_positive_rate"] is None
        assert not (unasked and threshold < 0.7)
        assert found == block["metrics"] | ({"false_positive_rate": None} if unasked else {})


def test_curves_by_hand(tmp_path):
    """One reference at line 10. `near` says it at 12, `far` at 18, with the words of another score."""
    reference = write(tmp_path / "references.jsonl", [Review(pull(1), (note("a b c d", 10),))])
    said = write(
        tmp_path / "said.jsonl",
        [
            Review(pull(1), (note("a b", 12),), reviewer="near"),
            Review(pull(1), (note("a b c d", 18), note("hm", 400)), reviewer="far"),
        ],
    )
    evaluate_comments(said, reference=reference, judge="rouge", line_distance=8, threshold=0.4, out=tmp_path / "run")
    found = sensitivity(load_run(tmp_path / "run")).to_dict()
    distance, threshold = found["line_distance"], found["threshold"]
    assert distance["values"] == list(range(21))
    assert distance["reviewers"]["near"]["f1"] == [0] * 2 + [1] * 19
    assert distance["reviewers"]["near"]["line_f1"] == [0] * 2 + [1] * 19
    assert distance["reviewers"]["far"]["f1"] == pytest.approx([0] * 8 + [2 / 3] * 13)
    # ROUGE-L recall of `near` is 2 of 4 words, and a match needs more than the threshold.
    assert threshold["values"] == [round(step / 20, 2) for step in range(1, 20)]
    assert threshold["reviewers"]["near"]["f1"] == [1] * 9 + [0] * 10
    assert threshold["reviewers"]["far"]["f1"] == pytest.approx([2 / 3] * 19)
    assert distance["ranking"] == {"metric": "f1", "order": ["near", "far"], "stable": True, "changes": []}
    assert not threshold["ranking"]["stable"]
    assert threshold["ranking"]["changes"][0] == {
        "value": 0.5,
        "order": ["far", "near"],
        "overtakes": [["far", "near"]],
    }
    assert len(threshold["ranking"]["changes"]) == 10


class PaidRouge(RougeJudge, ModelJudge):
    """ROUGE that is said to cost something, and so is only asked about pairs within the distance."""

    name, usage = "paid", Usage()

    def planned(self, questions):
        return Planned(0)

    def judge(self, questions):
        return [Answer(a.score, (a.score >= self.threshold).astype(np.int8)) for a in super().judge(questions)]


def test_a_paid_judges_curve_stops_at_the_runs_distance(tmp_path):
    run = demo_run(tmp_path / "run", judge=PaidRouge(), line_distance=2)
    found = sensitivity(run).to_dict()
    assert found["line_distance"]["values"] == [0, 1, 2]
    for name in ("line_distance", "threshold"):
        for reviewer, block in run.summary["reviewers"].items():
            assert at(found[name], reviewer, found[name]["at"]) == block["metrics"]


def test_a_label_does_not_move_with_the_threshold(tmp_path):
    class Labelled(Judge):
        """Says the same of every pair: one by its score, one because a person said so."""

        name, threshold = "labelled", 0.5

        def judge(self, questions):
            return [
                Answer(np.full(n, 0.6), np.full(n, SAME, np.int8), by=["judge", "label"][:n])
                for n in (len(question.pairs) for question in questions)
            ]

    reference = write(tmp_path / "references.jsonl", [Review(pull(1), (note("x", 10), note("y", 50)))])
    said = write(tmp_path / "said.jsonl", [Review(pull(1), (note("x", 10), note("y", 50)), reviewer="bot")])
    evaluate_comments(said, reference=reference, judge=Labelled(), out=tmp_path / "run")
    curves = sensitivity(load_run(tmp_path / "run")).to_dict()["threshold"]
    assert at(curves, "bot", 0.6)["positive_recall_rate"] == 1
    assert at(curves, "bot", 0.65)["positive_recall_rate"] == 0.5


def test_what_cannot_be_replayed_is_refused(tmp_path):
    run = demo_run(tmp_path / "run", judge="exact")
    routing = replace(run, kind=replace(run.kind, name="routing"))
    with pytest.raises(UsageError, match="is a run of routing; sensitivity is for runs of comments"):
        sensitivity(routing)
    lines = (tmp_path / "run" / "results.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "run" / "results.jsonl").write_bytes(b"".join(lines[1:]))
    with pytest.raises(InputError, match="pairs without a record"):
        sensitivity(run)


@pytest.mark.skipif(not AACR.exists(), reason="the AACR set is not beside this checkout")
def test_the_aacr_set_at_its_own_settings(tmp_path):
    reference = AACR / "positive_samples.json"
    evaluate_comments(
        AACR / "negative_samples.json",
        reference=reference,
        negatives=AACR / "negative_samples.json",
        judge="rouge",
        threshold=0.2,
        out=tmp_path / "run",
    )
    run = load_run(tmp_path / "run")
    found = sensitivity(run).to_dict()
    [own] = (block["metrics"] for block in run.summary["reviewers"].values())
    assert at(found["line_distance"], "negative_samples", 1) == own
    assert at(found["threshold"], "negative_samples", 0.2) == own
    matched = found["threshold"]["reviewers"]["negative_samples"]["positive_recall_rate"]
    assert matched == sorted(matched, reverse=True)


def test_whoever_has_too_few_pull_requests_has_a_curve_and_no_rank(tmp_path):
    references = [Review(pull(n), (note("leak"),)) for n in range(1, 11)]
    said = [Review(pull(n), (note("leak"),), reviewer="all") for n in range(1, 11)]
    said += [Review(pull(n), (note("leak"),), reviewer="few") for n in range(1, 8)]
    run = evaluate_comments(
        write(tmp_path / "said.jsonl", said), reference=write(tmp_path / "r.jsonl", references), judge="rouge"
    )
    curves = sensitivity(run).line_distance
    assert set(curves.reviewers) == {"all", "few"}
    assert curves.ranking.order == ["all"]
