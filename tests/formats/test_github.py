import json
from dataclasses import replace

import pytest
from comment_strategies import ADDRESSES, ANY_TEXT, SOME_TEXT, comments, recognised, reviews, written_and_read
from hypothesis import given
from hypothesis import strategies as st

from metareview.errors import InputError, UsageError
from metareview.formats.comments import github
from metareview.formats.input_file import InputFile
from metareview.model.comment import Comment, Review

API = "https://api.github.com/repos/octo/shop/pulls/5"
WEB = "https://github.com/octo/shop/pull/5"


def remark(**fields):
    """A review comment as the REST API gives it, and what is different about this one."""
    return {
        "id": 1001,
        "pull_request_url": API,
        "html_url": f"{WEB}#discussion_r1001",
        "diff_hunk": "@@ -1,3 +1,4 @@",
        "user": {"login": "octocat", "type": "User"},
        "body": "Close it",
        "path": "a.py",
        "side": "RIGHT",
        "line": 7,
        "start_line": None,
        "original_line": 5,
        "original_start_line": None,
        "subject_type": "line",
        "reactions": {"+1": 0},
    } | fields


def read(text, name="page.json"):
    source = InputFile.of_text(text if isinstance(text, str) else json.dumps(text), name)
    assert recognised(source) == ["github"]
    return list(github.read(source)), source.all_warnings()


def one(**fields):
    [review] = read([remark(**fields)])[0]
    [comment] = review.comments
    return review, comment


SEVEN = Comment("Close it", "a.py", "RIGHT", 7, 7, "discussion_r1001", outdated=False, reactions={})
NOWHERE = Comment("Close it", "a.py", "RIGHT", id="discussion_r1001", reactions={})


def test_a_comment_and_its_reviewer():
    review, _ = one()
    assert review == Review(WEB, (SEVEN,), "octocat", source="page.json")


@pytest.mark.parametrize("pages", ["[{0}][{1}]", "[{0}]\n[{1}]\n", "[[{0}],[{1}]]", "[{0},{1}]", "[[{0},{1}],[]]"])
def test_pages_of_arrays_are_one_list(pages):
    first, second = (json.dumps(remark(id=number, body=f"n{number}")) for number in (1, 2))
    text = pages.replace("{0}", first).replace("{1}", second)
    [review] = read(text)[0]
    assert [comment.note for comment in review.comments] == ["n1", "n2"]


def test_an_outdated_comment_stands_where_it_stood():
    assert one(line=None)[1] == SEVEN.replace(from_line=5, to_line=5, outdated=True)
    assert one(line=None, start_line=None, original_start_line=3)[1].span == (3, 5)
    assert one(line=None, original_line=None)[1] == NOWHERE


def test_who_does_not_say_what_the_first_line_was_does_not_tell_whether_it_is_outdated():
    assert one(original_line=None)[1].outdated is None


def test_a_comment_on_several_lines():
    assert one(start_line=4)[1].span == (4, 7)
    assert one(start_line=4, side="LEFT")[1].side == "LEFT"


def test_a_comment_on_a_whole_file_has_no_lines():
    assert one(subject_type="file", line=1, original_line=1)[1] == NOWHERE


def test_when_on_which_commit_and_what_people_made_of_it_is_kept():
    reactions = {"url": "https://api.github.com/x", "total_count": 3, "+1": 2, "-1": 0, "heart": 1}
    _, comment = one(created_at="2025-06-01T12:00:00Z", commit_id="b2", reactions=reactions)
    assert (comment.at, comment.commit, comment.reactions) == ("2025-06-01T12:00:00Z", "b2", {"+1": 2, "heart": 1})


def test_lines_and_commit_belong_together():
    """Lines were added above: the comment was made on line 7 of one commit, which is line 9 of the latest."""
    commits = {"original_commit_id": "a1", "commit_id": "b2", "original_line": 7}
    now, outdated = one(line=9, **commits)[1], one(line=None, **commits)[1]
    assert (now.commit, now.to_line) == ("b2", 9)
    assert (outdated.commit, outdated.to_line) == ("a1", 7)
    assert one(subject_type="file", line=None, **commits)[1].commit == "a1"
    assert one(line=9, original_commit_id="a1")[1].commit == "a1"


def test_a_reversed_range_is_swapped_with_a_warning():
    found, warnings = read(json.dumps([remark(start_line=9)], indent=1))
    assert found[0].comments[0].span == (7, 9)
    assert warnings == ["page.json:15: start_line 9 is after line 7; swapped"]


def test_replies_are_kept_as_such_and_not_counted():
    found, _ = read([remark(), remark(id=2, in_reply_to_id=1001), remark(id=3, in_reply_to_id=None)])
    told = [(comment.id, comment.in_reply_to, comment.counted) for review in found for comment in review.comments]
    first, second, third = "discussion_r1001", "discussion_r2", "discussion_r3"
    assert told == [(first, None, True), (second, first, False), (third, None, True)]


def test_whoever_github_calls_a_bot_ends_in_bot():
    assert one(user={"login": "Copilot", "type": "Bot"})[0].reviewer == "Copilot[bot]"
    assert one(user={"login": "renovate[bot]", "type": "Bot"})[0].reviewer == "renovate[bot]"


@pytest.mark.parametrize("user", [None, {}, {"login": None}])
def test_a_deleted_account_is_ghost(user):
    assert one(user=user)[0].reviewer == "ghost"


def test_each_login_and_pull_request_is_a_review_in_order_of_appearance():
    other = API.replace("/5", "/55")
    found, _ = read(
        [
            remark(id=1),
            remark(id=2, user={"login": "dependabot[bot]"}),
            remark(id=3, pull_request_url=other),
            remark(id=4),
        ]
    )
    assert [(r.pr, r.reviewer, [c.id for c in r.comments]) for r in found] == [
        (WEB, "octocat", ["discussion_r1", "discussion_r4"]),
        (WEB, "dependabot[bot]", ["discussion_r2"]),
        (WEB + "5", "octocat", ["discussion_r3"]),
    ]


@pytest.mark.parametrize(
    ("addresses", "pr"),
    [
        ({}, WEB),
        ({"pull_request_url": None}, WEB),
        ({"pull_request_url": "https://api.github.com/repos/o/repos/pulls/5"}, "https://github.com/o/repos/pull/5"),
        ({"pull_request_url": "https://api.github.com/repos/o/pulls/pulls/5"}, "https://github.com/o/pulls/pull/5"),
        ({"pull_request_url": "https://ghe.org/api/v3/repos/o/r/pulls/5"}, "https://ghe.org/o/r/pull/5"),
        (
            {"pull_request_url": None, "html_url": "https://github.com/o/repos/pull/5#discussion_r1"},
            "https://github.com/o/repos/pull/5",
        ),
        ({"pull_request_url": None, "html_url": None}, "shop#5"),
    ],
)
def test_the_address_is_the_one_people_use(addresses, pr):
    found, _ = read([remark(**addresses)], "comments_shop_5.json")
    assert [review.pr for review in found] == [pr]


def test_without_any_address_the_file_must_tell_the_pull_request():
    nowhere = json.dumps([remark(pull_request_url=None, html_url=None)])
    with pytest.raises(InputError, match=r"^page\.json:1: no pull_request_url.*comments_\{repo\}_\{number\}\.json"):
        read(nowhere)


@pytest.mark.parametrize("text", ["[]", "[[]]", "[] []", " [\n]\n"])
def test_an_empty_array_in_a_file_that_tells_its_pull_request_is_silence(text):
    assert read(text, "comments_shop_5.json")[0] == [Review("shop#5", source="comments_shop_5.json")]
    assert recognised(InputFile.of_text(text, "page.json")) == []


def test_nothing_but_replies_is_silence_too():
    only = [remark(in_reply_to_id=1)]
    answered, silent = read(only, "comments_shop_5.json")[0]
    assert [comment.in_reply_to for comment in answered.comments] == ["discussion_r1"]
    assert silent == Review("shop#5", source="comments_shop_5.json")
    assert [review.reviewer for review in read(only, "page.json")[0]] == ["octocat"]


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("line", 0, "line must be a line number from 1 to 2147483647, found 0"),
        ("start_line", -4, "start_line must be a line number"),
        ("user", "octocat", "user must be an object, found a string"),
        ("body", 5, "body must be a string, found a number"),
        ("pull_request_url", {}, "pull_request_url must be a string, found an object"),
    ],
)
def test_a_wrong_field_is_refused_with_its_line(field, value, problem):
    pages = json.dumps([remark()]) + "\n" + json.dumps([remark(**{field: value})], indent=0)
    line = 2 + [row.startswith(f'"{field}"') for row in pages.split("\n")[1:]].index(True)
    with pytest.raises(InputError) as error:
        read(pages)
    assert str(error.value).startswith(f"page.json:{line}: {problem}")


@pytest.mark.parametrize("item", ["5", "null", "[[]]"])
def test_what_is_no_comment_is_refused_with_its_line(item):
    with pytest.raises(InputError, match=r"^page\.json:2: a review comment must be an object"):
        read(f"[{json.dumps(remark())},\n{item}]")


REACTIONS = st.dictionaries(st.sampled_from(["+1", "-1", "laugh", "heart"]), st.integers(1, 99))
COMMENTS = comments(
    path=ANY_TEXT,
    side=ANY_TEXT,
    at=ANY_TEXT,
    commit=ANY_TEXT,
    in_reply_to=ANY_TEXT,
    outdated=st.booleans(),
    reactions=REACTIONS,
)


def as_github_has_it(comment):
    """GitHub has no range with one end: a missing end equals the other. Only lines are outdated."""
    if comment.from_line is None and comment.to_line is None:
        return comment.replace(outdated=None)
    start, end = comment.span
    return comment.replace(from_line=start, to_line=end)


def numbered(review, prefix):
    return replace(review, comments=tuple(c.replace(id=prefix + str(n)) for n, c in enumerate(review.comments)))


@given(
    reviews(COMMENTS, pr=ADDRESSES, reviewer=SOME_TEXT, min_comments=1),
    st.sampled_from([None, "", "discussion_r", "x-"]),
)
def test_what_is_written_is_read_back(found, prefix):
    found = [numbered(review, prefix) for review in found] if prefix is not None else found
    expected = [Review(review.pr, tuple(map(as_github_has_it, review.comments)), review.reviewer) for review in found]
    assert written_and_read("github", found) == expected


@pytest.mark.parametrize("answered", ["discussion_r7", "7"])
def test_threads_times_and_reactions_are_read_back(answered):
    whole = SEVEN.replace(at="2025-06-01T12:00:00Z", commit="a1", in_reply_to=answered, reactions={"+1": 1})
    [read_back] = written_and_read("github", [Review(WEB, (whole,), "octocat")])
    assert read_back.comments == (whole,)


@pytest.mark.parametrize(
    ("review", "problem"),
    [(Review(WEB, (SEVEN,)), "without a reviewer .*--name"), (Review(WEB, (), "octocat"), "the silence of octocat")],
)
def test_what_it_cannot_hold_is_not_written(review, problem):
    with pytest.raises(UsageError, match=problem):
        github.write([review])


def test_two_comments_of_one_id_would_be_one_on_github_and_are_not_written():
    with pytest.raises(UsageError, match=r"two comments of one id .*pull/5.*Use jsonl"):
        github.write([Review(WEB, (Comment("a", id="1"), Comment("b", id="1")), "octocat")])
