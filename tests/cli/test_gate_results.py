"""What came of the gates of a build: kept with the run, and shown wherever the run is."""

import json
from xml.etree import ElementTree

import pytest

from metareview.api import load_run
from sealed_runs import seal_again

URL = "https://github.com/octo/app/pull/{}"
NOTE = {"note": "Check the error first", "path": "b.go", "from_line": 9}
HOSTILE = '::error::%0A<b>|x"\n##[error]y'


@pytest.fixture
def score(here, run):
    """`v1.2` raises one of two references, `mute` none; with `--out r`."""
    references = [{"pr": URL.format(n), "comments": [NOTE]} for n in (1, 2)]
    said = [
        {"pr": URL.format(1), "reviewer": "v1.2", "comments": [NOTE]},
        {"pr": URL.format(2), "reviewer": "v1.2"},
        {"pr": URL.format(1), "reviewer": "mute"},
        {"pr": URL.format(2), "reviewer": "mute"},
    ]

    def command(*options, rename=None):
        named = [record | {"reviewer": rename or record["reviewer"]} for record in said]
        for name, records in (("ref.jsonl", references), ("said.jsonl", named)):
            (here / name).write_text("".join(json.dumps(record) + "\n" for record in records))
        return run("comments", "said.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "--out", "r", *options)

    return command


def result(name, metric, limit, value, passed, over=False):
    return {"name": name, "metric": metric, "limit": limit, "over": over, "value": value, "passed": passed}


def test_a_gate_may_be_for_one_reviewer_whose_name_has_dots(score):
    code, out, err = score("--fail-under", "v1.2.Recall=0.5", "--fail-over", "mute.noise=0.3", "-q")
    assert code == 3
    assert out.splitlines()[-2:] == [
        "pass  v1.2: positive_recall_rate is 0.5000, must be at least 0.5",
        "FAIL  mute: unmatched_rate is null, must be at most 0.3",
    ]
    assert err == "Error: a gate was missed. mute: unmatched_rate is null, must be at most 0.3.\n"
    assert score("--fail-under", "v1.2.recall=0.5")[0] == 0


def test_an_unknown_name_is_refused_before_anything_is_judged(score, here):
    code, _, err = score("--fail-under", "v1.3.recall=0.5")
    assert code == 2
    assert "Error: A gate is for 'v1.3', who is not there. Did you mean 'v1.2'? There are v1.2, mute.\n" in err
    assert not (here / "r").exists()


@pytest.mark.parametrize("name", ["F1", "positive_match_rate", "PRECISION", "Line_F1", "False_Positives", "noise"])
def test_metrics_go_by_either_name_whatever_the_case(score, name):
    assert score("--fail-over", f"{name}=1", "-q")[0] in (0, 3)


def test_results_are_kept_and_every_report_shows_them(score, run, here):
    code, out, _ = score("--fail-under", "f1=0.5", "--json", "-q")
    assert code == 3
    expected = [result("v1.2", "f1", 0.5, 2 / 3, True), result("mute", "f1", 0.5, 0.0, False)]
    assert json.loads(out)["build_gates"] == expected
    assert json.loads((here / "r/summary.json").read_text())["build_gates"] == expected
    assert [gate.passed for gate in load_run("r").result.build_gates] == [True, False]
    assert run("report", "r", "-o", "r.html", "-o", "r.md", "-o", "r.xml", "-o", "r.json")[0] == 0
    assert json.loads((here / "r.json").read_text())["build_gates"] == expected
    markdown = (here / "r.md").read_text()
    assert "## Gates\n\n| Gate | For | Found | Result |" in markdown
    assert "| f1 at least 0.5 | mute | 0.000 | FAIL |" in markdown
    page = (here / "r.html").read_text()
    assert "1 gate of 2 missed." in page
    assert 'id="build-gates"' in page
    suites = {suite.get("name"): suite for suite in ElementTree.parse("r.xml").getroot()}
    assert suites["mute"].find("testcase/failure").get("message") == "f1 is 0.000, must be at least 0.5"
    assert suites["v1.2"].find("testcase").get("name") == "f1 at least 0.5"
    assert suites["v1.2"].find("testcase/failure") is None


def test_a_run_without_gates_shows_none(score, run, here):
    code, out, _ = score("--json", "-q")
    assert (code, json.loads(out)["build_gates"]) == (0, [])
    assert run("report", "r", "-o", "r.html", "-o", "r.md")[0] == 0
    assert "Gates" not in (here / "r.md").read_text()
    assert "build-gates" not in (here / "r.html").read_text()


def test_the_gates_that_were_asked_last_are_kept(score, here):
    kept = lambda: [gate["limit"] for gate in json.loads((here / "r/summary.json").read_text())["build_gates"]]  # noqa: E731
    assert score("--fail-under", "v1.2.f1=0.1")[0] == 0
    assert kept() == [0.1]
    assert score()[0] == 0
    assert kept() == [0.1]
    assert score("--fail-under", "v1.2.f1=0.9")[0] == 3
    assert kept() == [0.9]


def test_gates_of_a_report_are_shown_in_it_and_leave_the_run_as_it_is(score, run, here):
    score("--fail-under", "v1.2.f1=0.1")
    before = (here / "r/summary.json").read_bytes()
    code, out, _ = run("report", "r", "-o", "r.json", "--fail-under", "mute.f1=0.2")
    assert (code, out) == (3, "FAIL  mute: f1 is 0.0000, must be at least 0.2\n")
    assert [gate["name"] for gate in json.loads((here / "r.json").read_text())["build_gates"]] == ["mute"]
    assert (here / "r/summary.json").read_bytes() == before


def test_a_run_of_an_earlier_version_has_none(score, here):
    score()
    stored = json.loads((here / "r/summary.json").read_text())
    del stored["build_gates"], stored["config"]["reviewer"], stored["config"]["reference_reviewer"]
    (here / "r/summary.json").write_text(json.dumps(stored))
    seal_again(here / "r")
    assert load_run("r").result.build_gates == ()
    assert load_run("r").result.config.reviewer == ()


# On a GitHub runner


@pytest.fixture
def runner(here, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "page.md"))
    return here / "page.md"


def test_missed_gates_are_annotations_and_on_the_page_of_the_job(score, runner):
    code, _, err = score("--fail-under", "f1=0.5", "-q")
    assert code == 3
    assert err.splitlines()[1:] == ["::error title=metareview gate::mute: f1 is 0.0000, must be at least 0.5"]
    page = runner.read_text("utf-8")
    assert "**Gates**\n\n| Gate | For | Found | Result |" in page
    assert "| f1 at least 0.5 | v1.2 | 0.667 | pass |" in page


def test_a_name_from_data_is_no_command_to_the_runner(score, runner):
    code, out, err = score("--fail-under", "f1=0.9", "-q", rename=HOSTILE)
    assert code == 3
    commands = [line for line in (out + err).splitlines() if line.lstrip().startswith("::") or "##[" in line]
    assert commands == [
        '::error title=metareview gate:::\u200b:error::%250A<b>|x"�##\u200b[error]y: f1 is 0.6667, must be at least 0.9'
    ]
    assert "<b>" not in runner.read_text("utf-8")


def test_elsewhere_there_are_no_annotations_and_names_stay_as_they_are(score, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    _, out, err = score("--fail-under", "f1=0.9", "-q", rename="::name")
    assert "::error" not in err
    assert "\n::name " in out


# Routers


def test_a_router_has_gates_of_its_own(run, here):
    at = "2025-01-0{}T00:00:00Z"
    events = [
        {"repo": "o/r", "pr": 1, "at": at.format(1), "kind": "opened", "actor": "a"},
        {"repo": "o/r", "pr": 1, "at": at.format(2), "kind": "review_submitted", "actor": "b"},
        {"repo": "o/r", "pr": 2, "at": at.format(3), "kind": "opened", "actor": "a"},
        {"repo": "o/r", "pr": 2, "at": at.format(4), "kind": "review_submitted", "actor": "b"},
    ]
    (here / "h.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    routing = ("routing", "h.jsonl", "--router", "popularity", "--router", "recency", "--truth-window", "2d")
    code, out, _ = run(*routing, "--out", "r", "--fail-under", "popularity.HIT@1=0.6", "--json", "-q")
    assert code == 3
    assert json.loads(out)["build_gates"] == [result("popularity", "hit@1", 0.6, 0.5, False)]
    again = run(*routing, "--out", "r", "--json", "-q")
    assert (again[0], json.loads(again[1])["build_gates"]) == (0, json.loads(out)["build_gates"])
    assert run("report", "r", "-o", "r.html", "-o", "r.md")[0] == 0
    assert "hit@1 at least 0.6" in (here / "r.html").read_text()
    code, _, err = run(*routing, "--out", "other", "--fail-under", "popularty.mrr=0.6")
    assert (code, "Did you mean 'popularity'?" in err) == (2, True)


# Nearest names


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["coments"], "No such command 'coments'. Did you mean 'comments'?"),
        (["list", "judges_"], "Did you mean 'judges'?"),
        (["cache", "claer"], "Did you mean 'clear'?"),
        (["routing", "h.jsonl", "--truth", "first_respons"], "Did you mean 'first_response'?"),
        (["routing", "h.jsonl", "--cutoff", "create_at"], "Did you mean 'created_at'?"),
        (["text", "t.jsonl", "--strategy", "rouge_chunk"], "Did you mean 'rouge-chunk'?"),
        (["report", "r", "-o", "r.htm"], "Did you mean '.html'?"),
        (["compare", "r", "--reviewer", "mutte"], "No reviewer is named 'mutte'. Did you mean 'mute'?"),
        (["leaderboard", "r", "--sort", "recal"], "Did you mean 'recall'?"),
        (["compare", "r", "--fail-if-worse", "Precison"], "Did you mean 'precision'?"),
    ],
)
def test_unknown_names_suggest_the_nearest(score, run, here, arguments, meant):
    score()
    (here / "h.jsonl").write_text('{"repo": "o/r", "pr": 1, "at": "2025-01-01", "kind": "opened"}')
    (here / "t.jsonl").write_text('{"retrieved_context": [], "ground_truth_context": []}')
    code, _, err = run(*arguments)
    assert (code, meant in err) == (2, True)


@pytest.mark.parametrize("name", ["RECALL", "positive_recall_rate", "Positive_Recall_Rate"])
def test_sorting_and_comparing_take_every_name(score, run, name):
    score()
    code, out, _ = run("leaderboard", "r", "--sort", name, "--json", "-q")
    assert (code, json.loads(out)["sort"]) == (0, "positive_recall_rate")
    assert run("compare", "r", "--fail-if-worse", name, "-q")[0] in (0, 3)
