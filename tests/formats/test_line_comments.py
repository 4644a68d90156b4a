"""Comments that stay in their file: the same as those that are held, and what is known of them without a look."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.comments.absolute_paths import relative_to
from metareview.engines.local import LocalEngine
from metareview.errors import InputError
from metareview.formats import registry
from metareview.formats.comments import jsonl
from metareview.formats.registry import read_inputs
from metareview.formats.source import Source
from metareview.model.comment import Comment, Review, merged
from metareview.model.facts import LONG_NOTE, CommentFacts, JoinedComments, KnownComments, facts_of

NOTES = st.sampled_from(["x", " y ", "", " ", "\u2003", "é", "x" * (LONG_NOTE + 1)])
PATHS = st.sampled_from(["a.py", "./a.py", "/", ".", "", "/home/ci/a.py", " /a.py", "C:\\a.py", "\u00a0/a.py"])
COMMENTS = st.fixed_dictionaries(
    {},
    optional={
        "note": NOTES,
        "path": st.none() | PATHS,
        "from_line": st.just(3),
        "id": st.sampled_from(["1", 1, 2, "", None]),
        "in_reply_to": st.sampled_from([None, 7, "7"]),
        "neutral": st.sampled_from([None, True, False]),
        "author": st.sampled_from([None, "", "ann"]),
        "category": st.sampled_from([None, "", "Performance"]),
        "severity": st.sampled_from([None, "high"]),
        "meta": st.just({"mine": [1.5, None]}),
    },
)


def indexed(path):
    return list(jsonl.index(Source(path), LocalEngine(1).map))


def by_hand(comments):
    """The facts, one comment after the other."""
    counted = [each for each in comments if each.counted]
    ids = [each.id for each in comments if each.id]
    facts = facts_of(comments)
    assert facts.may_be_absolute or relative_to(Review("u", comments), {"a.py", "ci/a.py"})[1] == 0
    return CommentFacts(
        len(comments),
        len(counted),
        sum(not each.neutral for each in counted),
        sum(not each.note.strip() for each in comments),
        sum(len(each.note) > LONG_NOTE for each in comments),
        any(each.path and each.path.strip().replace("\\", "/").removeprefix("./").strip("/") for each in comments),
        facts.may_be_absolute,
        bool(ids),
        len(set(ids)) < len(ids),
        any(each.author for each in comments),
        any(each.category or each.context or each.severity for each in comments),
        bool(comments) and all(each.in_reply_to is not None for each in comments),
    )


@given(st.lists(st.lists(COMMENTS, max_size=4), min_size=1, max_size=4))
def test_they_are_those_of_the_file_and_so_are_their_facts(tmp_path_factory, lines):
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    path.write_text("".join(json.dumps({"pr": f"o/r#{at}", "comments": each}) + "\n" for at, each in enumerate(lines)))
    held = list(jsonl.read(Source(path)))
    known = indexed(path)
    assert known == held
    for one, other in zip(known, held, strict=True):
        assert isinstance(one.comments, KnownComments) == bool(other.comments)
        assert facts_of(one.comments) == facts_of(other.comments) == by_hand(other.comments)
        assert (len(one.comments), list(one.comments), one.comments[:2]) == (
            len(other.comments),
            list(other.comments),
            other.comments[:2],
        )
    joined = JoinedComments([review.comments for review in known])
    everything = tuple(comment for review in held for comment in review.comments)
    assert joined == everything
    alike = facts_of(everything)
    assert joined.facts._replace(may_repeat_ids=False) == alike._replace(may_repeat_ids=False)
    assert joined.facts.may_repeat_ids or not alike.may_repeat_ids


def test_another_author_and_other_paths(tmp_path):
    path = tmp_path / "a.jsonl"
    comments = [{"note": "x", "path": "/ci/a.py"}, {"note": "y", "author": "bob"}, {"note": "z", "path": "/ci/b.py"}]
    path.write_text(json.dumps({"pr": "o/r#1", "comments": comments}) + "\n")
    [review] = indexed(path)
    assert [each.author for each in review.comments.by("ann")] == ["ann", "bob", "ann"]
    cut, count = relative_to(review, {"a.py", "b.py"})
    assert (count, [each.path for each in cut.comments]) == (2, ["a.py", None, "b.py"])
    assert isinstance(cut.comments, KnownComments)
    twice = merged([review, replace(review, comments=(Comment("w", "/ci/a.py"),))])["o/r#1", None]
    cut, count = relative_to(twice, {"a.py"})
    assert (count, [each.path for each in cut.comments]) == (2, ["a.py", None, "/ci/b.py", "a.py"])
    assert [each.author for each in cut.comments.by("ann")] == ["ann", "bob", "ann", "ann"]


def test_lines_that_need_care_are_read_with_it_wherever_blocks_end(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    plain = [{"pr": f"o/r#{at}", "comments": [{"note": f"n{at}", "from_line": 1}]} for at in range(40)]
    plain[17]["comments"][0]["from_line"] = "10-15"
    lines = [json.dumps(each) + "\n" for each in plain]
    lines[20] = " \r\n"
    lines[30:] = [json.dumps(each, indent=1) + "\n" for each in plain[30:]]
    path.write_text("".join(lines))
    for size in (1, 50, 300, 10**6):
        monkeypatch.setattr(jsonl, "_BLOCK", size)
        assert indexed(path) == list(jsonl.read(Source(path)))
    lines[33] = '{"pr": "o/r#33", "notes": []}'
    path.write_text("".join(lines))
    with pytest.raises(InputError, match=r"a.jsonl:\d+: unknown field 'notes'"):
        indexed(path)


def test_only_large_files_are_left_where_they_are(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text('{"pr": "o/r#1", "comments": [{"note": "x"}]}\n')
    mapped = LocalEngine(1).map
    [held] = read_inputs(path, mapped=mapped).reviews
    monkeypatch.setattr(registry, "HELD", 1)
    [known] = read_inputs(path, mapped=mapped).reviews
    assert type(held.comments) is tuple
    assert isinstance(known.comments, KnownComments)
    assert known == held
    assert read_inputs(path, mapped=mapped).hashes == read_inputs(path).hashes
