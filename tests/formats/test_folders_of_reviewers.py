"""Folders with a subfolder for each reviewer."""

import json
from pathlib import PurePath

from metareview.formats.reader import read_inputs


def folder_of(tmp_path, reviewers):
    said = json.dumps({"pr": "octo/shop#7", "comments": [{"path": "a.py", "from_line": 1, "to_line": 1, "note": "x"}]})
    for number in range(reviewers):
        (tmp_path / f"reviewer{number}" / "run-1").mkdir(parents=True)
        (tmp_path / f"reviewer{number}" / "run-1" / "said.jsonl").write_text(said)
        (tmp_path / f"reviewer{number}" / "run-2").mkdir()
    (tmp_path / "silent").mkdir()
    return tmp_path


def test_empty_folders_of_reviewers_and_of_runs_are_told(tmp_path):
    inputs = read_inputs(folder_of(tmp_path, 2))
    assert {(each.file.removeprefix(f"{tmp_path}/"), each.reason) for each in inputs.skipped} == {
        ("silent", "an empty folder: no reviewer to score"),
        ("reviewer0/run-2", "an empty folder: no run to count"),
        ("reviewer1/run-2", "an empty folder: no run to count"),
    }


def test_a_folder_is_not_looked_for_in_the_name_of_every_file(tmp_path, monkeypatch):
    """With 2,000 reviewers that would be four million comparisons of paths."""
    compared = []
    monkeypatch.setattr(PurePath, "is_relative_to", lambda *paths: compared.append(paths))
    assert len(read_inputs(folder_of(tmp_path, 30)).reviews) == 30
    assert not compared
