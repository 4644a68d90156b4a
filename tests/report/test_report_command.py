"""`metareview report` and `run.report`: which files are written, and what a user's mistake says."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest
from report_samples import two_reviewers, write_jsonl

from metareview.api import evaluate_comments, evaluate_routing
from metareview.cli import main
from metareview.errors import InputError, UsageError
from metareview.report import check_path, write_report
from metareview.runs.run import load_run
from sealed_runs import seal_again


@pytest.fixture
def folder(tmp_path):
    two_reviewers(tmp_path, out=tmp_path / "run")
    return tmp_path / "run"


def run_command(capsys, *arguments):
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return done.value.code, captured.out, captured.err


def test_writes_each_file_by_its_suffix(folder, tmp_path, capsys):
    names = ("r.html", "r.md", "r.csv", "r.json", "R.XML")
    outputs = [part for name in names for part in ("-o", tmp_path / name)]
    code, out, err = run_command(capsys, "report", folder, *outputs)
    assert (code, out) == (0, "")
    assert err.count("Wrote ") == 5
    starts = [(tmp_path / name).read_text("utf-8")[:5] for name in names]
    assert starts == ["<!DOC", "# Cod", "githu", '{\n  "', "<?xml"]
    assert json.loads((tmp_path / "r.json").read_text("utf-8")) == load_run(folder).summary


def test_json_lists_what_was_written(folder, tmp_path, capsys):
    code, out, _ = run_command(capsys, "report", folder, "-o", tmp_path / "r.md", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["files"] == [{"file": str(tmp_path / "r.md"), "bytes": (tmp_path / "r.md").stat().st_size}]


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("r.pdf", "must be one of .html"),
        ("r", "must be one of .html"),
        ("nowhere/r.html", "there is no folder"),
        ("folder.html", "is a folder"),
    ],
)
def test_a_path_that_cannot_be_written_says_why_before_anything_is(folder, tmp_path, capsys, output, problem):
    (tmp_path / "folder.html").mkdir()
    good = tmp_path / "good.md"
    code, _, err = run_command(capsys, "report", folder, "-o", good, "-o", tmp_path / output)
    assert code == 2
    assert problem in err
    assert not good.exists()


def test_what_is_no_run_is_refused(tmp_path, capsys):
    code, _, err = run_command(capsys, "report", tmp_path, "-o", tmp_path / "r.html")
    assert code == 2
    assert "not a run's folder" in err


def test_gates_are_test_cases_and_decide_the_exit_code(tmp_path, capsys):
    two_reviewers(tmp_path)
    stored = tmp_path / "kept"
    evaluate_comments(
        tmp_path / "reviews" / "sharp", reference=tmp_path / "references.jsonl", judge="exact", force=True, out=stored
    )
    path = tmp_path / "r.xml"
    assert run_command(capsys, "report", stored, "-o", path, "--fail-under", "f1=0.8")[0] == 0
    assert 'name="f1 at least 0.8"' in path.read_text("utf-8")
    code, _, err = run_command(capsys, "report", stored, "-o", path, "--fail-under", "f1=0.9")
    assert code == 3
    assert "sharp: f1 is 0.8571" in err
    assert 'failures="1"' in path.read_text("utf-8")


def test_undecided_pairs_go_before_gates(folder, tmp_path, capsys):
    assert run_command(capsys, "report", folder, "-o", tmp_path / "r.xml", "--fail-under", "f1=0.9")[0] == 4


def test_a_run_in_memory_gives_the_same_tables_as_its_folder(tmp_path):
    stored = two_reviewers(tmp_path, out=tmp_path / "run")
    kept = two_reviewers(tmp_path)
    for suffix in (".csv", ".md", ".xml"):
        one, other = stored.report(tmp_path / f"a{suffix}"), kept.report(tmp_path / f"b{suffix}")
        assert one.read_text("utf-8") == other.read_text("utf-8")
    page = kept.report(tmp_path / "b.html").read_text("utf-8")
    # The open pair comes from the pairs, which a run in memory keeps as well.
    assert "Why there is no verdict" in page


def test_a_file_is_replaced_whole_or_left_alone(folder, tmp_path, monkeypatch):
    path = tmp_path / "r.md"
    path.write_text("before", "utf-8")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(UsageError, match="No space left"):
        write_report(load_run(folder), path)
    assert path.read_text("utf-8") == "before"
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="file modes of Unix")
def test_a_report_is_as_readable_as_any_new_file(folder, tmp_path):
    before = os.umask(0o022)
    try:
        path = write_report(load_run(folder), tmp_path / "r.md")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_suffixes_are_checked_without_case():
    assert check_path("r.HTML") == Path("r.HTML")


def test_a_broken_run_is_an_input_error(folder):
    (folder / "summary.json").write_text("{", "utf-8")
    seal_again(folder)
    with pytest.raises(InputError, match="broken run"):
        load_run(folder)


def test_a_routing_run_has_gates_of_its_own(tmp_path, capsys):
    history, stored = tmp_path / "h.jsonl", tmp_path / "routing"
    events = [("opened", "ann", "08"), ("review_submitted", "bob", "08")]
    rows = [{"repo": "o/r", "pr": 1, "kind": kind, "actor": actor, "at": f"2026-01-01T{hour}:00:00Z"}
            for kind, actor, hour in events]  # fmt: skip
    evaluate_routing(write_jsonl(history, rows), routers=["recency"], out=stored)
    path = tmp_path / "r.html"
    code, _, err = run_command(capsys, "report", stored, "-o", path, "--fail-under", "f1=0.9")
    assert (code, path.exists()) == (2, False)
    assert "The metrics are hit@1" in err
    assert run_command(capsys, "report", stored, "-o", path, "--fail-under", "mrr=0.9")[0] == 3
    assert run_command(capsys, "report", stored, "-o", path)[0] == 0
    assert "Reviewer routing" in path.read_text("utf-8")
