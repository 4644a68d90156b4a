import json
import os
import re
import subprocess
import sys

import pytest
from review_sample import files

from metareview.comments.summary import JudgeSummary
from metareview.errors import Undecided
from metareview.judges.builtin.exact import ExactJudge
from metareview.report.build_gates import check_undecided

URL = "https://github.com/octo/app/pull/{}"
NOTE = {"note": "Check the error first", "path": "b.go", "from_line": 9}
ALL = ("comments", "said.jsonl", "--reference", "ref.jsonl", "--judge", "exact")
WARNED = (
    "Warning: every note of good (1) is word for word that of a reference:"
    " check that its comments are not among the references\n"
)


@pytest.fixture(autouse=True)
def two(here):
    """Two pull requests with a reference each; `good` raises one of the two and says nothing else, `mute` is silent."""
    references = [{"pr": URL.format(n), "comments": [NOTE]} for n in (1, 2)]
    said = [
        {"pr": URL.format(1), "reviewer": "good", "comments": [NOTE]},
        {"pr": URL.format(2), "reviewer": "good"},
        {"pr": URL.format(1), "reviewer": "mute"},
        {"pr": URL.format(2), "reviewer": "mute"},
    ]
    rejected = [{"pr": URL.format(1), "comments": [{"note": "Looks odd"}]}]
    for name, records in (("ref.jsonl", references), ("said.jsonl", said), ("neg.jsonl", rejected)):
        (here / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return here


def never_asked(monkeypatch):
    def judge(self, questions):
        raise AssertionError("a judge was asked")

    monkeypatch.setattr(ExactJudge, "judge", judge)


# --out


def test_a_finished_run_is_answered_from(run, here, monkeypatch):
    first = run(*ALL, "--out", "deep/er/r", "--json")
    before = files(here)
    never_asked(monkeypatch)
    assert run(*ALL, "--out", "deep/er/r", "--json") == first
    assert files(here) == before


@pytest.mark.parametrize(
    ("options", "differing"),
    [
        (["--line-distance", "0"], "line_distance"),
        (["--seed", "3", "--limit", "1"], "limit, seed"),
        (["--judge", "none"], "judge"),
        (["--all-prs", "--alignment", "coverage"], "alignment, all_prs"),
        (["--negatives", "neg.jsonl"], "negatives, input files"),
        (["--reviewer", "good"], "reviewer"),
    ],
)
def test_another_configuration_is_refused_with_what_differs(run, here, options, differing):
    assert run(*ALL, "--out", "r")[0] == 0
    before = files(here)
    code, out, err = run(*ALL, *options, "--out", "r")
    assert (code, out) == (2, "")
    assert err == (f"Error: r holds another run ({differing} differ). Choose another --out, or pass --overwrite.\n")
    assert files(here) == before


def test_other_inputs_are_refused_and_overwrite_replaces(run, here):
    assert run(*ALL, "--out", "r")[0] == 0
    before = files(here / "r")
    (here / "said.jsonl").write_text(json.dumps({"pr": URL.format(2), "reviewer": "new", "comments": [NOTE]}))
    code, _, err = run(*ALL, "--out", "r")
    assert code == 2
    assert "(input files differ)" in err
    assert files(here / "r") == before
    code, out, _ = run(*ALL, "--out", "r", "--overwrite", "--json")
    assert (code, list(json.loads(out)["reviewers"])) == (0, ["new"])
    [record] = (here / "r/results.jsonl").read_text().splitlines()
    assert json.loads(record)["reviewer"] == "new"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": "other"}'])
def test_a_folder_that_holds_no_run_is_refused_and_left_alone_by_overwrite(run, here, content):
    (here / "r").mkdir()
    (here / "r/manifest.json").write_text(content)
    (here / "r/mine.txt").write_text("mine")
    before = files(here)
    for options in ([], ["--overwrite"]):
        code, _, err = run(*ALL, "--out", "r", *options)
        told = "Error: r is not empty and holds no run. Choose another --out, or empty the folder.\n"
        assert (code, err) == (2, told)
        assert files(here) == before


def test_an_empty_folder_may_be_named(run, here):
    (here / "r").mkdir()
    assert run(*ALL, "--out", "r")[0] == 0


def test_without_out_each_run_has_a_folder_of_its_own(run, here):
    assert (run(*ALL)[0], run(*ALL)[0]) == (0, 0)
    names = sorted(p.name for p in (here / "runs").iterdir())
    assert len(names) == 2
    assert all(re.fullmatch(r"\d{8}-\d{6}-said(-2)?", name) for name in names)


def test_a_dry_run_asks_and_writes_nothing(run, here, monkeypatch):
    never_asked(monkeypatch)
    before = files(here)
    code, out, err = run(*ALL, "--dry-run", "--out", "r", "--fail-under", "f1=1")
    assert (code, err) == (0, WARNED)
    assert re.fullmatch(r"2 pull requests, 2 reviewers, 1 pair to judge, 0 model calls\.\n", out)
    code, out, _ = run(*ALL, "--dry-run", "--json")
    found = json.loads(out)
    assert (code, found["prs"], found["reviewers"], found["pairs"], found["llm_calls"]) == (0, 2, 2, 1, 0)
    assert files(here) == before
    assert not (here / "r").exists()


def test_an_interrupted_run_is_130_and_goes_on(run, here, monkeypatch):
    def interrupted(self, questions):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ExactJudge, "judge", interrupted)
        code, out, err = run(*ALL, "--out", "r")
        assert (code, out) == (130, "")
        assert "--out" in err
        assert "Traceback" not in err
    assert json.loads((here / "r/manifest.json").read_text())["status"] == "running"
    code, out, _ = run(*ALL, "--out", "r", "--json")
    assert (code, json.loads(out)["reviewers"]["good"]["positive_match_nums"]) == (0, 1)


def test_a_defect_of_ours_keeps_its_traceback(run, monkeypatch):
    never_asked(monkeypatch)
    with pytest.raises(AssertionError, match="a judge was asked"):
        run(*ALL, "--out", "r")


# Gates: good has precision 1, recall 0.5, f1 2/3; mute has precision null, recall 0, f1 0


@pytest.mark.parametrize(
    ("gates", "code", "missed"),
    [
        (["--fail-under", "f1=0"], 0, None),
        (["--fail-under", "f1=0.1"], 3, "mute: f1 is 0.0000, must be at least 0.1"),
        (
            ["--fail-under", "positive_recall_rate=0.75"],
            3,
            "good: positive_recall_rate is 0.5000, must be at least 0.75; "
            "mute: positive_recall_rate is 0.0000, must be at least 0.75",
        ),
        (["--fail-over", "positive_recall_rate=0.5"], 0, None),
        (["--fail-under", "Recall=0.2"], 3, "mute: positive_recall_rate is 0.0000, must be at least 0.2"),
        (["--fail-over", "f1=0.6"], 3, "good: f1 is 0.6667, must be at most 0.6"),
        (["--fail-under", "positive_match_rate=0"], 3, "mute: positive_match_rate is null, must be at least 0"),
        (["--fail-over", "unmatched_rate=1"], 3, "mute: unmatched_rate is null, must be at most 1"),
        (
            ["--fail-under", "f1=0.1", "--fail-over", "f1=0.6"],
            3,
            "mute: f1 is 0.0000, must be at least 0.1; good: f1 is 0.6667, must be at most 0.6",
        ),
    ],
)
def test_gates(run, gates, code, missed):
    found, out, err = run(*ALL, *gates, "--json")
    assert found == code
    assert set(json.loads(out)["reviewers"]) == {"good", "mute"}
    assert err == WARNED + ("" if missed is None else f"Error: a gate was missed. {missed}.\n")


def test_a_gate_is_asked_of_a_run_that_is_answered_from_too(run):
    assert run(*ALL, "--out", "r")[0] == 0
    assert run(*ALL, "--out", "r", "--fail-under", "f1=1")[0] == 3


def test_undecided_pairs_have_an_exit_code_of_their_own():
    with pytest.raises(Undecided, match="2 of 9 pairs stayed undecided") as error:
        check_undecided(JudgeSummary("llm", pairs=9, errors=2))
    assert error.value.exit_code == 4


# The process itself

PROGRAM = "from metareview.cli import main; main()"


def process(*arguments, **options):
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=120, **options)


def test_the_process_ends_with_the_code_and_without_a_traceback(here):
    missing = process("comments", "none", "--reference", "ref.jsonl")
    assert (missing.returncode, missing.stdout) == (2, b"")
    assert missing.stderr == b"Error: none: no such file. Check the path.\n"
    missed = process(*ALL, "--fail-under", "f1=1", "--json")
    assert missed.returncode == 3
    assert json.loads(missed.stdout)["schema"] == "metareview.comments/1"


def test_a_reader_that_goes_away_is_no_defect():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        command = [sys.executable, "-c", PROGRAM, *ALL, "--json", "-q"]
        ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=120)
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (2, b"")


@pytest.mark.parametrize("code_page", ["ascii", "cp1252"])
def test_an_old_code_page_ends_no_run(here, code_page):
    said = {"pr": URL.format(1), "reviewer": "é😀", "comments": [NOTE]}
    (here / "said.jsonl").write_text(json.dumps(said))
    environment = os.environ | {"PYTHONIOENCODING": code_page, "PYTHONUTF8": "0"}
    shown = process(*ALL, env=environment)
    assert (shown.returncode, b"Traceback" in shown.stderr) == (0, False)
    assert rb"\U0001f600" in shown.stdout
    document = process(*ALL, "--json", env=environment)
    assert document.returncode == 0
    assert list(json.loads(document.stdout.decode("utf-8"))["reviewers"]) == ["é😀"]


@pytest.mark.skipif(sys.platform != "linux", reason="arguments and file names are bytes on Linux alone")
def test_names_that_are_no_utf_8_end_no_run(here):
    (here / "said.jsonl").write_text(json.dumps({"pr": URL.format(1), "comments": [NOTE]}))
    ended = process(*ALL, "--name", os.fsdecode(b"n\xff"), "--out", os.fsdecode(b"r\xff"), "--json")
    assert ended.returncode == 0
    assert list(json.loads(ended.stdout)["reviewers"]) == ["n\\udcff"]
    folder = here / os.fsdecode(b"r\xff")
    assert json.loads((folder / "manifest.json").read_text("utf-8"))["status"] == "finished"
