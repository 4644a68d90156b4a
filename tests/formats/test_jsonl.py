import json

import pytest
from comment_strategies import ANY_TEXT, SOME_TEXT, comments, recognised, reviews, written_and_read
from hypothesis import given
from hypothesis import strategies as st

from metareview.errors import InputError
from metareview.formats.comments import jsonl
from metareview.formats.input_file import InputFile
from metareview.model.comment import ChangedFile, Comment, Commit, Review

URL = "https://github.com/owner/repo/pull/5"


def read(text, name="a.jsonl"):
    source = InputFile.of_text(text, name)
    return list(jsonl.read(source)), source.all_warnings()


def refusal(text, name="a.jsonl"):
    with pytest.raises(InputError) as error:
        read(text, name)
    return str(error.value)


def read_or_refused(text):
    try:
        return read(text)
    except InputError as error:
        return str(error)


def test_a_line_is_a_review_with_all_its_fields():
    comment = {"id": 9, "path": "a.py", "side": "left", "from_line": 3, "to_line": "4", "note": "x",
               "category": "Performance", "context": "File Level", "severity": "high",
               "author": "ann", "at": "2025-01-01T10:00:00Z", "commit": "abc", "in_reply_to": 8, "resolved": True,
               "outdated": False, "reactions": {"+1": 2}, "neutral": True, "producer": "tool",
               "source_model": "m-1", "is_ai_comment": True, "meta": {"mine": 1}}  # fmt: skip
    commits = [
        {"sha": "a1", "at": "2025-01-01T09:00:00Z", "author": "ann", "parents": ["a0"],
         "files": [{"path": "a.py", "previous_path": "b.py", "status": "renamed", "patch": "@@ -1 +1 @@"}]},
        {"sha": "a2", "files": []},
        {"sha": "a3"},
        {"sha": "a4", "files": [{"path": "a.py", "patch": ""}, {"path": "b.py"}]},
    ]  # fmt: skip
    line = {
        "pr": URL,
        "reviewer": "bot",
        "language": "Go",
        "pr_category": "Bug Fix",
        "comments": [comment],
        "run": 2,
        "author": "ann",
        "merged_at": "2025-01-02T00:00:00Z",
        "closed_at": "2025-01-02",
        "commits": commits,
        "cost": 0.1,
        "tokens": 1200,
        "seconds": 3.5,
        "meta": {},
    }
    expected = Review(
        URL,
        (
            Comment("x", "a.py", "left", 3, 4, "9", "Performance", "File Level", "high", "ann", "2025-01-01T10:00:00Z",
                    "abc", "8", True, False, {"+1": 2}, True, "tool", "m-1", True, {"mine": 1}),
        ),
        reviewer="bot",
        language="Go",
        pr_category="Bug Fix",
        source="a.jsonl",
        run="2",
        author="ann",
        merged_at="2025-01-02T00:00:00Z",
        closed_at="2025-01-02",
        commits=(
            Commit("a1", "2025-01-01T09:00:00Z", "ann", ("a0",),
                   (ChangedFile("a.py", "b.py", "renamed", "@@ -1 +1 @@"),)),
            Commit("a2", files=()),
            Commit("a3"),
            Commit("a4", files=(ChangedFile("a.py", patch=""), ChangedFile("b.py"))),
        ),
        cost=0.1,
        tokens=1200,
        seconds=3.5,
        meta={},
    )  # fmt: skip
    assert read(json.dumps(line) + "\n") == ([expected], [])
    written = jsonl.write([expected])[""]
    assert read(written) == ([expected], [])


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"at": 5}, "at must be a string, found a number"),
        ({"resolved": "yes"}, "resolved must be true or false, found a string"),
        ({"reactions": {"+1": -1}}, "reactions must be an object of whole numbers"),
        ({"reactions": []}, "reactions must be an object, found a list"),
        ({"meta": []}, "meta must be an object, found a list"),
        ({"meta": json.loads('{"a":' * 60 + "1" + "}" * 60)}, "meta is nested more than 50 levels deep"),
    ],
)
def test_a_field_of_a_comment_that_cannot_be_read_is_refused_or_left_out(fields, problem):
    text = json.dumps({"pr": URL, "comments": [{"note": "x"} | fields]})
    assert f"a.jsonl:1: {problem}" in refusal(text)
    source = InputFile.of_text(text, "a.jsonl", strict=False)
    [review] = jsonl.read(source)
    assert review.comments == (Comment("x"),)
    assert source.all_warnings() == [f"a.jsonl:1: {problem}; the field is left out"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"cost": "1"}, "cost must be a number from 0 on, found '1'"),
        ({"seconds": float("nan")}, "seconds must be a number from 0 on, found nan"),
        ({"cost": 1e308}, "cost must be at most 9007199254740992"),
        ({"tokens": 10**400}, "tokens must be at most 9007199254740992"),
        ({"tokens": 2**53 + 1}, "tokens must be at most 9007199254740992"),
        ({"merged_at": "soon"}, "merged_at must be a time, found 'soon'"),
        ({"commits": {}}, "commits must be a list, found an object"),
        ({"commits": [{}]}, "sha is missing"),
        ({"commits": [{"sha": "a", "parents": "b"}]}, "parents must be a list of hashes, found a string"),
        ({"commits": [{"sha": "a", "file": []}]}, "unknown field 'file'. Did you mean files?"),
        ({"commits": [{"sha": "a", "files": [{"patch": "x"}]}]}, "path is missing"),
    ],
)
def test_a_field_of_a_record_that_cannot_be_read_is_refused(fields, problem):
    assert f"a.jsonl:1: {problem}" in refusal(json.dumps({"pr": URL} | fields))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'\xef\xbb\xbf{"pr": "u"}\r\n\r\n  \t\r\n{"pr": "v", "comments": null}', [("u", None), ("v", None)]),
        (b'{\n "pr": "u"\n}{"pr": "v"}', [("u", None), ("v", None)]),
        (b'{"pr": "u", "reviewer": ""}', [("u", None)]),
    ],
)
def test_blank_lines_line_ends_and_indents_change_nothing(tmp_path, data, found):
    path = tmp_path / "a.json"
    path.write_bytes(data)
    assert [(review.pr, review.reviewer) for review in jsonl.read(InputFile(path))] == found


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"pr": "u", "comments": [', "broken JSON: Expecting value (column 26)"),
        ('{"pr": "u",', "broken JSON: Expecting property name enclosed in double quotes"),
        ('{"pr": "u"} trailing', "broken JSON: Expecting value (column 13)"),
        ("{'pr': 'u'}", "broken JSON: Expecting property name"),
        ("pr: u", "broken JSON: Expecting value (column 1)"),
        ('{"pr": "u", "comments": [{"note": "a\tb"}]}', "broken JSON: Invalid control character"),
        ('{"pr": ' + "9" * 5000 + "}", "broken JSON: a number is too long"),
        ("[" * 100_000, "broken JSON: nested too deeply"),
        ("[]", "a line must be an object, found a list"),
        ("null", "a line must be an object, found null"),
        ('{"reviewer": "x"}', "pr is missing"),
        ('{"pr": ""}', "pr is empty"),
        ('{"pr": 5}', "pr must be a string, found a number"),
        ('{"pr": "u", "comments": {}}', "comments must be a list, found an object"),
        ('{"pr": "u", "comments": [{"note": ["x"]}]}', "note must be a string, found a list"),
        ('{"pr": "u", "comments": [{"note": "x", "from_line": 0}]}', "from_line must be a line number"),
    ],
)
def test_a_bad_line_is_named(line, problem):
    good = '{"pr": "v"}'
    message = refusal(f"{good}\n\n{line}\n{good}\n{good}")
    assert message.startswith("a.jsonl:3: ")
    assert problem in message


def test_a_first_line_that_breaks_off_is_the_one_to_blame():
    assert refusal('{"pr": "u", "comments": [\n{"pr": "v"}\n').startswith("a.jsonl:1: broken JSON")


def test_deep_values_in_fields_that_are_not_used_are_read_or_refused_with_a_line():
    for depth in range(900, 1010, 3):
        deep = "[" * depth + "]" * depth
        swapped = f'{{"pr": "u", "commits": {deep}, "comments": [{{"note": "a", "from_line": 2, "to_line": 1}}]}}'
        wrong = f'\n{{"pr": "u", "comments": [{{"note": "a", "from_line": {deep}}}]}}'
        result = read_or_refused(swapped)
        if isinstance(result, str):
            reasons = ("broken JSON: nested too deeply", "a commit must be an object, found a list")
            assert result.startswith(tuple(f"a.jsonl:1: {reason}" for reason in reasons))
        else:
            [review], warnings = result
            assert review.comments[0].span == (1, 2)
            assert warnings == ["a.jsonl:1: from_line 2 is after to_line 1; swapped"]
        assert refusal(wrong).startswith("a.jsonl:2: ")


def test_it_is_recognised_by_pr_alone():
    assert recognised(InputFile.of_text('{"pr": "u"}\n{"pr": "v"}', "a.json")) == ["jsonl"]
    assert recognised(InputFile.of_text('[{"pr": "u"}]', "a.jsonl")) == []


COMMENTS = comments(path=ANY_TEXT, side=ANY_TEXT, id=ANY_TEXT, category=ANY_TEXT, context=ANY_TEXT, severity=ANY_TEXT)


@given(reviews(COMMENTS, pr=SOME_TEXT, reviewer=st.none() | SOME_TEXT, language=ANY_TEXT, pr_category=ANY_TEXT))
def test_everything_that_is_written_is_read_back(found):
    assert written_and_read("jsonl", found) == found
    text = jsonl.write(found)[""]
    assert [json.loads(line)["pr"] for line in text.split("\n")[:-1]] == [review.pr for review in found]


def test_half_a_character_in_a_list_of_texts_is_replaced_too():
    commit = {"sha": "a", "at": "2025-06-01", "parents": ["b\ud800"]}
    [review], warnings = read(json.dumps({"pr": URL, "comments": [{"note": "x"}], "commits": [commit]}))
    assert review.commits[0].parents == ("b?",)
    assert warnings == ["a.jsonl:1: parents holds half a surrogate pair; replaced by ?"]
    jsonl.write([review])[""].encode()
