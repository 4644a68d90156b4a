"""A short round of `fuzz/run_folders.py`: changed runs are answered or refused, and nothing else happens."""

import random
import shutil

import pytest

from metareview.cli import main
from metareview.errors import MetareviewError
from metareview.runs.sound import unsound
from mutated_runs import READERS, findings, make_runs
from sealed_runs import seal_again


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("seed", range(4))
def test_a_changed_run_is_answered_or_refused(runs, seed):
    assert list(findings(runs, random.Random(f"changed {seed}"), changes=60, readers=3)) == []


def test_what_is_neither_is_found(runs, monkeypatch):
    def broken(run):
        raise KeyError("ours")

    def refused(run):
        raise MetareviewError

    monkeypatch.setitem(READERS, "show", broken)
    monkeypatch.setitem(READERS, "compare", refused)
    found = list(findings(runs, random.Random(0), changes=1, readers=len(READERS)))
    assert [(each.reader, each.error) for each in found] == [("show", "KeyError: 'ours'")]


def test_what_was_not_changed_is_sound(runs):
    assert [unsound(run) for run in runs] == [None] * len(runs)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("results.jsonl", lambda lines: [lines[-1], *lines[1:-1], lines[0]], "by its records"),
        ("pairs.jsonl", lambda lines: [*lines, lines[-1]], "two verdicts on one pair"),
    ],
)
def test_lines_of_repeated_runs_have_an_order(runs, tmp_path, capsys, name, change, told):
    [repeated] = [run for run in runs if run.name == "repeated"]
    folder = tmp_path / "run"
    shutil.copytree(repeated, folder)
    lines = (folder / name).read_bytes().splitlines(keepends=True)
    (folder / name).write_bytes(b"".join(change(lines)))
    seal_again(folder)
    assert told in str(unsound(folder))
    with pytest.raises(SystemExit) as ended:
        main(["show", str(repeated), "--disagree", str(folder)])
    assert ended.value.code == 2
