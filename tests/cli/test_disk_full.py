"""A full disk, or a reader that went away: exit 2 without a traceback, and what was done or paid for is kept."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from github_data import sample_server
from model_server import ModelServer, verdict

KINDS = ("opened", "review_submitted", "review_comment")
HISTORY = "".join(
    json.dumps({"repo": "o/r", "pr": pr, "at": f"2024-01-0{pr}T0{hour}:00:00Z", "kind": kind, "actor": f"user{hour}"})
    + "\n"
    for pr in range(1, 8)
    for hour, kind in enumerate(KINDS)
)


def metareview(*arguments, limit=None, **options):
    """The command in a process whose files may have so many bytes: a disk that is full from there on."""

    def in_child():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-m", "metareview", *map(str, arguments)]
    # Without a width a message stays one line, for whoever searches a log.
    env = {name: value for name, value in (options.pop("env", None) or os.environ).items() if name != "COLUMNS"}
    options = {"stdout": subprocess.PIPE, "env": env, **options}
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, preexec_fn=in_child, **options)


def files_of(run):
    return {name: (run / name).read_bytes() for name in ("pairs.jsonl", "results.jsonl") if (run / name).exists()}


@pytest.mark.parametrize("limit", [300, 7_000, 30_000])
def test_a_run_that_fills_the_disk_says_so_and_goes_on_when_there_is_room(tmp_path, limit):
    assert metareview("demo", "-q", "--out", tmp_path / "whole").returncode == 0
    run = tmp_path / "run"
    stopped = metareview("demo", "-q", "--out", run, limit=limit)
    assert stopped.returncode == 2
    [message] = stopped.stderr.splitlines()
    assert message.startswith(f"Error: Cannot write to {run}: ")
    assert "Free space there" in message
    assert not list(run.glob("*.new"))
    done = metareview("demo", "-q", "--out", run)
    assert (done.returncode, done.stderr) == (0, "")
    assert files_of(run) == files_of(tmp_path / "whole")


def test_a_pull_that_fills_the_disk_names_its_file_and_goes_on_when_there_is_room(tmp_path):
    with sample_server() as server:
        env = os.environ | server.environment()
        command = ["pull", "comments", "acme/shop", "-q", "-o"]
        assert metareview(*command, tmp_path / "whole.jsonl", env=env).returncode == 0
        file = tmp_path / "out.jsonl"
        stopped = metareview(*command, file, env=env, limit=10_000)
        assert stopped.returncode == 2
        [message] = stopped.stderr.splitlines()
        assert message.startswith(f"Error: cannot write {file}.partial: ")
        assert "the same command again" in message
        assert metareview(*command, file, env=env).returncode == 0
    assert file.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("limit", [300, 2_500])
def test_routing_too(tmp_path, limit):
    (tmp_path / "history.jsonl").write_text(HISTORY, "utf-8")
    command = ["routing", tmp_path / "history.jsonl", "-q", "--router", "recency", "--out"]
    assert metareview(*command, tmp_path / "whole").returncode == 0
    stopped = metareview(*command, tmp_path / "run", limit=limit)
    assert stopped.returncode == 2
    assert "Traceback" not in stopped.stderr
    assert f"Cannot write to {tmp_path / 'run'}" in stopped.stderr
    assert metareview(*command, tmp_path / "run").returncode == 0
    assert files_of(tmp_path / "run") == files_of(tmp_path / "whole")


def sides(tmp_path, note):
    for name in ("bot", "references"):
        comments = [{"path": "a.py", "from_line": 1, "note": f"{name} {i} {note}"} for i in range(2)]
        record = {"pr": "https://github.com/o/r/pull/1", "comments": comments}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    return [tmp_path / "bot.jsonl", "--reference", tmp_path / "references.jsonl"]


def test_answers_that_were_paid_for_are_kept(tmp_path):
    with ModelServer(lambda exchange: verdict(True)) as server:
        environ = {**os.environ, "LLM_MODEL_URL": server.url, "LLM_MODEL": "m", "LLM_API_KEY": "k"}
        command = ["comments", *sides(tmp_path, "x" * 90_000), "--judge", "llm", "--cache", tmp_path / "cache.sqlite"]
        command += ["-q", "--out", tmp_path / "run"]
        stopped = metareview(*command, limit=200_000, env=environ)
        assert (stopped.returncode, len(server.log)) == (2, 4)
        assert "Free space there" in stopped.stderr
        assert metareview(*command, env=environ).returncode == 0
        assert len(server.log) == 4


def test_nothing_is_asked_where_answers_cannot_be_kept(tmp_path):
    with ModelServer(lambda exchange: verdict(True)) as server:
        environ = {**os.environ, "LLM_MODEL_URL": server.url, "LLM_MODEL": "m", "LLM_API_KEY": "k"}
        command = ["comments", *sides(tmp_path, "x"), "--judge", "llm", "--cache", tmp_path / "cache.sqlite"]
        stopped = metareview(*command, "-q", "--out", tmp_path / "run", limit=4096, env=environ)
        assert stopped.returncode == 2
        assert "the verdict cache" in stopped.stderr
        assert "Traceback" not in stopped.stderr
        assert server.log == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", [["demo", "-q"], ["demo", "-q", "--json"], ["list", "metrics"], ["cache", "info"]])
def test_a_result_that_cannot_be_printed(tmp_path, command):
    where = ["--out", tmp_path / "run"] if command[0] == "demo" else []
    with Path("/dev/full").open("w") as full:
        ended = metareview(*command, *where, stdout=full)
    assert ended.returncode == 2
    assert ended.stderr == (
        "Error: cannot write to standard output: No space left on device. Free space there, then run it again.\n"
    )


@pytest.mark.parametrize("command", [["demo", "-q"], ["demo", "-q", "--json"], ["list", "metrics"], ["--help"]])
def test_a_reader_that_went_away_is_no_error_to_report(tmp_path, command):
    reading, writing = os.pipe()
    os.close(reading)
    where = ["--out", tmp_path / "run"] if command[0] == "demo" else []
    ended = metareview(*command, *where, stdout=writing)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (2, "")
    if where:
        assert json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))["status"] == "finished"


def test_nobody_reads_the_error_either(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "metareview", "comments", tmp_path / "absent", "--reference", tmp_path / "none"]
    assert subprocess.run(command, stdout=writing, stderr=writing).returncode == 2
    os.close(writing)
