"""Folders and files that whoever runs a command may not read or write, and outputs that are no files."""

import ctypes
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from metareview.errors import InputError
from metareview.formats.folders import content_hash, files_below
from metareview.runs.files import write_whole

COMMENT = {"path": "a.py", "from_line": 1, "note": "The file is never closed"}
REVIEW = {"pr": "https://github.com/o/r/pull/1", "comments": [COMMENT]}
EVENTS = [
    {"repo": "o/r", "pr": 1, "at": f"2024-01-01T0{hour}:00:00Z", "kind": kind, "actor": f"user{hour}"}
    for hour, kind in enumerate(("opened", "review_submitted"))
]


def as_somebody(*arguments, cwd):
    """The command by somebody whom permissions hold for: root, whom they do not, without that power."""

    def in_child():
        if os.geteuid() == 0:
            for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
                ctypes.CDLL(None).prctl(24, capability)  # PR_CAPBSET_DROP

    command = [sys.executable, "-m", "metareview", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, preexec_fn=in_child)
    return done.returncode, done.stderr


@pytest.fixture
def closed(here):
    """A folder in which some may not be looked into."""
    for folder in ("reviews/ann", "reviews/ben", "history/old"):
        Path(folder).mkdir(parents=True)
    for file in ("reviews/ann/a.jsonl", "reviews/ben/b.jsonl", "ref.jsonl"):
        Path(file).write_text(json.dumps(REVIEW) + "\n")
    for file in ("history/new.jsonl", "history/old/old.jsonl"):
        Path(file).write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    shut = [Path("reviews/ben"), Path("history/old")]
    for folder in shut:
        folder.chmod(0)
    if sys.platform != "linux":
        pytest.skip("whoever is root here cannot be held to permissions")
    yield here
    for folder in shut:
        folder.chmod(0o755)


def test_a_folder_that_is_closed_is_no_empty_one(closed):
    code, errors = as_somebody("routing", "history", "-q", "--router", "recency", cwd=closed)
    assert (code, errors) == (2, "Error: history/old: cannot be read: Permission denied. Check permissions.\n")
    code, errors = as_somebody("comments", "reviews", "--reference", "ref.jsonl", "--force", cwd=closed)
    assert (code, errors) == (2, "Error: reviews/ben: cannot be read: Permission denied. Check permissions.\n")


def test_a_run_whose_file_is_closed_is_named(closed):
    command = ["comments", "ref.jsonl", "--reference", "ref.jsonl", "--force", "--judge", "exact", "-q", "--out", "run"]
    assert as_somebody(*command, cwd=closed)[0] == 0
    Path("run/pairs.jsonl").chmod(0)
    code, errors = as_somebody("report", "run", "-o", "page.html", cwd=closed)
    assert code == 2
    assert errors.startswith("Error: run/pairs.jsonl: Permission denied. Check its permissions")


def test_every_folder_is_looked_into_or_refused(here, monkeypatch):
    Path("a/b").mkdir(parents=True)
    Path("a/b/x.json").touch()
    Path("a/.hidden").mkdir()
    Path("a/.hidden/y.json").touch()
    assert files_below(Path("a")) == [Path("a/b/x.json")]
    assert len(content_hash(Path("a"))) == 64
    scandir = os.scandir

    def refusing(path):
        if Path(path).name == "b":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    for look in (files_below, content_hash):
        with pytest.raises(InputError, match=r"a/b: cannot be read: Permission denied\. Check permissions"):
            look(Path("a"))


# -- outputs that are no files ------------------------------------------------------------------------------------


def test_a_pipe_is_written_to_and_stays_a_pipe(here, run):
    Path("in.jsonl").write_text(json.dumps(REVIEW) + "\n")
    os.mkfifo("out.jsonl")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("out.jsonl").read_text()), daemon=True)
    reader.start()
    assert run("convert", "in.jsonl", "--to", "jsonl", "-o", "out.jsonl")[0] == 0
    reader.join(10)
    assert json.loads(read[0])["comments"] == [COMMENT]
    assert Path("out.jsonl").is_fifo()
    assert sorted(each.name for each in here.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_the_full_device_is_refused_as_a_full_disk_is(here, run):
    Path("in.jsonl").write_text(json.dumps(REVIEW) + "\n")
    Path("full.jsonl").symlink_to("/dev/full")
    Path("full.html").symlink_to("/dev/full")
    for overwrite in ([], ["--overwrite"]):
        code, _, errors = run("convert", "in.jsonl", "--to", "jsonl", "-o", "full.jsonl", *overwrite)
        assert (code, errors.count("Cannot write to full.jsonl: No space left on device.")) == (2, 1)
    assert run("demo", "-q", "--out", "run")[0] == 0
    code, _, errors = run("report", "run", "-o", "full.html")
    assert (code, errors.count("Cannot write full.html: No space left on device.")) == (2, 1)
    assert Path("/dev/full").is_char_device()
    assert Path("full.html").is_symlink()


def test_a_write_that_is_interrupted_leaves_nothing(here):
    def parts():
        yield "half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(Path("whole.json"), parts())
    assert list(here.iterdir()) == []
