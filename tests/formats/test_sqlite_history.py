"""The routing harness's tables: what becomes of each row, and what is refused."""

import json
import sqlite3
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import metareview as mr
from metareview.errors import InputError
from metareview.formats import database
from metareview.formats.history import read_history
from metareview.model.time import parse_time

TABLES = """
create table repos (id integer primary key, owner_login text, name text, full_name text);
create table users (id integer primary key, login text, type text);
create table teams (id integer primary key, slug text);
create table pull_requests (id integer primary key, repo_id integer, issue_id integer, number integer, user_id integer,
  title text, body text, head_sha text, base_sha text, created_at datetime, merged_at datetime, closed_at datetime);
create table pull_request_files (repo_id integer, pull_request_id integer, head_sha text, path text);
create table reviews (id integer primary key, repo_id integer, pull_request_id integer, user_id integer, state text,
  body text, submitted_at datetime);
create table comments (id integer primary key, repo_id integer, issue_id integer, pull_request_id integer,
  review_id integer, user_id integer, body text, created_at datetime, path text, comment_type text);
create table events (id integer primary key, repo_id integer, occurred_at datetime, actor_id integer, subject_type text,
  subject_id integer, event_type text);
create table pull_request_draft_intervals (id integer primary key, pull_request_id integer, is_draft boolean,
  start_event_id integer, end_event_id integer);
create table pull_request_head_intervals (id integer primary key, pull_request_id integer, head_sha text,
  start_event_id integer, end_event_id integer);
create table pull_request_review_request_intervals (id integer primary key, pull_request_id integer,
  reviewer_type text, reviewer_id integer, start_event_id integer, end_event_id integer);
create table issue_content_intervals (id integer primary key, issue_id integer, title text, body text,
  start_event_id integer, end_event_id integer);
create table ingestion_gaps (id integer primary key, repo_id integer, resource text);
insert into repos values (1, 'o', 'r', 'o/r');
insert into users values (1, 'ann', 'User'), (2, 'bob', 'User'), (3, 'helper', 'Bot');
insert into teams values (9, 'core');
insert into pull_requests values
  (70, 1, 700, 7, 1, 'last title', 'last body', 'h2', 'b1', '2025-06-01 12:00:00', null, null);
insert into events values (1, 1, '2025-06-01 12:00:00', 1, 'pull_request', 70, 'pull_request.opened'),
  (2, 1, '2025-06-01 12:30:00.000000', 1, 'pull_request', 70, 'pull_request.head.set'),
  (3, 1, '2025-06-01 13:00:00', 2, 'issue', 700, 'issue.edited'),
  (4, 1, '2025-06-01 14:00:00', 1, 'pull_request', 70, 'pull_request.draft.set'),
  (5, 1, '2025-06-01 15:00:00', 1, 'pull_request', 70, 'pull_request.review_requested'),
  (6, 1, '2025-06-01 16:00:00', 1, 'pull_request', 70, 'pull_request.review_request_removed'),
  (7, 1, '2025-06-03 10:00:00', 2, 'pull_request', 70, 'pull_request.merged'),
  (8, 1, '2025-06-09 10:00:00', 2, 'issue', 800, 'issue.label.add');
insert into pull_request_head_intervals values (1, 70, 'h1', 1, 2), (2, 70, 'h2', 2, null);
insert into pull_request_files values (1, 70, 'h1', 'b.py'), (1, 70, 'h1', 'a.py'), (1, 70, 'h2', 'c.py');
insert into issue_content_intervals values (1, 700, 'first title', 'first body', 1, 3),
  (2, 700, 'last title', null, 3, null);
insert into pull_request_draft_intervals values (1, 70, 1, 1, 4), (2, 70, 0, 4, null);
insert into pull_request_review_request_intervals values (1, 70, 'User', 2, 5, 6), (2, 70, 'Team', 9, 5, null);
insert into reviews values (40, 1, 70, 2, 'APPROVED', 'fine', '2025-06-02 10:00:00'),
  (41, 1, 70, 2, 'PENDING', null, null);
insert into comments values (50, 1, 700, null, null, 3, 'hi', '2025-06-01 12:05:00', null, 'issue'),
  (51, 1, null, 70, 40, 2, 'here', '2025-06-02 10:00:00', 'a.py', 'review'),
  (52, 1, 800, null, null, 2, 'on an issue', '2025-06-02 10:00:00', null, 'issue');
"""


@pytest.fixture
def make(tmp_path):
    def made(*more, name="history.sqlite"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path)
        connection.executescript(TABLES)
        for statement in more:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return path

    return made


def test_rows_and_intervals_become_events(make):
    history = read_history(make())
    told = [(event.kind, event.at, event.actor) for event in history.events]
    assert told == [
        (kind, parse_time(f"2025-06-0{at}"), actor)
        for kind, at, actor in [
            ("opened", "1T12:00", "ann"),
            ("comment", "1T12:05", "helper"),
            ("pushed", "1T12:30", "ann"),
            ("edited", "1T13:00", "bob"),
            ("ready_for_review", "1T14:00", "ann"),
            ("review_requested", "1T15:00", "ann"),
            ("review_requested", "1T15:00", "ann"),
            ("review_request_removed", "1T16:00", "ann"),
            ("review_submitted", "2T10:00", "bob"),
            ("review_comment", "2T10:00", "bob"),
            ("merged", "3T10:00", "bob"),
        ]
    ]
    by_kind = {event.kind: event for event in history.events}
    opened = by_kind["opened"]
    assert (opened.title, opened.body, opened.files, opened.draft) == (
        "first title", "first body", ("a.py", "b.py"), True
    )  # fmt: skip
    assert opened.base_sha == "b1"
    assert by_kind["pushed"].files == ("c.py",)
    assert (by_kind["edited"].title, by_kind["edited"].body) == ("last title", "")
    assert by_kind["review_submitted"].state == "APPROVED"
    assert by_kind["review_comment"].files == ("a.py",)
    assert {event.target for event in history.events if event.kind == "review_requested"} == {"bob", "o/core"}
    assert history.bots == {"helper"}
    assert history.end == parse_time("2025-06-09T10:00Z"), "an event of no pull request shows how far it reaches"


@pytest.mark.parametrize(("resource", "state"), [("reviews", "unknown"), ("commits", "no_response")])
def test_a_gap_in_which_a_response_may_hide_makes_silence_unknown(make, resource, state):
    path = make(f"insert into ingestion_gaps values (1, 1, '{resource}')")
    run = mr.evaluate_routing(path, routers=["popularity"], truth_window="1h")
    assert run.records[0]["truth"]["state"] == state
    told = [line for line in run.summary["warnings"] if "has gaps (reviews)" in line]
    assert len(told) == (state == "unknown")
    answered = mr.evaluate_routing(path, routers=["popularity"], truth_window="1d")
    assert answered.records[0]["truth"]["state"] == "observed", "whoever came has come"


def test_a_folder_of_several_repositories(make, tmp_path):
    make(name="data/github/o/r/history.sqlite")
    make("update repos set full_name = 'o/s'", name="data/github/o/s/history.sqlite")
    (tmp_path / "data" / "github" / "o" / "r" / "notes.json").write_text("{}")
    history = read_history(tmp_path / "data")
    assert sorted(history.by_repository()) == ["o/r", "o/s"]


def test_columns_that_are_not_needed_may_be_absent_and_others_are_named(make):
    assert read_history(make("alter table users drop column type")).bots == frozenset()
    with pytest.raises(InputError, match=r"table reviews has no column submitted_at\. It has "):
        read_history(make("alter table reviews drop column submitted_at", name="b.sqlite"))
    with pytest.raises(InputError, match="table users is missing"):
        read_history(make("drop table users", name="c.sqlite"))
    with pytest.raises(InputError, match="table users is missing"):
        read_history(make("drop table users", "create view users as select 1 as id, 'x' as login", name="d.sqlite"))


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (
            "update reviews set submitted_at = 'soon'",
            "table reviews, row 40: submitted_at must be a time, found 'soon'",
        ),
        ("update pull_requests set number = 'x'", "table pull_requests, row 70: number must be a whole number"),
        ("update users set login = x'ff00'", "table users, row 1: login must be text"),
        ("update pull_requests set title = cast(x'ff' as text)", "table pull_requests: text that is not UTF-8"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(make, statement, problem):
    with pytest.raises(InputError, match=problem):
        read_history(make(statement))


def test_a_file_that_is_damaged_or_held(make, monkeypatch):
    path = make()
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * 3000 + data[3100:])
    with pytest.raises(InputError, match="not readable as SQLite"):
        read_history(path)
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.05)
    path = make(name="held.sqlite")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("begin exclusive")
    with pytest.raises(InputError, match=r"another process holds it .* Wait until it is done"):
        read_history(path)
    holder.close()


def test_it_is_read_while_another_process_writes(make):
    """In the log of a writer that has not ended: what was committed is read, what was not is not."""
    path = make(name="a folder with ? and #/history.sqlite")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("pragma journal_mode = wal")
    writer.execute("update users set login = 'Bea' where id = 2")
    writer.execute("begin immediate")
    writer.execute("update users set login = 'nobody' where id = 2")
    assert "bea" in read_history(path).names
    writer.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 4000), st.binary(min_size=1, max_size=200))
def test_whatever_is_in_the_file_it_is_read_or_refused(make, at, noise):
    path = make(name=f"{threading.get_ident()}-{at}-{len(noise)}-{hash(noise)}.sqlite")
    data = bytearray(path.read_bytes())
    place = at * 17 % len(data)
    data[place : place + len(noise)] = noise
    path.write_bytes(data)
    problem = path.name
    try:
        assert read_history(path).events
    except InputError as error:
        problem = str(error)
    path.unlink()
    assert path.name in problem


def test_the_figures_are_those_of_the_same_history_in_json_lines(tmp_path):
    from pathlib import Path

    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "routing"
    if not (folder / "harness").is_dir():
        pytest.skip("the real histories (../shared/data/routing) are not here")
    (path,) = (folder / "harness").rglob("history.sqlite")
    repo = f"{path.parent.parent.name}/{path.parent.name}"
    lines = (folder / "github-events.jsonl").read_text("utf-8").splitlines()
    same = tmp_path / "same.jsonl"
    same.write_text("\n".join(line for line in lines if json.loads(line)["repo"] == repo), "utf-8")
    for options in (
        {},
        {"cutoff": "ready_for_review", "truth_window": "7d", "ttfc": True, "merged_within": "30d"},
        {"truth": "all_reviewers", "truth_window": "none", "include_bots": True},
        {"truth_sources": ["review_submitted", "comment"], "since": "2025-06-01", "k": [1, 10]},
    ):
        assert (
            mr.evaluate_routing(folder / "harness", **options).summary == mr.evaluate_routing(same, **options).summary
        )
