"""How fast histories are read: the targets, and what this machine needs, beside a plain loop over the same file."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import Result, Row, alone, compared
from bench.routing import synthetic, write_events

EVENTS, COMPARED = 200_000, 50_000
ON_PULL_REQUESTS = ("PullRequestEvent", "PullRequestReviewEvent", "PullRequestReviewCommentEvent", "IssueCommentEvent")
TABLES = ("pull_requests", "reviews", "comments", "events")
OTHERS = ("PushEvent", "CreateEvent", "WatchEvent", "IssuesEvent", "DeleteEvent", "ForkEvent")
WORDS = ("cache", "parser", "because", "trees", "large", "review", "change", "please", "rename", "test")


def write_hour(path: Path, events: int = EVENTS) -> None:
    """A made-up hour: a quarter on pull requests, as large as the archive's own were before they became slim."""
    rng = random.Random(0)
    filler = {f"{name}_url": "https://api.example.com/repos/org/repo/" + "x" * 60 for name in WORDS * 3}
    links = {f"{name}{number}_url": link for number in range(8) for name, link in filler.items()}
    with gzip.open(path, "wb", compresslevel=6) as stream:
        for number in range(events):
            repo = f"org/repo{rng.randrange(2_000)}"
            kind, payload = _payload(rng, number, links)
            line = {
                "id": str(50_000_000_000 + number),
                "type": kind,
                "actor": {
                    "id": number,
                    "login": f"dev{rng.randrange(20_000)}",
                    "url": "https://api.example.com/users/x",
                },
                "repo": {"id": 1, "name": repo, "url": f"https://api.example.com/repos/{repo}"},
                "payload": payload,
                "public": True,
                "created_at": f"2025-06-01T12:{number * 60 // events:02d}:{number % 60:02d}Z",
            }
            stream.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")


def _payload(rng: random.Random, number: int, links: dict[str, str]) -> tuple[str, dict[str, Any]]:
    text = " ".join(rng.choices(WORDS, k=60))
    if number % 4:
        return rng.choice(OTHERS), {"size": 1, "commits": [{"sha": f"{number:040d}", "message": text}]}
    pull = {"number": number // 8 + 1, "title": text[:60], "body": text, "draft": False, "merged": False}
    pull |= {"user": {"login": f"dev{number % 20_000}", "type": "User"}, "base": {"sha": "s"}, **links}
    match rng.randrange(4):
        case 0:
            return "PullRequestEvent", {"action": "opened", "number": pull["number"], "pull_request": pull}
        case 1:
            return "PullRequestReviewEvent", {
                "action": "created", "review": {"state": "approved", "body": text}, "pull_request": pull,
            }  # fmt: skip
        case 2:
            return "PullRequestReviewCommentEvent", {
                "action": "created", "comment": {"path": "src/a.py", "body": text}, "pull_request": pull,
            }  # fmt: skip
    issue = {"number": pull["number"], "pull_request": {"url": "u"}, "body": text}
    return "IssueCommentEvent", {"action": "created", "issue": issue, "comment": {"body": text}}


def write_database(path: Path, events: int = EVENTS) -> None:
    """The harness's tables: ten rows of `events` for each pull request, eight of them reviews and comments."""
    rng = random.Random(0)
    database = sqlite3.connect(path)
    database.executescript(
        """create table repos (id integer primary key, full_name text);
        create table users (id integer primary key, login text, type text);
        create table pull_requests (id integer primary key, repo_id, number, user_id, title, body, created_at);
        create table reviews (id integer primary key, pull_request_id, user_id, state, body, submitted_at);
        create table comments (id integer primary key, pull_request_id, user_id, body, created_at, review_id);
        create table events (id integer primary key, occurred_at, actor_id, subject_type, subject_id, event_type);
        create table pull_request_draft_intervals (id integer primary key, pull_request_id, is_draft, start_event_id);
        insert into repos values (1, 'org/repo');"""
    )
    database.executemany("insert into users values (?, ?, 'User')", [(n, f"dev{n}") for n in range(300)])
    tables: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
    drafts = []
    for number in range(1, events + 1):
        pull, step = divmod(number - 1, 10)
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(1_700_000_000 + pull * 3_000 + step * 97))
        text, person = " ".join(rng.choices(WORDS, k=40)), rng.randrange(300)
        kind = ("review.submitted", "comment.created")[step % 2]
        if step == 0:
            kind = "pull_request.opened"
            tables["pull_requests"].append((pull, 1, pull + 1, person, text[:60], text, at))
            drafts.append((number, pull, 0, number))
        elif step == 9:
            kind = "pull_request.merged"
        elif step % 2:
            tables["comments"].append((number, pull, person, text, at, None))
        else:
            tables["reviews"].append((number, pull, person, "APPROVED", text, at))
        tables["events"].append((number, at, person, "pull_request", pull, kind))
    for name, rows in tables.items():
        database.executemany(f"insert into {name} values ({', '.join('?' * len(rows[0]))})", rows)
    database.executemany("insert into pull_request_draft_intervals values (?, ?, ?, ?)", drafts)
    database.commit()
    database.close()


def _read(path: Path) -> int:
    from metareview.formats.history import read_history

    return len(read_history(path).events)


def _loop_over_gzip(path: Path) -> int:
    with gzip.open(path) as stream:
        return sum(json.loads(line)["type"] in ON_PULL_REQUESTS for line in stream)


def _loop_over_lines(path: Path) -> int:
    with path.open(encoding="utf-8") as stream:
        return sum(bool(json.loads(line)["kind"]) for line in stream)


def _loop_over_tables(path: Path) -> int:
    database = sqlite3.connect(path)
    found = {name: len(database.execute(f"select * from {name}").fetchall()) for name in TABLES}
    database.close()
    return found["events"]


def ratios() -> Result:
    """The peer only parses and counts: it checks nothing, reads no time stamps and makes no events."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = folder / "2025-06-01-12.json.gz", folder / "events.jsonl", folder / "history.sqlite"
        write_hour(files[0], COMPARED)
        write_events(synthetic(COMPARED), files[1])
        write_database(files[2], COMPARED)
        peers = (
            (f"GH Archive, {COMPARED:,} events", "gzip and json.loads", _loop_over_gzip),
            (f"JSON lines, {COMPARED:,} events", "a loop of json.loads", _loop_over_lines),
            (f"the harness's SQLite, {COMPARED:,} events", "a fetch of all rows", _loop_over_tables),
        )
        for path, (what, peer, loop) in zip(files, peers, strict=True):
            assert _read(path) == loop(path) > 0, what
            found = compared(lambda path=path: _read(path), lambda path=path, loop=loop: loop(path), rounds=3)
            rows.append(Row.ratio(what, found.ratio, peer=peer))
    return Result("Reading histories", rows)


def run() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        hour, database = Path(folder) / "2025-06-01-12.json.gz", Path(folder) / "history.sqlite"
        write_hour(hour)
        write_database(database)
        size = f"{hour.stat().st_size / 2**20:.0f} MB packed"
        of_hour, of_database = alone(_read, hour), alone(_read, database)
    rows = [
        Row.below(f"GH Archive hour, {EVENTS:,} events ({size}), read", of_hour.processor, "s", 6),
        Row.below("its peak memory", of_hour.megabytes, "MB", 600),
        Row.below(f"the harness's SQLite, {EVENTS:,} events, read", of_database.processor, "s", 5),
    ]
    return Result("Reading histories", [*rows, *ratios().rows])
