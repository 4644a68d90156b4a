"""`metareview routing` and what it is given: routers with a configuration, hostile files, what is said on the way."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import metareview as mr
from metareview.cli import _run
from metareview.cli import output as cli_output
from metareview.errors import InputError, UsageError
from metareview.formats.history import read_history
from metareview.formats.predictions import read_predictions

ROUTER = """
from metareview.routing.protocol import Ranking

class Fixed:
    def __init__(self, first="ann", second="cy"):
        self.people = [first, second]
    def observe(self, event):
        pass
    def rank(self, pull_request):
        people = [(login, 1.0 / at) for at, login in enumerate(self.people, 1)]
        return Ranking(people, "low", {self.people[0]: "<b>owns it</b>"}, "quiet week")

class Whole(Fixed):
    def __init__(self, config):
        super().__init__(**config)

def fixed():
    return Fixed()
"""
EVENTS = [
    {"repo": "o/r", "pr": 1, "at": "2025-06-01T12:00:00Z", "kind": "opened", "actor": "ann", "body": "text"},
    {"repo": "o/r", "pr": 1, "at": "2025-06-01T12:20:00Z", "kind": "review_submitted", "actor": "bob", "id": "r1"},
    {"repo": "o/r", "pr": 2, "at": "2025-06-02T12:00:00Z", "kind": "opened", "actor": "ann"},
    {"repo": "o/r", "pr": 2, "at": "2025-06-02T12:10:00Z", "kind": "comment", "actor": "cy", "id": "c1"},
    {"repo": "o/r", "pr": 2, "at": "2025-06-02T12:20:00Z", "kind": "review_submitted", "actor": "bob", "id": "r2"},
    {"repo": "o/r", "pr": 2, "at": "2025-06-03T12:20:00Z", "kind": "merged", "actor": "ann"},
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    (tmp_path / "mine.py").write_text(ROUTER)
    write("events.jsonl", EVENTS)
    return tmp_path


def write(name, rows):
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    Path(name).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def run(*arguments):
    return _run(["routing", "events.jsonl", *arguments])


def records(folder="run"):
    return [json.loads(line) for line in Path(folder, "results.jsonl").read_text("utf-8").splitlines()]


# -- routers of one's own -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("factory", ["Fixed", "Whole"])
def test_a_router_in_the_working_folder_gets_its_configuration(capsys, factory):
    write("mine.json", ['{"first": "bob"}'])
    name = f"mine:{factory}"
    assert run("--router", name, "--router-config", f"{name}=mine.json", "--json", "--out", "run") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["routers"][name]["hit@1"] == 1.0
    config = json.loads(Path("run/manifest.json").read_text())["config"]["router_config"]
    assert list(config) == [name]
    write("mine.json", ['{"first": "dee"}'])
    assert run("--router", name, "--router-config", f"{name}=mine.json", "--out", "run") == 2
    assert "router_config differ" in capsys.readouterr().err
    assert run("--router", name, "--out", "run") == 2


def test_the_working_folder_is_importable_for_the_installed_command_too(tmp_path):
    command = [sys.executable, "-P", "-m", "metareview", "routing", "events.jsonl", "--router", "mine:fixed", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["routers"]["mine:fixed"]["hit@1"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (["--router", "mine:fixed", "--router-config", "mine:fixed=c.json"], "{}", "takes no configuration"),
        (["--router", "popularity", "--router-config", "popularity=c.json"], "{}", "takes no configuration"),
        (["--router", "mine:Fixed", "--router-config", "mine:Fixd=c.json"], "{}", "Did you mean 'mine:Fixed'?"),
        (
            ["--router", "mine:Fixed", "--router-config", "mine:Fixed=c.json"],
            "[1]",
            "c.json:1: a router's configuration",
        ),
        (["--router", "mine:Fixed", "--router-config", "mine:Fixed=c.json"], "{", "c.json:1: broken JSON"),
        (["--router", "mine:Fixed", "--router-config", "mine:Fixed=c.json"], "", "c.json: the file is empty"),
        (["--router", "mine:Fixed", "--router-config", "mine:Fixed=c.json"], "{} {}", "more than one JSON value"),
        (["--router", "mine:Fixed", "--router-config", "mine:Fixed=c.json"], '{"third": 1}', "It takes first, second."),
        (["--router", "mine:Fixed", "--router-config", "mine:Fixed=no.json"], "{}", "no.json: no such file"),
        (["--router", "mine:Fixed", "--router-config", "mine:Fixed"], "{}", "takes NAME=FILE"),
        (["--router", "mine:Fixed", *(["--router-config", "mine:Fixed=c.json"] * 2)], "{}", "is given twice"),
        (["--truth-sources", "reveiw_comment"], "{}", "Did you mean 'review_comment'?"),
        (["--truth-sources", ","], "{}", "--truth-sources is empty"),
        (["--truth-sources", "comment", "--truth", "all_reviewers"], "{}", "Drop one of the two"),
        (["--truth", "first_respone"], "{}", "Did you mean 'first_response'?"),
        (["--cutoff", "created_at+999999999d"], "{}", "no more than a century"),
    ],
)
def test_what_cannot_be_meant_is_refused(folder, capsys, arguments, text, message):
    (folder / "c.json").write_text(text)
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert not (folder / "runs").exists()


def test_the_same_options_in_python():
    class Mine:
        name = "mine"

        def observe(self, event):
            pass

        def rank(self, pull_request):
            return []

    found = mr.evaluate_routing(
        "events.jsonl",
        routers=["mine:Fixed"],
        router_config={"mine:Fixed": {"first": "cy", "second": "bob"}},
        truth_sources=["comment"],
    )
    assert found.metrics["mine:Fixed"]["hit@1"] == 0.5
    with pytest.raises(UsageError, match="takes no configuration"):
        mr.evaluate_routing("events.jsonl", routers=[Mine()], router_config={"mine": {}})
    told = []
    mr.evaluate_routing("events.jsonl", routers=["popularity"], progress=lambda *step: told.append(step))
    assert told == []  # too quick to tell of


def test_evidence_and_notes_are_kept_and_shown_as_text(folder):
    write("p.jsonl", [{"repo": "o/r", "pr": 1, "router": "p", "candidates": ["bob"], "evidence": [1], "notes": "mine"}])
    assert run("--router", "mine:Fixed", "--predictions", "p.jsonl", "--out", "run", "-q") == 0
    first, second = records()
    assert first["routers"]["mine:Fixed"]["evidence"] == {"ann": "<b>owns it</b>"}
    assert first["routers"]["mine:Fixed"]["notes"] == ["quiet week"]
    assert (first["routers"]["p"]["evidence"], first["routers"]["p"]["notes"]) == ([1], ["mine"])
    assert not {"evidence", "notes"} & second["routers"]["p"].keys()
    again = mr.load_run("run")
    assert again.records == [first, second]
    again.report("page.html")
    page = (folder / "page.html").read_text("utf-8")
    assert "quiet week" in page
    assert "&lt;b&gt;owns it&lt;/b&gt;" in page
    assert "<b>owns it" not in page


@pytest.mark.parametrize(
    ("evidence", "notes", "message"),
    [
        ("object()", "()", "evidence is nothing that JSON can hold"),
        ("float('nan')", "()", "Out of range float"),
        ("None", "5", "notes must be a text"),
        ("None", "[5]", "notes must be a text"),
        ("None", "'\\ud800'", "half a surrogate pair"),
        ("'\\ud800'", "()", "half a surrogate pair"),
    ],
)
def test_evidence_that_cannot_be_kept_names_the_router(capsys, folder, evidence, notes, message):
    (folder / "mine.py").write_text(
        ROUTER.replace('{self.people[0]: "<b>owns it</b>"}', evidence).replace('"quiet week"', notes)
    )
    assert run("--router", "mine:fixed") == 2
    error = capsys.readouterr().err
    assert message in error
    assert "router mine:fixed, o/r#1" in error


# -- results ------------------------------------------------------------------------------------------------------


def test_each_pull_request_has_its_hits_and_the_event_that_was_the_truth(capsys):
    given = ["--router", "mine:Fixed", "--truth-sources", "comment,review_submitted", "--k", "1,2", "--out", "run"]
    assert run(*given) == 0
    first, second = records()
    event = {"id": "c1", "kind": "comment", "actor": "cy", "at": "2025-06-02T12:10:00Z"}
    assert second["truth"] == {"state": "observed", "targets": ["cy"], "events": [event]}
    keys = ("rank", "hit@1", "hit@2", "reciprocal_rank")
    # ann is the author of both: without her, cy comes first.
    assert [first["routers"]["mine:Fixed"][key] for key in keys] == [None, 0, 0, 0]
    assert [second["routers"]["mine:Fixed"][key] for key in keys] == [1, 1, 1, 1.0]


def test_the_terminal_shows_the_queue_and_says_first_that_most_have_no_truth(capsys):
    assert run("--router", "popularity", "--router", "revfinder", "--truth-window", "1m") == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("2 of 2 pull requests have no truth within 1m of their cutoff and count as misses; ")
    assert "no truth" not in captured.err
    lines = [line.split() for line in captured.out.splitlines()]
    assert "--truth-window," in lines[0]
    assert lines[2][0] == "router"
    assert lines[3][:5] == ["popularity", "1", "of", "2", "0.000"]
    assert lines[4][:5] == ["revfinder", "0", "of", "2", "–"]
    assert any(line.startswith("router ") and "median of all" in line for line in captured.out.splitlines())
    assert ["popularity", "high", "1", "1", "20.0", "min", "20.0", "min", "20.0", "min"] in lines
    assert not any(line[:2] == ["revfinder", "high"] for line in lines)
    assert run("--router", "popularity", "--truth-window", "1m", "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["warnings"][0].startswith("2 of 2 pull requests have no truth within 1m")
    assert captured.err.startswith("Warning: 2 of 2 pull requests have no truth within 1m")


def test_progress_is_told_while_reading_and_while_ranking(monkeypatch, capsys):
    """A clock on which every look costs ten seconds: each step is slow enough to be told of."""
    many = [EVENTS[0] | {"pr": pr, "body": "x" * 100_000} for pr in range(1, 41)]
    write("events.jsonl", many)
    clock = iter(range(0, 10**9, 10))

    class Clock:
        monotonic = staticmethod(lambda: next(clock))

    monkeypatch.setattr(cli_output, "time", Clock)
    monkeypatch.setattr(import_module("metareview.pipelines.routing.answer"), "time", Clock)
    assert run("--router", "popularity") == 0
    error = capsys.readouterr().err
    assert "reading the history (MB): 1 of 3" in error
    assert "rankings: 20 of 40" in error
    assert run("--router", "popularity", "-q") == 0
    assert "reading" not in capsys.readouterr().err


# -- hostile files ------------------------------------------------------------------------------------------------

HALF = "\\ud800"


def test_half_a_character_in_a_history_is_replaced_with_a_warning(capsys):
    rows = [json.dumps(row) for row in EVENTS]
    rows[1] = rows[1].replace('"bob"', f'"b{HALF}b"').replace('"r1"', f'"{HALF}"')
    rows[0] = rows[0].replace('"text"', f'"{HALF} \\ud83d\\ude00"')
    write("events.jsonl", rows)
    assert run("--router", "popularity", "--out", "run") == 0
    error = capsys.readouterr().err
    assert "events.jsonl:1: body holds half a surrogate pair; replaced by ?" in error
    assert "events.jsonl:2: actor holds half a surrogate pair; replaced by ?" in error
    assert records()[0]["truth"]["targets"] == ["b?b"]
    assert read_history("events.jsonl").events[0].body == "? \U0001f600"


def test_half_a_character_in_predictions_is_replaced_with_a_warning(capsys):
    row = {"repo": "o/r", "pr": 1, "router": "m\ud800", "candidates": ["b\ud800", "bob"], "evidence": {"\ud800": 1}}
    write("p.jsonl", [row])
    assert run("--predictions", "p.jsonl", "--out", "run") == 0
    error = capsys.readouterr().err
    assert "p.jsonl:1: candidates holds half a surrogate pair; replaced by ?" in error
    assert records()[0]["routers"]["m?"]["candidates"] == ["b?", "bob"]
    (found,) = read_predictions("p.jsonl")
    assert found.answers["o/r", 1].evidence == {"?": 1}


CHANGE = {
    "changeId": 1,
    "submit_date": "2012-01-01 00:00:00.0",
    "files": ["a.c"],
    "status": "M",
    "approve_history": [{"userId": 7, "approve_value": 2, "grant_date": "2012-01-02 00:00:00.0"}],
}


@pytest.mark.parametrize(
    "change",
    [
        {"submit_date": "0001-01-01T00:00:00+14:00"},
        {"submit_date": "9999-12-31T23:59:59-14:00"},
        {"submit_date": "2999-01-01 00:00:00.0"},
        {"submit_date": "2012-13-01 00:00:00.0"},
        {"submit_date": "0000-01-01 00:00:00.0"},
        {"close_date": "1600-01-01 00:00:00.0"},
        {"approve_history": [{"userId": 7, "grant_date": "5000-01-01 00:00:00.0"}]},
    ],
)
def test_a_date_out_of_range_names_its_line(capsys, change):
    write("events.jsonl", [CHANGE, CHANGE | {"changeId": 2} | change])
    assert run("--router", "popularity") == 2
    error = capsys.readouterr().err
    assert "events.jsonl:2: " in error
    assert "must be a time" in error
    with pytest.raises(InputError):
        read_history("events.jsonl")


def test_a_date_at_the_ends_of_the_range_is_read():
    write("events.jsonl", [CHANGE | {"submit_date": "1678-01-01 00:00:00.0", "close_date": "2261-12-31 23:59:59.9"}])
    assert run("--json", "--cutoff", "created_at+36525d") == 0


def test_a_gate_of_a_router_that_is_not_there_costs_no_run(capsys, tmp_path):
    assert run("--router", "popularity", "--fail-under", "popularty.mrr=0.1", "--out", str(tmp_path / "run")) == 2
    assert "Did you mean 'popularity'?" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_half_a_minute_is_thirty_seconds(run):
    late = EVENTS[1] | {"at": "2025-06-01T12:00.5Z"}
    write("half.jsonl", [EVENTS[0], late, *EVENTS[2:]])
    write("whole.jsonl", [EVENTS[0], late | {"at": "2025-06-01T12:00:30Z"}, *EVENTS[2:]])
    found = []
    for name in ("half.jsonl", "whole.jsonl"):
        options = ("--router", "popularity", "--truth-window", "1s", "--ttfc", "--cutoff", "created_at+29s")
        code, out, err = run("routing", name, *options, "--json")
        assert code == 0, err
        found.append(json.loads(out)["routers"])
    assert found[0] == found[1]


def test_a_zone_of_ninety_nine_minutes_is_refused_by_line(run):
    write("zone.jsonl", [EVENTS[0], EVENTS[1] | {"at": "2025-06-01T12:20:00+05:99"}])
    code, _, err = run("routing", "zone.jsonl", "--router", "popularity")
    assert code == 2
    assert "zone.jsonl:2: at must be a time, found '2025-06-01T12:20:00+05:99'" in err
