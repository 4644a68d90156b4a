import json

import pytest
from comment_strategies import (
    ADDRESSES,
    ANY_TEXT,
    NO_LINES,
    ONE_LINE,
    SOME_TEXT,
    comments,
    recognised,
    reviews,
    written_and_read,
)
from hypothesis import given

from metareview.errors import InputError, UsageError
from metareview.formats.comments import martian
from metareview.formats.input_file import InputFile
from metareview.model.comment import Comment, Review

URL = "https://github.com/owner/repo/pull/5"
GOLDEN = [
    {
        "pr_title": "A title",
        "url": URL,
        "comments": [{"comment": "Race on start", "severity": "High"}, {"comment": "Typo", "severity": None}],
    },
    {"url": URL + "6", "comments": []},
]
CANDIDATES = {
    URL: {
        "tool-a": [{"text": "Race", "path": "a.go", "line": 7, "source": "extracted"}, {"text": "No place"}],
        "tool-b": [],
    },
    URL + "6": {"tool-a": [{"text": "x", "path": None, "line": None}]},
}


def read(value):
    source = InputFile.of_text(value if isinstance(value, str) else json.dumps(value), "m.json")
    assert recognised(source) == ["martian"]
    return list(martian.read(source)), source.all_warnings()


def test_golden_comments_have_a_severity_and_no_place():
    assert read(GOLDEN) == (
        [
            Review(URL, (Comment("Race on start", severity="High"), Comment("Typo")), source="m.json"),
            Review(URL + "6", source="m.json"),
        ],
        [],
    )


def test_candidates_are_a_review_for_each_address_and_tool_even_a_silent_one():
    said = (Comment("Race", "a.go", from_line=7, to_line=7), Comment("No place"))
    assert read(CANDIDATES) == (
        [
            Review(URL, said, "tool-a", source="m.json"),
            Review(URL, (), "tool-b", source="m.json"),
            Review(URL + "6", (Comment("x"),), "tool-a", source="m.json"),
        ],
        [],
    )


def test_an_address_that_no_tool_spoke_on_is_recognised():
    assert read({URL: {}}) == ([], [])


@pytest.mark.parametrize(
    "value",
    [
        {"repo#5": {"tool": []}},
        {URL: [{"text": "x"}]},
        {URL: {"tool": "x"}},
        {},
        [],
        [{"url": URL}],
        [{"comments": []}],
        [URL],
        {"url": URL, "comments": []},
    ],
)
def test_other_shapes_are_not_taken_for_it(value):
    assert recognised(InputFile.of_text(json.dumps(value), "m.json")) == []


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (f'[{{"url": "{URL}", "comments": []}},\n{{"comments": []}}]', 2, "url is missing"),
        (f'[{{"url": "{URL}", "comments":\n{{}}}}]', 2, "comments must be a list, found an object"),
        (f'[{{"url": "{URL}", "comments": [\n5]}}]', 2, "a comment must be an object, found a number"),
        (f'[{{"url": "{URL}", "comments": []}},\n\n7]', 3, "a pull request must be an object, found a number"),
        (f'{{"{URL}": {{"t": [\n"x"]}}}}', 2, "a candidate must be an object, found a string"),
        (f'{{"{URL}": {{"t": [{{"text": "x",\n"line": 0}}]}}}}', 2, "line must be a line number"),
        (f'{{"{URL}": {{}},\n"{URL}6":\n[]}}', 3, "a pull request must be an object, found a list"),
        (f'{{"{URL}": {{"t": []}}, "{URL}6": {{"t":\n5}}}}', 2, "t must be a list, found a number"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text, line, problem):
    with pytest.raises(InputError) as error:
        read(text)
    assert str(error.value).startswith(f"m.json:{line}: {problem}")


def test_half_a_surrogate_pair_in_a_name_is_replaced_with_a_warning():
    found, warnings = read(f'{{"{URL}": {{\n"t\\ud800": [{{"text": "x"}}]}}}}')
    assert found == [Review(URL, (Comment("x"),), "t?", source="m.json")]
    assert warnings == ["m.json:2: t\\ud800 holds half a surrogate pair; replaced by ?"]


@given(reviews(comments(NO_LINES, severity=ANY_TEXT), pr=SOME_TEXT))
def test_golden_comments_that_are_written_are_read_back(found):
    assert written_and_read("martian", found) == found


@given(reviews(comments(ONE_LINE | NO_LINES, path=ANY_TEXT), pr=ADDRESSES, reviewer=SOME_TEXT))
def test_candidates_that_are_written_are_read_back(found):
    in_order = sorted(found, key=lambda r: [review.pr for review in found].index(r.pr))
    assert written_and_read("martian", found) == in_order


@pytest.mark.parametrize("lines", [(7, None), (None, 7)])
def test_one_missing_line_equals_the_other(lines):
    said = Review(URL, (Comment("x", "a", None, *lines),), "t")
    assert written_and_read("martian", [said])[0].comments == (Comment("x", "a", None, 7, 7),)


@pytest.mark.parametrize(
    "found",
    [
        [Review(URL, (Comment("x", "a"),))],
        [Review(URL, (Comment("x", to_line=3),))],
        [Review(URL, (Comment("x", side="right"),))],
        [Review(URL, (Comment("x", "a", None, 3, 4),), "t")],
        [Review(URL, (Comment("x", "a", "right", 3, 3),), "t")],
        [Review(URL, (), "t"), Review(URL)],
    ],
)
def test_what_it_cannot_hold_is_not_written(found):
    with pytest.raises(UsageError, match=r"^martian.*Use jsonl\.$"):
        martian.write(found)
