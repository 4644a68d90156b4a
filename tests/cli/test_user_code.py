"""Judges, routers and formats of the user's own that raise or exit: one message that names them, and exit code 2."""

import json

import pytest

PR = "https://github.com/o/r/pull/1"
EXIT = "sys.exit('MY_KEY is not set')"
JUDGE = """
import sys
import metareview


class Mine(metareview.Judge):
    name = "mine"

    def judge(self, questions):
        {judge}

    def close(self):
        {close}
"""
ROUTER = """
import sys


class Mine:
    @property
    def needs_files(self):
        {needs_files}

    def observe(self, event):
        {observe}

    def rank(self, pull_request):
        {rank}
"""
FORMAT = """
import sys
from metareview.formats.protocol import CommentFormat


def sniff(source):
    {sniff}


def read(source):
    {read}
    yield from ()


def write(reviews):
    {write}


MINE = CommentFormat("Mine.", sniff, read, write)
"""


@pytest.fixture
def folder(here):
    comments = [{"path": "a.py", "from_line": 1, "to_line": 1, "note": "This leaks."}]
    for name, reviewer in (("said", "bot"), ("expected", "ann")):
        record = {"pr": PR, "reviewer": reviewer, "comments": comments}
        (here / f"{name}.jsonl").write_text(json.dumps(record) + "\n")
    event = {"repo": "o/r", "pr": 1, "at": "2026-01-01T00:00:00Z", "kind": "opened", "actor": "ann"}
    (here / "events.jsonl").write_text(json.dumps(event) + "\n")
    (here / "labels.jsonl").write_text('{"a": "x", "b": "x", "match": true}\n')
    return here


def written(folder, name, text, **bodies):
    """A module of the user's own: whatever has no body given does nothing."""

    class Rest(dict):
        def __missing__(self, key):
            return "return None"

    (folder / f"{name}.py").write_text(text.format_map(Rest(bodies)))


COMMENTS = ("comments", "said.jsonl", "--reference", "expected.jsonl")
CALIBRATE = ("calibrate", "labels.jsonl")


@pytest.mark.parametrize("command", [COMMENTS, CALIBRATE], ids=["comments", "calibrate"])
@pytest.mark.parametrize(
    ("name", "bodies", "message"),
    [
        ("exits_in_judge", {"judge": EXIT}, "raised SystemExit: MY_KEY is not set. Correct the judge."),
        ("raises_in_judge", {"judge": "{}['weights']"}, "raised KeyError: 'weights'. Correct the judge."),
        ("exits_in_close", {"judge": "raise metareview.UsageError('no')", "close": EXIT}, "SystemExit: MY_KEY is not"),
    ],
)
def test_what_a_judge_exits_with_is_reported(folder, run, command, name, bodies, message):
    written(folder, name, JUDGE, **bodies)
    code, out, err = run(*command, "--judge", f"{name}:Mine")
    assert (code, out) == (2, "")
    assert f"Error: judge {name}:Mine raised" in err
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("member", ["needs_files", "rank"])
def test_what_a_router_exits_with_is_reported(folder, run, member):
    written(folder, f"router_{member}", ROUTER, **{member: EXIT})
    code, out, err = run("routing", "events.jsonl", "--router", f"router_{member}:Mine")
    assert (code, out) == (2, "")
    assert f"Error: router router_{member}:Mine raised SystemExit: MY_KEY is not set" in err


@pytest.mark.parametrize(
    ("member", "body", "message"),
    [
        ("read", EXIT, "raised SystemExit: MY_KEY is not set. Correct the format."),
        ("read", "1 / 0", "raised ZeroDivisionError: division by zero. Correct the format."),
        ("write", EXIT, "raised SystemExit: MY_KEY is not set. Correct the format."),
    ],
)
def test_what_a_format_exits_with_is_reported(folder, run, member, body, message):
    name = f"format_{member}_{len(body)}"
    written(folder, name, FORMAT, **{member: body})
    side = {"read": "--format", "write": "--to"}[member]
    rest = () if member == "write" else ("--to", "jsonl")
    code, out, err = run("convert", "said.jsonl", side, f"{name}:MINE", *rest, "-o", "converted")
    assert (code, out) == (2, "")
    assert f"Error: format {name}:MINE raised" in err
    assert message in err
