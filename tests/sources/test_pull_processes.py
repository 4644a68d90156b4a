"""Real processes: killed at any moment and started again, interrupted, and a repository of 5,000 pull requests."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from github_data import later, repository, sample_server
from github_server import TOKEN, GitHubServer
from gitlab_server import PATH, GitLabServer, sample
from metareview.formats.histories.events import time_order


def command(server, *arguments, folder):
    environ = {**os.environ, **server.environment(), "NO_PROXY": "127.0.0.1"}
    return subprocess.Popen(
        [sys.executable, "-m", "metareview", "pull", *arguments],
        env=environ, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is not for Windows")
@pytest.mark.parametrize("what", ["comments", "history", "GitLab's comments"])
def test_killed_again_and_again_it_ends_with_the_same_bytes(tmp_path, what):
    chance = random.Random(what)
    gitlab = what.startswith("GitLab")
    serve = GitLabServer(sample(), largest_page=1, latency=0.004) if gitlab else None
    with serve or sample_server(largest_page=3, latency=0.004) as server:
        asked = ("comments", f"{server.url}/{PATH}") if gitlab else (what, "acme/shop")
        through = command(server, *asked, "-o", "through.jsonl", folder=tmp_path)
        assert through.wait(60) == 0
        through.stdout.close()
        requests = len(server.log)
        kills = 0
        for _ in range(60):
            begun = len(server.log)
            process = command(server, *asked, "-o", "killed.jsonl", folder=tmp_path)
            # One merge request takes up to a quarter of all requests here: with fewer, it would never be done.
            last = begun + chance.randint(requests // 6, requests // (2 if gitlab else 4))
            while process.poll() is None and len(server.log) < last:
                time.sleep(0.002)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            kills += process.wait(60) != 0
            process.stdout.close()
            if process.returncode == 0:
                break
            assert not (tmp_path / "killed.jsonl").exists()
    assert kills >= 3
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "through.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed.jsonl", "through.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is not for Windows")
def test_an_interrupt_keeps_what_was_done(tmp_path):
    with sample_server(largest_page=3, latency=0.05) as server:
        process = command(server, "comments", "acme/shop", "-o", "out.jsonl", folder=tmp_path)
        partial = tmp_path / "out.jsonl.partial"
        while process.poll() is None and not (partial.exists() and b'"done"' in partial.read_bytes()):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "What was fetched is kept in out.jsonl.partial." in shown
        assert partial.exists()
        asked = len(server.log)
        again = command(server, "comments", "acme/shop", "-o", "out.jsonl", folder=tmp_path)
        shown, _ = again.communicate(timeout=60)
        assert again.returncode == 0
        assert "going on from an earlier pull" in shown
        assert TOKEN not in shown
        # The pull requests are not listed a second time.
        assert not any("pullRequests(" in each.query for each in server.log[asked:])


def many(count):
    """Pull requests whose events lie among those of their neighbours."""
    people = ["ana", "ben", "cleo", "dana"]
    start = "2024-01-01T00:00:00Z"
    return [
        {
            "number": number,
            "at": later(start, 10 * number),
            "by": people[number % 4],
            "title": f"Change {number}",
            "files": [f"src/{number % 50}.py"],
            "threads": [
                {
                    "path": "a.py",
                    "line": 1 + i,
                    "by": people[(number + i + 1) % 4],
                    "after": 15 + i,
                    "note": f"Note {i}.",
                }
                for i in range(number % 3)
            ],
            "reviews": [[people[(number + 1) % 4], 20, "APPROVED", ""]],
            "merged": [60, people[(number + 2) % 4]],
        }
        for number in range(1, count + 1)
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell the memory of a process that has ended")
def test_five_thousand_pull_requests_in_the_memory_of_a_few(tmp_path):
    peaks = {}
    for count in (50, 5_000):
        with GitHubServer(repository(many(count))) as server:
            process = command(server, "history", "acme/shop", "-o", f"{count}.jsonl", "-q", folder=tmp_path)
            shown = process.stdout.read()
            process.stdout.close()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = status
            peaks[count] = used.ru_maxrss / 1024
            assert (status, len(server.log)) == (0, -(-count // 100) + -(-count // 10)), shown
    lines = [json.loads(line) for line in (tmp_path / "5000.jsonl").read_text("utf-8").splitlines()]
    threads = sum(number % 3 for number in range(1, 5_001))
    kinds = Counter(line["kind"] for line in lines)
    assert kinds == {"opened": 5_000, "review_submitted": 5_000, "merged": 5_000, "review_comment": threads}
    assert lines == sorted(lines, key=lambda line: time_order(json.dumps(line)))
    # Measured: 58 MB for 50 pull requests, 90 for 5,000. What grows is a mark per pull request, and a key per event.
    assert peaks[5_000] - peaks[50] < 64
