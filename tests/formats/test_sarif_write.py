import json
from pathlib import Path

import pytest
from comment_strategies import ANY_TEXT, LINES, SOME_TEXT, comments, reviews, written_and_read
from format_samples import SARIF
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.errors import UsageError
from metareview.formats.comments import sarif
from metareview.formats.input_file import InputFile
from metareview.model.comment import Comment, Review

URL = "https://github.com/octo/shop/pull/7"
SCHEMA = Path(__file__).parent.parent.parent.parent / "shared/data/formats/sarif/sarif-schema-2.1.0.schema.json"
TEXTS = dict.fromkeys(("side", "id", "category", "context", "severity", "author", "at", "commit"), SOME_TEXT)
FLAGS = {name: st.booleans() for name in ("resolved", "outdated", "neutral", "is_ai_comment")}
ANY_COMMENT = comments(
    LINES,
    path=SOME_TEXT | st.sampled_from(["src/a.py", "/srv/a.py", "C:/a.py", "a:b", "./a", "a/../b", "a//b", "a b%20c"]),
    **TEXTS,
    **FLAGS,
    in_reply_to=SOME_TEXT,
    producer=SOME_TEXT,
    source_model=SOME_TEXT,
    reactions=st.dictionaries(ANY_TEXT, st.integers(0, 9), max_size=2),
    meta=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2),
)
NUMBERED = st.integers(1, 99).map(lambda number: f"https://github.com/octo/shop/pull/{number}")
ANY_REVIEWS = reviews(ANY_COMMENT, NUMBERED, st.none() | SOME_TEXT, language=SOME_TEXT, pr_category=SOME_TEXT,
                      run=SOME_TEXT, cost=st.integers(0, 9))  # fmt: skip


def results(*given, **review):
    [text] = sarif.write([Review(URL, given, "bot", **review)]).values()
    return json.loads(text)["runs"][0]["results"]


@settings(deadline=None)
@given(ANY_REVIEWS)
def test_what_is_written_is_read_back_whatever_it_is(some):
    files = sarif.write(some)
    assert len(files) == len({review.key for review in some})
    found = written_and_read("sarif", some)
    grouped = sorted(found, key=lambda review: [each.key for each in some].index(review.key))
    assert sorted(map(repr, grouped)) == sorted(map(repr, some))


@pytest.mark.skipif(not SCHEMA.is_file(), reason="no SARIF schema beside the checkout")
@settings(max_examples=30, deadline=None)
@given(ANY_REVIEWS)
def test_what_is_written_is_valid_by_the_published_schema(some):
    from jsonschema import Draft7Validator

    validator = Draft7Validator(json.loads(SCHEMA.read_text("utf-8")))
    for text in sarif.write(some).values():
        assert [error.message for error in validator.iter_errors(json.loads(text))] == []


def test_what_sarif_has_a_place_for_is_in_that_place():
    comment = Comment("A set {1}.", "my code/a.py", None, 3, 4, category="leak", severity="error")
    assert results(comment) == [
        {
            "ruleId": "leak",
            "ruleIndex": 0,
            "level": "error",
            "message": {"text": "A set {{1}}."},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": "my%20code/a.py"},
                        "region": {"startLine": 3, "endLine": 4},
                    }
                }
            ],
        }
    ]


def test_what_it_has_no_place_for_is_in_our_bag_and_nothing_else():
    comment = Comment("x", "a.py", "left", severity="High", neutral=True, reactions={"+1": 2})
    [result] = results(comment)
    assert result["level"] == "error"
    assert result["properties"] == {
        "metareview": {"side": "left", "severity": "High", "reactions": {"+1": 2}, "neutral": True}
    }


def test_a_text_that_looks_like_a_link_and_a_path_that_would_be_tidied_stay_as_they_are():
    given = (Comment("see [here](1)", "./a/../b.py"), Comment("", "/abs/a.py"), Comment("x", "C:/a.py"))
    review = Review(URL, given, "bot")
    assert written_and_read("sarif", [review]) == [review]
    uris = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results(*given)]
    assert uris == ["./a/../b.py", "file:///abs/a.py", "file:///C:/a.py"]


def test_several_pull_requests_are_files_named_after_them():
    names = [URL, "https://gitlab.com/group/sub/app/-/merge_requests/9", "synthetic__style-01", "octo/shop@0a1b"]
    files = sarif.write([Review(name, (), "bot") for name in names])
    assert list(files) == [
        "octo_shop_7.sarif",
        "group_sub_app_9.sarif",
        "synthetic__style-01.sarif",
        "octo_shop@0a1b.sarif",
    ]
    for name, text in zip(names, files.values(), strict=True):
        assert [review.pr for review in sarif.read(InputFile.of_text(text, "x.sarif"))] == [name]


def test_two_pull_requests_of_one_name_are_refused():
    with pytest.raises(UsageError, match=r"octo_shop_7.sarif would be written for two. Use jsonl."):
        sarif.write([Review(URL), Review("https://git.example.org/octo/shop/pull/7")])


@pytest.mark.skipif(not SCHEMA.is_file(), reason="no SARIF schema beside the checkout")
def test_our_sample_is_valid_so_that_what_is_fuzzed_is_sarif():
    from jsonschema import Draft7Validator

    found = Draft7Validator(json.loads(SCHEMA.read_text("utf-8"))).iter_errors(SARIF)
    # The published schema is older than the standard there: it calls the status of a suppression its state.
    assert [error.message for error in found if "'status'" not in error.message] == []
