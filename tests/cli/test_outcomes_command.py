"""`metareview outcomes` and `evaluate_outcomes`: figures, folder, gates, references, bad input."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import metareview as mr
from metareview.cli import _run
from metareview.errors import UsageError
from metareview.runs.run import load_run

BOT = "sharpeye[bot]"
ADDED = "@@ -0,0 +1,4 @@\n+one\n+two\n+three\n+four"
CHANGED = "@@ -1,4 +1,5 @@\n+zero\n one\n-two\n+TWO\n three\n four"


def pull_request(number, *, patch=CHANGED, **fields):
    """Line 2 of a.py is changed, and a line comes before it, in the only commit after the comments."""
    first = {"sha": "a" * 40, "at": "2026-03-02T09:00:00Z", "author": "ann", "parents": ["f" * 40]}
    second = {"sha": "b" * 40, "at": "2026-03-02T11:00:00Z", "author": "ann", "parents": ["a" * 40]}
    files = [{"path": "a.py", "status": "modified", **({} if patch is None else {"patch": patch})}]
    commits = [{**first, "files": [{"path": "a.py", "status": "added", "patch": ADDED}]}, {**second, "files": files}]
    about = {"pr": f"https://github.com/o/r/pull/{number}", "author": "ann", "merged_at": "2026-03-03T00:00:00Z"}
    return about | {"commits": commits} | fields


def said(line, note, **fields):
    lines = {} if line is None else {"from_line": line, "to_line": line}
    return {"path": "a.py", **lines, "note": note, "commit": "a" * 40, "at": "2026-03-02T10:00:00Z", **fields}


RECORDS = [
    pull_request(1, reviewer=BOT, comments=[
        said(2, "Misspelt.", id="1", resolved=True, reactions={"+1": 2}, severity="high"),
        said(3, "Rename this.", id="2", resolved=False, reactions={"-1": 1}, severity="low"),
        said(None, "No tests.", id="3", resolved=False, reactions={}),
    ]),
    {"pr": "https://github.com/o/r/pull/1", "reviewer": "dora", "comments": [said(2, "Should be TWO.", id="4")]},
    {"pr": "https://github.com/o/r/pull/1", "reviewer": "ann", "comments": [
        said(3, "By design.", id="5", in_reply_to="2"), said(1, "Here is the heart of it.", id="6"),
    ]},
    pull_request(2, reviewer=BOT, comments=[said(2, "Misspelt.", id="7", resolved=True, reactions={})]),
    pull_request(3, reviewer=BOT, patch=None, comments=[said(1, "Why?", id="8", resolved=False, reactions={})]),
]  # fmt: skip


@pytest.fixture
def comments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("comments.jsonl", RECORDS)
    return "comments.jsonl"


def write(name, records):
    Path(name).write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


def shown(capsys, *arguments, code=0):
    assert _run(["outcomes", *arguments, "--json", "-q"]) == code
    return json.loads(capsys.readouterr().out)


def test_the_document(comments, capsys):
    document = shown(capsys, comments, "--out", "run")
    assert document["schema"] == "metareview.outcomes/1"
    assert document["run"] == "run"
    assert list(document["reviewers"]) == [BOT, "dora"]  # ann wrote the pull request: what she says is no review
    bot = document["reviewers"][BOT]
    assert (bot["prs"], bot["comments"], bot["bot"]) == (3, 5, True)
    # Comment 3 has no lines; of pull request 3 the patch is missing.
    assert bot["metrics"]["lines_changed"] == 2 / 3
    assert bot["known"]["lines_changed"] == 3
    assert sum(bot["cannot_tell"]["lines_changed"].values()) == 2
    assert bot["metrics"] | {"lines_changed": None} == {
        "lines_changed": None, "suggestion_taken": None, "resolved": 2 / 5, "answered": 1 / 5, "liked": 1 / 5,
        "disliked": 1 / 5, "repeated": 0.0, "addressed": None, "addressed_fully": None,
    }  # fmt: skip
    assert "suggestion_taken" not in bot["cannot_tell"]
    dora = document["reviewers"]["dora"]
    assert dora["known"]["resolved"] == 0
    assert dora["metrics"]["resolved"] is None
    assert document["groups"]["people"]["metrics"]["lines_changed"] == 1.0
    assert any("by the authors of the pull requests themselves" in warning for warning in document["warnings"])
    assert load_run("run").summary == document


def test_two_pull_requests_have_an_interval_and_one_has_none(comments, capsys):
    document = shown(capsys, comments, "--out", "run")
    low, high = document["reviewers"][BOT]["intervals"]["lines_changed"]
    assert 0 < low < 2 / 3 < high < 1
    assert document["reviewers"]["dora"]["intervals"]["lines_changed"] is None


def test_slices_and_who_and_since_when(comments, capsys):
    arguments = ("--by", "severity", "--by", "week", "--by", "path", "--reviewer", "*[bot]", "--since", "2026-03-02")
    bot = shown(capsys, comments, *arguments, "--out", "run")["reviewers"]
    assert list(bot) == [BOT]
    slices = bot[BOT]["slices"]
    severities = slices["severity"].items()
    assert {value: (each["comments"], each["metrics"]["lines_changed"]) for value, each in severities} == {
        "high": (1, 1.0), "low": (1, 0.0), "unknown": (3, 1.0),
    }  # fmt: skip
    assert list(slices["week"]) == ["2026-W10"]
    assert slices["path"]["a.py"]["prs"] == 3
    assert shown(capsys, comments, "--since", "2026-03-03", "--out", "late")["reviewers"] == {}


def test_a_comment_without_a_time_is_left_out_of_since_and_said_so(comments, capsys):
    write("t.jsonl", [pull_request(1, reviewer="x", comments=[{"note": "n", "path": "a.py"}])])
    document = shown(capsys, "t.jsonl", "--since", "2026-01-01", "--out", "run")
    assert document["reviewers"] == {}
    assert any("1 comment without a time" in warning for warning in document["warnings"])


def test_gates(comments, capsys):
    assert shown(capsys, comments, "--fail-under", "lines_changed=0.5", "--out", "a")["build_gates"][0]["passed"]
    shown(capsys, comments, "--fail-under", f"{BOT}.lines_changed=0.7", "--out", "b", code=3)
    shown(capsys, comments, "--fail-over", f"{BOT}.disliked=0.1", "--out", "c", code=3)
    shown(capsys, comments, "--fail-under", "dora.resolved=0.1", "--out", "d", code=3)  # null shows nothing
    assert _run(["outcomes", comments, "--fail-under", "f1=0.5"]) == 2
    assert _run(["outcomes", comments, "--fail-under", "addressed=0.5"]) == 2


def test_the_same_command_answers_from_the_folder_and_another_is_refused(comments, capsys):
    first = shown(capsys, comments, "--out", "run")
    assert shown(capsys, comments, "--out", "run") == first
    assert _run(["outcomes", comments, "--since", "2026-01-01", "--out", "run"]) == 2
    assert "since differ" in capsys.readouterr().err


def test_every_report(comments, capsys, tmp_path):
    shown(capsys, comments, "--out", "run", "--by", "severity", "--fail-under", "lines_changed=0.1")
    names = [f"r.{suffix}" for suffix in ("html", "md", "csv", "json", "xml")]
    assert _run(["report", "run", *(part for name in names for part in ("-o", name)), "-q"]) == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "what became of them?" in page
    assert "What the data cannot tell" in page
    assert "## What the data cannot tell" in (tmp_path / "r.md").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text("utf-8"))))
    assert [(row["reviewer"], row["id"], row["lines_changed"]) for row in rows] == [
        (BOT, "1", "true"), (BOT, "2", "false"), (BOT, "3", ""), ("dora", "4", "true"), (BOT, "7", "true"),
        (BOT, "8", ""),
    ]  # fmt: skip
    suites = ElementTree.parse(tmp_path / "r.xml").getroot()
    assert [(suite.get("name"), suite.get("tests"), suite.get("failures")) for suite in suites] == [
        (BOT, "4", "0"),
        ("dora", "2", "0"),
    ]


def test_names_and_notes_are_no_markup(comments, capsys, tmp_path):
    write(
        "x.jsonl",
        [pull_request(1, reviewer="<b>x</b>", comments=[said(2, "<script>alert(1)</script>", severity="<i>")])],
    )
    shown(capsys, "x.jsonl", "--out", "run", "--by", "severity")
    assert _run(["report", "run", "-o", "r.html", "-o", "r.md", "-q"]) == 0
    for name in ("r.html", "r.md"):
        text = (tmp_path / name).read_text("utf-8")
        assert not any(tag in text for tag in ("<b>x", "<script>", "<i>"))


def test_references_and_negatives(comments, capsys, tmp_path):
    assert _run(["outcomes", comments, "--references-out", "refs.jsonl", "--out", "run"]) == 0
    assert "Next: metareview check --reference refs.jsonl --negatives refs.negatives.jsonl" in capsys.readouterr().err
    [reference] = map(json.loads, (tmp_path / "refs.jsonl").read_text().splitlines())
    assert [(each["note"], each["severity"]) for each in reference["comments"]] == [("Should be TWO.", "unknown")]
    assert reference["comments"][0]["meta"]["why"] == ["its lines were changed by bbbbbbbbbbbb"]
    [negative] = map(json.loads, (tmp_path / "refs.negatives.jsonl").read_text().splitlines())
    assert [each["note"] for each in negative["comments"]] == ["Rename this."]
    assert _run(["check", "--reference", "refs.jsonl", "--negatives", "refs.negatives.jsonl", "-q"]) == 0
    capsys.readouterr()
    assert _run(["outcomes", comments, "--references-out", "refs.jsonl", "--out", "run"]) == 2
    assert "refs.jsonl exists" in capsys.readouterr().err


def test_a_dry_run_writes_nothing(comments, capsys, tmp_path):
    assert shown(capsys, comments, "--dry-run")["comments"] == 6
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--by", "colour"], "--by 'colour' is not known"),
        (["--judge", "offline"], "--judge 'offline' cannot say what was addressed"),
        (["--since", "yesterday"], "--since 'yesterday'"),
        (["--reviewer", "shapeye[bot]"], "Did you mean 'sharpeye[bot]'?"),
        (["--references-out", "nowhere/refs.jsonl"], "there is no folder nowhere"),
    ],
)
def test_bad_usage_is_one_message_with_the_fix(comments, capsys, arguments, problem):
    assert _run(["outcomes", comments, *arguments]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", '{"pr": "https://github.com/o/r/pull/1", "reviewer": "a", "author": "a"}'])
def test_nothing_to_look_at_is_bad_input(tmp_path, monkeypatch, capsys, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.jsonl").write_text(text)
    assert _run(["outcomes", "c.jsonl"]) == 2
    assert "c.jsonl" in capsys.readouterr().err


def test_without_commits_it_says_so(comments, capsys):
    plain = [
        {
            "pr": "https://github.com/o/r/pull/1",
            "reviewer": "x",
            "comments": [{"path": "a.py", "from_line": 1, "note": "n"}],
        }
    ]
    write("plain.jsonl", plain)
    document = shown(capsys, "plain.jsonl", "--out", "run")
    figures = document["reviewers"]["x"]
    assert all(value is None for name, value in figures["metrics"].items() if name != "repeated")
    assert figures["metrics"]["repeated"] == 0.0
    assert any("have no commits" in warning for warning in document["warnings"])


def test_records_in_memory_and_no_folder(comments):
    run = mr.evaluate_outcomes(RECORDS, reviewer="*[bot]", by="severity")
    assert run.folder is None
    assert run.metrics[BOT]["lines_changed"] == 2 / 3
    assert (
        run.summary["reviewers"]
        == mr.evaluate_outcomes(comments, reviewer="*[bot]", by="severity").summary["reviewers"]
    )
    assert "lines_changed=0.66" in repr(run)
    assert "<table>" in run._repr_html_()
    with pytest.raises(UsageError, match="has no pairs"):
        run.to_frame("pairs")


def test_to_frame_has_a_row_per_record_or_per_comment(comments):
    pytest.importorskip("pandas")
    run = mr.evaluate_outcomes(comments)
    assert list(run.to_frame()["reviewer"]) == [BOT, "dora", BOT, BOT]
    frame = run.to_frame("comments")
    assert list(frame["lines_changed"].map({True: 1, False: 0}))[:2] == [1, 0]
    assert frame["note"][0] == "Misspelt."


def test_the_order_of_the_input_changes_nothing(comments, capsys):
    one = shown(capsys, comments, "--out", "one")["reviewers"]
    write("other.jsonl", RECORDS[::-1])
    assert shown(capsys, "other.jsonl", "--out", "other")["reviewers"] == one


def test_a_killed_run_goes_on(comments, capsys, tmp_path):
    whole = shown(capsys, comments, "--out", "whole")
    shown(capsys, comments, "--out", "cut")
    manifest = json.loads((tmp_path / "cut/manifest.json").read_text())
    (tmp_path / "cut/manifest.json").write_text(json.dumps(manifest | {"status": "running", "finished": None}))
    (tmp_path / "cut/summary.json").unlink()
    lines = (tmp_path / "cut/results.jsonl").read_bytes()
    (tmp_path / "cut/results.jsonl").write_bytes(lines[: len(lines) // 2])
    assert shown(capsys, comments, "--out", "cut") == whole | {"run": "cut"}
    assert (tmp_path / "cut/results.jsonl").read_bytes() == lines


def test_costs_stand_beside_the_rates(comments, capsys, tmp_path):
    records = [
        {**record, "cost": 3.0} if record.get("commits") and record["pr"][-1] in "12" else record for record in RECORDS
    ]
    write("cost.jsonl", records)
    bot = shown(capsys, "cost.jsonl", "--out", "run")["reviewers"][BOT]
    # Known on two of three pull requests, 6 in all; on these, two comments were heeded.
    assert bot["costs"]["prs"] == {"cost": 2}
    assert bot["costs"]["per_pr"] == {"cost": 3.0}
    assert bot["costs"]["per_heeded_comment"] == {"cost": 3.0}
    assert load_run("run").result.reviewers[BOT].costs.total == {"cost": 6.0}
    assert _run(["outcomes", "cost.jsonl", "--out", "run"]) == 0
    assert "per heeded comment" in capsys.readouterr().out
    assert _run(["report", "run", "-o", "r.html", "-o", "r.md", "-q"]) == 0
    assert all("per heeded comment" in (tmp_path / name).read_text("utf-8") for name in ("r.html", "r.md"))


def test_no_reference_is_said_even_where_it_is_quiet(comments, capsys, tmp_path):
    write("bots.jsonl", [record for record in RECORDS if record["reviewer"] != "dora"])
    assert _run(["outcomes", "bots.jsonl", "--references-out", "refs.jsonl", "--out", "run", "-q"]) == 0
    said = capsys.readouterr().err
    assert "refs.jsonl is not written" in said
    assert "1 negative alone would be no reference set" in said
    assert not (tmp_path / "refs.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "total"), [({}, 3), ({"reviewer": "dora"}, 1), ({"reviewer": BOT, "since": "2026-03-02T12:00:00Z"}, 3)]
)
def test_progress_ends_with_the_last_pull_request_of_those_that_are_followed(comments, options, total):
    told = []
    mr.evaluate_outcomes(comments, progress=lambda done, of: told.append((done, of)), **options)
    assert told[-1] == (total, total)
    assert {of for _, of in told} == {total}


def test_a_plan_counts_the_pull_requests_of_the_chosen(comments, capsys):
    assert shown(capsys, comments, "--reviewer", "dora", "--dry-run")["prs"] == 1
