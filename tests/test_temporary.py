"""Temporary folders: those of killed processes go with the next one, and those of living ones stay."""

import json
import os
import signal
import subprocess
import sys

import pytest

from metareview.temporary import TemporaryFolder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no folder can be locked")

EVENTS = [
    {"repo": f"o/r{pr % 3}", "pr": pr, "at": f"2025-01-0{1 + pr % 9}T0{hour}:00:00Z", "kind": kind, "actor": f"u{hour}"}
    for pr in range(1, 9)
    for hour, kind in enumerate(("opened", "review_submitted"))
]
HELD = """
import sys
from metareview.temporary import TemporaryFolder
with TemporaryFolder() as folder:
    (folder / "piece-00000").write_text("half")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.fixture
def process(temporary):
    started = subprocess.Popen(
        [sys.executable, "-c", HELD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        started.stdout.readline()
        yield started
    finally:
        started.kill()
        started.communicate()


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_the_folder_of_a_living_process_stays_and_goes_with_the_next_one_once_it_was_killed(temporary, process):
    [held] = names(temporary)
    (temporary / "metareview-scratch-notes.txt").write_text("mine")
    (temporary / "metareview-mine").mkdir()
    others = ["metareview-mine", "metareview-scratch-notes.txt"]
    with TemporaryFolder() as folder:
        assert names(temporary) == sorted([held, folder.name, *others])
    assert (temporary / held / "piece-00000").read_text() == "half"
    process.kill()
    process.wait()
    with TemporaryFolder() as folder:
        assert names(temporary) == sorted([folder.name, *others])
    assert names(temporary) == others


def test_a_link_is_not_taken_for_an_abandoned_folder(temporary, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (temporary / "metareview-scratch-link").symlink_to(tmp_path / "mine")
    with TemporaryFolder():
        pass
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"
    assert names(temporary) == ["metareview-scratch-link"]


def test_what_a_killed_replay_scattered_goes_with_the_next_one(temporary, tmp_path):
    (tmp_path / "h.jsonl").write_text("".join(json.dumps(each) + "\n" for each in EVENTS))
    command = ["routing", "h.jsonl", "--workers", "2", "--router", "recency", "-q", "--out", "run"]
    killed = (
        "import os, signal, sys; from metareview.pipelines.routing import large\n"
        "large.Large.replay = lambda *given: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from metareview.cli import main; main(sys.argv[1:])"
    )
    ended = subprocess.run([sys.executable, "-c", killed, *command], cwd=tmp_path, check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert len(names(temporary)) == 1
    subprocess.run([sys.executable, "-m", "metareview", *command], cwd=tmp_path, check=True, timeout=60)
    assert names(temporary) == []
    assert (tmp_path / "run" / "results.jsonl").exists()
