"""unlisted.json: whole or not at all, and of one run only."""

import json

import pytest

from metareview.api import evaluate_comments
from metareview.errors import UsageError
from metareview.model.unlisted import Issue, Unlisted
from metareview.runs.unlisted_json import read_earlier, read_unlisted, write_unlisted

PR = "https://github.com/owner/repo/pull/1"
UNLISTED = Unlisted(
    3,
    7,
    (
        Issue("a1", PR, (("ann", 0), ("bob", 2)), repeats=frozenset({("bob", 2)}), notes=("x", "y"), stratum=1),
        Issue("b2", PR, (("ann", 1),), known_invalid=True, notes=("z",)),
    ),
    ("a1",),
    (1, 2),
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
    assert (stored["schema"], stored["strata"]) == ("metareview.unlisted/2", [1, 2])
    assert stored["issues"][0] == {
        "id": "a1",
        "pr": PR,
        "comments": [["ann", 0], ["bob", 2]],
        "known_invalid": False,
        "repeats": [["bob", 2]],
        "notes": ["x", "y"],
        "stratum": 1,
    }


def test_files_of_the_first_schema_are_earlier_ones(run):
    write_unlisted(run, UNLISTED)
    path = run.folder / "unlisted.json"
    stored = json.loads(path.read_text()) | {"schema": "metareview.unlisted/1"}
    del stored["strata"]
    for issue in stored["issues"]:
        for name in ("repeats", "notes", "stratum"):
            del issue[name]
    path.write_text(json.dumps(stored))
    assert read_unlisted(run) is None
    earlier = read_earlier(run)
    assert (earlier.seed, earlier.budget, earlier.drawn, earlier.strata) == (3, 7, ("a1",), (1, 2, 3))
    assert [(issue.comments, issue.stratum, issue.known_invalid) for issue in earlier.issues] == [
        ((("ann", 0), ("bob", 2)), 1, False),
        ((("ann", 1),), None, True),
    ]


def test_what_was_stored_before_the_run_decided_more_is_an_earlier_one(run):
    write_unlisted(run, UNLISTED)
    path = run.folder / "unlisted.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"finished": "2001-01-01T00:00:00+00:00"}))
    assert read_unlisted(run) is None
    assert read_earlier(run) == UNLISTED


def _without(name):
    return lambda stored: {key: value for key, value in stored.items() if key != name}


def _of_issue(**changes):
    return lambda stored: stored | {"issues": [stored["issues"][0] | changes, *stored["issues"][1:]]}


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored | {"fingerprint": "another"},
        lambda stored: stored | {"schema": "metareview.unlisted/3"},
        lambda stored: stored | {"strata": [1]},
        _of_issue(stratum=-1),
        _of_issue(stratum=True),
        _of_issue(stratum=None),
        _of_issue(notes=["x"]),
        _of_issue(repeats=[["cid", 0]]),
        _of_issue(comments="ab"),
        lambda stored: stored | {"drawn": ["nobody"]},
        lambda stored: stored | {"drawn": ["b2"]},
        lambda stored: stored | {"issues": [stored["issues"][0] | {"comments": [], "notes": []}]},
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
    assert read_unlisted(run) is read_earlier(run) is None


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
