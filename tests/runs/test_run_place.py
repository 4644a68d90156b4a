"""The folder that a run goes into: what is in the way is told at once, what is the user's stays, and nothing is kept
from the next attempt."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import metareview as mr
from metareview.cli import _run
from metareview.errors import UsageError
from metareview.judges.builtin.exact import ExactJudge
from metareview.runs import writer
from metareview.runs.files import FolderLock
from model_server import ModelServer, error, verdict

PULL = "https://github.com/o/r/pull/{}"
SAID = [{"pr": PULL.format(pr), "comments": [{"note": f"leak {pr}", "path": "a.py", "from_line": 1}]} for pr in (1, 2)]
EVENTS = [
    {"repo": f"o/r{pr % 2}", "pr": pr, "at": f"2025-01-0{pr}T0{hour}:00:00Z", "kind": kind, "actor": actor}
    for pr in range(1, 5)
    for hour, kind, actor in ((1, "opened", "ann"), (2, "review_submitted", "bob"))
]
ROUTING = ("routing", "h.jsonl", "--router", "recency", "--truth-window", "2d", "-q")
COMMENTS = ("comments", "said.jsonl", "--reference", "said.jsonl", "--judge", "exact", "--force", "-q")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("said.jsonl", SAID), ("h.jsonl", EVENTS)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def contents(folder):
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


# Where runs go without --out


@pytest.mark.parametrize("make", [lambda: Path("runs").symlink_to("/nowhere"), lambda: Path("runs").write_text("mine")])
@pytest.mark.parametrize("command", [ROUTING, COMMENTS])
def test_runs_that_is_no_folder_is_one_message(here, make, command):
    make()
    ended = subprocess.run(
        [sys.executable, "-m", "metareview", *command], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 2
    told = "Error: runs is not a folder, and without --out a run goes into runs/. Pass --out FOLDER."
    assert " ".join(ended.stderr.split()) == told


def test_runs_may_be_a_link_to_a_folder(here):
    Path("elsewhere").mkdir()
    Path("runs").symlink_to("elsewhere")
    assert _run([*COMMENTS]) == 0
    assert len(list(Path("elsewhere").iterdir())) == 1


# The lock


@pytest.mark.parametrize("raised", [OSError("full"), KeyboardInterrupt(), RuntimeError("ours")])
@pytest.mark.parametrize("where", ["remove_left_over", "run_to_continue", "write_json"])
def test_what_is_raised_while_a_run_is_opened_keeps_no_lock(here, monkeypatch, raised, where):
    def fail(*given):
        raise raised

    with monkeypatch.context() as patched:
        patched.setattr(writer, where, fail)
        with pytest.raises((UsageError, type(raised))) as told:
            mr.evaluate_comments(SAID, reference=SAID, judge="exact", force=True, out="r")
    FolderLock(Path("r")).release()  # while whoever caught it still holds its traceback
    assert told.value is not None
    assert mr.evaluate_comments(SAID, reference=SAID, judge="exact", force=True, out="r").metrics


def test_an_interrupt_while_the_lock_is_taken_keeps_no_lock(here, monkeypatch):
    import fcntl

    taken = fcntl.flock

    def interrupted(*given):
        taken(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", interrupted)
        with pytest.raises(KeyboardInterrupt):
            FolderLock(here)
    FolderLock(here).release()


# A run in which nothing was done yet


@pytest.fixture
def model(monkeypatch):
    with ModelServer(lambda exchange: verdict(True)) as server:
        for name, value in {"LLM_MODEL_URL": server.url, "LLM_MODEL": "m", "LLM_API_KEY": "k"}.items():
            monkeypatch.setenv(name, value)
        yield server


ASKED = ("comments", "said.jsonl", "--reference", "said.jsonl", "--judge", "llm", "--force", "-q", "--out", "r")


@pytest.mark.parametrize("cache", ["--no-cache", "--cache=c.sqlite"])
def test_a_run_that_was_refused_by_its_server_makes_way_for_other_settings(here, model, cache):
    model.script = lambda exchange: error(401, "no such key")
    assert _run([*ASKED, cache]) == 2
    assert json.loads(Path("r/manifest.json").read_text())["status"] == "running"
    Path("r/notes.txt").write_text("mine")
    assert _run([*COMMENTS, "--line-distance", "3", "--out", "r"]) == 0
    assert mr.load_run("r").manifest.config["judge"] == "exact"
    assert sorted(contents(Path("r"))) == ["manifest.json", "notes.txt", "pairs.jsonl", "results.jsonl", "summary.json"]


def test_verdicts_that_were_paid_for_are_kept_from_other_settings(here, model):
    asked = []

    def script(exchange):
        asked.append(exchange)
        return verdict(True) if len(asked) == 1 else error(401, "the key has expired")

    model.script = script
    assert _run([*ASKED, "--no-cache", "--concurrency", "1"]) == 2
    assert not Path("r/results.jsonl").exists()
    before = contents(Path("r"))
    assert _run([*COMMENTS, "--out", "r"]) == 2
    assert contents(Path("r")).keys() == before.keys()
    model.script = lambda exchange: verdict(True)
    assert _run([*ASKED, "--no-cache", "--concurrency", "1"]) == 0


def test_records_are_kept_from_other_settings(here, monkeypatch):
    append = writer.RunWriter.append

    def once(self, *given):
        append(self, *given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(writer.RunWriter, "append", once)
        assert _run([*COMMENTS, "--out", "r"]) == 130
    before = contents(Path("r"))
    assert _run([*COMMENTS, "--line-distance", "3", "--out", "r"]) == 2
    assert contents(Path("r")) == before


def test_a_routing_run_that_wrote_no_record_makes_way(here, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(writer.RunWriter, "append_lines", interrupted)
        assert _run([*ROUTING, "--out", "r"]) == 130
    assert _run([*ROUTING, "--k", "2", "--out", "r"]) == 0


# --overwrite


def test_overwrite_refuses_a_folder_that_is_no_run_and_deletes_nothing(here, capsys):
    (here / "site/parts").mkdir(parents=True)
    for name in ("summary.json", "results.jsonl", "parts/part-00000.json", "index.html"):
        (here / "site" / name).write_text("mine")
    before = contents(here / "site")
    for command in (COMMENTS, ROUTING):
        assert _run([*command, "--out", "site", "--overwrite"]) == 2
        told = "Error: site is not empty and holds no run. Choose another --out, or empty the folder.\n"
        assert capsys.readouterr().err == told
        assert contents(here / "site") == before


@pytest.mark.parametrize("command", [COMMENTS, ROUTING, (*ROUTING, "--workers", "2")])
@pytest.mark.parametrize("status", ["finished", "running", "older"])
def test_overwrite_leaves_what_the_run_did_not_write(here, command, status):
    assert _run([*command, "--out", "r"]) == 0
    manifest = json.loads(Path("r/manifest.json").read_text())
    if status != "finished":
        del manifest["files"]
        manifest["status"] = "running" if status == "running" else "finished"
    Path("r/manifest.json").write_text(json.dumps(manifest))
    Path("r/parts").mkdir()
    mine = ["notes.txt", "parts/draft.txt", "parts/chapter-1.json", "labels.jsonl", "report.html"]
    for name in mine:
        (here / "r" / name).write_text("mine")
    assert _run([*COMMENTS, "--line-distance", "3", "--out", "r", "--overwrite"]) == 0
    found = contents(here / "r")
    assert sorted(found) == sorted([*mine, "manifest.json", "pairs.jsonl", "results.jsonl", "summary.json"])
    assert {found[name] for name in mine} == {b"mine"}
    assert mr.load_run("r").kind.name == "comments"


@pytest.mark.parametrize("name", ["pairs.jsonl", "examples.jsonl", "frame.json"])
def test_overwrite_refuses_where_a_file_of_the_user_has_a_name_of_ours(here, capsys, name):
    assert _run([*ROUTING, "--out", "r"]) == 0
    (here / "r" / name).write_text("mine")
    before = contents(here / "r")
    assert _run([*COMMENTS, "--out", "r", "--overwrite"]) == 2
    assert f"r/{name} was not written by the run in that folder" in capsys.readouterr().err
    assert contents(here / "r") == before


def test_a_manifest_that_names_files_elsewhere_deletes_none(here):
    assert _run([*COMMENTS, "--out", "r"]) == 0
    Path("mine.txt").write_text("mine")
    manifest = json.loads(Path("r/manifest.json").read_text())
    seal = manifest["files"]["summary.json"]
    manifest["files"] |= {"../mine.txt": seal, str(here / "mine.txt"): seal, "../said.jsonl/x": seal}
    Path("r/manifest.json").write_text(json.dumps(manifest))
    assert _run([*COMMENTS, "--out", "r", "--overwrite"]) == 0
    assert Path("mine.txt").read_text() == "mine"
    assert Path("said.jsonl").exists()


def test_a_large_run_leaves_the_users_own_parts(here):
    (here / "r").mkdir()
    assert _run([*ROUTING, "--out", "r"]) == 0
    Path("r/parts").mkdir()
    Path("r/parts/mine.txt").write_text("mine")
    assert _run([*ROUTING, "--workers", "2", "--overwrite", "--out", "r"]) == 0
    assert [each.name for each in Path("r/parts").iterdir()] == ["mine.txt"]


def test_a_missing_and_an_empty_folder_may_be_overwritten(here):
    Path("empty").mkdir()
    for folder in ("empty", "missing"):
        assert _run([*COMMENTS, "--out", folder, "--overwrite"]) == 0


# What killed processes leave


def test_what_a_killed_run_was_writing_is_removed_when_the_folder_is_opened(here):
    assert _run([*COMMENTS, "--out", "r"]) == 0
    ours = ["manifest.json.0a1b2c3d.new", "results.jsonl.ffffffff.new", "frame.json.00000000.new"]
    others = ["draft.new", "notes.txt.0a1b2c3d.new", "summary.json.new", "frame.json.11111111.new"]
    for name in (*ours, *others):
        (here / "r" / name).write_text("half")
    os.utime(here / "r" / ours[2], (0, 0))
    before = contents(here / "r")
    assert _run([*COMMENTS, "--out", "r"]) == 0
    assert contents(here / "r").keys() == before.keys() - set(ours)


def test_a_judge_is_not_asked_again_of_a_run_that_has_left_overs(here, monkeypatch):
    assert _run([*COMMENTS, "--out", "r"]) == 0
    Path("r/summary.json.0a1b2c3d.new").write_text("half")

    def judge(self, questions):
        raise AssertionError("a judge was asked")

    monkeypatch.setattr(ExactJudge, "judge", judge)
    assert _run([*COMMENTS, "--out", "r"]) == 0
