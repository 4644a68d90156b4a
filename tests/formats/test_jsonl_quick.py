"""The quick way through JSON lines and the careful one: the same reviews, warnings and errors, whatever is in them."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from metareview.errors import InputError
from metareview.formats.comments import jsonl
from metareview.formats.input_file import InputFile
from metareview.formats.reader import read_inputs
from metareview.model.comment import Comment

URL = "https://github.com/owner/repo/pull/5"
PLAIN = {"pr": URL, "reviewer": "bot", "comments": [{"note": "leaks", "path": "a.py", "from_line": 3, "to_line": 4}]}

# Values that a field may have, rightly or not; some are read as something else, with or without a warning.
TEXTS = ["x", "", " ", "10-15", "7", "é\u2028", "\ud800", "2025-06-01T12:30:00Z"]
NUMBERS = [0, 1, 7, 2**31, 2**63, 2**64, -1, 3.0, 2.5, 1e300, float("nan"), float("inf")]
OBJECTS = [[], ["a"], {}, {"a": 1}, {"a": 2**70, "b": [1.5, {"c": None}]}, {"+1": -2}, {"deep": [[[[[[1]]]]]]}]
VALUES = st.sampled_from([*TEXTS, *NUMBERS, *OBJECTS, True, False, None])
COMMENT_NAMES = [*Comment("").keys(), "body", "path "]
HEAD_NAMES = ["reviewer", "language", "pr_category", "run", "author", "merged_at", "closed_at", "cost", "tokens",
              "seconds", "meta", "commits", "findings"]  # fmt: skip
COMMENTS = st.dictionaries(st.sampled_from(COMMENT_NAMES), VALUES, max_size=4) | st.sampled_from([7, None, "x", []])
HEADS = st.dictionaries(st.sampled_from(HEAD_NAMES), VALUES, max_size=2)
LINES = st.builds(
    lambda head, comments, pr: json.dumps({"pr": pr, "comments": comments, **head}),
    HEADS,
    st.lists(COMMENTS, max_size=3) | VALUES,
    st.just(URL) | VALUES,
)
RAW = st.sampled_from(
    ["", " \t", "\ufeff", "{", "}", "[]", "nul", json.dumps(PLAIN), json.dumps(PLAIN) * 2, json.dumps(PLAIN, indent=1),
     json.dumps(PLAIN) + " x", '{"pr": "u", "pr": "v", "comments": []}', '{"pr": "\\ud800"}', "\x0c", "\r", "```"]
)  # fmt: skip


def outcome(data, path, *, strict, quick):
    """What a reader makes of a file: its reviews, or why it refuses them, and its warnings."""
    path.write_bytes(data)
    source = InputFile(path, strict=strict)
    with pytest.MonkeyPatch.context() as patch:
        if not quick:
            patch.setattr(jsonl, "review_of_line", lambda line, name: None)
        try:
            read = [repr(review) for review in jsonl.read(source)]
        except InputError as error:
            read = str(error)
    return read, source.all_warnings(), isinstance(read, str) or source.sha256


@settings(max_examples=400)
@given(
    lines=st.lists(LINES | RAW, max_size=5),
    first=st.sampled_from([json.dumps(PLAIN), "", " ", "{"]) | LINES,
    ending=st.sampled_from(["\n", "\r\n"]),
    strict=st.booleans(),
)
@example([json.dumps(PLAIN, indent=1), "[]"], json.dumps(PLAIN), "\n", True)
@example(['{"pr": "u", "tokens": 100000000000000000000}'], json.dumps(PLAIN), "\n", True)
@example(['{"pr": "u", "comments": [{"note": "x", "id": 100000000000000000000}]}'], json.dumps(PLAIN), "\n", True)
def test_the_quick_way_reads_as_the_careful_one(tmp_path_factory, lines, first, ending, strict):
    path = tmp_path_factory.getbasetemp() / "a.jsonl"
    data = ending.join([first, *lines]).encode("utf-8", "surrogatepass")
    assert outcome(data, path, strict=strict, quick=True) == outcome(data, path, strict=strict, quick=False)


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (b'{"pr": "u"}\n\xff\n', "a.jsonl:3: not UTF-8 (byte 0xff)"),
        (b'{"pr": "u", "note": 1}\n', "a.jsonl:2: unknown field 'note'"),
        (b'{"pr": "u",\n "comments": [{"note": 3}]}\n', "a.jsonl:3: note must be a string"),
        (b'{"pr": "u"}\n{"pr": "v", "comm\n', "a.jsonl:3: broken JSON: Unterminated string"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, later, message):
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(PLAIN).encode() + b"\n" + later)
    with pytest.raises(InputError) as error:
        read_inputs(path)
    assert f"{tmp_path}/{message}" in str(error.value)


def test_ordinary_lines_are_read_without_the_careful_reader(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({**PLAIN, "pr": f"o/r#{number}"}) + "\n" for number in range(50)))
    monkeypatch.setattr(jsonl, "_review", lambda record: pytest.fail("an ordinary line"))
    monkeypatch.setattr(InputFile, "text", property(lambda source: pytest.fail("the text as a whole")))
    inputs = read_inputs(path)
    assert [review.pr for review in inputs.reviews] == [f"o/r#{number}" for number in range(50)]
    assert inputs.reviews[0].comments == (Comment("leaks", "a.py", None, 3, 4),)
    assert inputs.files[0].sha256 == InputFile(path).sha256


def test_lines_that_are_followed_by_another_format_are_refused(tmp_path):
    path = tmp_path / "comments_shop_7.txt"
    path.write_text('{"pr": "u"}\n  <path>a</path><note>n</note>')
    with pytest.raises(InputError, match=r"comments_shop_7\.txt:2: broken JSON"):
        read_inputs(path)
