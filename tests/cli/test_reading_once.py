"""Each input file is opened once, its bytes are read once, and the run's hash is of the bytes that were parsed."""

import gzip
import hashlib
import json
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from metareview.formats.input_file import InputFile

NOTE = {"note": "Leaks the handle", "path": "a.py", "from_line": 3, "to_line": 4}
REVIEW = {"pr": "https://github.com/o/r/pull/1", "comments": [NOTE]}
OPENED = {"repo": "o/r", "pr": 1, "at": "2025-01-01T00:00:00Z", "kind": "opened", "actor": "ann", "files": ["a.py"]}
EVENTS = [OPENED, OPENED | {"at": "2025-01-02T00:00:00Z", "kind": "review_submitted", "actor": "bob", "id": "1"}]
ANSWER = {"repo": "o/r", "pr": 1, "router": "mine", "candidates": ["bob"]}
LABEL = {"a": "Leaks the handle", "b": "Leaks the handle", "match": True}
TEXT = {"retrieved_context": ["a b c"], "ground_truth_context": ["a b"]}
ARCHIVED = {
    "id": "1",
    "type": "PullRequestEvent",
    "actor": {"login": "ann"},
    "repo": {"name": "o/r"},
    "created_at": "2025-01-01T00:00:00Z",
    "payload": {
        "action": "opened",
        "number": 1,
        "pull_request": {"number": 1, "created_at": "2025-01-01T00:00:00Z", "user": {"login": "ann"}},
    },
}
# Counts the opens of each file below the working folder, and the bytes that an InputFile reads of it.
COUNTING = """
import collections, json, os, sys
here, opens, read = os.getcwd(), collections.Counter(), collections.Counter()
def hook(event, arguments):
    if event in ("open", "sqlite3.connect") and isinstance(arguments[0], (str, bytes, os.PathLike)):
        path = os.fsdecode(arguments[0]).removeprefix("file:").partition("?")[0]
        if event != "open" or not (arguments[1] or "r").startswith(("w", "a", "x")) and not arguments[2] & os.O_WRONLY:
            opens[os.path.relpath(os.path.abspath(path), here)] += 1
sys.addaudithook(hook)
from metareview.formats import input_file
class Counted(input_file._HashedFile):
    def readinto(self, buffer):
        count = super().readinto(buffer)
        read[os.path.relpath(self.name, here)] += count or 0
        return count
    def readall(self):
        data = super().readall()
        read[os.path.relpath(self.name, here)] += len(data)
        return data
input_file._HashedFile = Counted
from metareview.cli import main
try:
    code = main(sys.argv[2:])
except SystemExit as stop:
    code = stop.code
with open(sys.argv[1], "w") as file:
    json.dump([opens, read, code], file)
"""


def lines(name, *values):
    Path(name).write_text("".join(json.dumps(value) + "\n" for value in values))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines("gen.jsonl", REVIEW)
    lines("ref.jsonl", REVIEW)
    lines("neg.jsonl", REVIEW | {"comments": [NOTE | {"note": "Rename it"}]})
    lines("labels.jsonl", LABEL, LABEL | {"b": "Rename it", "match": False})
    lines("events.jsonl", *EVENTS)
    lines("predictions.jsonl", ANSWER)
    lines("items.jsonl", TEXT)
    Path("rules").write_text("* @bob\n")
    Path("hour.json.gz").write_bytes(gzip.compress(json.dumps(ARCHIVED).encode() + b"\n"))
    return tmp_path


def reads(*command):
    """By file the opens and the bytes read of it."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, "counts.json", *command], capture_output=True, text=True, timeout=120
    )
    assert Path("counts.json").exists(), done.stderr
    opens, read, code = json.loads(Path("counts.json").read_text())
    assert not code, done.stderr
    return opens, read


COMMENTS = ("comments", "gen.jsonl", "--reference", "ref.jsonl", "--force", "-q")
ROUTING = ("routing", "events.jsonl", "--router", "recency", "-q", "--out", "run")
COMMANDS = [
    ((*COMMENTS, "--negatives", "neg.jsonl", "--out", "run"), ["gen.jsonl", "ref.jsonl", "neg.jsonl"]),
    ((*COMMENTS, "--verdicts", "labels.jsonl", "--out", "run"), ["gen.jsonl", "ref.jsonl", "labels.jsonl"]),
    ((*COMMENTS, "--labels", "labels.jsonl", "--out", "run"), ["gen.jsonl", "ref.jsonl", "labels.jsonl"]),
    ((*COMMENTS, "--examples", "labels.jsonl", "--out", "run"), ["gen.jsonl", "ref.jsonl", "labels.jsonl"]),
    (ROUTING, ["events.jsonl"]),
    (("routing", "hour.json.gz", *ROUTING[2:]), ["hour.json.gz"]),
    ((*ROUTING, "--predictions", "predictions.jsonl"), ["events.jsonl", "predictions.jsonl"]),
    ((*ROUTING, "--router", "codeowners", "--codeowners", "rules"), ["events.jsonl", "rules"]),
    (("outcomes", "gen.jsonl", "-q", "--out", "run"), ["gen.jsonl"]),
    (("text", "items.jsonl"), ["items.jsonl"]),
    (("convert", "gen.jsonl", "--to", "sarif", "-o", "out"), ["gen.jsonl"]),
    (("check", "--reference", "ref.jsonl"), ["ref.jsonl"]),
]


@pytest.mark.parametrize(("command", "files"), COMMANDS, ids=lambda value: value[0] if isinstance(value, tuple) else "")
def test_each_input_is_opened_once_and_read_once(here, command, files):
    sizes = {name: Path(name).stat().st_size for name in files}
    opens, read = reads(*command)
    assert {name: opens.get(name) for name in files} == dict.fromkeys(files, 1)
    assert {name: read.get(name) for name in files} == sizes
    if Path("run").is_dir():
        hashes = set(json.loads(Path("run/manifest.json").read_text())["inputs"].values())
        assert hashes == {hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in files}


def test_a_database_is_opened_by_sqlite_too(here):
    """SQLite opens its file by name: recognised and hashed through one open, its rows come through another. A change
    in between is refused."""
    with sqlite3.connect("history.sqlite") as database:
        database.execute("create table repos (id, full_name)")
    opens, read = subprocess_counts("routing", "history.sqlite", "--router", "recency")
    assert opens["history.sqlite"] == 2
    assert read["history.sqlite"] <= Path("history.sqlite").stat().st_size


def subprocess_counts(*command):
    subprocess.run([sys.executable, "-c", COUNTING, "counts.json", *command], capture_output=True, timeout=120)
    opens, read, _ = json.loads(Path("counts.json").read_text())
    return opens, read


@pytest.mark.parametrize("name", ["events.jsonl", "predictions.jsonl", "rules"])
def test_the_manifest_names_what_was_read_though_a_file_is_replaced_before_the_replay(here, monkeypatch, name):
    import metareview as mr
    from metareview.pipelines import routing

    before = hashlib.sha256(Path(name).read_bytes()).hexdigest()
    read_all = routing.read_all

    def replacing(*arguments):
        history = read_all(*arguments)
        Path("other").write_text("# other\n")
        Path("other").replace(name)
        return history

    monkeypatch.setattr(routing, "read_all", replacing)
    mr.evaluate_routing(
        "events.jsonl",
        routers=["recency", "codeowners"],
        predictions="predictions.jsonl",
        codeowners="rules",
        workers=1,
        out=here / "run",
    )
    assert before in json.loads(Path("run/manifest.json").read_text())["inputs"].values()


def test_a_history_of_more_files_than_may_be_open_is_read(here, run):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    Path("many").mkdir()
    for number in range(150):
        lines(f"many/{number}.jsonl", OPENED | {"pr": number})
    resource.setrlimit(resource.RLIMIT_NOFILE, (120, limit[1]))
    try:
        code, _, err = run("routing", "many", "--router", "recency", "--workers", 1, "--out", "run")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    assert code == 0, err


def test_a_file_that_was_read_is_closed(here):
    file = InputFile("events.jsonl").for_reading()
    assert len(list(file.lines())) == 2
    assert file.is_read
    assert file._stream.closed
    assert file.sha256 == hashlib.sha256(Path("events.jsonl").read_bytes()).hexdigest()
