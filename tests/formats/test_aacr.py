import json

import pytest
from comment_strategies import ANY_TEXT, SOME_TEXT, comments, recognised, reviews, written_and_read
from hypothesis import given

from metareview.errors import InputError, UsageError
from metareview.formats.comments import aacr
from metareview.formats.input_file import InputFile
from metareview.model.comment import Comment, Review

URL = "https://github.com/owner/repo/pull/123"
EXAMPLE = """{
    "category": "Bug Fix",
    "project_main_language": "Python",
    "githubPrUrl": "https://github.com/owner/repo/pull/123",
    "comments": [
        {
            "id": "comment_1",
            "note": "Comment content",
            "path": "src/main.py",
            "side": "right",
            "from_line": 10,
            "to_line": 15,
            "category": "Code Defect",
            "context": "Diff Level"
        }
    ]
}"""
REVIEW = Review(
    URL,
    (Comment("Comment content", "src/main.py", "right", 10, 15, "comment_1", "Code Defect", "Diff Level"),),
    language="Python",
    pr_category="Bug Fix",
    source="a.json",
)


def read(text):
    source = InputFile.of_text(text, "a.json")
    return list(aacr.read(source)), source.all_warnings()


def one_comment(**fields):
    [review] = read(json.dumps([{"githubPrUrl": URL, "comments": [fields]}]))[0]
    return review.comments[0]


@pytest.mark.parametrize("text", [EXAMPLE, f"[{EXAMPLE}]"])
def test_the_documented_record_is_read_alone_and_in_a_list(text):
    assert read(text) == ([REVIEW], [])
    assert recognised(InputFile.of_text(text, "a.json")) == ["aacr"]


def test_unknown_fields_are_ignored():
    record = json.loads(EXAMPLE) | {"project": {"stars": [1]}, "reviewer": "x"}
    record["comments"][0] |= {"stars": [2], "source_model": None}
    assert read(json.dumps([record]))[0] == [REVIEW]


def test_who_wrote_a_reference_is_kept():
    by_model = one_comment(note="x", is_ai_comment=True, source_model="GPT-9")
    assert (by_model.is_ai_comment, by_model.source_model, by_model.made_by) == (True, "GPT-9", "GPT-9")
    by_people = one_comment(note="x", is_ai_comment=False, source_model="")
    assert (by_people.made_by, by_people.ai_or_people) == ("people", "people")


@pytest.mark.parametrize("fields", [{}, {"comments": None}, {"comments": []}])
def test_a_record_without_comments_is_silence(fields):
    assert read(json.dumps([{"githubPrUrl": URL} | fields]))[0] == [Review(URL, source="a.json")]


@pytest.mark.parametrize(
    ("fields", "comment"),
    [
        *(({"from_line": value}, Comment("x", from_line=7)) for value in (7, 7.0, "7", " 7 ")),
        ({"from_line": None, "to_line": ""}, Comment("x")),
        ({"id": 12}, Comment("x", id="12")),
        ({"note": "a\0b" + "x" * 100_000}, Comment("a\0b" + "x" * 100_000)),
    ],
)
def test_a_field_is_read_as_its_meaning(fields, comment):
    assert one_comment(**{"note": "x", **fields}) == comment


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0", "0"),
        ("-2", "-2"),
        ("7.5", "7.5"),
        ("2147483648", "2147483648"),
        ("true", "True"),
        ('"abc"', "'abc'"),
        ('"7.0"', "'7.0'"),
        ('"-7"', "'-7'"),
        ("1e999", "inf"),
        ("NaN", "nan"),
        ("[7]", "a list"),
        ('{"line": 7}', "an object"),
        ("9" * 300, "a number"),
        ('"' + "9" * 300 + '"', "a string"),
    ],
)
def test_what_is_no_line_number_is_refused_with_its_line(value, shown):
    text = f'[\n{{"githubPrUrl": "{URL}",\n"comments": [\n{{"note": "x",\n"to_line": {value}}}]}}]'
    with pytest.raises(InputError) as error:
        read(text)
    assert (error.value.file, error.value.line) == ("a.json", 5)
    assert f"to_line must be a line number from 1 to 2147483647, found {shown}. " in str(error.value)


def test_a_reversed_range_is_swapped_with_a_warning_that_names_the_line():
    text = EXAMPLE.replace('"from_line": 10', '"from_line": 20')
    [review], warnings = read(text)
    assert review.comments[0].span == (15, 20)
    assert warnings == ["a.json:11: from_line 20 is after to_line 15; swapped"]


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        (f'"{URL}"', "null", 4, "githubPrUrl must be a string, found null"),
        (f'"{URL}"', "5", 4, "githubPrUrl must be a string, found a number"),
        ('"Bug Fix"', "[]", 2, "category must be a string, found a list"),
        ('"src/main.py"', "{}", 9, "path must be a string, found an object"),
        ('"comment_1"', "true", 7, "id must be a string, found a boolean"),
        ('"comments": [', '"comments": "none", "x": [', 5, "comments must be a list, found a string"),
        ('"comments": [', '"comments": [null,', 5, "a comment must be an object, found null"),
    ],
)
def test_a_field_of_the_wrong_type_is_refused_with_its_line(old, new, line, problem):
    assert EXAMPLE.count(old) == 1
    with pytest.raises(InputError) as error:
        read(EXAMPLE.replace(old, new))
    assert str(error.value).startswith(f"a.json:{line}: {problem}. ")


def test_a_list_of_something_else_is_refused_with_its_line():
    with pytest.raises(InputError, match=r"^a\.json:2: a pull request must be an object, found a string"):
        read(f'[{{"githubPrUrl": "{URL}"}},\n"x"]')


def test_half_a_surrogate_pair_is_replaced_with_a_warning():
    text = EXAMPLE.replace("Comment content", "Comment \\ud83d content \\ud83d\\ude00")
    [review], warnings = read(text)
    assert review.comments[0].note == "Comment ? content 😀"
    assert warnings == ["a.json:8: note holds half a surrogate pair; replaced by ?"]


COMMENTS = comments(path=ANY_TEXT, side=ANY_TEXT, id=ANY_TEXT, category=ANY_TEXT, context=ANY_TEXT, severity=ANY_TEXT)


@given(reviews(COMMENTS, pr=SOME_TEXT, language=ANY_TEXT, pr_category=ANY_TEXT))
def test_what_is_written_is_read_back(found):
    assert written_and_read("aacr", found) == found


def test_two_reviewers_of_one_pull_request_are_not_written_as_one():
    two = [Review(URL, reviewer="x"), Review(URL + "/files", reviewer="y")]
    with pytest.raises(UsageError, match="no field for the reviewer"):
        aacr.write(two)
    assert len(aacr.write([two[0], Review(URL + "4", reviewer="y")])) == 1
