"""Inputs that are no files: pipes, a first line of megabytes, devices without an end; and where the run is to go."""

import errno
import gzip
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pytest

import metareview as mr
from metareview.errors import InputError
from metareview.formats import pipes
from metareview.formats.history import read_history
from metareview.runs import files

KINDS = ("opened", "review_submitted", "review_comment")
EVENTS = [
    {"repo": "o/r", "pr": pr, "at": f"2024-01-0{pr}T0{hour}:00:00Z", "kind": kind, "actor": f"user{hour}"}
    for pr in range(1, 8)
    for hour, kind in enumerate(KINDS)
]
REVIEW = {"pr": "https://github.com/o/r/pull/1", "comments": [{"path": "a.py", "from_line": 1, "note": "It leaks"}]}


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def through_pipe(here):
    """Writes into a new pipe of this name, from a thread of its own, whatever is read of it."""
    writers = []

    def pipe(name, data):
        os.mkfifo(name)

        def write():
            with suppress(BrokenPipeError):
                Path(name).write_bytes(data)

        writers.append(threading.Thread(target=write, daemon=True))
        writers[-1].start()
        return name

    yield pipe
    for writer in writers:
        writer.join(10)
        assert not writer.is_alive()


def kept_folders(tmp):
    return [each for each in Path(tmp).iterdir() if each.name.startswith("metareview-")]


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_routing_reads_a_pipe_as_it_reads_the_file(
    run, here, through_pipe, tmp_path_factory, monkeypatch, pack, workers
):
    elsewhere = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(pipes.tempfile, "tempdir", str(elsewhere))
    big = [EVENTS[0] | {"body": "x" * 5_000_000}, *EVENTS[1:]]  # more than any buffer that looks ahead
    Path("events.jsonl").write_bytes(lines(big))
    assert run("routing", "events.jsonl", "--router", "recency", "-q", "--out", "file")[0] == 0
    through_pipe("pipe", pack(lines(big)))
    code, _, err = run("routing", "pipe", "--router", "recency", "-q", "--out", "piped", *workers)
    assert (code, err) == (0, "")
    for name in ("results.jsonl",):
        assert Path("piped", name).read_bytes() == Path("file", name).read_bytes()
    assert kept_folders(elsewhere) == []


def test_predictions_and_code_owners_come_through_pipes_too(run, here, through_pipe):
    Path("events.jsonl").write_bytes(lines(EVENTS))
    answers = [{"repo": "o/r", "pr": pr, "router": "p", "candidates": ["user1"]} for pr in range(1, 8)]
    through_pipe("answers", lines(answers))
    through_pipe("owners", b"* @user1\n")
    given = ["--predictions", "answers", "--codeowners", "owners", "--router", "codeowners"]
    code, out, _ = run("routing", "events.jsonl", *given, "--json")
    assert code == 0
    assert json.loads(out)["routers"]["p"]["mrr"] == 1.0


def test_a_mistake_in_a_pipe_names_the_pipe_and_the_line(run, here, through_pipe):
    through_pipe("pipe", lines(EVENTS[:2]) + b"{broken\n")
    code, _, err = run("routing", "pipe", "--workers", "2")
    assert code == 2
    assert "Error: pipe:3: broken JSON" in err


def test_the_run_of_a_pipe_has_the_name_that_was_typed(here):
    command = [sys.executable, "-m", "metareview", "routing", "/dev/stdin", "-q", "--router", "recency"]
    assert subprocess.run(command, input=lines(EVENTS), stdout=subprocess.PIPE, cwd=here).returncode == 0
    [folder] = Path("runs").iterdir()
    assert folder.name.endswith("-stdin")


def test_a_history_comes_through_a_pipe_in_python_too(here, through_pipe):
    through_pipe("pipe", lines(EVENTS))
    assert mr.evaluate_routing("pipe", routers=["recency"]).result.prs == 7
    through_pipe("again", lines(EVENTS))
    assert len(read_history("again").events) == len(EVENTS)


def test_the_next_evaluation_reads_what_comes_through_the_pipe_then(here, through_pipe):
    through_pipe("pipe", lines(EVENTS))
    assert mr.evaluate_routing("pipe", routers=["recency"]).result.prs == 7
    Path("pipe").unlink()
    through_pipe("pipe", lines(EVENTS[:6]))
    assert mr.evaluate_routing("pipe", routers=["recency"]).result.prs == 2


def test_comments_from_a_numbered_pipe_are_about_no_pull_request_of_that_number(run, here, through_pipe):
    """As /dev/fd/63 is, which would read as number 63 of the repository dev/fd."""
    Path("o/r").mkdir(parents=True)
    through_pipe("o/r/63", b'{"version": "2.1.0", "runs": []}')
    Path("ref.jsonl").write_bytes(lines([REVIEW]))
    code, _, err = run("comments", "o/r/63", "--format", "sarif", "--reference", "ref.jsonl")
    assert code == 2
    assert "nothing says which pull request it is about" in err


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
@pytest.mark.parametrize("command", [["routing", "/dev/zero"], ["comments", "/dev/zero", "--reference", "ref.jsonl"]])
def test_a_device_without_an_end_is_refused(run, here, command):
    Path("ref.jsonl").write_bytes(lines([REVIEW]))
    code, _, err = run(*command)
    assert code == 2
    assert "/dev/zero:1: a line of more than 64 MB that is no JSON" in err
    assert not Path("runs").exists()


def test_a_pipe_without_an_end_is_refused_before_it_fills_the_disk(here, through_pipe, monkeypatch):
    monkeypatch.setattr(pipes, "LONGEST_LINE", 1000)
    through_pipe("pipe", bytes(100_000))
    with pytest.raises(InputError, match="pipe:1: a line of more than"):
        mr.evaluate_routing("pipe", routers=["recency"])


def test_a_disk_that_a_pipe_fills_is_named_with_the_fix(run, here, through_pipe, tmp_path_factory, monkeypatch):
    def copy(pipe, file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    elsewhere = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(pipes.tempfile, "tempdir", str(elsewhere))
    monkeypatch.setattr(pipes.shutil, "copyfileobj", copy)
    through_pipe("pipe", lines(EVENTS))
    code, _, err = run("routing", "pipe")
    assert (code, kept_folders(elsewhere)) == (2, [])
    assert err.startswith("Error: Cannot keep what comes through pipe: No space left on device. Set TMPDIR to a folder")


def test_an_input_that_memory_cannot_hold_is_no_defect(run, here, monkeypatch):
    def read(paths, *options, **more):
        raise MemoryError

    Path("bot.jsonl").write_bytes(lines([REVIEW]))
    monkeypatch.setattr("metareview.formats.reader.read_inputs", read)
    monkeypatch.setattr("metareview.pipelines.comments.read.read_inputs", read)
    code, _, err = run("comments", "bot.jsonl", "--reference", "bot.jsonl")
    assert (code, err) == (
        2,
        "Error: There is not enough memory for this. Give less at a time, or use a machine with more.\n",
    )


def test_the_empty_device_is_an_empty_file(run, here):
    code, _, err = run("routing", os.devnull)
    assert (code, err.count("the file is empty")) == (2, 1)


# -- where the run is to go ---------------------------------------------------------------------------------------


class Never:
    """A router that must not be asked."""

    name = "never"

    def observe(self, event):
        raise AssertionError("replayed")

    def rank(self, pull_request):
        raise AssertionError("replayed")


@pytest.mark.parametrize("where", ["file", "full", "file/below", "other"])
def test_where_the_run_cannot_go_is_said_before_anything_is_replayed(here, where):
    Path("events.jsonl").write_bytes(lines(EVENTS))
    Path("file").touch()
    Path("full").mkdir()
    Path("full/note.txt").touch()
    mr.evaluate_routing("events.jsonl", routers=["recency"], out="other")
    with pytest.raises(mr.UsageError, match=r"is a file|is not empty|Not a directory|holds another run"):
        mr.evaluate_routing("events.jsonl", routers=[Never()], out=where)


def test_a_folder_that_nobody_may_write_to_is_said_before_too(here, monkeypatch):
    Path("events.jsonl").write_bytes(lines(EVENTS))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(mr.UsageError, match=r"Cannot write to new/run: Permission denied. Choose another --out"):
        mr.evaluate_routing("events.jsonl", routers=[Never()], out="new/run")


def test_runs_of_one_second_have_folders_of_their_own(run, here, monkeypatch):
    class Stopped(datetime):
        @classmethod
        def now(cls):
            return cls(2025, 1, 2, 3, 4, 5)

    monkeypatch.setattr(files, "datetime", Stopped)
    Path("ref.jsonl").write_bytes(lines([REVIEW]))
    Path("bot.jsonl").write_bytes(lines([REVIEW]))
    with files.new_folder("bot") as first, files.new_folder("bot") as second:
        assert (str(first), str(second)) == ("runs/20250102-030405-bot", "runs/20250102-030405-bot-2")
        assert run("comments", "bot.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "--force", "-q")[0] == 0
    [folder] = Path("runs").iterdir()  # the others held nothing
    assert folder.name == "20250102-030405-bot-3"


@pytest.mark.parametrize(
    "command", [["bot.jsonl", "--reference", "none.jsonl"], ["bot.jsonl", "--reference", "bot.jsonl"]]
)
def test_a_run_that_does_not_begin_leaves_no_folder(run, here, command):
    Path("bot.jsonl").write_bytes(lines([REVIEW]))
    assert run("comments", *command)[0] == 2
    assert run("comments", "bot.jsonl", "--reference", "bot.jsonl", "--force", "--dry-run")[0] == 0
    assert not Path("runs").exists()


def test_a_name_of_any_length_fits_into_a_folder_name():
    assert len(files.default_name("\U00020000" * 300 + "\udcff").encode()) <= 250
