"""A job of a pull request, and GitHub's API for its comment."""

import pytest
from comment_server import CommentServer
from composite import Job
from jobs import NOTES, TOKEN, record, write


@pytest.fixture
def server():
    with CommentServer(TOKEN) as started:
        yield started


@pytest.fixture
def job(server, tmp_path):
    """A workspace with ten pull requests: references, a reviewer that finds all, and one that finds one in three."""
    workspace, temp = tmp_path / "workspace", tmp_path / "temp"
    workspace.mkdir()
    temp.mkdir()
    every = list(enumerate(NOTES, 1))
    write(workspace / "references.jsonl", [record(n, "gold", every) for n in range(1, 11)])
    write(workspace / "good.jsonl", [record(n, "bot", every) for n in range(1, 11)])
    write(workspace / "poor.jsonl", [record(n, "bot", every[n % 3 :][:1]) for n in range(1, 11)])
    event = {"pull_request": {"number": 7}}
    return Job(workspace, temp, event, {"GITHUB_API_URL": server.url, "NO_PROXY": "*"}, TOKEN)
