"""Work that is cut off anywhere and goes on ends with the same bytes."""

import json
from pathlib import Path

import pytest

from metareview.errors import UsageError
from metareview.sources.journal import Journal

ASKED = {"command": "comments", "repository": "acme/shop"}


def by_time(line):
    return (json.loads(line)["at"],)


def filled(file, numbers=(3, 1, 2), asked=ASKED, **options):
    journal = Journal(file, asked, **options)
    done = {mark["done"] for mark in journal.marks if "done" in mark}
    for number in numbers:
        if number not in done:
            lines = [{"at": number, "text": "ä\n#"}, {"at": number + 10}]
            journal.add([f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines], {"done": number, "lines": 2})
    return journal


def placed(journal, order=None):
    journal.put_in_place(order)
    journal.discard()


@pytest.mark.parametrize(("order", "times"), [(None, [3, 13, 1, 11, 2, 12]), (by_time, [1, 2, 3, 11, 12, 13])])
def test_lines_stand_as_they_came_or_in_order(tmp_path, order, times):
    file = tmp_path / "out.jsonl"
    placed(filled(file), order)
    assert [json.loads(line)["at"] for line in file.read_text("utf-8").splitlines()] == times
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


@pytest.mark.parametrize("order", [None, by_time])
def test_cut_off_at_any_byte_it_ends_the_same(tmp_path, order):
    whole = tmp_path / "whole.jsonl"
    journal = filled(whole)
    partial = whole.with_name("whole.jsonl.partial").read_bytes()
    placed(journal, order)
    file = tmp_path / "out.jsonl"
    for length in range(len(partial) + 1):
        (tmp_path / "out.jsonl.partial").write_bytes(partial[:length])
        file.unlink(missing_ok=True)
        placed(filled(file), order)
        assert file.read_bytes() == whole.read_bytes(), length


def test_what_was_asked_for_before_is_not_mixed_in(tmp_path):
    file = tmp_path / "out.jsonl"
    filled(file).close()
    with pytest.raises(UsageError, match="unfinished pull of something else"):
        Journal(file, {**ASKED, "repository": "acme/other"})
    anew = Journal(file, {**ASKED, "repository": "acme/other"}, overwrite=True)
    assert anew.marks == []
    anew.close()


def test_what_came_to_nothing_is_in_nobodys_way(tmp_path):
    """A misspelt name, say, and then the right one."""
    file = tmp_path / "out.jsonl"
    partial = tmp_path / "out.jsonl.partial"
    failed = Journal(file, ASKED)
    failed.add([], {"done": 5, "missing": True})
    kept = partial.read_bytes()
    failed.close()
    assert not partial.exists()
    partial.write_bytes(kept)  # as a kill leaves it
    Journal(file, {**ASKED, "repository": "acme/other"}).close()
    partial.write_bytes(kept[:30])
    Journal(file, {**ASKED, "repository": "acme/other"}).close()


def test_one_pull_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    file = tmp_path / "out.jsonl"
    first = filled(file)
    with pytest.raises(UsageError, match="another pull is writing"):
        Journal(file, ASKED)
    placed(first)


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(UsageError, match="cannot write"):
        Journal(tmp_path / "no" / "folder" / "out.jsonl", ASKED)
    with pytest.raises(UsageError, match="is a folder"):
        Journal(tmp_path, ASKED)
    with pytest.raises(UsageError, match="a pull needs a file"):
        Journal(Path("-"), ASKED)
