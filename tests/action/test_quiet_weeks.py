"""Nothing happened in the time that `pull` asks for: the job is green, and says so."""

import json

import pytest
from jobs import TOKEN, use

from github_data import repository, sample_server
from github_server import GitHubServer


@pytest.fixture
def of(job):
    """Uses the Action on a repository with these pull requests."""

    def run(pulls, **inputs):
        with GitHubServer(repository(pulls)) as github:
            job.environment |= github.environment(TOKEN)
            return use(job, comment="false", **inputs)

    return run


UNREVIEWED = {"number": 1, "at": "2026-01-05T10:00:00Z", "by": "ana", "title": "Change"}


@pytest.mark.parametrize("command", ["outcomes", "comments"])
def test_the_weekly_job_of_a_quiet_month_is_green_and_says_so(of, job, command):
    done = of([], command=command, pull="28d")
    assert not done.failed, done.log
    assert done.outputs == {"exit-code": "0", "run": "", "report": "", "summary-json": ""}
    title, sentence = [line for line in done.page.splitlines() if line]
    assert title.endswith(": no pull requests in 28 days")
    assert title.startswith("## ✅ ")
    assert sentence.startswith("acme/shop has no pull request that was created since 20")
    assert sentence.endswith("Z&#58; nothing was measured.")
    assert "no pull requests in 28 days" in done.log
    assert (job.workspace / "metareview" / "comments.jsonl").read_bytes() == b""
    assert (job.workspace / "metareview" / "comment.md").is_file()


@pytest.mark.parametrize(
    ("pull", "words"),
    [("1d", "no pull requests in 1 day"), ("2026-01-31", "no pull requests since 2026-01-31"),
     ("1.5h", "no pull requests in 1.5 hours")],
)  # fmt: skip
def test_the_time_is_said_as_it_was_asked_for(of, pull, words):
    assert f": {words}\n" in of([], command="outcomes", pull=pull).page


def test_gates_and_a_baseline_are_said_not_to_be_checked(of):
    done = of([], command="outcomes", pull="28d", fail_under="lines_changed=0.5", baseline="good.jsonl")
    assert not done.failed, done.log
    assert "nothing was measured, and no gate was checked." in done.page


@pytest.mark.parametrize("pulls", [[UNREVIEWED], [UNREVIEWED | {"reviews": [["ben", 5, "APPROVED", ""]]}]])
def test_pull_requests_without_a_comment_are_counted(of, pulls):
    done = of(pulls, pull="2026-01-01")
    assert not done.failed, done.log
    assert ": no comments on 1 pull request since 2026-01-01\n" in done.page


def test_files_are_measured_all_the_same(of, job):
    with sample_server() as github:
        job.environment |= github.environment(TOKEN)
        assert not use(job, command="outcomes", pull="2020-01-01", out="first", comment="false").failed
    done = of([], command="outcomes", pull="28d", files="first/comments.jsonl")
    assert done.outputs["exit-code"] == "0", done.log
    figures = json.loads((job.workspace / done.outputs["summary-json"]).read_text("utf-8"))
    assert "sharpeye[bot]" in figures["reviewers"]
    assert "acme/shop has no pull request that was created since 20" in done.page
    assert "nothing was measured" not in done.page
    done = of([], pull="28d", files="good.jsonl", reference="references.jsonl", judge="exact")
    assert (done.failed, done.outputs["run"]) == (False, "metareview/current")
    # Without references of one's own there is nothing to score them against.
    done = of([], pull="28d", files="good.jsonl", judge="exact")
    assert (done.failed, done.outputs["run"]) == (False, "")
    assert "no pull requests in 28 days" in done.page


def test_a_forged_journal_does_not_take_the_place_of_the_pull(of, job):
    """`pull` with a fixed date asks for the same every time."""
    out = job.workspace / "metareview"
    out.mkdir()
    asked = {"command": "comments", "host": "github.com", "repository": "acme/shop", "numbers": None,
             "since": "2026-01-01T00:00:00Z", "until": None, "reviewers": [], "patches": True}  # fmt: skip
    comment = {"id": "1", "path": "a.py", "from_line": 1, "to_line": 1, "note": "x", "author": "best[bot]"}
    record = {"pr": "https://github.com/acme/shop/pull/1", "reviewer": "best[bot]", "comments": [comment]}
    marks = [{"listed": [1], "after": None}, {"done": 1, "lines": 1, "counts": {"best[bot]": 1}}]
    lines = [json.dumps({"metareview.pull": 1, "asked": asked}, separators=(",", ":")), "#" + json.dumps(marks[0])]
    lines += [json.dumps(record), "#" + json.dumps(marks[1])]
    (out / "comments.jsonl.partial").write_text("\n".join(lines) + "\n", "utf-8")
    done = of([UNREVIEWED], command="outcomes", pull="2026-01-01")
    assert "best" not in done.log + done.page
    assert "no comments on 1 pull request since 2026-01-01" in done.page
