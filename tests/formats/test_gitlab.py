import json

import pytest
from comment_strategies import recognised
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.errors import InputError
from metareview.formats.comments import gitlab
from metareview.formats.input_file import InputFile
from metareview.model.comment import Comment, Review

WEB = "https://gitlab.com/octo/shop/-/merge_requests/5"


def note(number=1, **fields):
    told = {"id": number, "body": f"n{number}", "author": {"username": "ann"}, "created_at": "2025-06-01T12:00:00.000Z"}
    return {**told, "system": False, "noteable_type": "MergeRequest", "noteable_iid": 5, "resolvable": False} | fields


def position(**fields):
    told = {"head_sha": "abc", "position_type": "text", "new_path": "new.py", "old_path": "old.py"}
    return {**told, "new_line": 7, "old_line": None, "line_range": None} | fields


def discussion(*notes, **fields):
    return {"id": "d1", "individual_note": False, "notes": list(notes)} | fields


def read(value, name="page.json", about=WEB):
    source = InputFile.of_text(value if isinstance(value, str) else json.dumps(value), name, named_pull_request=about)
    assert recognised(source) == ["gitlab"]
    return list(gitlab.read(source)), source.all_warnings()


def only(value, **options):
    [review] = read(value, **options)[0]
    [comment] = review.comments
    return comment


def test_a_note_on_a_line():
    placed = note(resolvable=True, resolved=True, position=position(), type="DiffNote")
    assert read([discussion(placed)]) == (
        [
            Review(
                WEB,
                (
                    Comment(
                        "n1",
                        "new.py",
                        "right",
                        7,
                        7,
                        "note_1",
                        at="2025-06-01T12:00:00.000Z",
                        commit="abc",
                        resolved=True,
                    ),
                ),
                "ann",
                source="page.json",
            )
        ],
        [],
    )


def test_what_the_merge_request_tells_of_its_notes():
    merge_request = {
        "web_url": WEB,
        "author": {"username": "cy"},
        "merged_at": "2025-06-02T00:00:00.000Z",
        "closed_at": "soon",
        "diff_refs": {"base_sha": "b0", "head_sha": "abc"},
        "discussions": [
            discussion(note(1, position=position()), note(2, position=position())),
            discussion(note(3, position=position(head_sha="a1"))),
            discussion(note(4)),
        ],
    }
    [review] = read(merge_request, about=None)[0]
    assert (review.author, review.merged_at, review.closed_at) == ("cy", "2025-06-02T00:00:00.000Z", None)
    # One that GitLab did not move to the latest version has lost its lines.
    assert [(c.id, c.in_reply_to, c.outdated) for c in review.comments] == [
        ("note_1", None, False), ("note_2", "note_1", False), ("note_3", None, True), ("note_4", None, None)
    ]  # fmt: skip
    [bare] = read({**merge_request, "diff_refs": None, "author": None}, about=None)[0]
    assert (bare.author, {c.outdated for c in bare.comments}) == (None, {None})


def end(new, old, **fields):
    return {"line_code": f"a1_{old}_{new}", "type": "new", "new_line": new, "old_line": old} | fields


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"new_line": None, "old_line": 4}, ("old.py", "left", 4, 4)),
        ({"new_line": 9, "old_line": 4}, ("new.py", "right", 9, 9)),
        ({"new_line": None, "position_type": "file"}, ("new.py", None, None, None)),
        ({"line_range": {"start": end(3, None), "end": end(7, None)}}, ("new.py", "right", 3, 7)),
        ({"line_range": {"start": {"line_code": "a1_0_5"}, "end": {"line_code": "a1_0_7"}}}, ("new.py", "right", 5, 7)),
        ({"line_range": {"start": end(None, 2), "end": end(7, None)}}, ("new.py", "right", 7, 7)),
        (
            {"new_line": None, "old_line": 4, "line_range": {"start": end(None, 2), "end": end(None, 4)}},
            ("old.py", "left", 2, 4),
        ),
    ],
)
def test_the_place_of_a_note(fields, place):
    comment = only([discussion(note(position=position(**fields)))])
    assert (comment.path, comment.side, comment.from_line, comment.to_line) == place


def test_later_notes_of_a_discussion_answer_the_first():
    notes = [note(1), note(2, system=True), note(3, author={"username": "bob"})]
    found, _ = read([discussion(*notes), discussion(note(4), individual_note=True)])
    assert [(r.reviewer, [(c.note, c.in_reply_to) for c in r.comments]) for r in found] == [
        ("ann", [("n1", None), ("n4", None)]),
        ("bob", [("n3", "note_1")]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([discussion(note(1)), discussion(note(2))]),
        json.dumps([[discussion(note(1))], [discussion(note(2))]]),
        "[]" + json.dumps([discussion(note(1))]) + json.dumps([discussion(note(2))]),
        json.dumps([note(1), note(3, system=True), note(2)]),
        json.dumps({"iid": 5, "web_url": WEB, "discussions": [discussion(note(1)), discussion(note(2))]}),
        json.dumps({"iid": 5, "web_url": WEB, "Notes": [note(1), note(2)]}),
    ],
)
def test_discussions_notes_pages_and_objects_are_read(text):
    assert [(r.pr, [c.note for c in r.comments]) for r in read(text)[0]] == [(WEB, ["n1", "n2"])]


def test_the_object_s_address_goes_before_the_file_s_name():
    value = {"web_url": WEB, "discussions": [discussion(note())]}
    assert [r.pr for r in read(value, about=None)[0]] == [WEB]
    assert [r.pr for r in read([discussion(note())], "octo/shop/5.json", about=None)[0]] == ["octo/shop#5"]
    with pytest.raises(InputError, match=r"page\.json: nothing says which pull request it is about\. Give --pr"):
        read([discussion(note())], about=None)


def test_a_note_on_another_merge_request_is_refused():
    with pytest.raises(
        InputError, match=r"page\.json:1: a note on merge request 6, and the file is said to be about http"
    ):
        read([discussion(note(noteable_iid=6))])


def test_notes_on_issues_and_commits_are_left_out():
    found, warnings = read([note(1), note(2, noteable_type="Issue"), note(3, noteable_type="Commit")])
    assert [[c.note for c in r.comments] for r in found] == [["n1"]]
    assert warnings == ["page.json: 2 notes that are not on a merge request; left out"]


@pytest.mark.parametrize(
    ("author", "reviewer"),
    [
        (None, "ghost"),
        ({"username": "project_12_bot_a1b2"}, "project_12_bot_a1b2[bot]"),
        ({"username": "group_3_bot"}, "group_3_bot[bot]"),
        ({"username": "duo", "bot": True}, "duo[bot]"),
        ({"username": "robot"}, "robot"),
    ],
)
def test_bots_end_in_bot(author, reviewer):
    assert [r.reviewer for r in read([note(author=author)])[0]] == [reviewer]


def test_awards_are_reactions():
    awards = [{"name": "thumbsup"}, {"name": "thumbsup"}, {"name": "eyes"}]
    assert only([note(award_emoji=awards)]).reactions == {"+1": 2, "eyes": 1}
    assert only([note(award_emoji=[])]).reactions == {}
    assert only([note()]).reactions is None


def test_a_tool_s_summary_is_split():
    body = (
        "<details><summary>🧹 Nitpick comments (1)</summary><blockquote>\n<details><summary>a.py (1)</summary>"
        "<blockquote>\n\n`3-4`: **Rename.**\n</blockquote></details></blockquote></details>"
    )
    comment = only([discussion(note(body=body), individual_note=True)])
    assert (comment.note, comment.path, comment.span) == ("**Rename.**", "a.py", (3, 4))
    assert only([discussion(note(body="LGTM"))]).note == "LGTM"


def test_only_system_notes_is_silence():
    value = [discussion(note(system=True))]
    assert read(value) == ([Review(WEB, source="page.json")], [])


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([note(), {"id": 1}], "neither a discussion nor a note"),
        ([note(), 5], "a discussion or a note must be an object, found a number"),
        ([discussion(5)], "a note must be an object, found a number"),
        ([note(author="ann")], "author must be an object, found a string"),
        ([note(position=position(new_line=0))], "from_line must be a line number"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(value, problem):
    with pytest.raises(InputError) as error:
        read(value)
    assert str(error.value).startswith(f"page.json:1: {problem}")


KEYS = st.sampled_from(
    ["id", "body", "author", "username", "bot", "system", "notes", "discussions", "individual_note", "noteable_type",
     "noteable_iid", "web_url", "position", "new_line", "old_line", "new_path", "old_path", "line_range", "start",
     "end", "line_code", "resolvable", "resolved", "award_emoji", "name", "created_at"]
)  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers(-3, 12) | st.sampled_from([WEB, "MergeRequest", "a_1_2", "\ud800", "x"])
)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=8))


@settings(deadline=None)
@given(ANYTHING, st.booleans())
def test_whatever_has_such_keys_is_read_or_refused(value, strict):
    source = InputFile.of_text(json.dumps(value), "page.json", strict=strict)
    source.about = WEB
    try:
        gitlab.sniff(source)
        for review in gitlab.read(source):
            json.dumps([comment.to_dict() for comment in review.comments], ensure_ascii=False).encode()
            (review.reviewer or "").encode()
    except InputError:
        pass
