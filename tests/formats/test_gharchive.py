"""GH Archive's hours: what becomes of each line, whole or slim, and what is refused."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metareview as mr
from metareview.errors import InputError, UsageError
from metareview.formats import gzip_lines
from metareview.formats.history import read_history
from metareview.formats.protocol import TextFilter
from metareview.model.time import parse_time


def line(number, kind, payload, actor="ann", at="12:00:00", repo="o/r"):
    return {
        "id": str(number),
        "type": kind,
        "actor": {"id": 1, "login": actor},
        "repo": {"id": 2, "name": repo},
        "payload": payload,
        "public": True,
        "created_at": f"2025-06-01T{at}Z",
    }


PULL = {"number": 7, "title": "T", "body": "B", "draft": True, "user": {"login": "ann", "type": "User"}}
WHOLE = [
    line(1, "PullRequestEvent", {"action": "opened", "number": 7, "pull_request": PULL | {"base": {"sha": "s"}}}),
    line(2, "IssueCommentEvent", {"action": "created", "issue": {"number": 7, "pull_request": {}}, "comment": {}}),
    line(3, "IssueCommentEvent",
         {"action": "created", "issue": {"number": 7, "pull_request": {"url": "u"}}, "comment": {"body": "c"}}, "cem"),
    line(4, "PullRequestReviewEvent",
         {"action": "created", "review": {"state": "approved", "body": None}, "pull_request": PULL}, "bob", "12:10:00"),
    line(5, "PullRequestReviewCommentEvent",
         {"action": "created", "comment": {"path": "a.py", "body": "x", "user": {"login": "Copilot", "type": "Bot"}},
          "pull_request": PULL}, "Copilot", "12:11:00"),
    line(6, "PullRequestEvent", {"action": "closed", "number": 7, "pull_request": PULL | {"merged": True}},
         at="12:20:00"),
    line(7, "PullRequestEvent",
         {"action": "review_requested", "number": 7, "pull_request": PULL, "requested_team": {"slug": "core"}},
         at="12:01:00"),
    line(8, "PullRequestEvent", {"action": "labeled", "number": 7, "pull_request": PULL}),
    line(9, "PushEvent", {"commits": []}, at="12:59:59"),
]  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def written(rows, name="2025-06-01-12.json.gz"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return written


def test_what_becomes_of_each_line(write):
    history = read_history(write(WHOLE))
    assert [(event.kind, event.actor, event.id) for event in history.events] == [
        ("opened", "ann", "1"),
        ("comment", "cem", "3"),
        ("review_requested", "ann", "7"),
        ("review_submitted", "bob", "4"),
        ("review_comment", "Copilot", "5"),
        ("merged", "ann", "6"),
        ("closed", "ann", "6"),
    ]
    opened, comment, asked, review, on_code, *_ = history.events
    assert (opened.repo, opened.pr, opened.title, opened.body, opened.draft) == ("o/r", 7, "T", "B", True)
    assert opened.base_sha == "s"
    assert (comment.body, asked.target, review.state, on_code.files) == ("c", "o/core", "APPROVED", ("a.py",))
    assert history.bots == {"copilot"}
    assert history.end == parse_time("2025-06-01T12:59:59Z"), "a push shows how far the archive reaches"


def test_slim_payloads_tell_less_and_merges_by_their_own_action(write):
    slim = {"id": 1, "number": 7, "url": "u", "head": {"sha": "h"}, "base": {"sha": "s"}}
    history = read_history(
        write(
            [
                line(1, "PullRequestEvent", {"action": "opened", "number": 7, "pull_request": slim}),
                line(2, "PullRequestReviewEvent",
                     {"action": "created", "review": {"state": "commented"}, "pull_request": slim}, "bob"),
                line(3, "PullRequestReviewEvent",
                     {"action": "dismissed", "review": {"state": "dismissed"}, "pull_request": slim}, "bob"),
                line(4, "PullRequestEvent", {"action": "merged", "number": 7, "pull_request": slim}, "bob"),
            ]
        )
    )  # fmt: skip
    assert [event.kind for event in history.events] == ["opened", "review_submitted", "merged", "closed"]
    assert (history.events[0].actor, history.events[0].title, history.events[0].body) == ("ann", None, None)


def test_hours_make_one_history_however_they_are_given(write, tmp_path):
    whole = read_history(write(WHOLE, "whole.json"))
    early, late = write(WHOLE[:3], "h/2025-06-01-12.json.gz"), write(WHOLE[3:], "h/2025-06-01-13.json")
    write([], "h/2025-06-01-14.json")
    (tmp_path / "h" / "README.md").write_text("hours")
    assert read_history([late, early]) == whole
    folder = read_history(tmp_path / "h")
    assert folder.events == whole.events
    assert folder.warnings[0].endswith("2025-06-01-14.json: left out, it is empty or no history")
    members = tmp_path / "members.json.gz"
    members.write_bytes(early.read_bytes() + gzip.compress(late.read_bytes()))
    assert read_history(members).events == whole.events
    with pytest.raises(UsageError, match="is given twice"):
        read_history([early, tmp_path / "h"])


def test_files_of_two_formats_are_refused(write, tmp_path):
    other = tmp_path / "events.jsonl"
    other.write_text('{"repo": "o/r", "pr": 1, "at": "2025-06-01", "kind": "opened"}\n')
    with pytest.raises(UsageError, match=r"is events and .* is gharchive\. Give files of one format"):
        read_history([write(WHOLE), other])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"id":"9","type":"PushEvent","payload":', ":10: broken JSON"),
        (json.dumps(line(9, "PullRequestEvent", {"action": "opened"})), ":10: pull_request is missing"),
        (json.dumps(line(9, "PullRequestEvent", [])), ":10: payload must be an object, found a list"),
        (json.dumps(WHOLE[0] | {"created_at": "now"}), ":10: created_at must be a time, found 'now'"),
        (json.dumps(WHOLE[0] | {"repo": {"name": 3}}), ":10: name must be a string"),
        ("[]", ":10: a line must be an object, found a list"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(write, text, problem):
    path = write(WHOLE, "hour.json")
    path.write_text(path.read_text() + text + "\n")
    with pytest.raises(InputError, match=problem.replace("(", r"\(")):
        read_history(path)


def test_a_gzip_file_that_breaks_off_is_damaged_or_unpacks_without_end(write, monkeypatch):
    path = write(WHOLE)
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    with pytest.raises(InputError, match="the gzip file breaks off"):
        read_history(path, "gharchive")
    path.write_bytes(data[:40] + b"\0\0\0\0" + data[44:])
    with pytest.raises(InputError, match=r"the gzip file is damaged|broken JSON|not UTF-8"):
        read_history(path, "gharchive")
    monkeypatch.setattr(gzip_lines, "LONGEST_LINE", 2**20)
    path.write_bytes(gzip.compress(b"x" * 5 * 2**20))
    with pytest.raises(InputError, match=r":1: a line of more than 1 MB"):
        read_history(path, "gharchive")


def test_texts_of_other_repositories_are_left_away_and_no_figure_changes(write):
    other = [row | {"repo": {"name": "o/s"}, "id": f"1{row['id']}"} for row in WHOLE]
    path = write(WHOLE + other)
    history = read_history(path, texts=TextFilter(frozenset({"o/r"})))
    told = [(event.repo, event.body) for event in history.events if event.kind in ("opened", "comment")]
    assert set(told) == {("o/r", "B"), ("o/r", "c"), ("o/s", "B"), ("o/s", None)}, "one body is kept: there are some"
    assert len(history.events) == len(read_history(path).events)
    assert mr.evaluate_routing(path, repos=["o/r"]).metrics == mr.evaluate_routing(write(WHOLE, "r.json")).metrics


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
                    max_leaves=6)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(row=st.sampled_from(WHOLE), key=st.sampled_from([*WHOLE[0], "action", "pull_request", "review"]), value=JSON)
def test_whatever_a_field_holds_it_is_read_or_refused(tmp_path_factory, row, key, value):
    path = tmp_path_factory.mktemp("fuzz") / "hour.json"
    changed = row | {key: value} if key in row else row | {"payload": row["payload"] | {key: value}}
    path.write_text("\n".join(map(json.dumps, [*WHOLE, changed])) + "\n")
    problem = "hour.json"
    try:
        assert len(read_history(path).events) >= 7
    except InputError as error:
        problem = str(error)
    assert "hour.json" in problem
