"""`metareview calibrate`, and the cascade through the real pipeline."""

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from metareview.api import evaluate_comments
from metareview.cli import _run
from model_server import ModelServer, ReplayModel, error, verdict

MARTIAN = Path(__file__).resolve().parents[3] / "shared" / "data" / "martian"
real = pytest.mark.skipif(not MARTIAN.exists(), reason="the Code Review Bench data is not beside this checkout")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def model(here, monkeypatch):
    """A model server whose script a test may replace."""
    with ModelServer(lambda e: verdict(e.notes[0] == e.notes[1], 0.8)) as server:
        monkeypatch.setenv("LLM_MODEL_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "test-model")
        monkeypatch.setenv("LLM_API_KEY", "k")
        yield server


def write(path, labels):
    path.write_text("".join(json.dumps(label) + "\n" for label in labels), encoding="utf-8")
    return str(path)


def calibrated(capsys, *arguments, code=0):
    assert _run(["calibrate", *arguments, "--json", "-q"]) == code
    return json.loads(capsys.readouterr().out)


LABELS = [
    {"a": "x y", "b": "x y", "match": True},
    {"a": "x y", "b": "z", "match": True},
    {"a": "u v", "b": "u v", "match": False},
    {"a": "u v", "b": "w", "match": False},
    {"a": "p", "b": "q", "match": 0},
]


def test_the_figures_by_hand(here, capsys):
    found = calibrated(capsys, write(here / "l.jsonl", LABELS), "--judge", "exact")
    # Verdicts 1 0 1 0 0 against 1 1 0 0 0: 3 of 5 agree, by chance 2/5 * 2/5 + 3/5 * 3/5 = 13/25.
    assert (found["n"], found["errors"], found["accuracy"]) == (5, 0, 0.6)
    assert found["kappa"] == pytest.approx((0.6 - 0.52) / 0.48)
    assert (found["precision"], found["recall"]) == (0.5, 0.5)
    assert found["auc"] == pytest.approx((1 * 2.5 + 1 * 1) / 6)  # 1 beats two zeros and ties a one; 0 ties two zeros
    assert found["reliability"][-1]["match_rate"] == 0.5
    assert _run(["calibrate", "l.jsonl", "--judge", "exact"]) == 0
    shown = capsys.readouterr()
    assert "kappa 0.167" in shown.out


def test_a_model_is_held_to_its_own_verdicts(here, model, capsys):
    found = calibrated(capsys, write(here / "l.jsonl", LABELS), "--judge", "llm")
    assert found["accuracy"] == 0.6
    assert found["threshold"] is None
    model.script = lambda e: error(422, "no")
    model.log.clear()
    again = calibrated(capsys, "l.jsonl", "--judge", "llm")
    assert again == found  # from the cache
    assert not model.log
    fresh = calibrated(capsys, "l.jsonl", "--judge", "llm", "--max-llm-calls", "0", "--no-cache", code=4)
    assert (fresh["errors"], fresh["kappa"]) == (5, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no labels"),
        ('{"a": "x"}', "l.jsonl:1: b is missing"),
        ('{"a": "x", "b": "y", "match": "yes"}', "l.jsonl:1: match must be true or false"),
        ('{"a": "x", "b": "y", "match": null}', "l.jsonl:1: match must be true or false"),
        ('{"a": 1, "b": "y", "match": true}', "l.jsonl:1: a must be a string"),
        ("[]", "l.jsonl:1: a label must be an object"),
    ],
)
def test_bad_labels_are_named(here, capsys, text, message):
    (here / "l.jsonl").write_text(text)
    assert _run(["calibrate", "l.jsonl"]) == 2
    assert message in capsys.readouterr().err


def test_disagreements_come_worst_first(here, capsys):
    labels = [
        {"a": "x y", "b": "x y", "match": False, "group": "g"},  # score 1
        {"a": "u v", "b": "u v", "match": True},
        {"a": "p q r s", "b": "p q r t", "match": False},  # 3 of 4 words
        {"a": "p q", "b": "z", "match": True},  # score 0
    ]
    path = write(here / "l.jsonl", labels)
    found = calibrated(capsys, path, "--judge", "rouge", "--disagreements")["disagreements"]
    assert [(each["a"], each["label"], each["match"], each["distance"]) for each in found] == [
        ("x y", False, True, 1.0),
        ("p q", True, False, 1.0),
        ("p q r s", False, True, 0.75),
    ]
    assert (found[0]["group"], found[0]["b"], found[2]["score"]) == ("g", "x y", 0.75)
    assert "disagreements" not in calibrated(capsys, path, "--judge", "rouge")
    assert _run(["calibrate", path, "--judge", "rouge", "--disagreements", "--top", "2"]) == 0
    shown = capsys.readouterr().out
    assert "rouge and the labels differ on 3 of 4 pairs; the 2 worst first" in shown
    assert "  1. labelled different, rouge: the same (1.00)" in shown
    assert "p q r s" not in shown


@pytest.mark.parametrize("width", [40, 80])
def test_notes_are_cut_to_the_terminal_and_cannot_drive_it(here, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    note = "\x1b[31mfirst line\n second line " + "漢字" * 100
    write(here / "l.jsonl", [{"a": note, "b": note, "match": False}])
    assert _run(["calibrate", "l.jsonl", "--judge", "exact", "--disagreements"]) == 0
    shown = capsys.readouterr().out
    lines = [line for line in shown.splitlines() if line.startswith("     ") and "line" in line]
    assert len(lines) == 2
    assert all(cell_len(line) <= width and line.endswith("…") and "first line second" in line for line in lines)
    assert "\x1b" not in shown


def test_undecided_pairs_come_last_among_the_disagreements(here, model, capsys):
    model.script = lambda e: error(422, "no") if "z" in e.notes else verdict(False, 0.8)
    path = write(here / "l.jsonl", LABELS)
    found = calibrated(capsys, path, "--judge", "llm", "--disagreements", code=4)["disagreements"]
    assert [(each["match"], each["distance"] is None) for each in found] == [(False, False), (None, True)]


@pytest.mark.parametrize(("limit", "code"), [("kappa=0.1", 0), ("kappa=0.2", 3), ("exact.accuracy=0.7", 3)])
def test_a_gate(here, capsys, limit, code):
    path = write(here / "l.jsonl", LABELS)  # a kappa of 1/6 and an accuracy of 0.6
    assert _run(["calibrate", path, "--judge", "exact", "--fail-under", limit]) == code
    assert ("must be at least" in capsys.readouterr().err) is (code == 3)


def test_a_gate_on_a_kappa_that_is_null_is_missed(here, capsys):
    path = write(here / "l.jsonl", [{"a": "x", "b": "x", "match": True}])
    assert _run(["calibrate", path, "--judge", "exact", "--fail-under", "kappa=0"]) == 3
    assert "kappa is null" in capsys.readouterr().err
    assert _run(["calibrate", path, "--fail-under", "kapa=0.5"]) == 2
    assert "'kappa'" in capsys.readouterr().err


def test_the_labels_of_a_runs_folder(here, capsys):
    place = {"pr": "o/r#1", "reviewer": "bot", "generated": 0, "at": "2026-01-01T00:00:00Z", "name": "anna"}
    said = [{**place, **label, "reference": at} for at, label in enumerate(LABELS[:4])]
    issue = {
        "issue": "1",
        "pr": "o/r#1",
        "comments": [["bot", 0]],
        "verdict": "valid",
        "note": "x",
        "at": "",
        "name": None,
    }
    later = [issue, {**said[1], "match": False}, {**said[3], "match": None}]
    found = calibrated(capsys, write(here / "labels.jsonl", [*said, *later]), "--judge", "exact")
    assert (found["n"], found["accuracy"]) == (3, 2 / 3)  # one replaced, one taken back
    write(here / "labels.jsonl", [issue, said[0], {**said[0], "match": None}])
    assert _run(["calibrate", "labels.jsonl"]) == 2
    assert "no labels of pairs: 1 line about unlisted issues, 1 label taken back" in capsys.readouterr().err


def test_bad_usage(here, capsys):
    path = write(here / "l.jsonl", LABELS)
    for arguments in (["--judge", "none"], ["--judge", "x"], ["--judge", "exact", "--threshold", "0.5"]):
        assert _run(["calibrate", path, *arguments]) == 2
    assert _run(["calibrate", path, "--cache", "c", "--no-cache"]) == 2


@real
def test_offline_agrees_with_a_real_model(here, capsys):
    """In sample: these verdicts are what its weights were learned from; docs/judges.md has held-out figures."""
    evaluations = json.loads((MARTIAN / "evaluations.json").read_text("utf-8"))
    candidates = json.loads((MARTIAN / "candidates.json").read_text("utf-8"))
    labels = []
    for file in sorted(MARTIAN.glob("golden_*.json")):
        for pull in json.loads(file.read_text("utf-8")):
            for tool, said in candidates[pull["url"]].items():
                result = evaluations[pull["url"]][tool]
                right = {(hit["golden_comment"], hit["matched_candidate"]) for hit in result["true_positives"]}
                wrong = {miss["candidate"] for miss in result["false_positives"]}
                missed = {miss["golden_comment"] for miss in result["false_negatives"]}
                for golden in pull["comments"]:
                    for note in said:
                        pair = (golden["comment"], note["text"])
                        known = pair in right or note["text"] in wrong or golden["comment"] in missed
                        if known:
                            labels.append({"a": pair[0], "b": pair[1], "match": pair in right,
                                           "group": f"{pull['url']} {tool}"})  # fmt: skip
    found = calibrated(capsys, write(here / "labels.jsonl", labels))
    assert found["n"] > 2300
    assert found["kappa"] > 0.8
    assert found["auc"] > 0.98


@real
def test_the_cascade_gives_the_models_alignment_for_a_tenth_of_its_calls(model):
    model.script = ReplayModel(MARTIAN / "evaluations.json")
    golden = sorted(MARTIAN.glob("golden_*.json"))

    def aligned(judge):
        run = evaluate_comments(MARTIAN / "candidates.json", reference=golden, judge=judge)
        pairs = {
            (record["reviewer"], record["github_pr_url"], detail["generated"], detail["reference"])
            for record in run.records
            for detail in record["match_details"]
            if detail["semantic_match"]
        }
        return pairs, run.summary["judge"]

    some, cost = aligned("cascade")
    assert cost["errors"] == 0
    assert cost["llm_calls"] == len(model.log)
    assert cost["llm_calls"] <= 0.12 * cost["pairs"]
    everything, _ = aligned("llm")
    assert len(some & everything) >= 0.97 * len(everything)


@pytest.mark.parametrize(("judge", "told"), [("offline", True), ("rouge", False)])
def test_labels_without_a_group_are_mentioned_where_rivals_matter(here, capsys, judge, told):
    assert _run(["calibrate", write(here / "l.jsonl", LABELS), "--judge", judge]) == 0
    assert ("5 labels have no group" in capsys.readouterr().err) is told


EVALUATIONS = {"https://github.com/o/r/pull/1": {"bot": {"skipped": False, "true_positives": [
    {"golden_comment": "x", "matched_candidate": "y", "confidence": 0.9}], "false_positives": [],
    "false_negatives": [], "errors": []}}}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_of_evaluations_is_named_with_what_takes_it(here, capsys, indent):
    (here / "evaluations.json").write_text(json.dumps(EVALUATIONS, indent=indent), "utf-8")
    assert _run(["calibrate", "evaluations.json"]) == 2
    told = capsys.readouterr().err
    assert (
        "evaluations.json: a file of evaluations, which are a judge's verdicts. Give it to metareview comments" in told
    )
    assert "--verdicts FILE" in told
    assert "is missing" not in told


def test_a_run_s_pairs_are_no_labels(here, capsys):
    evaluate_comments(
        [{"pr": "o/r#1", "reviewer": "bot", "comments": [{"note": "x"}]}],
        reference=[{"pr": "o/r#1", "comments": [{"note": "x"}]}],
        out=here / "run",
    )
    assert _run(["calibrate", "run/pairs.jsonl"]) == 2
    assert "a run's pairs, which have its judge's verdicts. For a run with labels" in capsys.readouterr().err
