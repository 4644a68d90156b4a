"""What `pull comments` writes."""

import json

import pytest

from github_data import patches, repository, rest_commits, sample_server, sha
from github_server import GitHubServer, Reply
from metareview.formats.reader import read_inputs
from metareview.model.selection import Selection

AT = "2026-03-02T09:00:00Z"


def told(**more):
    return {"number": 7, "at": AT, "by": "ana", "title": "Carts", **more}


def pulled(pull, *pulls, files=None, what="acme/shop", **options):
    served = {"patches": files or patches(list(pulls)), "commits": rest_commits(list(pulls))}
    with GitHubServer(repository(list(pulls)), **served) as server:
        lines = pull.bytes(server, what, **options).decode().splitlines()
        return [json.loads(line) for line in lines], server.log


def test_one_record_per_reviewer_with_the_exact_fields(pull):
    thread = {"path": "a.py", "line": 9, "start": 7, "by": "eye[bot]", "after": 5, "note": "Leaks.", "resolved": True}
    thread |= {"reactions": {"THUMBS_UP": 2, "HEART": 1}, "replies": [["ana", 9, "Fixed."]]}
    [bot, ana], _ = pulled(pull, told(threads=[thread], merged=[60, "ben"]))
    assert bot == {
        "pr": "https://github.com/acme/shop/pull/7",
        "reviewer": "eye[bot]",
        "author": "ana",
        "merged_at": "2026-03-02T10:00:00Z",
        "closed_at": "2026-03-02T10:00:00Z",
        "commits": [],
        "comments": [
            {
                "id": "discussion_r1001",
                "path": "a.py",
                "side": "RIGHT",
                "from_line": 7,
                "to_line": 9,
                "note": "Leaks.",
                "author": "eye[bot]",
                "at": "2026-03-02T09:05:00Z",
                "commit": sha(7, "head"),
                "resolved": True,
                "outdated": False,
                "reactions": {"+1": 2, "heart": 1},
            }
        ],
    }
    assert "commits" not in ana
    [reply] = ana["comments"]
    assert (reply["in_reply_to"], reply["note"], reply["author"]) == ("discussion_r1001", "Fixed.", "ana")


def test_where_comments_point(pull):
    commits = [{"name": "one", "after": -5, "by": "ana"}, {"name": "two", "after": 30, "by": "ana", "files": []}]
    base = {"path": "a.py", "by": "ben", "after": 5}
    threads = [
        {**base, "line": 3, "note": "now"},
        {**base, "line": 4, "note": "then", "outdated": True},
        {**base, "line": None, "note": "file"},
        {**base, "line": 5, "note": "old side", "side": "LEFT"},
        {**base, "line": 6, "note": "gone", "outdated": True, "gone": True},
    ]
    [record], _ = pulled(pull, told(threads=threads, commits=commits))
    place = {
        each["note"]: (each.get("from_line"), each.get("to_line"), each["side"], each["commit"], each["outdated"])
        for each in record["comments"]
    }
    assert place == {
        "now": (3, 3, "RIGHT", sha(7, "two"), False),
        "then": (4, 4, "RIGHT", sha(7, "one"), True),
        "file": (None, None, "RIGHT", sha(7, "two"), False),
        "old side": (5, 5, "LEFT", sha(7, "two"), False),
        "gone": (6, 6, "RIGHT", sha(0, "gone"), True),
    }


def test_reviews_and_remarks_have_no_place_and_empty_ones_are_silence(pull):
    reviews = [["ben", 5, "APPROVED", "Fine, but slow."], ["eye[bot]", 6, "COMMENTED", ""], ["cleo", 7, "PENDING", "x"]]
    comments = [["dana", 8, "Why?"], ["dana", 9, " \n"]]
    found, _ = pulled(pull, told(reviews=reviews, comments=comments))
    assert [(each["reviewer"], [c["note"] for c in each["comments"]]) for each in found] == [
        ("ben", ["Fine, but slow."]),
        ("dana", ["Why?"]),
        ("eye[bot]", []),
    ]
    assert found[0]["comments"][0]["id"] == "pullrequestreview-1001"
    assert not {"path", "side", "from_line", "resolved", "outdated"} & set(found[0]["comments"][0])


SUMMARY = """**Actionable comments posted: 0**

<details>
<summary>Nitpick comments (1)</summary><blockquote>

<details>
<summary>src/cart.py (1)</summary><blockquote>

`12-15`: **Close the handle**

It leaks when parsing fails.

</blockquote></details>

</blockquote></details>
"""


def test_a_tools_summary_is_split_into_its_findings(pull):
    reviews = [["coderabbitai[bot]", 5, "COMMENTED", SUMMARY]]
    [record], _ = pulled(pull, told(reviews=reviews))
    [comment] = record["comments"]
    place = {name: comment[name] for name in ("path", "from_line", "to_line", "author", "meta")}
    assert place == {
        "path": "src/cart.py",
        "from_line": 12,
        "to_line": 15,
        "author": "coderabbitai[bot]",
        "meta": {"section": "Nitpick comments"},
    }
    assert comment["id"].endswith("-1")
    assert "Close the handle" in comment["note"]
    assert "Actionable" not in comment["note"]


def test_a_tools_word_that_it_found_nothing_is_silence(pull):
    [record], _ = pulled(pull, told(comments=[["coderabbitai[bot]", 5, "**Actionable comments posted: 0**"]]))
    assert (record["reviewer"], record["comments"]) == ("coderabbitai[bot]", [])


def test_what_is_not_sent_yet_is_nobodys_business(pull):
    thread = {"path": "a.py", "line": 3, "by": "ana", "after": 5, "note": "draft", "state": "PENDING"}
    found, _ = pulled(pull, told(threads=[thread]), told(number=8, comments=[["ben", 1, "Hi"]]))
    assert [each["reviewer"] for each in found] == ["ben"]


def test_a_deleted_account_is_ghost(pull):
    thread = {"path": "a.py", "line": 3, "by": None, "after": 5, "note": "Old."}
    [record], _ = pulled(pull, told(by=None, threads=[thread]))
    assert (record["reviewer"], record["author"], record["comments"][0]["author"]) == ("ghost", "ghost", "ghost")


def test_only_these_reviewers(pull):
    comments = [["eye[bot]", 1, "a"], ["ben", 2, "b"], ["lint[bot]", 3, "c"]]
    found, _ = pulled(pull, told(comments=comments), reviewers=Selection(["*[bot]", "!lint[bot]"]))
    assert [each["reviewer"] for each in found] == ["eye[bot]"]
    with sample_server() as server:
        nobody = pull(server, reviewers=Selection(["nobody"]), file="none.jsonl")
    assert nobody.warnings == ("nothing was found for these pull requests and reviewers",)


def test_patches_are_asked_for_where_a_comment_could_need_them(pull):
    change = [{"filename": "b.py", "previous_filename": "a.py", "status": "renamed", "patch": "@@ -1 +1 @@"}]
    commits = [
        {"name": name, "after": after, "by": "ana", "files": change}
        for name, after in (("zero", -9), ("one", -5), ("two", 30), ("three", 40))
    ]
    thread = {"path": "a.py", "line": 3, "by": "ben", "after": 5, "note": "Old.", "outdated": True}
    [record], log = pulled(pull, told(threads=[thread], commits=commits))
    # Made on the first commit, so that one can have led to nothing.
    assert [each.get("files") for each in record["commits"]] == [
        None,
        *[[{"path": "b.py", "previous_path": "a.py", "status": "renamed", "patch": "@@ -1 +1 @@"}]] * 3,
    ]
    assert sum(each.method == "GET" for each in log) == 3
    [record], log = pulled(pull, told(threads=[thread], commits=commits), patches=False)
    assert not any("files" in each for each in record["commits"])
    assert not any(each.method == "GET" for each in log)
    # A comment on a commit that nobody has any more may be older than all of them: one request is in vain.
    [record], log = pulled(pull, told(threads=[{**thread, "gone": True}], commits=commits))
    assert sum(each.method == "GET" for each in log) == 1 + 4
    assert len(record["commits"]) == 4
    # Nobody needs what a remark without lines could have led to.
    _, log = pulled(pull, told(comments=[["ben", 5, "Hm."]], commits=commits))
    assert not any(each.method == "GET" for each in log)


def test_a_comment_whose_lines_are_still_there_needs_all_that_came_after_it(pull):
    commits = [
        {"name": name, "after": after, "by": "ana", "files": []} for name, after in (("one", -5), ("two", 9), ("x", 40))
    ]
    live = {"path": "a.py", "line": 3, "by": "ben", "after": 10, "note": "Here."}
    [record], _ = pulled(pull, told(threads=[live], commits=commits))
    assert record["comments"][0]["commit"] == sha(7, "x")
    assert ["files" in each for each in record["commits"]] == [False, False, True]
    # Nobody needs what followed an answer, or a comment on the file.
    answered = {**live, "line": None, "after": 0, "replies": [["ana", 1, "Why?"]]}
    [record, _], log = pulled(pull, told(threads=[answered], commits=commits))
    assert not any(each.method == "GET" for each in log)


def test_a_file_that_was_only_renamed_is_known_not_to_have_changed(pull):
    named = {"previous_filename": "a.py", "status": "renamed"}
    files = [
        {"filename": "moved.py", **named, "changes": 0},
        {"filename": "large.py", **named, "changes": 9_000},
        {"filename": "changed.py", **named, "changes": 2, "patch": "@@ -1 +1 @@"},
        {"filename": "logo.png", "status": "modified", "changes": 0},
    ]
    commits = [{"name": "one", "after": -5, "by": "ana"}, {"name": "two", "after": 30, "by": "ana", "files": files}]
    thread = {"path": "a.py", "line": 3, "by": "ben", "after": 5, "note": "Old."}
    [record], _ = pulled(pull, told(threads=[thread], commits=commits))
    renamed = {"previous_path": "a.py", "status": "renamed"}
    assert record["commits"][1]["files"] == [
        {"path": "moved.py", **renamed, "patch": ""},
        {"path": "large.py", **renamed},
        {"path": "changed.py", **renamed, "patch": "@@ -1 +1 @@"},
        {"path": "logo.png", "status": "modified"},
    ]


def forced(base, *names, **more):
    """A pull request of two commits that took the place of others, with a comment on the last of those."""
    change = [{"filename": "a.py", "status": "modified", "patch": "@@ -1 +1 @@"}]
    commits, others = (
        [{"name": name, "after": after + i, "by": by, "files": change} for i, name in enumerate(named)]
        for named, after, by in ((("one", "two"), 30, "ana"), (names, 1, None))
    )
    commits[0]["upon"] = base
    thread = {"path": "a.py", "line": 3, "by": "ben", "after": 5, "note": "Old.", "outdated": True, "on": names[-1]}
    return told(threads=[thread], commits=commits, other_commits=others, **more)


def test_what_a_force_push_took_away_is_asked_for_once_more(pull):
    [record], log = pulled(pull, forced("base", "was"))
    was, one, two = record["commits"]
    assert was == {
        "sha": sha(7, "was"),
        "at": "2026-03-02T09:01:00Z",
        "author": "somebody",
        "parents": [sha(7, "base")],
        "files": [{"path": "a.py", "status": "modified", "patch": "@@ -1 +1 @@"}],
    }
    assert [(each["sha"], each["parents"], "files" in each) for each in (one, two)] == [
        (sha(7, "one"), [sha(7, "base")], True),
        (sha(7, "two"), [sha(7, "one")], True),
    ]
    # Its parent is the base of the pull request: there is no more to ask.
    assert [each.path.rpartition("/")[2] for each in log if each.method == "GET"] == [
        sha(7, name) for name in ("was", "one", "two")
    ]
    _, log = pulled(pull, forced("base", "was"), patches=False)
    assert not any(each.method == "GET" for each in log)


def test_of_several_commits_that_were_replaced_those_of_the_base_are_left_out(pull):
    # It began on `root`, and on the base `later` has come after that.
    moved = forced("later", "root", "was", "also")
    moved["other_commits"].append({"name": "later", "after": -9, "by": "ben", "upon": "root", "files": []})
    [record], log = pulled(pull, moved)
    names = {sha(7, name): name for name in ("root", "later", "was", "also", "one", "two")}
    assert [names[each["sha"]] for each in record["commits"]] == ["was", "also", "one", "two"]
    asked = [each.path.rpartition("/")[2] for each in log if each.method == "GET"]
    compared = f"{sha(7, 'two')}...{sha(7, 'also')}"
    assert asked == [sha(7, "also"), compared, *(sha(7, name) for name in ("was", "one", "two"))]


def test_answers_to_those_who_are_chosen_are_kept(pull):
    threads = [
        {"path": "a.py", "line": 3, "by": "eye[bot]", "after": 5, "note": "Leaks.",
         "replies": [["ana", 9, "Does it?"], ["eye[bot]", 9, "It does."], ["ben", 10, "Fixed."]]},
        {"path": "a.py", "line": 4, "by": "ben", "after": 6, "note": "Slow.", "replies": [["cleo", 7, "No."]]},
    ]  # fmt: skip
    pulls = [told(threads=threads, reviews=[["cleo", 8, "APPROVED", ""], ["ben", 6, "COMMENTED", ""]])]
    with GitHubServer(repository(pulls)) as server:
        result = pull(server, reviewers=Selection(["*[bot]"]))
    found = [json.loads(line) for line in result.file.read_text("utf-8").splitlines()]
    said = [(each["reviewer"], [(c["note"], c.get("in_reply_to")) for c in each["comments"]]) for each in found]
    assert said == [
        ("eye[bot]", [("Leaks.", None), ("It does.", "discussion_r1001")]),
        ("ana", [("Does it?", "discussion_r1001")]),
        ("ben", [("Fixed.", "discussion_r1001")]),
    ]
    assert ["commits" in each for each in found] == [True, False, False]
    # They are no reviewers for that, here or for whoever reads the file.
    assert result.counts == {"eye[bot]": 2}
    inputs = read_inputs(result.file)
    assert (list(inputs.reviewers), len(inputs.reviews)) == (["eye[bot]"], 1)


def test_a_commit_that_the_server_does_not_have_cannot_tell(pull):
    commits = [
        {"name": "one", "after": -5, "by": "ana"},
        {"name": "two", "after": 30, "by": None, "parents": ["p", "q"]},
    ]
    thread = {"path": "a.py", "line": 3, "by": "ben", "after": 5, "note": "Old.", "outdated": True}
    [record], _ = pulled(pull, told(threads=[thread], commits=commits))
    assert record["commits"][1] == {
        "sha": sha(7, "two"),
        "at": "2026-03-02T09:30:00Z",
        "author": "somebody",
        "parents": ["p", "q"],
    }


def test_files_of_a_commit_come_in_pages(pull):
    change = [{"filename": f"{i}.py", "status": "added"} for i in range(7)]
    commits = [{"name": "one", "after": -5, "by": "ana"}, {"name": "two", "after": 30, "by": "ana", "files": change}]
    thread = {"path": "a.py", "line": 3, "by": "ben", "after": 5, "note": "Old.", "outdated": True}
    pulls = [told(threads=[thread], commits=commits)]
    with GitHubServer(repository(pulls), patches=patches(pulls), largest_page=3) as server:
        record = json.loads(pull.bytes(server).splitlines()[0])
        assert [file["path"] for file in record["commits"][1]["files"]] == [f"{i}.py" for i in range(7)]
        pages = [each.path.partition("?")[2] for each in server.log if each.method == "GET"]
        assert pages == ["", "page=2", "page=3"]


def test_numbers_ranges_and_times(pull):
    pulls = [told(number=n, at=f"2026-03-{n:02d}T00:00:00Z", comments=[["ben", 1, f"note {n}"]]) for n in range(1, 10)]

    def numbers(what="acme/shop", **options):
        return [int(record["pr"].rpartition("/")[2]) for record in pulled(pull, *pulls, what=what, **options)[0]]

    assert numbers() == list(range(1, 10))
    assert numbers("acme/shop#3") == [3]
    assert numbers("acme/shop#8,2,4-5") == [2, 4, 5, 8]
    assert numbers(since="2026-03-04", until="2026-03-07T00:00:00Z") == [4, 5, 6]
    assert numbers(until="2026-03-03") == [1, 2]


def test_numbers_that_are_no_pull_requests_are_named(pull):
    with GitHubServer(repository([told(comments=[["ben", 1, "x"]])])) as server:
        assert pull(server, "acme/shop#6-8").warnings == ("acme/shop has no pull request #6, #8",)


def test_that_there_is_none_is_told(pull):
    with GitHubServer(repository([told(at="2026-03-01T00:00:00Z")])) as server:
        none = pull(server, "acme/shop", since="2027-01-01")
        assert (none.prs, none.warnings) == (0, ("acme/shop has no pull request that was created in this time",))
    with GitHubServer(repository([])) as server:
        assert pull(server, "acme/shop", overwrite=True).warnings == ("acme/shop has no pull request",)


def test_what_the_token_may_not_read_is_told(pull):
    def script(exchange):
        data = server._graphql(exchange.body).body
        error = {"type": "FORBIDDEN", "path": ["repository", "p7", "reviews", "nodes", 0, "author"], "message": "no"}
        return Reply(200, {**data, "errors": [error]})

    with GitHubServer(repository([told(comments=[["ben", 1, "x"]])]), script=script) as server:
        assert pull(server, "acme/shop#7").warnings == ("1 detail is missing: the token may not read it",)


def test_our_own_reader_takes_all_of_it(pull, tmp_path):
    with sample_server() as server:
        result = pull(server)
    inputs = read_inputs(tmp_path / "out.jsonl")
    assert {file.format for file in inputs.files} == {"jsonl"}
    # 78 comments, of which 19 are replies, 18 of them by people who said nothing else on the pull request.
    assert sum(result.counts.values()) == 78
    assert sum(len(review.comments) for review in inputs.reviews) == 60
    assert {review.reviewer for review in inputs.reviews} == set(result.counts)
    assert not inputs.warnings


@pytest.mark.parametrize("command", ["comments", "history"])
def test_pages_of_any_size_give_the_same_bytes(pull, command):
    with sample_server() as server:
        whole = pull.bytes(server, command=command)
        few = len(server.log)
    for size in (1, 2, 3, 7):
        with sample_server(largest_page=size) as server:
            assert pull.bytes(server, command=command) == whole, size
            assert len(server.log) > few
