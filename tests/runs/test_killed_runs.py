"""A process that is killed at any call to the file system: the same command goes on, and ends with the same figures."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from metareview.cli import _run
from metareview.runs.files import AppendedFile

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a process cannot be copied here")

KILLED = 77
CHANGES = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree", "fcntl.flock"}
NOTES = ("leak", "slow", "typo")
SAID = [
    {"pr": f"https://github.com/o/r/pull/{pr}", "reviewer": name, "comments": [
        {"note": f"{note} {at}", "path": "a.py", "from_line": at} for at, note in enumerate(NOTES, 1)][: pr + shift]}
    for pr in (1,) for shift, name in enumerate(("sharp", "loud"))
]  # fmt: skip
REFERENCES = [row | {"reviewer": None} for row in SAID if row["reviewer"] == "loud"]
EVENTS = [
    {"repo": f"o/r{pr % 2}", "pr": pr, "at": f"2025-01-0{pr}T0{hour}:00:00Z", "kind": kind, "actor": actor}
    for pr in range(1, 4)
    for hour, kind, actor in ((1, "opened", "ann"), (2, "review_submitted", "bob"))
]
COMMENTS = ("comments", "said.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "--force")
ROUTING = ("routing", "h.jsonl", "--router", "recency", "--router", "popularity", "--truth-window", "2d")
COMMANDS = {
    "comments": (*COMMENTS, "--fail-under", "sharp.recall=0.9"),
    "routing": (*ROUTING, "--fail-under", "recency.mrr=0.9"),
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("said", SAID), ("ref", REFERENCES), ("h", EVENTS)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def until_killed(command, number):
    """The exit code of the command in a process that is killed before its nth change to a run's folder; what was not
    flushed is lost with it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        left = number

        def step():
            nonlocal left
            left -= 1
            if not left:
                os._exit(KILLED)

        def audit(event, given):
            if event not in CHANGES:
                return
            path, mode = given[0], given[1] if event == "open" else None
            in_run = not isinstance(path, int) and "run" in Path(os.fsdecode(path)).parts
            if event == "fcntl.flock" or (in_run and mode not in ("r", "rb")):
                step()

        def stepping(method):
            def changed(*given):
                step()
                return method(*given)

            return changed

        sys.addaudithook(audit)
        for name in ("write", "flush", "close"):
            setattr(AppendedFile, name, stepping(getattr(AppendedFile, name)))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        os._exit(_run([*command, "-q", "--out", "run"]))
    finally:
        os._exit(99)


def contents(folder):
    """Every file, but for the times of the manifest."""
    found = {each.relative_to(folder).as_posix(): each.read_bytes() for each in Path(folder).rglob("*")}
    manifest = json.loads(found["manifest.json"])
    found["manifest.json"] = json.dumps({**manifest, "started": "", "finished": ""})
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_was_killed_at_any_call_goes_on_to_the_same_bytes(name):
    again = [*COMMANDS[name], "-q", "--out", "run"]
    code = _run(again)
    whole = contents("run")
    shutil.rmtree("run")
    number = 0
    while True:
        number += 1
        if (ended := until_killed(COMMANDS[name], number)) != KILLED:
            break
        assert _run(again) == code, f"killed at call {number}"
        assert contents("run") == whole, f"killed at call {number}"
        shutil.rmtree("run")
    assert ended == code
    assert number > 20


@pytest.mark.parametrize("name", ["comments", "routing"])
def test_a_command_that_was_killed_while_it_asked_other_gates_leaves_a_whole_run(name):
    limits = ["sharp.f1=0.9", "sharp.f1=0.8"] if name == "comments" else ["recency.mrr=0.9", "recency.mrr=0.8"]
    command = COMMENTS if name == "comments" else ROUTING
    first, second = ([*command, "--fail-under", limit] for limit in limits)
    assert _run([*second, "-q", "--out", "run"]) == 3
    wanted = contents("run")
    shutil.rmtree("run")
    assert _run([*first, "-q", "--out", "run"]) == 3
    shutil.copytree("run", "kept")
    number = 0
    while True:
        number += 1
        if until_killed(second, number) != KILLED:
            break
        assert _run(["show" if name == "comments" else "leaderboard", "run", "-q"]) == 0, f"killed at call {number}"
        assert _run([*second, "-q", "--out", "run"]) == 3
        assert contents("run") == wanted
        shutil.rmtree("run")
        shutil.copytree("kept", "run")
    assert number > 6


def test_a_command_that_was_killed_while_it_overwrites_goes_on():
    other = [*COMMENTS, "--line-distance", "3"]
    assert _run([*other, "-q", "--out", "run"]) == 0
    shutil.copytree("run", "kept")
    assert _run([*COMMENTS, "-q", "--out", "run", "--overwrite"]) == 0
    whole = contents("run")
    number = 0
    while True:
        shutil.rmtree("run")
        shutil.copytree("kept", "run")
        number += 1
        if until_killed([*COMMENTS, "--overwrite"], number) != KILLED:
            break
        assert _run([*COMMENTS, "-q", "--out", "run", "--overwrite"]) == 0
        assert contents("run") == whole, f"killed at call {number}"
    assert number > 20
