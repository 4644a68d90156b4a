"""`metareview routing` and `evaluate_routing`: the run folder, the gates, bad input."""

import json

import pytest

import metareview as mr
from metareview.cli import _run
from metareview.errors import UsageError


def event(pr, hour, kind, actor, **fields):
    return {"repo": "o/r", "pr": pr, "at": f"2025-06-01T{hour:02}:00:00Z", "kind": kind, "actor": actor, **fields}


EVENTS = [
    event(1, 1, "opened", "ann", body="Fixes #9", files=["src/a.py"]),
    event(1, 2, "review_submitted", "bob", state="APPROVED"),
    event(2, 3, "opened", "cem", files=["src/b.py"]),
    event(2, 4, "review_submitted", "bob", state="APPROVED"),
    event(3, 5, "opened", "bob", files=["src/c.py"]),
    event(3, 6, "comment", "ci[bot]"),
    event(4, 20, "opened", "ann", files=["src/c.py"]),
]


@pytest.fixture
def history(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in EVENTS))
    return "events.jsonl"


def test_the_published_document_and_the_run_folder(history, tmp_path, capsys):
    assert _run(["routing", history, "--router", "popularity", "--json", "-q", "--out", "run", "--ttfc"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["schema"] == "metareview.routing/1"
    assert summary["run"] == "run"
    assert summary["truth"] == {"observed": 2, "no_response": 1, "unknown": 1}
    block = summary["routers"]["popularity"]
    # By hand: bob reviews 1 (nobody is known yet), then 2 (bob is); 3 is bob's own, 4 has no answer yet.
    assert (block["hit@1"], block["mrr"], block["observed_only"]["mrr"]) == (0.25, 0.25, 0.5)
    assert block["load"]["top1_share"] == 1
    assert summary["gates"]["issue"]["missing_n"] == 3
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary
    records = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert [record["routers"]["popularity"]["rank"] for record in records] == [None, 1, None, None]
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"manifest.json", "results.jsonl", "summary.json"}
    assert _run(["routing", history, "--router", "popularity", "-q", "--out", "run", "--ttfc"]) == 0
    assert _run(["routing", history, "--router", "popularity", "--out", "run"]) == 2
    assert "ttfc differ" in capsys.readouterr().err


def test_gates_and_the_table(history, capsys):
    assert _run(["routing", history, "--router", "popularity", "--fail-under", "mrr=0.25"]) == 0
    assert "0.250" in capsys.readouterr().out
    assert _run(["routing", history, "--router", "popularity", "--fail-under", "hit@3=0.26", "-q"]) == 3
    assert "popularity: hit@3 is 0.2500" in capsys.readouterr().err
    assert _run(["routing", history, "--fail-under", "f1=0.26"]) == 2
    assert "The metrics are hit@1, hit@3, hit@5, mrr" in capsys.readouterr().err


def test_what_was_asked_for_is_shown_in_every_form(history, tmp_path, monkeypatch, capsys):
    """By hand: of four pull requests one (#1) names an issue and is merged in the hour; #2 is merged much later."""
    with (tmp_path / history).open("a") as file:
        for more in (event(1, 2, "merged", "ann"), event(2, 19, "merged", "ann"), event(2, 5, "comment", "eve")):
            file.write(json.dumps(more) + "\n")
    page = tmp_path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    asked = ["--router", "popularity", "--merged-within", "1h", "--ttfc", "--k", "1,10", "--out", "run"]
    assert _run(["routing", history, *asked]) == 0
    assert "Merged within 1h, without and with: issue 0.000 and 1.000, ai disclosure 0.250 and –" in (
        capsys.readouterr().out
    )
    told = page.read_text()
    assert told.startswith("### Reviewer routing\n\n**popularity has MRR 0.250 on 4 pull requests")
    assert "| router | answered | hit@1 | 95 % interval | hit@10 | 95 % interval | MRR | 95 % interval | MRR" in told
    assert "| popularity | 3 of 4 | 0.250 |" in told
    assert "4 pull requests: 2 with a truth; 1 where nobody responded and 1 not known yet" in told
    names = ["report.md", "report.html", "report.csv"]
    assert _run(["report", "run", "-q", *(part for name in names for part in ("-o", name))]) == 0
    markdown, markup, table = ((tmp_path / name).read_text() for name in names)
    assert "| Merged within 1h, declared | Merged within 1h, missing |" in markdown
    assert "| issue | 4 | 0.750 | 1.000 | 0.000 |" in markdown
    # #2 to #4 had bob to name: one of them was reviewed after an hour, and commented on after two. By then #4 was no
    # longer watched: half of the other two.
    assert "| popularity | medium | 3 | 1 | 1.0 h | 1.0 h | 1.0 h | 2.0 h | 2.0 h |" in markdown
    assert "Merged within 1h, declared" in markup
    assert "Median time to first comment" in markup
    assert table.splitlines()[0].split(",")[15:17] == ["merged", "merged_within"]


def test_how_many_were_merged_is_shown_only_within_a_time_that_was_given(history, tmp_path, capsys):
    """Two of four are merged, both long after they were opened: a rate at the cutoff reads as if none was."""
    with (tmp_path / history).open("a") as file:
        for more in (event(1, 2, "merged", "ann"), event(2, 19, "merged", "ann")):
            file.write(json.dumps(more) + "\n")
    assert _run(["routing", history, "--router", "popularity", "--out", "run"]) == 0
    assert _run(["report", "run", "-q", "-o", "report.md", "-o", "report.html"]) == 0
    shown = capsys.readouterr().out + "".join((tmp_path / f"report.{kind}").read_text() for kind in ("md", "html"))
    assert "Missing rate" in shown
    assert "Merged" not in shown
    gates = mr.load_run("run").summary["gates"]["issue"]
    assert (gates["merged_rate_missing"], gates["merged_rate_present"]) == (0.0, 0.0)
    assert "merged_within" not in gates


def test_an_npm_package_is_no_team_that_was_mentioned(history, tmp_path, capsys):
    """A team is one of the repository's owner's: o/r has no team of the scope types."""
    bodies = ["Bumps @types/node to 20. cc @O/core, @dan", "Bumps @types/node and @babel/core"]
    bodies += ["Bumps @babel/core@7.1 and @o/core@^2", "Bumps @babel/core@latest, @scope/pkg/sub. cc @dan/"]
    asked = [event(5 + number, 21, "opened", "ann", body=body) for number, body in enumerate(bodies)]
    (tmp_path / history).write_text("".join(json.dumps(each) + "\n" for each in asked))
    assert _run(["routing", history, "--router", "mentions", "-q", "--out", "run"]) == 0
    answers = [record["routers"]["mentions"] for record in mr.load_run("run").records]
    assert [(answer["candidates"], answer["risk"]) for answer in answers] == [
        (["O/core", "dan"], "low"),
        ([], "high"),
        ([], "high"),
        (["dan"], "low"),
    ]


@pytest.mark.parametrize(
    ("window", "advice"),
    [
        ("6d", "; a longer --truth-window, such as 7d or none, finds more"),
        ("7d", "; a longer --truth-window, such as 30d or none, finds more"),
        ("200h", "; a longer --truth-window, such as 30d or none, finds more"),
        ("30d", "; --truth-window none finds more"),
        ("none", ""),
    ],
)
def test_a_longer_window_is_advised_by_one_that_is_longer(history, tmp_path, capsys, window, advice):
    (tmp_path / history).write_text(json.dumps(EVENTS[0]) + "\n")
    assert _run(["routing", history, "--router", "popularity", "--truth-window", window]) == 0
    assert f"and count as misses{advice}." in " ".join(capsys.readouterr().out.split())


class Counting:
    """A router of the user's, which lists how many events it was shown."""

    def __init__(self):
        self.events = 0

    def observe(self, event):
        self.events += 1

    def rank(self, pull_request):
        return [(f"saw-{self.events}", 1.0)]


@pytest.mark.parametrize(
    ("says", "shown"), [({"learns": False}, 0), ({"learns": True}, 7), ({}, 7), ({"learns": {}}, 7)]
)
def test_a_router_that_says_that_it_learns_nothing_is_shown_no_event(history, says, shown):
    """All seven events are at or before the last cutoff. What is no bool is an attribute of the router's own."""
    router = type("Mine", (Counting,), says)
    record = mr.evaluate_routing(history, routers=[router]).records[-1]
    assert record["routers"]["Mine"]["candidates"] == [f"saw-{shown}"]


@pytest.mark.parametrize(
    ("body", "gate"),
    [
        ("Source: human", "provenance"),
        ("## Source\n\nWritten by hand.", "provenance"),
        ("- [x] Source: machine", "provenance"),
        ("**Source:** generated", "provenance"),
        ("Part of K8S-1234", "issue"),
        ("S3-12: buckets", "issue"),
    ],
)
def test_what_a_body_declares_passes_its_gate(history, tmp_path, capsys, body, gate):
    (tmp_path / history).write_text(json.dumps(EVENTS[0] | {"body": body}) + "\n")
    assert _run(["routing", history, "--router", "popularity", "--json", "-q"]) == 0
    gates = json.loads(capsys.readouterr().out)["gates"]
    assert {name: block["present_n"] for name, block in gates.items() if block["present_n"]} == {gate: 1}


def test_predictions_alone(history, tmp_path, capsys):
    rows = [{"repo": "o/r", "pr": 1, "router": "mine", "candidates": ["x", "BOB"], "risk": "low"}]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert _run(["routing", history, "--predictions", "mine.jsonl", "--json"]) == 0
    captured = capsys.readouterr()
    summary = json.loads(captured.out)
    assert list(summary["routers"]) == ["mine"]
    assert summary["routers"]["mine"]["mrr"] == 0.125
    assert "3 of 4 pull requests have no prediction" in captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--truth-window", "0m"], "--truth-window"),
        (["--truth-window", "-1h"], "--truth-window"),
        (["--cutoff", "yesterday"], "--cutoff"),
        (["--truth", "everybody"], "first_response, first_approval, all_reviewers"),
        (["--router", "oracle"], "mentions, popularity, recency"),
        (["--router", "json:dumps"], "json:dumps"),
        (["--router", "nowhere:router"], "nowhere"),
        (["--k", "1,x"], "--k"),
        (["--k", "0"], "--k"),
        (["--repo", "no/such"], "no pull request is in the cohort"),
        (["--predictions", "absent.jsonl"], "absent.jsonl"),
        (["--codeowners", "absent"], "absent"),
        (["--router", "codeowners"], "codeowners needs --codeowners FILE"),
    ],
)
def test_bad_usage_is_one_message_and_leaves_nothing(history, tmp_path, capsys, arguments, message):
    assert _run(["routing", history, *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"repo": "o/r", "pr": 1, "kind": "opened"}', "bad.jsonl:1"),
        ('{"repo": "o/r", "pr": 1, "kind": "opened", "at": "noon"}', "bad.jsonl:1"),
        ("{", "bad.jsonl:1"),
        ('{"repo": "o/r", "pr": 1, "kind": "comment", "at": "2025-01-01"}', "pull request"),
    ],
)
def test_a_bad_history_is_named(tmp_path, monkeypatch, capsys, line, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text(line + "\n")
    assert _run(["routing", "bad.jsonl"]) == 2
    assert message in capsys.readouterr().err


def test_a_killed_run_goes_on_but_not_with_another_router(history, tmp_path, capsys):
    class One:
        name = "mine"
        first = "bob"

        def observe(self, event):
            pass

        def rank(self, pull_request):
            return [(self.first, 1.0)]

    class Other(One):
        first = "ann"

    whole = mr.evaluate_routing(history, routers=[One()], out="whole").summary

    def kill():
        mr.evaluate_routing(history, routers=[One()], out="killed", overwrite=True)
        folder = tmp_path / "killed"
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(manifest | {"status": "running", "finished": None}))
        (folder / "summary.json").unlink()
        lines = (folder / "results.jsonl").read_text().splitlines(keepends=True)
        (folder / "results.jsonl").write_text(lines[1] + lines[2][:30])
        return folder

    folder = kill()
    assert mr.evaluate_routing(history, routers=[One()], out="killed").summary == whole | {"run": "killed"}
    assert (folder / "results.jsonl").read_bytes() == (tmp_path / "whole" / "results.jsonl").read_bytes()
    assert not (folder / "pairs.jsonl").exists()
    kill()
    with pytest.raises(UsageError, match="a router has changed since"):
        mr.evaluate_routing(history, routers=[Other()], out="killed")


@pytest.mark.parametrize("factory", ["Exits", "exits", "exits_in_import"])
def test_a_router_that_exits_does_not_pass_for_a_finished_run(history, tmp_path, monkeypatch, capsys, factory):
    (tmp_path / "leaving.py").write_text(
        "import sys\n"
        "class Exits:\n"
        "    def observe(self, event): pass\n"
        "    def rank(self, pull_request): sys.exit(0)\n"
        "def exits(): sys.exit(0)\n"
    )
    (tmp_path / "leaving_at_once.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = "leaving_at_once" if factory == "exits_in_import" else "leaving"
    assert _run(["routing", history, "--router", f"{module}:{factory}", "--out", "run"]) == 2
    assert f"router {module}:{factory}" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_from_python_with_a_router_of_ones_own(history):
    class Always:
        name = "always"

        def observe(self, event):
            pass

        def rank(self, pull_request):
            return [("bob", 1.0)], "low"

    run = mr.evaluate_routing(history, routers=["popularity", Always()], k=[1])
    assert run.metrics["always"] == {"hit@1": 0.5, "mrr": 0.5}
    frame = run.to_frame()
    assert frame[frame.router == "always"]["rank"].tolist()[:2] == [1, 1]
    assert "always mrr=0.5" in repr(run)
