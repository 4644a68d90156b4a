"""unlisted.json: whole or not at all, and of one run only."""

import json

import pytest

from metareview.api import evaluate_comments
from metareview.errors import UsageError
from metareview.model.unlisted import Issue, Unlisted
from metareview.runs.unlisted_json import read_unlisted, write_unlisted

PR = "https://github.com/owner/repo/pull/1"
UNLISTED = Unlisted(
    3, 7, (Issue("a1", PR, (("ann", 0), ("bob", 2))), Issue("b2", PR, (("ann", 1),), known_invalid=True)), ("a1",)
)


@pytest.fixture
def run(tmp_path):
    reference = [{"pr": PR, "comments": [{"note": "leak"}]}]
    said = [{"pr": PR, "reviewer": "ann", "comments": [{"note": "race"}]}]
    return evaluate_comments(said, reference=reference, judge="exact", out=tmp_path / "run")


def test_it_is_read_back_as_it_was_written(run):
    assert read_unlisted(run) is None
    write_unlisted(run, UNLISTED)
    assert read_unlisted(run) == UNLISTED
    assert sorted(path.name for path in run.folder.glob("unlisted*")) == ["unlisted.json"]
    stored = json.loads((run.folder / "unlisted.json").read_text())
    assert stored["issues"][0] == {"id": "a1", "pr": PR, "comments": [["ann", 0], ["bob", 2]], "known_invalid": False}


def _without(name):
    return lambda stored: {key: value for key, value in stored.items() if key != name}


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored | {"fingerprint": "another"},
        lambda stored: stored | {"finished": "2001-01-01T00:00:00+00:00"},
        lambda stored: stored | {"schema": "metareview.unlisted/2"},
        lambda stored: stored | {"drawn": ["nobody"]},
        lambda stored: stored | {"drawn": ["b2"]},
        lambda stored: stored | {"issues": [{"id": "a1", "pr": PR, "comments": [], "known_invalid": False}]},
        lambda stored: stored | {"issues": 5},
        lambda stored: [stored],
        _without("seed"),
        _without("fingerprint"),
    ],
)
def test_what_is_not_of_this_run_or_broken_counts_as_absent(run, change):
    write_unlisted(run, UNLISTED)
    path = run.folder / "unlisted.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    assert read_unlisted(run) is None


@pytest.mark.parametrize("text", ["", "{", '{"schema": ', "[" * 100_000, "\x00"])
def test_a_file_that_is_no_json_counts_as_absent(run, text):
    (run.folder / "unlisted.json").write_text(text)
    assert read_unlisted(run) is None


def test_a_run_in_memory_stores_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = evaluate_comments([{"pr": PR, "comments": []}], reference=[{"pr": PR, "comments": [{"note": "leak"}]}])
    write_unlisted(run, UNLISTED)
    assert read_unlisted(run) is None
    assert not list(tmp_path.iterdir())


def test_a_folder_that_may_not_be_written_to_is_left_alone(run, monkeypatch):
    def refuse(self, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    write_unlisted(run, UNLISTED)
    assert read_unlisted(run) is None


def test_a_full_disk_is_told(run, monkeypatch):
    def refuse(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(UsageError, match="Free space"):
        write_unlisted(run, UNLISTED)
    assert not list(run.folder.glob("unlisted*"))
