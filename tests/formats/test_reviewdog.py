import json
from pathlib import Path

import pytest
from comment_strategies import SOME_TEXT, comments, recognised, reviews, written_and_read
from hypothesis import given
from hypothesis import strategies as st

from metareview.errors import InputError, UsageError
from metareview.formats.comments import rdjson, rdjsonl
from metareview.formats.input_file import InputFile
from metareview.model.comment import Comment, Review
from metareview.outcomes.suggestions import suggestions

URL = "https://github.com/octo/shop/pull/7"
SHARED = Path(__file__).parent.parent.parent.parent / "shared/data/formats/rdjson/custom_rdjson.json"


def diagnostic(start=None, end=None, **fields):
    ends = {name: point for name, point in (("start", start), ("end", end)) if point is not None}
    return {"message": "m", "location": {"path": "a.py", **({"range": ends} if ends else {})}, **fields}


def read(*diagnostics, strict=True, **whole):
    source = InputFile.of_text(
        json.dumps({"diagnostics": diagnostics, **whole}), "d.json", strict=strict, named_pull_request=URL
    )
    assert recognised(source) == ["rdjson"]
    found = list(rdjson.read(source))
    lines = InputFile.of_text("\n".join(map(json.dumps, diagnostics)), "d.json", strict=strict, named_pull_request=URL)
    if diagnostics and not whole and strict:
        assert recognised(lines) == ["rdjsonl"]
        assert list(rdjsonl.read(lines)) == found
    return found, source.all_warnings()


@pytest.mark.parametrize(
    ("start", "end", "lines"),
    [
        (None, None, (None, None)),
        ({"line": 5}, None, (5, 5)),
        ({"line": 5, "column": 3}, {"line": 9}, (5, 9)),
        ({"line": 5}, {"line": 9, "column": 1}, (5, 8)),
        ({"line": 5, "column": 2}, {"line": 6, "column": 1}, (5, 5)),
        ({"line": 5}, {"line": 5, "column": 1}, (5, 5)),
        ({"line": 5}, {"line": 9, "column": 2}, (5, 9)),
        ({"line": 9}, {"line": 5}, (5, 9)),
    ],
)
def test_a_range_ends_before_its_end(start, end, lines):
    [review], _ = read(diagnostic(start, end))
    assert [(c.from_line, c.to_line) for c in review.comments] == [lines]


@pytest.mark.parametrize(
    ("severity", "kept"),
    [("ERROR", "ERROR"), ("warning", "warning"), (1, "ERROR"), (2, "WARNING"), (3, "INFO"), (0, None),
     ("UNKNOWN_SEVERITY", None), (None, None)],
)  # fmt: skip
def test_a_severity_is_a_name_or_its_number(severity, kept):
    assert read(diagnostic(severity=severity))[0][0].comments[0].severity == kept


def test_each_tool_is_a_reviewer_and_the_document_s_own_is_that_of_the_rest():
    given = [diagnostic(source={"name": "b"}, code={"value": "E14"}), diagnostic(severity=1), diagnostic()]
    found, warnings = read(*given, source={"name": "all"}, severity="INFO")
    assert found == [
        Review(URL, (Comment("m", "a.py", category="E14", severity="INFO"),), "b", source="d.json"),
        Review(
            URL, (Comment("m", "a.py", severity="ERROR"), Comment("m", "a.py", severity="INFO")), "all", source="d.json"
        ),
    ]
    assert warnings == []
    assert read(source={"name": "all"}) == ([Review(URL, (), "all", source="d.json")], [])


def suggestion(text, start, end):
    return {"text": text, "range": {"start": start, "end": end}}


@pytest.mark.parametrize(
    ("given", "note"),
    [
        (suggestion("x = 1\ny = 2", {"line": 5}, {"line": 6}), "m\n\n```suggestion\nx = 1\ny = 2\n```"),
        (suggestion("x = 1\n", {"line": 5, "column": 1}, {"line": 7, "column": 1}), "m\n\n```suggestion\nx = 1\n```"),
        (suggestion("", {"line": 5}, {"line": 6}), "m\n\n```suggestion\n```"),
        (suggestion("```\n", {"line": 5}, {"line": 6}), "m\n\n````suggestion\n```\n````"),
    ],
)
def test_a_suggestion_for_the_diagnostic_s_lines_is_kept_as_a_block_of_the_note(given, note):
    [review], warnings = read(diagnostic({"line": 5}, {"line": 6}, suggestions=[given]))
    assert [comment.note for comment in review.comments] == [note]
    assert warnings == []
    text = given["text"].removesuffix("\n")
    assert [each.lines for each in suggestions(note)] == [tuple(text.split("\n")) if text else ()]


def test_what_cannot_be_read_is_left_out_or_refused():
    wrong = diagnostic({"line": "N/A"}, severity=[])
    [review], warnings = read(wrong, strict=False)
    assert review.comments == (Comment("m", "a.py"),)
    assert warnings == [
        "d.json:1: line must be a line number from 1 to 2147483647, found 'N/A'; the field is left out",
        "d.json:1: severity must be a string, found a list; the field is left out",
    ]
    with pytest.raises(InputError, match=r"d\.json:1: line must be a line number"):
        read(wrong)
    with pytest.raises(InputError, match="a diagnostic must be an object"):
        read(3)


@given(
    reviews(
        comments(st.just((None, None)) | st.tuples(st.integers(1, 9), st.integers(9, 20)), SOME_TEXT,
                 path=SOME_TEXT, category=SOME_TEXT, severity=st.sampled_from(["ERROR", "WARNING", "INFO"])),
        pr=st.just("octo_shop#7"), reviewer=SOME_TEXT, min_comments=1,
    )
)  # fmt: skip
def test_what_is_written_is_read_back(some):
    [text] = rdjsonl.write(some).values()
    found = list(rdjsonl.read(InputFile.of_text(text, "octo_shop_7.rdjsonl")))
    assert [(r.reviewer, r.comments) for r in found] == [(r.reviewer, r.comments) for r in some]


def test_what_it_cannot_say_is_refused():
    for review, message in [
        (Review(URL, (), "bot"), "cannot hold the silence of bot"),
        (Review(URL, (Comment("x", side="LEFT"),)), "points at the new file only"),
        (Review(URL, (Comment(""),)), "without a note"),
    ]:
        with pytest.raises(UsageError, match=message):
            rdjsonl.write([review])


def test_several_pull_requests_are_files_and_an_empty_one_is_silence():
    given = [Review(f"https://github.com/octo/shop/pull/{n}", (Comment("x"),), "bot") for n in (7, 8)]
    assert list(rdjsonl.write(given)) == ["octo_shop_7.rdjsonl", "octo_shop_8.rdjsonl"]
    assert [review.pr for review in written_and_read("rdjsonl", given)] == ["octo_shop#7", "octo_shop#8"]
    empty = InputFile.of_text("\n", "octo_shop_9.rdjsonl")
    assert recognised(empty) == ["rdjsonl"]
    assert list(rdjsonl.read(empty)) == [Review("octo_shop#9", source="octo_shop_9.rdjsonl")]


@pytest.mark.skipif(not SHARED.is_file(), reason="no published diagnostics beside the checkout")
def test_reviewdog_s_own_file_is_read():
    source = InputFile(SHARED, named_pull_request=URL)
    assert recognised(source) == ["rdjson"]
    found = list(rdjson.read(source))
    assert [(review.reviewer, len(review.comments)) for review in found] == [(None, 14), ("rdjsonl-source", 1)]
    unnamed = found[0]
    assert [c.span for c in unnamed.comments][:5] == [(5, 9), (5, 5), (6, 6), (6, 8), (12, 12)]
    assert [c.severity for c in unnamed.comments][5:9] == ["INFO", "WARNING", "WARNING", "ERROR"]
    assert [len(suggestions(c.note)) for c in unnamed.comments][-3:] == [0, 1, 0]
    [warning] = source.all_warnings()
    assert "1 suggestion left out: it is for parts of lines" in warning
