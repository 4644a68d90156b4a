"""Lines that changed come with the change: what a reader, and a model, is shown of it is never empty."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import metareview as mr
from commit_lists import day, patch_of
from metareview.cli import main

PR = "https://github.com/o/r/pull/1"
LETTERS = "ab"


def states(text):
    """Whole files of five lines of which the third is a letter of the text."""
    return [["x", "y", letter, "z", "w"] for letter in text]


def made(sha, number, before, after, parents=None):
    files = [] if before == after else [{"path": "a.py", "status": "modified", "patch": patch_of(before, after)}]
    fields = {"sha": sha, "at": day(number), "author": "dev", "files": files}
    return fields if parents is None else {**fields, "parents": parents}


def record(commits, commented, at):
    comment = {"path": "a.py", "from_line": 3, "to_line": 3, "note": "Wrong.", "id": "1", "at": day(at)}
    comments = [{**comment, "commit": commented}] if commented else [comment]
    return {"pr": PR, "reviewer": "helper[bot]", "author": "dev", "commits": commits, "comments": comments}


def in_line(text, commented, parents):
    """A commit per letter from the second on, each upon the one before; the comment comes after one of them."""
    files = states(text)
    commits = [
        made(f"c{n}", n, files[n - 1], files[n], [f"c{n - 1}"] if parents else None) for n in range(1, len(files))
    ]
    return record(commits, f"c{commented}", commented + 0.5)


def pushed_anew(old, new, commented):
    """Two branches upon one base, the second pushed over the first after the comment."""
    commits = []
    for name, text, start in (("c", old, 1), ("d", new, 20)):
        files = states(old[0] + text[1:])
        commits += [
            made(f"{name}{n}", start + 0.1 * n, files[n - 1], files[n], [f"{name}{n - 1}" if n > 1 else "base"])
            for n in range(1, len(files))
        ]
    return record(commits, f"c{commented}", 10)


@pytest.mark.parametrize("parents", [False, True])
def test_what_was_put_back_before_and_changed_again_after_a_comment_is_shown(tmp_path, monkeypatch, capsys, parents):
    monkeypatch.chdir(tmp_path)
    written = in_line("abab", 2, parents)
    tmp_path.joinpath("in.jsonl").write_text(json.dumps(written) + "\n", "utf-8")
    with pytest.raises(SystemExit) as end:
        main(["outcomes", "in.jsonl", "--out", "run", "-q"])
    assert (end.value.code, capsys.readouterr().err) == (0, "")
    [outcome] = json.loads(tmp_path.joinpath("run", "results.jsonl").read_text("utf-8"))["comments"]
    assert outcome["outcomes"]["lines_changed"] is True
    assert outcome["changed_by"] == ["c3"]
    patch = written["commits"][2]["files"][0]["patch"]
    assert outcome["later_change"] == f"=== commit c3: a.py\n{patch}"


def outcome_of(written):
    [row] = mr.evaluate_outcomes([written]).records
    [outcome] = row["comments"]
    return outcome


def assert_changed_lines_have_their_change(written):
    outcome = outcome_of(written)
    shown = outcome["later_change"].splitlines()
    assert bool(outcome["outcomes"]["lines_changed"]) == bool(outcome["changed_by"])
    assert [sha for sha in outcome["changed_by"] if f"=== commit {sha}: a.py" not in shown] == []


@settings(max_examples=60)
@example("abab", 2, False)
@given(st.text(LETTERS, min_size=2, max_size=8), st.integers(1, 7), st.booleans())
def test_changed_lines_have_their_change_however_often_lines_are_put_back(text, commented, parents):
    assert_changed_lines_have_their_change(in_line(text, min(commented, len(text) - 1), parents))


@settings(max_examples=60)
@example("abc", "ab", 2)  # The second commit is dropped, the first one rebased.
@example("ab", "abab", 1)
@given(st.text("abc", min_size=2, max_size=5), st.text("abc", min_size=2, max_size=6), st.integers(1, 4))
def test_changed_lines_have_their_change_after_a_force_push(old, new, commented):
    assert_changed_lines_have_their_change(pushed_anew(old, new, min(commented, len(old) - 1)))


def test_what_a_rebased_branch_undoes_and_does_again_is_shown_whole():
    shown = outcome_of(pushed_anew("ab", "abab", 1))["later_change"]
    assert [line for line in shown.splitlines() if line.startswith("===")] == [
        "=== commit d2: a.py",
        "=== commit d3: a.py",
    ]


def test_a_commit_that_a_force_push_dropped_is_a_change_that_is_named():
    outcome = outcome_of(pushed_anew("ab", "aa", 1))
    assert (outcome["outcomes"]["lines_changed"], outcome["changed_by"]) == (True, ["d1"])
    assert outcome["later_change"] == ("=== commit d1: a.py\n(a force push took back earlier changes of these lines)")
