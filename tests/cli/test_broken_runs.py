"""Commands that read a run whose files are JSON, but not what a run holds: exit code 2 and the fix, no traceback."""

import io
import json
import os

import pytest

from metareview.api import evaluate_comments
from metareview.cli import main
from metareview.comparison.frame import open_frame
from sealed_runs import seal_again

PULL = "https://github.com/o/r/pull/1"
NOTES = [{"note": note, "path": "a.py", "side": "right", "from_line": 1, "to_line": 1} for note in ("leak", "slow")]


@pytest.fixture
def folder(tmp_path):
    reviews = [{"pr": PULL, "reviewer": name, "comments": NOTES[:at]} for at, name in enumerate(("loud", "sharp"), 1)]
    run = evaluate_comments(reviews, reference=[{"pr": PULL, "comments": NOTES}], judge="exact", out=tmp_path / "run")
    open_frame(run, budget=8)
    return run.folder


def code_of(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    return ended.value.code


def change(path, where, value):
    first, *rest = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    holder = document = json.loads(first)
    for key in where[:-1]:
        holder = holder[key]
    holder[where[-1]] = value
    path.write_text("\n".join([json.dumps(document), *rest]) + "\n")
    seal_again(path.parent)


COMMANDS = [("show",), ("compare",), ("leaderboard",), ("label",), ("label", "--unlisted"), ("calibrate", "--run")]


@pytest.mark.parametrize(
    ("name", "where", "value"),
    [
        ("summary.json", ["reviewers", "loud", "metrics"], 1.5),
        ("summary.json", ["reviewers", "loud", "intervals", "f1"], "x"),
        ("manifest.json", ["versions"], 3),
        ("results.jsonl", ["match_details", 0, "path"], {}),
        ("results.jsonl", ["reference_comments", 0, "covered"], []),
        ("pairs.jsonl", ["score"], [1]),
        ("frame.json", ["strata", 0, "size"], "x"),
        ("frame.json", ["drawn", 0, "pairs", 0, 0], 7),
    ],
)
def test_a_broken_run_is_told_from_a_defect(folder, capsys, monkeypatch, name, where, value):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n" * 9))
    change(folder / name, where, value)
    codes = [code_of(*command, folder) for command in COMMANDS]
    assert set(codes) <= {0, 2, 130}
    assert 2 in codes
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["results.jsonl", "pairs.jsonl", "summary.json", "labels.jsonl", "frame.json"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_keeps_nobody_waiting(folder, capsys, name, make):
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    for command in COMMANDS:
        assert code_of(*command, folder) == 2, command
        assert f"{name}: not a file" in capsys.readouterr().err


def test_a_summary_nested_too_deeply(folder, capsys):
    (folder / "summary.json").write_text("[" * 100_000)
    seal_again(folder)
    assert code_of("show", folder) == 2
    assert "--overwrite" in capsys.readouterr().err


def test_a_defect_stays_one(folder, monkeypatch):
    def broken(*args, **named):
        raise KeyError("ours")

    monkeypatch.setattr("metareview.comparison.evidence.evidence", broken)
    with pytest.raises(KeyError):
        main(["show", str(folder)])
