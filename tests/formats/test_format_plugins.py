"""Formats of a user's own: named as package.module:format, or found as entry points of an installed package."""

from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest
from format_samples import FORMATS

from metareview import plugins
from metareview.errors import UsageError
from metareview.formats import registry
from metareview.formats.history import read_history
from metareview.formats.reader import ReadOptions, read_inputs
from metareview.formats.registry import COMMENT_FORMATS, HISTORY_FORMATS, comment_formats, history_formats

MODULE = """
from metareview.formats.protocol import CommentFormat, HistoryFormat
from metareview.model.comment import Comment, Review
from metareview.model.event import Event, make_history

def read(source):
    for line in source.text.splitlines():
        pr, note = line.split(" | ")
        yield Review(pr, (Comment(note),))

def read_opened(source):
    lines = source.data.decode().split()[1:]
    return make_history((Event("o/r", int(n), int(n), "opened") for n in lines), source=source.name)

bars = CommentFormat("a bar between pull request and note", lambda source: " | " in source.text, read, lambda _: {})
numbers = HistoryFormat("numbers", lambda source: source.begins_with(b"NUMBERS"), read_opened)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "own_formats.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "said.txt").write_text("shop#5 | Close it\nshop#6 | Rename it\n")
    (tmp_path / "history").write_text("NUMBERS 7 8")
    return tmp_path


@pytest.fixture
def installed(module, monkeypatch):
    points = [EntryPoint(name, f"own_formats:{name}", "metareview.formats") for name in ("numbers", "bars")] + [
        EntryPoint("jsonl", "own_formats:bars", "metareview.formats")
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: [p for p in points if p.group == group])
    for name in ("COMMENT_FORMATS", "HISTORY_FORMATS"):
        monkeypatch.setattr(registry, name, replace(getattr(registry, name)))  # without what was found before
    return module


def test_a_format_of_one_s_own_is_named_by_its_module(module):
    inputs = read_inputs(module / "said.txt", ReadOptions(format_name="own_formats:bars"))
    assert [(r.pr, r.reviewer, r.comments[0].note) for r in inputs.reviews] == [
        ("shop#5", "said", "Close it"),
        ("shop#6", "said", "Rename it"),
    ]
    assert {file.format for file in inputs.files} == {"own_formats:bars"}
    assert [event.pr for event in read_history(module / "history", "own_formats:numbers").events] == [7, 8]


def test_an_installed_format_is_found_by_content(installed):
    assert {file.format for file in read_inputs(installed / "said.txt").files} == {"bars"}
    assert [event.pr for event in read_history(installed / "history").events] == [7, 8]
    assert [event.pr for event in read_history(installed / "history", "numbers").events] == [7, 8]


def test_the_type_tells_formats_of_comments_from_those_of_histories(installed):
    assert list(comment_formats()) == [*FORMATS.split(", "), "bars"]
    assert list(history_formats()) == ["events", "gerrit", "sqlite", "gharchive", "numbers"]
    with pytest.raises(UsageError, match="numbers is no format: it is HistoryFormat, not CommentFormat"):
        read_inputs(installed / "said.txt", ReadOptions(format_name="numbers"))
    with pytest.raises(UsageError, match="bars is no history format: it is CommentFormat, not HistoryFormat"):
        read_history(installed / "history", "bars")


def test_nobody_takes_the_name_of_a_built_in_format(installed):
    assert comment_formats("jsonl")["jsonl"].summary.startswith("metareview's own")


def test_an_object_that_is_no_format_is_refused(module):
    with pytest.raises(UsageError, match="own_formats:read is no format: it is function, not CommentFormat"):
        read_inputs(module / "said.txt", ReadOptions(format_name="own_formats:read"))
    with pytest.raises(UsageError, match=r"own_formats:absent: cannot be loaded \(AttributeError"):
        read_inputs(module / "said.txt", ReadOptions(format_name="own_formats:absent"))


def test_each_built_in_format_says_what_it_is():
    assert ", ".join(COMMENT_FORMATS.names()) == FORMATS
    assert HISTORY_FORMATS.names() == ["events", "gerrit", "sqlite", "gharchive"]
    for known in (*comment_formats().values(), *history_formats().values()):
        assert 20 < len(known.summary) < 120
