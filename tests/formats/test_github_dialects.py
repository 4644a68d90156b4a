import base64
import hashlib
import json
import struct
from pathlib import Path

import pytest
from comment_strategies import recognised
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.errors import InputError
from metareview.formats.api_reply import reply_record
from metareview.formats.comments import github
from metareview.formats.github import timeline
from metareview.formats.github.raw_comment import number_of_node
from metareview.formats.input_file import InputFile
from metareview.formats.reader import read_inputs, read_reference_set

WEB = "https://github.com/octo/shop/pull/5"
API = "https://api.github.com/repos/octo/shop"
ANN, BOT = {"login": "ann", "type": "User"}, {"login": "rev[bot]", "type": "Bot"}
WEBHOOKS = Path(__file__).resolve().parents[3] / "shared" / "data" / "formats" / "github" / "webhooks.json"


def review_comment(number=1, **fields):
    told = {"id": number, "user": BOT, "body": f"c{number}", "path": "a.py", "line": 7, "side": "RIGHT"}
    return {
        **told,
        "pull_request_url": f"{API}/pulls/5",
        "diff_hunk": "@@",
        "created_at": "2025-06-01T12:00:00Z",
    } | fields


def review(number=1, **fields):
    told = {"id": number, "user": ANN, "body": f"r{number}", "state": "COMMENTED", "commit_id": "abc"}
    return {**told, "pull_request_url": f"{API}/pulls/5", "submitted_at": "2025-06-01T13:00:00Z"} | fields


def issue_comment(number=1, **fields):
    told = {"id": number, "user": ANN, "body": f"i{number}", "created_at": "2025-06-01T14:00:00Z"}
    return {**told, "issue_url": f"{API}/issues/5", "html_url": f"{WEB}#issuecomment-{number}"} | fields


def node(number=1, **fields):
    """A comment of a thread, as GraphQL gives it."""
    told = {"databaseId": number, "body": f"c{number}", "createdAt": "2025-06-01T12:00:00Z"}
    return {**told, "author": {"login": "rev", "__typename": "Bot"}, "replyTo": None} | fields


def thread(*nodes, **fields):
    place = {"path": "a.py", "line": 7, "startLine": None, "originalLine": 7, "diffSide": "RIGHT"}
    state = {"isResolved": True, "isOutdated": False, "subjectType": "LINE"}
    return {**state, **place, "comments": {"nodes": list(nodes)}} | fields


def response(**members):
    return {"data": {"repository": {"pullRequest": {"url": WEB, **members}}}}


def read(value, name="page.json", about=None):
    source = InputFile.of_text(value if isinstance(value, str) else json.dumps(value), name, named_pull_request=about)
    assert recognised(source) == ["github"]
    return list(github.read(source)), source.all_warnings()


def said(value, **options):
    """Who said what where, in order."""
    return [(r.pr, r.reviewer, [c.note for c in r.comments]) for r in read(value, **options)[0]]


def only(value, **options):
    [found] = read(value, **options)[0]
    [comment] = found.comments
    return comment


# REST


def test_the_body_of_a_review_is_a_comment_without_a_place():
    assert said([review()]) == [(WEB, "ann", ["r1"])]
    comment = only([review()])
    assert (comment.path, comment.span[0], comment.at, comment.commit) == (None, 1, "2025-06-01T13:00:00Z", "abc")
    assert (comment.from_line, comment.to_line, comment.id) == (None, None, "pullrequestreview-1")


def test_reviews_that_say_nothing_and_those_never_submitted_are_left_out():
    empty = [review(1, body=""), review(2, body=None, state="APPROVED"), review(3, body=" \n"), review(5)]
    assert said([*empty, review(4, state="PENDING")]) == [(WEB, "ann", ["r5"])]


def test_to_approve_without_a_word_is_silence_but_a_reply_is_no_review():
    ben, cleo = {"login": "ben", "type": "User"}, {"login": "cleo", "type": "User"}
    reviews = [
        review(1, body="", state="APPROVED", user=ben),
        review(2, body="", state="COMMENTED", user=cleo),
        review(3),
    ]
    assert said(reviews) == [(WEB, "ben", []), (WEB, "ann", ["r3"])]


def test_a_comment_on_the_whole_pull_request():
    comment = only([issue_comment(reactions={"+1": 1, "total_count": 1})])
    assert (comment.note, comment.path, comment.at) == ("i1", None, "2025-06-01T14:00:00Z")
    assert comment.reactions == {"+1": 1}


def test_a_comment_whose_page_is_not_told_is_on_the_pull_request_of_that_number():
    assert said([issue_comment(html_url=None)]) == [(WEB, "ann", ["i1"])]
    enterprise = "https://ghe.org/api/v3/repos/octo/shop/issues/5"
    assert said([issue_comment(html_url=None, issue_url=enterprise)]) == [
        ("https://ghe.org/octo/shop/pull/5", "ann", ["i1"])
    ]


ON_ISSUE = issue_comment(2, html_url="https://github.com/octo/shop/issues/5#issuecomment-2")


def test_what_was_said_on_an_issue_is_left_out():
    found, warnings = read([issue_comment(html_url=f"{WEB}6#issuecomment-1"), ON_ISSUE])
    assert [(r.pr, [c.note for c in r.comments]) for r in found] == [(f"{WEB}6", ["i1"])]
    assert warnings == ["page.json: 1 comment on an issue that is no pull request; left out"]


@pytest.mark.parametrize(
    "told",
    [
        {"value": [ON_ISSUE], "about": WEB},
        {"value": [ON_ISSUE], "about": "octo/shop#5"},
        {"value": [ON_ISSUE], "name": "comments_shop_5.json"},
        {"value": [ON_ISSUE], "name": "octo/shop/5/issue_comments.json"},
    ],
)
def test_unless_the_number_is_known_to_be_a_pull_request_s(told):
    assert said(**told) == [(WEB, "ann", ["i2"])]


def test_another_comment_of_the_file_tells_so_too():
    assert said([review(), ON_ISSUE]) == [(WEB, "ann", ["r1", "i2"])]


EVERYTHING = [(WEB, "rev[bot]", ["c1", "c2"]), (WEB, "ann", ["r1", "i1"])]
ALL = [[review_comment(1), review_comment(2)], [review(1)], [issue_comment(1)]]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ALL),
        json.dumps([*ALL[0], *ALL[1], *ALL[2]]),
        "\n".join(map(json.dumps, ALL)),
        "[]" + "".join(map(json.dumps, ALL)) + "[]",
        json.dumps({"comments": ALL[0], "reviews": ALL[1], "issue_comments": ALL[2]}),
        json.dumps([{"review_comments": [ALL[0]], "reviews": ALL[1], "issue_comments": ALL[2]}]),
        "\n".join(json.dumps(each) for page in ALL for each in page),
    ],
)
def test_kinds_may_be_mixed_in_one_file_in_any_way(text):
    assert said(text) == EVERYTHING


def test_a_pull_request_s_own_description_is_no_comment():
    pull_request = {"number": 5, "title": "Faster", "body": "It is.", "user": ANN, "html_url": WEB, "comments": 3}
    found, _ = read({"pull_request": pull_request, "comments": [review_comment(pull_request_url=None)], "reviews": []})
    assert [(r.pr, r.author, [c.note for c in r.comments]) for r in found] == [(WEB, "ann", ["c1"])]
    with pytest.raises(AssertionError):
        read([pull_request])


# GraphQL


def test_a_thread_has_a_comment_and_its_replies():
    found, warnings = read(response(reviewThreads={"nodes": [thread(node(1), node(2, replyTo={"databaseId": 1}))]}))
    [review] = found
    first, reply = review.comments
    assert (review.pr, review.reviewer, warnings) == (WEB, "rev[bot]", [])
    assert (first.note, first.path, first.side, first.span) == ("c1", "a.py", "RIGHT", (7, 7))
    assert (first.resolved, first.outdated, first.in_reply_to) == (True, False, None)
    assert (first.id, reply.in_reply_to, reply.counted) == ("discussion_r1", "discussion_r1", False)


def test_the_comments_of_a_thread_may_be_edges():
    edges = {"edges": [{"node": node(1)}, None, {"node": None}, {"node": node(2)}]}
    [review] = read([thread(comments=edges)], about=WEB)[0]
    assert [(comment.note, comment.in_reply_to) for comment in review.comments] == [
        ("c1", None),
        ("c2", "discussion_r1"),
    ]


def test_whatever_follows_the_first_of_a_thread_answers_it():
    [review] = read([thread(node(1), node(2))], about=WEB)[0]
    assert [comment.in_reply_to for comment in review.comments] == [None, "discussion_r1"]


@pytest.mark.parametrize(
    ("fields", "lines", "outdated"),
    [
        ({"startLine": 4}, (4, 7), False),
        ({"line": None, "originalLine": 9, "isOutdated": True}, (9, 9), True),
        ({"line": None, "originalLine": 9, "originalStartLine": 8, "isOutdated": True}, (8, 9), True),
        ({"subjectType": "FILE", "line": None, "originalLine": 1}, (None, None), False),
    ],
)
def test_the_lines_of_a_thread(fields, lines, outdated):
    comment = only(response(reviewThreads={"nodes": [thread(node(), **fields)]}))
    assert (comment.from_line, comment.to_line, comment.outdated) == (*lines, outdated)


def test_reactions_and_commit_of_graphql_are_called_as_rest_calls_them():
    groups = [{"content": "THUMBS_UP", "users": {"totalCount": 2}}, {"content": "EYES", "reactors": {"totalCount": 1}}]
    groups += [{"content": "HEART", "users": {"totalCount": 0}}]
    one = node(reactionGroups=groups, originalCommit={"oid": "a1"}, commit={"oid": "b2"})
    comment = only(response(reviewThreads={"nodes": [thread(one)]}))
    assert (comment.reactions, comment.commit) == ({"+1": 2, "eyes": 1}, "b2")
    outdated = thread(one, line=None, originalLine=9, isOutdated=True)
    assert only(response(reviewThreads={"nodes": [outdated]})).commit == "a1"


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda threads: response(reviewThreads={"nodes": threads}),
        lambda threads: response(reviewThreads={"edges": [{"node": each} for each in threads], "pageInfo": {}}),
        lambda threads: [response(reviewThreads={"nodes": [each]}) for each in threads],
        lambda threads: {"data": {"repository": {"nameWithOwner": "octo/shop", "pullRequest": {
            "number": 5, "reviewThreads": {"nodes": [None, *threads]}}}}},
        lambda threads: {"data": {"repository": {"owner": {"login": "octo"}, "name": "shop", "pullRequests": {"nodes": [
            {"number": 5, "reviewThreads": {"nodes": threads}}]}}}},
        lambda threads: {"data": {"first": {"pullRequest": {"url": WEB, "reviewThreads": {"nodes": threads}}}}},
        lambda threads: {"data": {"repository": {"a": {"url": WEB, "reviewThreads": {"nodes": threads}}, "b": None}}},
        lambda threads: {"data": {"node": {"url": WEB, "reviewThreads": {"nodes": threads}}}},
    ],
)  # fmt: skip
def test_threads_are_found_in_whatever_a_query_wraps_them(wrapped):
    assert said(wrapped([thread(node(1)), thread(node(2))])) == [(WEB, "rev[bot]", ["c1", "c2"])]


def test_bare_threads_need_to_be_told_their_pull_request():
    assert said([thread(node())], name="octo/shop/5.json") == [("octo/shop#5", "rev[bot]", ["c1"])]
    assert said([thread(node())], name="octo/shop/5/threads.json") == [("octo/shop#5", "rev[bot]", ["c1"])]
    with pytest.raises(InputError, match=r"page\.json:1: no pull_request_url.*Give --pr URL"):
        read([thread(node())])


def test_reviews_and_comments_beside_the_threads():
    members = {
        "author": {"login": "cy"},
        "mergedAt": "2025-06-02T00:00:00Z",
        "closedAt": None,
        "reviews": {"nodes": [{"databaseId": 9, "body": "Fine", "state": "APPROVED", "author": None,
                               "submittedAt": "2025-06-01T13:00:00Z", "commit": {"oid": "b2"},
                               "comments": {"nodes": [node(1, path="a.py", line=7)]}}]},
        "comments": {"nodes": [{"databaseId": 8, "body": "Thanks", "author": {"login": "cy", "__typename": "User"}}]},
    }  # fmt: skip
    found, _ = read(response(**members))
    assert [(r.reviewer, [c.note for c in r.comments]) for r in found] == [
        ("ghost", ["Fine"]), ("rev[bot]", ["c1"]), ("cy", ["Thanks"])
    ]  # fmt: skip
    assert {(r.author, r.merged_at, r.closed_at) for r in found} == {("cy", "2025-06-02T00:00:00Z", None)}


def test_errors_in_an_answer_are_warned_of():
    partial = {**response(reviewThreads={"nodes": [thread(node())]}), "errors": [{"message": "timeout"}]}
    assert read(partial)[1] == ["page.json:1: GitHub's answer has errors: something may be missing"]


def test_a_page_that_was_not_fetched_is_warned_of():
    def page(number, more, url=WEB):
        threads = {"nodes": [thread(node(number))], "pageInfo": {"hasNextPage": more, "endCursor": "x"}}
        return {"data": {"repository": {"pullRequest": {"url": url, "reviewThreads": threads}}}}

    assert read([page(1, True), page(2, False)])[1] == []
    assert read(json.dumps(page(1, True)) + json.dumps(page(2, False)))[1] == []
    missing = ["page.json: 1 list goes on on a page that is not in the file"]
    assert read(page(1, True))[1] == missing
    assert read([page(1, True), page(2, True)])[1] == missing
    assert read([page(1, True), page(2, False, f"{WEB}6")])[1] == missing


def test_what_gh_prints():
    printed = {
        "author": {"login": "cy", "name": "Cy"},
        "body": "What it does",
        "title": "Faster",
        "url": WEB,
        "comments": [{"id": "IC_kwDOAAAAB84AAAAq", "author": {"login": "ann"}, "body": "Why?", "reactionGroups": [],
                      "createdAt": "2025-06-01T14:00:00Z", "url": f"{WEB}#issuecomment-42"}],
        "reviews": [{"id": "PRR_kwDOAAAAB84AAAAr", "author": {"login": "ann"}, "body": "No.", "state": "COMMENTED",
                     "submittedAt": "2025-06-01T15:00:00Z", "commit": {"oid": "b2"}}],
    }  # fmt: skip
    [review] = read(printed)[0]
    assert [(c.id, c.note, c.at) for c in review.comments] == [
        ("issuecomment-42", "Why?", "2025-06-01T14:00:00Z"), ("pullrequestreview-43", "No.", "2025-06-01T15:00:00Z")
    ]  # fmt: skip
    assert (review.pr, review.reviewer, review.author) == (WEB, "ann", "cy")
    assert [r.pr for r in read([printed])[0]] == [WEB]
    assert read({**printed, "comments": [], "reviews": []})[0] == []


# The same comment twice


def test_one_comment_in_two_dialects_counts_once_with_what_either_knows():
    both = {"comments": [review_comment(1, body="c1"), review_comment(2)], "reviews": []}
    found, warnings = read(json.dumps(both) + json.dumps(response(reviewThreads={"nodes": [thread(node(1))]})))
    [review] = found
    assert [(c.note, c.resolved) for c in review.comments] == [("c1", True), ("c2", None)]
    assert warnings == ["page.json: 1 comment is given again; it counts once"]


TOLD = {"author": {"login": "cy"}, "mergedAt": "2025-06-02T00:00:00Z", "closedAt": "2025-06-03T00:00:00Z"}


SEVENTH = ({"databaseId": 7}, {"id": "PRRC_kwDOAAAAB84AAAAH"}, {"url": f"{WEB}#discussion_r7"})


@pytest.mark.parametrize("answered", [*SEVENTH, {}])
@pytest.mark.parametrize("named", SEVENTH)
def test_a_reply_names_the_comment_that_began_its_thread(answered, named):
    first, reply = {**node(None), **named}, node(8, author={"login": "ann"}, replyTo=answered)
    found, _ = read(response(reviewThreads={"nodes": [thread(first, reply)]}))
    assert [(c.id, c.in_reply_to) for review in found for c in review.comments] == [
        ("discussion_r7", None),
        ("discussion_r8", "discussion_r7"),
    ]


def test_rest_and_graphql_of_one_pull_request_are_one_comment_each():
    place = {"line": None, "original_line": 7, "commit_id": "b2", "original_commit_id": "a1"}
    ups, none = {"url": "x", "total_count": 2, "+1": 2, "heart": 0}, {"url": "x", "total_count": 0, "+1": 0}
    rest = [
        review_comment(1, **place, reactions=ups),
        review_comment(2, **place, user=ANN, in_reply_to_id=1, reactions=none),
        review_comment(3, line=9, original_line=9, commit_id="b2"),
    ]
    groups = [{"content": "THUMBS_UP", "reactors": {"totalCount": 2}}]
    at_once = {"commit": {"oid": "b2"}, "originalCommit": {"oid": "a1"}}
    threads = [
        thread(node(1, **at_once, reactionGroups=groups),
               node(2, **at_once, author={"login": "ann"}, replyTo={"databaseId": 1}, reactionGroups=[]),
               line=None, isOutdated=True),
        thread(node(3, **at_once), line=9, originalLine=9, isResolved=False),
    ]  # fmt: skip
    graph = response(reviewThreads={"nodes": threads}, **TOLD)
    expected = {
        "discussion_r1": ("2025-06-01T12:00:00Z", "a1", (7, 7), None, True, True, {"+1": 2}),
        "discussion_r2": ("2025-06-01T12:00:00Z", "a1", (7, 7), "discussion_r1", True, True, {}),
        "discussion_r3": ("2025-06-01T12:00:00Z", "b2", (9, 9), None, False, False, None),
    }

    def told(value):
        found, _ = read(value)
        comments = {c.id: c for review in found for c in review.comments}
        assert len(comments) == sum(len(review.comments) for review in found)
        assert {review.reviewer for review in found} == {"rev[bot]", "ann"}
        return {(review.author, review.merged_at, review.closed_at) for review in found}, {
            name: (c.at, c.commit, c.span, c.in_reply_to, c.resolved, c.outdated, c.reactions)
            for name, c in comments.items()
        }

    about = {("cy", "2025-06-02T00:00:00Z", "2025-06-03T00:00:00Z")}
    assert told(graph) == (about, expected)
    # REST knows no threads, so it cannot say what was resolved; nor whose the pull request is.
    unresolved = {name: (*each[:4], None, *each[5:]) for name, each in expected.items()}
    assert told(rest) == ({(None, None, None)}, unresolved)
    for both in (json.dumps(rest) + json.dumps(graph), json.dumps(graph) + json.dumps(rest)):
        assert told(both) == (about, expected)


def test_what_is_known_of_a_pull_request_may_come_with_another_comment():
    remarks = [{"databaseId": 9, "body": "Thanks", "author": {"login": "cy", "__typename": "User"}}]
    found, _ = read(json.dumps([review_comment(1)]) + json.dumps(response(comments={"nodes": remarks}, **TOLD)))
    assert {(review.reviewer, review.author, review.merged_at) for review in found} == {
        ("rev[bot]", "cy", "2025-06-02T00:00:00Z"),
        ("cy", "cy", "2025-06-02T00:00:00Z"),
    }


def test_ids_are_only_compared_within_a_kind_a_pull_request_and_a_person():
    other = review_comment(1, pull_request_url=f"{API}/pulls/6")
    assert said([review_comment(1), review(1, user=BOT), issue_comment(1, user=BOT), other]) == [
        (WEB, "rev[bot]", ["c1", "r1", "i1"]),
        (WEB.replace("/5", "/6"), "rev[bot]", ["c1"]),
    ]
    assert said([review_comment(1), review_comment(1, user=ANN)]) == [(WEB, "rev[bot]", ["c1"]), (WEB, "ann", ["c1"])]


def test_of_two_versions_the_later_counts():
    old, new = (
        review_comment(1, body=each, updated_at=f"2025-06-0{day}T00:00:00Z") for each, day in (("a", 1), ("b", 2))
    )
    assert said([old, new]) == said([new, old]) == [(WEB, "rev[bot]", ["b"])]


def test_gh_does_not_say_that_somebody_is_a_bot():
    printed = {
        "url": WEB,
        "reviews": [],
        "comments": [{"id": "IC_kwDOAAAAB84AAAAq", "author": {"login": "rev"}, "body": "i42"}],
    }
    assert said([issue_comment(42, user=BOT), printed]) == [(WEB, "rev[bot]", ["i42"])]


def test_a_folder_of_answers_about_one_pull_request_counts_each_comment_once(tmp_path):
    folder = tmp_path / "octo" / "shop" / "5"
    folder.mkdir(parents=True)
    (folder / "comments.json").write_text(json.dumps(ALL[0]))
    (folder / "issue_comments.json").write_text(json.dumps(ALL[2]))
    (folder / "reviews.json").write_text("[]")
    (folder / "threads.json").write_text(
        json.dumps(response(reviewThreads={"nodes": [thread(node(1)), thread(node(2))]}))
    )
    inputs = read_inputs(tmp_path)
    assert list(inputs.reviewers) == ["rev[bot]", "ann"]
    assert [item.reason for item in inputs.skipped] == ["it is empty, and its name tells no pull request"]
    references, _ = read_reference_set(tmp_path)
    [found] = references.references.values()
    assert [(c.note, c.resolved) for c in found.comments] == [("c1", True), ("c2", True), ("i1", None)]
    assert "2 comments are given again under their ids; each counts once" in references.warnings


@pytest.mark.parametrize(
    ("number", "packed"),
    [(42, b"\x93\x00\xce\x00\x00\x00\x07\xce\x00\x00\x00\x2a"),
     (5_154_316_844, b"\x93\x00\xce\x00\x00\x00\x07\xcf" + struct.pack(">Q", 5_154_316_844))],
)  # fmt: skip
def test_the_number_in_a_node_s_id(number, packed):
    assert number_of_node("PRRC_" + base64.urlsafe_b64encode(packed).decode().rstrip("=")) == str(number)
    assert number_of_node(base64.b64encode(b"024:PullRequestReviewComment%d" % number).decode()) == str(number)


@pytest.mark.parametrize("node", ["", "_", "42", "abc", "IC_", "IC_kwDO", "ü_ü", "x" * 10_000, "IC_!!!!", "A" * 12])
def test_what_is_no_node_s_id_has_no_number(node):
    assert number_of_node(node) is None


# Webhooks


def delivery(action, **payload):
    return {"event": "x", "payload": {"action": action, "pull_request": {"html_url": WEB, "user": ANN}, **payload}}


def test_webhooks_tell_what_still_stands():
    log = [
        delivery("created", comment=review_comment(1, body="first")),
        delivery("created", comment=review_comment(2)),
        delivery("deleted", comment=review_comment(2)),
        delivery("edited", comment=review_comment(1, body="second"), changes={"body": {"from": "first"}}),
        delivery("submitted", review=review(3, state="commented")),
        delivery("resolved", thread={"node_id": "x", "comments": [review_comment(1, body="second")]}),
        {"event": "ping", "payload": {"zen": "x"}},
        {"event": "issue_comment", "payload": {"action": "created", "comment": issue_comment(4), "issue": {
            "html_url": WEB, "pull_request": {"url": f"{API}/pulls/5"}}}},
        {"event": "issue_comment", "payload": {"action": "created", "comment": issue_comment(5), "issue": {}}},
    ]  # fmt: skip
    found, warnings = read(log)
    assert [(r.reviewer, [(c.note, c.resolved) for c in r.comments]) for r in found] == [
        ("rev[bot]", [("second", True)]),
        ("ann", [("r3", None), ("i4", None)]),
    ]
    assert {r.author for r in found} == {"ann"}
    assert warnings == [
        "page.json: 3 comments are given again; each counts once",
        "page.json: 1 comment was deleted; left out",
    ]


def test_webhooks_go_on_after_a_merge():
    merged = {"html_url": WEB, "user": ANN, "merged_at": "2025-06-02T00:00:00Z", "closed_at": "2025-06-02T00:00:00Z"}
    log = [
        delivery("created", comment=review_comment(1, commit_id="b2", original_line=7)),
        delivery("created", comment=review_comment(2, user=ANN, in_reply_to_id=1), pull_request=merged),
    ]
    found, _ = read(log)
    assert {(r.author, r.merged_at, r.closed_at) for r in found} == {("ann", *["2025-06-02T00:00:00Z"] * 2)}
    told = [(c.id, c.in_reply_to, c.commit, c.outdated, c.reactions) for r in found for c in r.comments]
    assert told == [("discussion_r1", None, "b2", False, None), ("discussion_r2", "discussion_r1", None, None, None)]


def test_what_is_no_time_is_no_time():
    [review] = read(response(reviewThreads={"nodes": [thread(node(1))]}, mergedAt="soon", author={"login": "c\ud800"}))[
        0
    ]
    assert (review.merged_at, review.author) == (None, "c?")


def test_a_thread_may_be_opened_again():
    threads = [{"comments": [review_comment(1)]}] * 2
    log = [delivery("resolved", thread=threads[0]), delivery("unresolved", thread=threads[1])]
    assert only(log).resolved is False


def test_deleted_is_deleted_in_whichever_order_one_hears_of_it():
    log = [delivery("deleted", comment=review_comment(1)), delivery("created", comment=review_comment(1))]
    assert said(log) == []


@pytest.mark.skipif(not WEBHOOKS.exists(), reason="the published webhook payloads are not beside the checkout")
def test_the_published_payloads():
    """Twelve deliveries: four of a review without a body; five of one comment, among them that it was deleted; three
    of threads, two of them with that same comment, the third resolved."""
    source = InputFile(WEBHOOKS)
    assert recognised(source) == ["github"]
    [found] = github.read(source)
    [comment] = found.comments
    assert (found.pr, found.reviewer) == ("https://github.com/octo-org/octo-repo/pull/118", "jide2020")
    assert (comment.path, comment.span, comment.resolved, comment.outdated) == ("issue-comment", (1, 1), True, False)
    assert (comment.id, comment.at, comment.reactions) == ("discussion_r820867280", "2022-03-07T16:16:48Z", {})
    assert comment.commit == "14ae1f988d344e6b4f97f6153fb0287dcda335bf"
    assert (comment.in_reply_to, found.author, found.merged_at, found.closed_at) == (None, "octocat", None, None)
    assert [warning.split(": ", 1)[1] for warning in source.all_warnings()] == [
        "6 comments are given again; each counts once",
        "1 comment was deleted; left out",
    ]


# Tools' summaries


NITPICKS = """**Actionable comments posted: 1**

<details>
<summary>🧹 Nitpick comments (1)</summary><blockquote>

<details>
<summary>src/cart.py (1)</summary><blockquote>

`12-15`: **Name the unit.**

</blockquote></details>

</blockquote></details>
"""


def test_a_summary_s_findings_are_comments_with_a_place():
    comment = only([review(user=BOT, body=NITPICKS, reactions={"+1": 1})])
    assert (comment.note, comment.path, comment.span, comment.id) == (
        "**Name the unit.**",
        "src/cart.py",
        (12, 15),
        "pullrequestreview-1-1",
    )
    assert (comment.at, comment.category, comment.reactions) == ("2025-06-01T13:00:00Z", "Nitpick", None)
    assert comment.meta == {"section": "Nitpick comments"}


def test_who_only_announces_comments_that_stand_elsewhere_has_reviewed_and_says_no_more():
    found, warnings = read([review(user=BOT, body="**Actionable comments posted: 0**")])
    assert [(r.reviewer, r.comments) for r in found] == [("rev[bot]", ())]
    assert warnings == ["page.json: 1 summary of a tool without a finding: no comment"]


def test_a_summary_of_no_known_layout_stays_whole():
    assert only([issue_comment(body="## Walkthrough\n\nLGTM")]).note == "## Walkthrough\n\nLGTM"


def test_a_file_that_a_link_names_by_its_hash_is_known_from_another_comment():
    link = f"{WEB}/files#diff-8b1a9953c4611296a827abf8c47804d7e6c49c6b97c8d1d8d1e3f5c1a0b1d7c5R3-R4"
    guide = f"## PR Reviewer Guide\n<a href='{link}'><strong>Bug</strong></a>\n\nTwice.\n</summary>"
    unknown = only([issue_comment(user=BOT, body=guide)])
    assert (unknown.path, unknown.span, unknown.side, unknown.note) == (None, (3, 4), "RIGHT", "Bug\n\nTwice.")
    known = guide.replace(link.split("diff-")[1].split("R3")[0], hashlib.sha256(b"a.py").hexdigest())
    [one] = read([review_comment(1), issue_comment(2, user=BOT, body=known)])[0]
    assert [comment.path for comment in one.comments] == ["a.py", "a.py"]


# Bad input


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([review_comment(), {"sha": "abc"}], "neither a review comment, a review, an issue comment nor a thread"),
        (response(reviewThreads={"nodes": [thread(5)]}), "a review comment must be an object, found a number"),
        ([review(user="ann")], "user must be an object, found a string"),
        ([issue_comment(issue_url=5, html_url=None)], "issue_url must be a string, found a number"),
        ({"comments": [5], "reviews": []}, "a review comment must be an object, found a number"),
        ([review(body=["x"])], "body must be a string, found a list"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(value, problem):
    with pytest.raises(InputError) as error:
        read(value)
    assert str(error.value).startswith(f"page.json:1: {problem}")


def test_nesting_without_end_is_refused():
    value = thread(node())
    for _ in range(40):
        value = {"data": value}
    source = InputFile.of_text(json.dumps(value), "page.json")
    with pytest.raises(InputError, match="nested more than 16 levels deep"):
        list(github.read(source))


KEYS = st.sampled_from(
    [
     "id", "databaseId", "body", "path", "line", "originalLine", "start_line", "original_line", "user", "author",
     "login", "type", "state", "submitted_at", "url", "html_url", "issue_url", "pull_request_url",
     "in_reply_to_id", "replyTo", "reactions", "reactionGroups", "content", "users", "totalCount", "comments",
     "reviews", "reviewThreads", "nodes", "edges", "node", "data", "repository", "nameWithOwner", "owner", "name",
     "pullRequest", "pull_request", "number", "title", "isResolved", "isOutdated", "subjectType", "payload",
     "action", "comment", "review", "thread", "issue", "errors", "created_at", "updated_at",
    ]
)  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers(-3, 12) | st.floats()
    | st.sampled_from([WEB, f"{API}/issues/5", "created", "deleted", "resolved", "APPROVED", "PENDING", "Bot", "\ud800",
                       "IC_kwDOAAAAB84AAAAq", NITPICKS, "a.py", "octo/shop"])
)  # fmt: skip
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=8))


@settings(deadline=None)
@given(ANYTHING, st.booleans())
def test_whatever_has_such_keys_is_read_or_refused(value, strict):
    source = InputFile.of_text(json.dumps(value), "page.json", strict=strict, named_pull_request=WEB)
    try:
        github.sniff(source)
        for review in github.read(source):
            json.dumps([comment.to_dict() for comment in review.comments], ensure_ascii=False).encode()
            (review.reviewer or "").encode()
    except InputError:
        pass


@pytest.mark.parametrize("place", [{"url": "https://github.com/o/r/pull/7#discussion_r42"}, {}])
def test_a_comment_has_one_identity_in_files_of_each_dialect_in_pulls_and_in_histories(place):
    """GraphQL gives its address, or only the node's id, which holds the number."""
    node = {
        "id": "PRRC_kwDOAAAAB84AAAAq",
        "body": "Leaks.",
        "author": None,
        "createdAt": "2026-03-02T09:00:00Z",
        **place,
    }
    thread = {"isResolved": False, "isOutdated": False, "path": "a.py", "line": 3, "comments": {"nodes": [node]}}
    pull = {"id": "PR_1", "number": 7, "url": "https://github.com/o/r/pull/7", "createdAt": "2026-03-01T09:00:00Z"}
    pull |= {"reviewThreads": {"nodes": [thread]}, "body": "", "title": ""}
    rest = {"id": 42, "pull_request_url": "https://api.github.com/repos/o/r/pulls/7", "user": None, "body": "Leaks."}
    files = [
        github.read(InputFile.of_text(json.dumps(each), "f.json")) for each in (pull, [{**rest, "diff_hunk": "@@"}])
    ]
    [pulled] = github.conversation(pull).comments
    [happened] = [
        event
        for event in timeline.events(reply_record(json.dumps(pull).encode()), "o/r")
        if event.kind == "review_comment"
    ]
    read = [comment.id for reviews in files for review in reviews for comment in review.comments]
    assert [*read, pulled.id, happened.id] == ["discussion_r42"] * 4
