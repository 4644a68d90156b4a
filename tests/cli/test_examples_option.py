"""`comments --examples`: what is refused, what is kept, and that a run can be repeated from what it kept."""

import json
from pathlib import Path

import pytest
from review_sample import APP1, APP2, lines

from metareview.api import compare, evaluate_comments, load_run
from metareview.comparison.leaderboard import leaderboard
from metareview.errors import UsageError
from metareview.judges.offline.judge import OfflineJudge
from metareview.report.page.evidence import judge_section

PLAIN = ("comments", "reviews", "--reference", "ref.jsonl")
CLOSE, NUMBER, CHECK = "Close the file handle", "Name the magic number", "Check the error first"
EVE = {"a": CLOSE, "b": "The handle leaks", "match": True, "pr": APP1, "reviewer": "eve"}
ZOE = {"a": CHECK, "b": "Rename this", "match": False, "pr": APP2, "reviewer": "zoe"}
OWN = {"a": CLOSE, "b": "Looks odd", "match": False, "pr": "octo/app#1", "reviewer": "Reviews"}
EVALUATION = {
    "true_positives": [{"golden_comment": CLOSE, "matched_candidate": "The handle leaks", "confidence": 0.9}],
    "false_positives": [{"candidate": "Rename this"}], "false_negatives": [{"golden_comment": NUMBER}],
    "total_candidates": 2}  # fmt: skip


@pytest.fixture
def known(sample):
    (sample / "known.jsonl").write_text(lines(EVE, ZOE, OWN))
    return sample


def stored(folder):
    summary, manifest = (json.loads((Path(folder) / name).read_text()) for name in ("summary.json", "manifest.json"))
    return summary, manifest, [json.loads(line) for line in (Path(folder) / "examples.jsonl").read_text().splitlines()]


def test_the_examples_are_kept_named_and_told(known, run):
    code, printed, told = run(*PLAIN, "--examples", "known.jsonl", "--out", "one")
    assert code == 0
    summary, manifest, frozen = stored("one")
    assert "examples/known.jsonl" in manifest["inputs"]
    assert len(manifest["config"]["judge_parameters"]["examples"]) == 64
    assert sorted((line["reviewer"], line["a"], line["b"], line["match"], line["by"]) for line in frozen) == [
        ("Reviews", CLOSE, "Looks odd", False, "label"),
        ("eve", CLOSE, "The handle leaks", True, "label"),
        ("zoe", CHECK, "Rename this", False, "label"),
    ]
    assert {line["pr"] for line in frozen} == {APP1, APP2}
    assert summary["judge"]["learned_from"] == {"verdicts": 2, "reviewers": 2, "references": 2}
    own = "1 known verdict on a reviewer's own comments, or on notes in the same words, was not used for that reviewer"
    assert own in summary["warnings"]
    assert own in told
    learned = "It learned from 2 known verdicts of 2 reviewers on 2 references."
    assert learned in " ".join((printed + told).split())
    assert run("report", "one", "--output", "one.md")[0] == 0
    assert learned in Path("one.md").read_text()
    assert learned in str(judge_section(load_run("one")).markup())


def test_a_run_repeats_from_what_it_kept(known, run):
    assert run(*PLAIN, "--examples", "known.jsonl", "--out", "one")[0] == 0
    assert run(*PLAIN, "--examples", "one/examples.jsonl", "--out", "two")[0] == 0
    (first, _, kept), (again, _, kept_again) = stored("one"), stored("two")
    assert kept == kept_again
    assert Path("one/examples.jsonl").read_bytes() == Path("two/examples.jsonl").read_bytes()
    assert Path("one/results.jsonl").read_bytes() == Path("two/results.jsonl").read_bytes()
    assert Path("one/pairs.jsonl").read_bytes() == Path("two/pairs.jsonl").read_bytes()
    assert {**first, "run": 0} == {**again, "run": 0}


def test_every_kind_of_file_is_read_and_several_are_one(known, run):
    (known / "evaluations.json").write_text(json.dumps({APP1: {"eve": EVALUATION}}))
    other = lines({"pr": APP2, "reviewer": "amy", "comments": [{"note": CHECK, "path": "b.go", "from_line": 9}]})
    (known / "amy.jsonl").write_text(other)
    assert run("comments", "amy.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "--out", "amy")[0] == 0
    files = ("known.jsonl", "evaluations.json", "amy/pairs.jsonl")
    every = [part for file in files for part in ("--examples", file)]
    # amy's comment is in the words of the one that is measured, and so nothing that it could be judged by.
    assert run(*PLAIN, *every, "--out", "one")[0] == 0
    summary, manifest, frozen = stored("one")
    assert {(line["reviewer"], line["by"]) for line in frozen} == {
        ("eve", "label"), ("eve", "model"), ("zoe", "label"), ("amy", "judge"), ("Reviews", "label"),
    }  # fmt: skip
    assert ("eve", NUMBER, "Rename this", False) in [
        (line["reviewer"], line["a"], line["b"], line["match"]) for line in frozen
    ]
    assert summary["judge"]["learned_from"]["reviewers"] == 2
    names = {"examples/known.jsonl", "examples/evaluations.json", "examples/pairs.jsonl", "examples/results.jsonl"}
    assert names <= manifest["inputs"].keys()


def test_files_of_one_name_are_both_named(known, run):
    for folder, line in (("x", EVE), ("y", ZOE)):
        (known / folder).mkdir()
        (known / folder / "l.jsonl").write_text(lines(line))
    assert run(*PLAIN, "--examples", "x/l.jsonl", "--examples", "y/l.jsonl", "--out", "one")[0] == 0
    assert {"examples/l.jsonl", "examples/y/l.jsonl"} <= stored("one")[1]["inputs"].keys()


def test_a_file_that_says_nothing_of_the_references_is_told_beside_one_that_does(known, run):
    (known / "others.jsonl").write_text(lines(EVE | {"a": "another reference"}))
    code, _, told = run(*PLAIN, "--examples", "known.jsonl", "--examples", "others.jsonl", "--out", "one")
    assert (code, "others.jsonl: no verdict on these references" in told) == (0, True)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--judge", "exact"), "The judge exact learns nothing from --examples; offline and cascade do. Choose one of"),
        (("--judge", "llm"), "The judge llm learns nothing from --examples"),
        (("--judge", "tests:judge"), "The judge tests:judge learns nothing from --examples"),
        (("--verdicts", "known.jsonl"), "--verdicts are decided, so there is nothing to learn for. Leave out"),
    ],
)
def test_who_does_not_learn_refuses(known, run, more, message):
    code, _, told = run(*PLAIN, "--examples", "known.jsonl", *more, "--out", "one")
    assert code == 2
    assert message in told
    assert not Path("one").exists()


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([OWN], "--examples l.jsonl: no verdict on another reviewer's comments and these references (1 verdict"),
        ([EVE | {"reviewer": None, "b": "Looks odd"}], "(1 verdict on the comments that are measured)"),
        ([EVE | {"b": f" {CLOSE} "}], "no verdict on another reviewer's comments and these references (1 "),
        ([EVE | {"a": "another"}], "no verdict on another reviewer's comments and these references. Name a file of"),
        ([EVE | {"pr": "octo/app#77"}], "no verdict on another reviewer's comments"),
    ],
)
def test_where_nothing_can_be_learned_the_run_does_not_begin(known, run, records, message):
    (known / "l.jsonl").write_text(lines(*records))
    code, _, told = run(*PLAIN, "--examples", "l.jsonl", "--out", "one")
    assert (code, message in " ".join(told.split())) == (2, True), told
    assert not Path("one").exists()


def test_files_that_cannot_be_read_are_named(known, run):
    (known / "broken.json").write_text("{}")
    code, _, told = run(*PLAIN, "--examples", "broken.json")
    assert (code, "broken.json:1: its verdicts are of no known kind" in told) == (2, True)
    assert run(*PLAIN, "--examples", "absent.jsonl")[0] == 2
    assert run(*PLAIN, "--judge", "exact", "--out", "other")[0] == 0
    Path("other/pairs.jsonl").rename("pairs.jsonl")
    code, _, told = run(*PLAIN, "--examples", "pairs.jsonl")
    assert (code, "Keep pairs.jsonl and results.jsonl of one run together" in " ".join(told.split())) == (2, True)


def test_a_killed_run_goes_on_with_the_same_examples_and_no_others(known, run, monkeypatch):
    command = (*PLAIN, "--examples", "known.jsonl", "--out", "one")

    def killed(self, questions):
        assert len(Path("one/examples.jsonl").read_text().splitlines()) == 3  # kept before anything is judged
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(OfflineJudge, "judge", killed)
        assert run(*command)[0] == 130
    assert run(*command)[0] == 0
    (known / "fewer.jsonl").write_text(lines(EVE, OWN))
    code, _, told = run(*PLAIN, "--examples", "fewer.jsonl", "--out", "one")
    assert (code, "holds another run (judge_parameters, input files differ)" in told) == (2, True)
    assert "holds another run" in run(*PLAIN, "--out", "one")[2]
    assert run(*PLAIN, "--examples", "known.jsonl", "--out", "whole")[0] == 0
    assert Path("one/results.jsonl").read_bytes() == Path("whole/results.jsonl").read_bytes()
    assert stored("one")[0]["judge"] == stored("whole")[0]["judge"]
    assert run(*command)[0] == 0  # a finished run answers again


def test_examples_of_before_do_not_stay_in_a_folder_that_is_overwritten(known, run):
    assert run(*PLAIN, "--examples", "known.jsonl", "--out", "one")[0] == 0
    assert run(*PLAIN, "--out", "one", "--overwrite")[0] == 0
    assert not Path("one/examples.jsonl").exists()
    assert "learned_from" not in json.loads(Path("one/summary.json").read_text())["judge"]


def test_a_dry_run_checks_the_examples_and_keeps_nothing(known, run):
    code, printed, _ = run(*PLAIN, "--examples", "known.jsonl", "--dry-run", "--json", "--out", "one")
    document = json.loads(printed)
    assert code == 0
    assert "examples" in document["config"]["judge_parameters"]
    assert any("own comments" in warning for warning in document["warnings"])
    assert not Path("one").exists()


def test_in_python_one_file_or_several_and_a_judge_by_name(known):
    one = evaluate_comments("reviews", reference="ref.jsonl", examples="known.jsonl")
    several = evaluate_comments("reviews", reference="ref.jsonl", examples=[known / "known.jsonl"])
    assert one.summary == several.summary
    assert one.summary["judge"]["learned_from"]["verdicts"] == 2
    with pytest.raises(UsageError, match="for judges by name"):
        evaluate_comments("reviews", reference="ref.jsonl", examples="known.jsonl", judge=OfflineJudge())


def test_a_cascade_learns_too(known, run, monkeypatch):
    for name, value in (("MODEL_URL", "http://127.0.0.1:1"), ("MODEL", "m"), ("API_KEY", "k")):
        monkeypatch.setenv(f"LLM_{name}", value)
    asked = (*PLAIN, "--examples", "known.jsonl", "--dry-run", "--json")
    parameters = [
        json.loads(run(*asked, "--judge", judge, "--cache", "c.sqlite")[1])["config"]["judge_parameters"]
        for judge in ("offline", "cascade")
    ]
    assert parameters[0]["examples"] == parameters[1]["examples"]


# Runs with different examples


@pytest.fixture
def three_runs(known, run):
    (known / "fewer.jsonl").write_text(lines(EVE))
    for name, files in (("without", []), ("with", ["known.jsonl"]), ("fewer", ["fewer.jsonl"])):
        examples = [part for file in files for part in ("--examples", file)]
        assert run(*PLAIN, *examples, "--out", name)[0] == 0
    return known


@pytest.mark.parametrize(("a", "b"), [("without", "with"), ("with", "without"), ("with", "fewer")])
def test_runs_with_different_examples_are_only_compared_if_asked(three_runs, run, a, b):
    for command in ("compare", "leaderboard"):
        code, _, told = run(command, a, b)
        told = " ".join(told.split())
        assert code == 2
        assert f"{a} and {b} cannot be compared, their judges learned from different examples:" in told
        assert "Evaluate both with the same --examples. --mixed-examples goes on all the same." in told
        code, printed, told = run(command, a, b, "--mixed-examples", "--json")
        document = json.loads(printed)
        assert code == 0
        assert document["mixed_examples"] is True
        warning = "the judges learned from different examples, which alone can make a difference:"
        assert document["warnings"][0].startswith(warning)
        assert a in document["warnings"][0]
        assert warning in " ".join(told.split())


@pytest.mark.parametrize("command", ["compare", "leaderboard"])
def test_the_table_and_every_file_say_that_examples_are_mixed(three_runs, run, command):
    code, printed, _ = run(command, "without", "with", "--mixed-examples")
    assert (code, "The judges learned from different examples." in " ".join(printed.split())) == (0, True)
    for suffix in ("md", "html", "tex", "json", "csv"):
        assert run(command, "without", "with", "--mixed-examples", "--output", f"t.{suffix}")[0] == 0
        expected = "mixed_examples" if suffix == "csv" else "The judges learned from different examples."
        assert expected in Path(f"t.{suffix}").read_text()
        assert run(command, "without", "without", "--output", f"t.{suffix}")[0] == 0
        assert expected not in Path(f"t.{suffix}").read_text()


def test_runs_of_different_reviewers_with_the_same_examples_compare(three_runs, run):
    said = ((APP1, "Handle is left open", "a.py", 3), (APP2, "Err is read too late", "b.go", 9))
    reviews = [
        {"pr": pr, "reviewer": "amy", "comments": [{"note": note, "path": path, "from_line": line}]}
        for pr, note, path, line in said
    ]
    (three_runs / "amy.jsonl").write_text(lines(*reviews))
    assert run("comments", "amy.jsonl", "--reference", "ref.jsonl", "--examples", "known.jsonl", "--out", "amy")[0] == 0
    board = leaderboard(["with", "amy"])
    assert {row.name for row in board.rows} == {"reviews", "amy"}
    assert not any("examples" in warning for warning in board.warnings)
    assert compare("with", "amy").to_dict().get("mixed_examples") is None
    with pytest.raises(UsageError, match="different examples"):
        compare("without", "amy")
    mixed = compare("without", "amy", mixed_examples=True)
    assert mixed.family is not None
    assert "The judges learned from different examples." in mixed.verdict


def test_a_threshold_that_somebody_chose_is_a_difference_of_its_own(three_runs, run):
    assert run(*PLAIN, "--threshold", "0.9", "--out", "strict")[0] == 0
    code, _, told = run("compare", "strict", "with", "--mixed-examples")
    assert code == 2
    assert "their settings differ: threshold 0.9 and" in " ".join(told.split())
