"""A comment whose text stands under a name that its format does not read is refused, in every format of JSON."""

import json

import pytest
from format_samples import FILE_NAME, SAMPLES

from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.registry import comment_formats

NOT_JSON = ("aacr-text",)
NAMES = ("text", "body", "content", "message", "comment")
MARK = "NOTE"
NOTES = ("The coupon is applied twice.", "Leaks.", "Applied twice.", "Race.")
"""What the samples say."""
FIELDS = {
    *("note", "body", "comment", "text", "content", "message", "description", "summary", "title"),
    *("failure_scenario", "issue_content", "issue_header", "suggestion_content", "one_sentence_summary"),
}


def comments_of(value):
    """The objects in a sample that hold a note."""
    if isinstance(value, dict) and any(value.get(name) in NOTES or is_message(value.get(name)) for name in FIELDS):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from comments_of(each)


def is_message(value):
    """SARIF's, which has its text within."""
    return (
        isinstance(value, dict) and ("text" in value or "id" in value) and value.keys() <= {"text", "id", "arguments"}
    )


def read(name, value):
    text = "\n".join(map(json.dumps, value)) if name == "rdjsonl" else json.dumps(value, indent=1)
    format_ = comment_formats(name)[name]
    return list(format_.read(InputFile.of_text(text, FILE_NAME, strict=False)))


def sample(name):
    text = SAMPLES[name]
    value = [json.loads(line) for line in text.splitlines()] if name == "rdjsonl" else json.loads(text)
    if name == "sarif":  # what its rule says stands in for a note
        value = {**value, "runs": [{"tool": {}, "results": [{"message": {"text": "Leaks."}}]}]}
    return value


FORMATS = [name for name in comment_formats() if name not in NOT_JSON and name in SAMPLES]


def test_every_format_of_ours_has_a_sample():
    assert {name for name in comment_formats() if "example" not in name} - {*NOT_JSON} <= {*SAMPLES}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("key", NAMES)
def test_a_text_under_another_name_is_refused_by_file_and_line(name, key):
    value = sample(name)
    comment = next(comments_of(value))
    for field in FIELDS & comment.keys():
        del comment[field]
    comment[key] = MARK
    if reads(name, value):
        return  # It is the format's own name for a note.
    with pytest.raises(InputError) as refused:
        read(name, value)
    assert str(refused.value.file) == FILE_NAME
    assert refused.value.line


def reads(name, value):
    """Whether the note is read under this name."""
    try:
        found = read(name, value)
    except InputError:
        return False
    return any(MARK in comment.note for review in found for comment in review.comments)


@pytest.mark.parametrize("key", NAMES)
def test_a_tag_in_the_place_of_the_note_is_refused_by_file_and_line(key):
    text = f"<path>a.py</path>\n<{key}>{MARK}</{key}>\n"
    format_ = comment_formats("aacr-text")["aacr-text"]
    with pytest.raises(InputError, match=rf"comments_shop_7\.txt:2: a comment without a note, but with <{key}>"):
        list(format_.read(InputFile.of_text(text, "comments_shop_7.txt", strict=False)))


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "jsonl"])  # which takes no further field
def test_a_further_text_beside_the_note_does_no_harm(name):
    value = sample(name)
    before = read(name, value)
    comment = next(comments_of(value))
    comment |= {
        "remark": "Not read.",
        **({} if "text" in comment or name == "aacr-standard" else {"text": "Not read."}),
    }
    assert read(name, value) == before


@pytest.mark.parametrize("name", FORMATS)
def test_a_comment_without_any_text_stays_empty(name):
    value = sample(name)
    comment = next(comments_of(value))
    for field in FIELDS & comment.keys():
        comment[field] = {} if isinstance(comment[field], dict) else ""
    assert any(not each.note for review in read(name, value) for each in review.comments)
