"""Every comment format, whatever it is given: it reads it, or refuses it with InputError or UsageError."""

import json
import tracemalloc
from contextlib import suppress

import pytest
from format_samples import FILE_NAME, SAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.errors import InputError, UsageError
from metareview.formats.convert import convert_reviews
from metareview.formats.input_file import InputFile
from metareview.formats.registry import COMMENT_FORMATS, comment_formats

NAMES = COMMENT_FORMATS.names()
WRITERS = [name for name in NAMES if comment_formats()[name].write is not None]
NUMBERS = st.integers() | st.floats() | st.sampled_from([0, -1, 2**31, 10**40, 1.5])
TEXTS = st.text(max_size=8) | st.sampled_from(
    ["\ud800", "N/A", "10-15", "{0}", "[a](1)", "file:///C:/a", "../..", "https://github.com/o/r/pull/1", "```"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def check(name, data, strict, writer="sarif"):
    """Reads a file as this format, and writes what was read in another."""
    fmt = comment_formats()[name]
    source = InputFile.of_bytes(data, FILE_NAME, strict=strict)
    try:
        fmt.sniff(source)
        reviews = list(fmt.read(source))
    except (InputError, UsageError):
        return
    for review in reviews:
        assert review.pr
        "".join([review.pr, review.reviewer or "", *(comment.note for comment in review.comments)]).encode()
    "".join(source.all_warnings()).encode()
    with suppress(UsageError, InputError):
        convert_reviews(reviews, writer)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes(name, data, strict):
    check(name, data, strict)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None)
@given(VALUES, st.booleans(), st.sampled_from(WRITERS))
def test_any_json(name, value, strict, writer):
    check(name, json.dumps(value).encode(), strict, writer)


def places(value, path=()):
    """The paths to everything in a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(value, path, change):
    if not path:
        return change(value)
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], change)
    return copy


def dropped(value):
    return {key: value[key] for key in list(value)[1:]} if isinstance(value, dict) else value[1:]


CHANGES = (
    VALUES.map(lambda new: lambda old: new)
    | st.just(lambda old: [old])
    | st.just(lambda old: {"text": old, "name": old})
    | st.just(lambda old: dropped(old) if isinstance(old, dict | list | str) else None)
    | st.just(lambda old: old * 2 if isinstance(old, list | str) else str(old))
)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "aacr-text"])
@settings(max_examples=80, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from(WRITERS))
def test_a_sample_with_something_in_it_changed(name, data, strict, writer):
    documents = [json.loads(line) for line in SAMPLES[name].splitlines()]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(documents) - 1))
        path = data.draw(st.sampled_from(list(places(documents[at]))))
        documents[at] = changed(documents[at], path, data.draw(CHANGES))
    check(name, "\n".join(map(json.dumps, documents)).encode(), strict, writer)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<path>", "</path>", "<from>", "</from>", "<to>9-6</to>", "<note>", "</note>", "x",
                                 "<notesplit />", "3", "\n"]), max_size=12).map("".join), st.booleans())  # fmt: skip
def test_tags_in_any_order(text, strict):
    check("aacr-text", text.encode(), strict)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("depth", [100, 990, 100_000])
def test_deep_nesting(name, depth):
    check(name, b'{"runs": ' * depth + b"1" + b"}" * depth, True)
    nested = "[" * depth + "]" * depth
    for key in ("comments", "findings", "runs", "diagnostics", "meta", "message"):
        check(name, f'{{"version": "2.1.0", "pr": "x", "{key}": {nested}}}'.encode(), False)


def repeated(name, size):
    """A file of this format with the sample's comments over and over."""
    if name in ("aacr-text", "jsonl", "rdjsonl", "bc-bench"):
        text = SAMPLES[name].rstrip("\n") + ("\n<notesplit />\n" if name == "aacr-text" else "\n")
        return text * (size // len(text))
    document = json.loads(SAMPLES[name])
    if isinstance(document, list):
        copies = document * (size // len(SAMPLES[name]))
        if name == "github":  # where a comment of the same id is the same comment
            copies = [{**comment, "id": number} for number, comment in enumerate(copies)]
        return json.dumps(copies)
    if name == "sarif":
        results = document["runs"][0]["results"]
        document["runs"][0]["results"] = results * (size // len(json.dumps(results)))
        return json.dumps(document)
    holder = document["review"] if name == "pr-agent" else document
    key = next(key for key, value in holder.items() if isinstance(value, list))
    holder[key] = holder[key] * (size // len(json.dumps(holder[key])))
    return json.dumps(document)


@pytest.mark.parametrize("name", NAMES)
def test_memory_is_at_most_ten_times_the_file(tmp_path, name):
    path = tmp_path / FILE_NAME
    path.write_text(repeated(name, 1_000_000))
    size = path.stat().st_size
    fmt = comment_formats()[name]
    assert size > 900_000
    tracemalloc.start()
    try:
        source = InputFile(path, strict=False)
        assert fmt.sniff(source)
        reviews = list(fmt.read(source))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(len(review.comments) for review in reviews) > 1000
    assert peak < 10 * size + 500_000


BAD_LINES = {
    "aacr-text": "".join(["<from>N/A</from><note>x</note><notesplit />"] * 300),
    "jsonl": json.dumps({"pr": "u", "comments": [{"note": "x", "from_line": "N/A"}] * 300}),
    "claude-code": json.dumps([{"file": "a", "line": "N/A", "summary": "x", "failure_scenario": "y"}] * 300),
    "sarif": json.dumps(
        {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "s"}}, "results": [
            {"message": {"text": "x"}, "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": "a"}, "region": {"startLine": "N/A"}}}]}] * 300}]}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_LINES)
def test_only_lines_that_are_shown_are_looked_for(tmp_path, monkeypatch, name):
    """To look for the line of each of thousands of small mistakes would take as long as the square of their number."""
    looked_for = []
    line_at = InputFile.line_at
    monkeypatch.setattr(InputFile, "line_at", lambda file, offset: looked_for.append(offset) or line_at(file, offset))
    path = tmp_path / FILE_NAME
    path.write_text(BAD_LINES[name])
    source = InputFile(path, strict=False)
    reviews = list(comment_formats()[name].read(source))
    assert sum(len(review.comments) for review in reviews) == 300
    assert len(source.all_warnings()) == 11
    assert len(looked_for) <= 10
