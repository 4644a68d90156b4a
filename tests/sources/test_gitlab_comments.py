"""Comments of a GitLab project as `jsonl` records, by hand from what the server holds."""

import json

import pytest

from gitlab_server import PATH, GitLabServer, changed, commit, discussion, merge_request, note, on_line, project, sample
from metareview.errors import UsageError
from metareview.formats.comments import jsonl
from metareview.formats.input_file import InputFile
from metareview.model.selection import Selection
from pulls import GitLabPull
from scripted_server import Reply

WEB = f"https://gitlab.example/{PATH}/-/merge_requests"
BOT = "project_12_bot_9f[bot]"
PATCH = "@@ -1 +1 @@\n-a\n+b\n"
EXPECTED = [
    {
        "pr": f"{WEB}/1", "reviewer": BOT, "author": "ana", "merged_at": "2026-03-02T12:00:00.000Z",
        "commits": [
            {"sha": "c1", "at": "2026-03-02T09:00:00.000+00:00", "author": "Ana Ng"},
            {"sha": "c2", "at": "2026-03-02T10:45:00.000+00:00", "author": "Ana Ng", "parents": ["c1"],
             "files": [{"path": "src/cart.py", "status": "modified", "patch": PATCH}]},
        ],
        "comments": [
            {"id": "note_11", "path": "src/cart.py", "side": "right", "from_line": 14, "to_line": 14,
             "note": "The coupon is applied twice.", "author": BOT, "at": "2026-03-02T10:00:00.000Z", "commit": "c2",
             "resolved": False, "outdated": False},
        ],
    },
    {
        "pr": f"{WEB}/1", "reviewer": "ghost", "author": "ana", "merged_at": "2026-03-02T12:00:00.000Z",
        "comments": [
            {"id": "note_13", "note": "Please split this.", "author": "ghost", "at": "2026-03-02T10:05:00.000Z"},
        ],
    },
    {
        "pr": f"{WEB}/1", "reviewer": "ben", "author": "ana", "merged_at": "2026-03-02T12:00:00.000Z",
        "comments": [
            {"id": "note_12", "path": "src/cart.py", "side": "right", "from_line": 3, "to_line": 3, "note": "Name it.",
             "author": "ben", "at": "2026-03-02T10:10:00.000Z", "commit": "c1", "resolved": False, "outdated": True},
        ],
    },
    {
        "pr": f"{WEB}/1", "reviewer": "ana", "author": "ana", "merged_at": "2026-03-02T12:00:00.000Z",
        "comments": [
            {"id": "note_14", "path": "src/cart.py", "side": "right", "from_line": 14, "to_line": 14,
             "note": "Good catch.", "author": "ana", "at": "2026-03-02T10:40:00.000Z", "commit": "c2",
             "in_reply_to": "note_11", "resolved": False, "outdated": False},
        ],
    },
    {
        "pr": f"{WEB}/1", "reviewer": "chloe", "author": "ana", "merged_at": "2026-03-02T12:00:00.000Z",
        "comments": [],
    },
    {
        "pr": f"{WEB}/3", "reviewer": "ben", "author": "ana", "closed_at": "2026-03-05T12:00:00.000Z",
        "commits": [
            {"sha": "c3", "at": "2026-03-02T09:10:00.000+00:00", "author": "Ana Ng", "parents": ["b0"],
             "files": [{"path": "src/tax.py", "status": "modified", "patch": PATCH},
                       {"path": "logo.png", "status": "modified"}]},
            {"sha": "c4", "at": "2026-03-02T09:20:00.000+00:00", "author": "Ana Ng", "parents": ["c3", "m9"],
             "files": [{"path": "src/new.py", "status": "added", "patch": PATCH},
                       {"path": "src/to.py", "previous_path": "src/from.py", "status": "renamed", "patch": ""},
                       # An older server does not say whether it cut the diff.
                       {"path": "src/b.py", "previous_path": "src/a.py", "status": "renamed"},
                       {"path": "src/old.py", "status": "removed", "patch": "@@ -1 +0,0 @@\n-a\n"},
                       {"path": "data.csv", "status": "modified"},
                       {"path": "more.csv", "status": "modified"}]},
        ],
        "comments": [
            {"id": "note_31", "path": "src/tax.py", "side": "right", "from_line": 7, "to_line": 7,
             "note": "Off by one.", "author": "ben", "at": "2026-03-02T09:30:00.000Z", "commit": "gone",
             "resolved": False, "outdated": True},
        ],
    },
    {
        "pr": f"{WEB}/4", "reviewer": "chloe", "author": "ghost", "commits": [],
        "comments": [{"id": "note_41", "note": "Why?", "author": "chloe", "at": "2026-03-02T09:00:00.000Z"}],
    },
]  # fmt: skip


def lines(pull, server, *arguments, **options):
    return [json.loads(line) for line in pull.bytes(server, *arguments, **options).decode().splitlines()]


def test_a_project_as_records(gitlab_pull, tmp_path):
    with GitLabServer(sample()) as server:
        result = gitlab_pull(server)
    written = (tmp_path / "out.jsonl").read_text("utf-8")
    assert [json.loads(line) for line in written.splitlines()] == EXPECTED
    assert (result.repository, result.prs, result.lines, result.warnings) == (PATH, 5, 7, ())
    assert result.counts == {"ben": 2, BOT: 1, "ana": 1, "chloe": 1, "ghost": 1}
    # Two for each merge request, a list of commits for each that has lines, two for each commit that is looked at, and
    # one for a commit that is gone.
    assert result.requests == len(server.log) == 1 + 1 + 5 * 2 + 3 + 3 * 2 + 1
    reviews = list(jsonl.read(InputFile.of_text(written, "out.jsonl")))
    assert [review.reviewer for review in reviews] == [each["reviewer"] for each in EXPECTED]


@pytest.mark.parametrize("next_page_header", [True, False])
def test_all_pages_of_every_list(gitlab_pull, next_page_header):
    with GitLabServer(sample(), largest_page=1, next_page_header=next_page_header) as server:
        assert lines(gitlab_pull, server) == EXPECTED
    assert max(int(each.path.partition("&page=")[2].partition("&")[0] or 0) for each in server.log) == 6


def test_without_patches_no_commit_is_asked_for(gitlab_pull):
    with GitLabServer(sample()) as server:
        found = lines(gitlab_pull, server, patches=False)
    assert not any("/repository/" in each.path for each in server.log)
    assert found[0]["commits"][1] == {"sha": "c2", "at": "2026-03-02T10:45:00.000+00:00", "author": "Ana Ng"}
    assert [each["comments"] for each in found] == [each["comments"] for each in EXPECTED]


def test_only_the_bots(gitlab_pull):
    with GitLabServer(sample()) as server:
        found = lines(gitlab_pull, server, reviewers=Selection(["*[bot]"]))
    # And who answered it. The commit after its comment is asked for, others are not.
    assert found == [EXPECTED[0], EXPECTED[3]]
    assert sum("/repository/" in each.path for each in server.log) == 2


def test_what_a_force_push_took_away(tmp_path):
    commits = (
        commit("m1", "08:00"),
        commit("o1", "09:00", changed("src/cart.py"), parents=("b9",)),
        commit("o2", "09:10", changed("src/tax.py"), parents=("o1",)),
        commit("b9", "08:30", parents=("m1",)),
        commit("b10", "09:20", parents=("b9",)),
        commit("n1", "10:30", changed("src/cart.py"), parents=("b10",)),
    )
    talk = discussion(note(11, "ben", "Twice.", "10:00", **on_line(14, "o2")))
    mr = merge_request(1, talk, commits=("n1",), diff_refs={"base_sha": "b10", "head_sha": "n1", "start_sha": "b10"})
    with GitLabServer(project(mr, commits=commits)) as server:
        [record] = lines(GitLabPull(tmp_path), server)
    assert [(each["sha"], each["parents"], [file["path"] for file in each["files"]]) for each in record["commits"]] == [
        ("o1", ["b9"], ["src/cart.py"]),
        ("o2", ["o1"], ["src/tax.py"]),
        ("n1", ["b10"], ["src/cart.py"]),
    ]
    asked = [each.path.partition("/repository/")[2] for each in server.log if "/repository/" in each.path]
    assert [path.partition("?")[0] for path in asked] == [
        *("commits/o2", "commits/o2/diff", "compare", "commits/o1", "commits/o1/diff"),
        *("commits/n1", "commits/n1/diff"),
    ]
    assert asked[2] == "compare?from=n1&to=o2"


@pytest.mark.parametrize(
    ("since", "until", "numbers"),
    [
        (None, None, [1, 2, 3, 4, 5]),
        ("2026-03-02T09:00:00Z", None, [2, 3, 4, 5]),
        (None, "2026-03-03T09:00:00Z", [1, 2]),
        ("2026-03-03T00:00:00+02:00", "2026-03-05", [3, 4]),
        ("2026-03-02T09:00:00.001Z", "2026-03-03T09:00:00.001Z", [3]),
    ],
)
def test_by_the_time_of_creation(gitlab_pull, since, until, numbers):
    """`--since` is included and `--until` is not, where GitLab includes both."""
    with GitLabServer(sample(), largest_page=2) as server:
        result = gitlab_pull(server, since=since, until=until)
    asked = [each.path.rpartition("/")[2] for each in server.log if each.path.rpartition("/")[2].isdigit()]
    assert [int(number) for number in asked] == numbers
    assert result.prs == len(numbers)


def test_some_merge_requests_by_number(gitlab_pull):
    with GitLabServer(sample()) as server:
        assert lines(gitlab_pull, server, "/-/merge_requests/4") == EXPECTED[-1:]
        with pytest.raises(UsageError, match=rf"{PATH} has no pull request #9\. Check the number"):
            gitlab_pull(server, "/-/merge_requests/9", file="nine.jsonl")


def test_a_project_that_is_not_there(gitlab_pull, tmp_path):
    with GitLabServer({**sample(), "path_with_namespace": "group/other"}) as server:
        for what in ("", "/-/merge_requests/1"):
            with pytest.raises(UsageError, match=rf"gitlab\.example has no project {PATH} that this token may read"):
                gitlab_pull(server, what)
    assert list(tmp_path.iterdir()) == []


def one(tmp_path, *discussions, commits=(), **more):
    """The records of a project with one merge request."""
    shas = tuple(each["id"] for each in commits)
    with GitLabServer(project(merge_request(1, *discussions, commits=shas, **more), commits=commits)) as server:
        return lines(GitLabPull(tmp_path), server)


def test_a_tool_s_summary_is_split_and_without_a_finding_is_silence(tmp_path):
    body = (
        "<details><summary>🧹 Nitpick comments (1)</summary><blockquote>\n<details><summary>a.py (1)</summary>"
        "<blockquote>\n\n`3-4`: **Rename.**\n</blockquote></details></blockquote></details>"
    )
    [record] = one(tmp_path, discussion(note(1, "rabbit", body)))
    [comment] = record["comments"]
    assert (comment["id"], comment["note"], comment["path"]) == ("note_1-1", "**Rename.**", "a.py")
    assert (comment["from_line"], comment["to_line"], "outdated" in comment) == (3, 4, False)


def test_who_requested_changes_without_a_word_has_reviewed(tmp_path):
    told = discussion(note(1, "group_3_bot", "requested changes", system=True))
    assert [(each["reviewer"], each["comments"]) for each in one(tmp_path, told)] == [("group_3_bot[bot]", [])]


def test_a_note_on_removed_lines_and_a_range(tmp_path):
    ends = {"start": {"old_line": 2, "new_line": None}, "end": {"old_line": 4, "new_line": None}}
    placed = on_line(9, "c1", new_line=None, old_line=4, old_path="old.py", line_range=ends)
    [record] = one(tmp_path, discussion(note(1, "ben", "Why gone?", **placed)))
    place = {name: record["comments"][0][name] for name in ("path", "side", "from_line", "to_line")}
    assert place == {"path": "old.py", "side": "left", "from_line": 2, "to_line": 4}


def test_a_commit_that_is_gone_or_too_large_tells_nothing(gitlab_pull):
    large = [changed(f"{number}.py") for number in range(1_000)]
    said = discussion(note(1, "ben", "Off.", **on_line(3, "x")))
    commits = (commit("c1", "10:00", *large), commit("c2", "10:01", *large[1:]), commit("c3", "10:02"))
    whole = project(merge_request(1, said, commits=("c1", "c2", "c3")), commits=commits)

    def script(exchange):
        return Reply(404, {}) if exchange.path.endswith("/commits/c3") else None

    with GitLabServer(whole, script) as server:
        [record] = lines(gitlab_pull, server)
    assert [len(each["files"]) if "files" in each else None for each in record["commits"]] == [None, 999, None]
    assert [each.get("parents") for each in record["commits"]] == [["b0"], ["b0"], None]
