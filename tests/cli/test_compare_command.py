"""`compare`, `leaderboard` and the page of a GitHub job, as a user calls them."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from markdown_it import MarkdownIt

from labelled_outcomes import make_run, outcome, pr
from metareview.api import evaluate_comments
from metareview.cli.output import append_step_summary
from metareview.comparison.paired import compare
from metareview.formats.comments import jsonl
from metareview.judges.protocol import UNDECIDED, Answer, Judge
from metareview.model.comment import Comment, Review
from metareview.report.comparison import comparison_section
from metareview.report.markdown import run_section, safe
from metareview.report.numbers import signed

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "src" / "metareview" / "data" / "demo"
WORKFLOW = ROOT / "examples" / "github-workflow.yml"


def metareview(*arguments, cwd, page=None):
    environment = {k: v for k, v in os.environ.items() if k != "GITHUB_STEP_SUMMARY"}
    if page:
        environment["GITHUB_STEP_SUMMARY"] = str(page)
    return subprocess.run(
        [sys.executable, "-m", "metareview", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working directory with the demo's run, judged by rouge whatever the default is."""
    folder = tmp_path_factory.mktemp("work")
    evaluate_comments(
        DEMO / "reviews",
        reference=DEMO / "references.jsonl",
        negatives=DEMO / "negatives.jsonl",
        judge="rouge",
        out=folder / "runs" / "demo",
    )
    return folder


def test_json_holds_the_promised_keys(folder):
    done = metareview("compare", "runs/demo", "--reviewer", "noisy", "--reviewer", "repetitive", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result["metrics"]["f1"]) == {"a", "b", "diff", "interval", "p", "p_holm"}
    assert result["metrics"]["f1"]["diff"] == result["metrics"]["f1"]["b"] - result["metrics"]["f1"]["a"]
    assert result == compare(folder / "runs" / "demo", reviewers=["noisy", "repetitive"]).to_dict() | {
        side: {**result[side], "run": "runs/demo"} for side in ("a", "b")
    }


def test_a_run_against_itself_changes_nothing(folder):
    done = metareview("compare", "runs/demo", "runs/demo", "--reviewer", "terse", "--json", cwd=folder)
    assert {(m["diff"], m["p"]) for m in json.loads(done.stdout)["metrics"].values()} == {(0, 1)}
    shown = metareview("compare", "runs/demo", "runs/demo", "--reviewer", "terse", "--fail-if-worse", "f1", cwd=folder)
    assert shown.returncode == 0
    assert "The figures are equal." in shown.stdout
    assert "Largest" not in shown.stdout


@pytest.mark.parametrize(
    ("a", "b", "gate", "code"),
    [
        ("repetitive", "noisy", ["f1"], 3),
        ("noisy", "repetitive", ["f1"], 0),
        ("repetitive", "noisy", ["unmatched_rate"], 3),  # noisier is worse
        ("noisy", "repetitive", ["unmatched_rate", "false_positive_rate"], 0),
        ("terse", "noisy", ["f1"], 0),  # a loss, but not beyond chance
    ],
)
def test_the_gate(folder, a, b, gate, code):
    gates = [part for metric in gate for part in ("--fail-if-worse", metric)]
    done = metareview("compare", "runs/demo", "--reviewer", a, "--reviewer", b, *gates, cwd=folder)
    assert done.returncode == code, done.stderr
    if code:
        assert f"Error: {b} is worse than {a}: {gate[0]} is " in done.stderr


def test_the_annotation_of_a_missed_gate_says_who_is_worse_than_whom(folder, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    gates = ["--fail-if-worse", "precision", "--fail-if-worse", "f1"]
    done = metareview("compare", "runs/demo", "--reviewer", "repetitive", "--reviewer", "noisy", *gates, cwd=folder)
    assert done.returncode == 3
    title = "::error title=metareview gate::noisy is worse than repetitive: "
    annotations = [line for line in done.stderr.splitlines() if line.startswith("::error")]
    assert [line.partition(" is 0.")[0] for line in annotations] == [f"{title}positive_match_rate", f"{title}f1"]
    assert done.stderr.count("Error: noisy is worse than repetitive: positive_match_rate is ") == 1


def test_no_worse_needs_an_interval_that_rules_the_loss_out(folder):
    """terse against itself is no worse by any margin; noisy's F1 may be, which a lack of evidence does not deny."""
    same = ["compare", "runs/demo", "--reviewer", "terse", "--reviewer", "terse"]
    done = metareview(*same, "--no-worse", "f1=0", "--json", cwd=folder)
    assert done.returncode == 0
    assert json.loads(done.stdout)["no_worse"] == {"f1": {"margin": 0, "shown": True}}
    others = ["compare", "runs/demo", "--reviewer", "terse", "--reviewer", "noisy"]
    assert metareview(*others, "--fail-if-worse", "f1", cwd=folder).returncode == 0
    done = metareview(*others, "--no-worse", "F1=0.03", cwd=folder)
    assert done.returncode == 3
    assert (
        "That noisy loses more than 0.03 on F1 cannot be ruled out: the interval of the difference reaches"
        in " ".join(done.stdout.split())
    )
    assert "noisy may be worse than terse by more than 0.03: f1 is" in " ".join(done.stderr.split())
    low = json.loads(metareview(*others, "--json", cwd=folder).stdout)["metrics"]["f1"]["interval"][0]
    twice = metareview(*others, "--no-worse", "f1=0.03", "--no-worse", "F1=0.9", cwd=folder)
    assert (twice.returncode, "names f1 twice" in twice.stderr) == (2, True)
    for margin, code in ((-low + 1e-6, 0), (-low - 1e-6, 3)):
        assert metareview(*others, "--no-worse", f"f1={margin}", cwd=folder).returncode == code
    high = json.loads(metareview(*others, "--json", cwd=folder).stdout)["metrics"]["unmatched_rate"]["interval"][1]
    for margin, code in ((high + 1e-6, 0), (high - 1e-6, 3)):
        assert metareview(*others, "--no-worse", f"noise={margin}", cwd=folder).returncode == code


@pytest.mark.parametrize("wrong", ["f1", "f1=", "f1=much", "f1=-0.1", "f1=1.5", "f1=nan", "=0.1", "fun=0.1"])
def test_a_margin_that_means_nothing_is_refused(folder, wrong):
    done = metareview(
        "compare", "runs/demo", "--reviewer", "terse", "--reviewer", "noisy", "--no-worse", wrong, cwd=folder
    )
    assert done.returncode == 2
    assert "--no-worse" in done.stderr


def test_what_is_written_has_the_kinds_of_issue_and_the_gates(folder, tmp_path):
    page, markdown, html = (tmp_path / name for name in ("summary.md", "pr.md", "pr.html"))
    arguments = ["--reviewer", "terse", "--reviewer", "noisy", "-o", markdown, "-o", html]
    arguments += ["--fail-if-worse", "f1", "--fail-if-worse", "noise"]
    done = metareview("compare", "runs/demo", *arguments, cwd=folder, page=page)
    assert done.returncode == 3
    kinds = [line for line in done.stdout.splitlines() if line.startswith("By ")]
    assert [kind.partition(",")[0] for kind in kinds][:2] == ["By comment category", "By context"]
    rendered = MarkdownIt().enable("table").render(markdown.read_text("utf-8"))
    written = html.read_text("utf-8")
    verdict = re.findall("<strong>(.*?)</strong>", rendered)[0]
    assert verdict in " ".join(done.stdout.split())
    assert verdict.endswith(".")
    for kind in kinds:
        assert f"<li>{kind}</li>" in rendered
        assert f"<p>{kind}</p>" in written
    for text in (rendered, written):
        rows = [re.findall("<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall("<tr>.*?</tr>", text, re.DOTALL)]
        gates = [row for row in rows if row and row[0].endswith("no proven loss to terse")]
        assert [(row[0].partition(":")[0], *row[1:]) for row in gates] == [
            ("F1", "noisy", "0.213", "pass"),
            ("noise", "noisy", "0.832", "FAIL"),
        ]
    assert page.read_text("utf-8").strip() == markdown.read_text("utf-8").strip()


def test_the_page_of_a_comparison_does_not_deny_the_judge(tmp_path):
    for name in ("a", "b"):
        evaluate_comments(DEMO / "reviews" / "terse", reference=DEMO / "references.jsonl", out=tmp_path / name)
    for arguments in (["compare", "a", "b", "-o", "x.html"], ["leaderboard", "a", "b", "-o", "x.html"]):
        assert metareview(*arguments, cwd=tmp_path).returncode == 0
        page = (tmp_path / "x.html").read_text("utf-8")
        assert "no judge was asked." not in page
        assert "from the runs’ files; no judge was asked again." in page


def test_alpha_decides_the_gate(folder):
    arguments = ["--reviewer", "repetitive", "--reviewer", "noisy", "--fail-if-worse", "f1", "--alpha", "0.001"]
    assert metareview("compare", "runs/demo", *arguments, cwd=folder).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "runs/demo"], "noisy, repetitive, terse. Name two of them"),
        (["compare", "nowhere"], "nowhere: not a run's folder."),
        (["compare", "runs/demo", "--reviewer", "x", "--reviewer", "terse"], "No reviewer is named 'x'."),
        (
            ["compare", "runs/demo", "--reviewer", "noisy", "--reviewer", "terse", "--fail-if-worse", "quality"],
            "--fail-if-worse: unknown metric 'quality'. The metrics are precision, recall, f1",
        ),
        (["leaderboard", "runs/demo", "--sort", "quality"], "--sort: unknown metric 'quality'."),
        (["leaderboard"], "Missing argument"),
    ],
)
def test_bad_usage_is_one_message(folder, arguments, message):
    done = metareview(*arguments, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


class NeverSure(Judge):
    """Cannot decide a single pair."""

    name = "never"

    def judge(self, questions):
        sizes = [len(question.pairs) for question in questions]
        return [Answer(np.full(n, np.nan), np.full(n, UNDECIDED, np.int8)) for n in sizes]


def test_undecided_pairs_go_before_the_gate(tmp_path):
    evaluate_comments(DEMO / "reviews", reference=DEMO / "references.jsonl", judge=NeverSure(), out=tmp_path / "run")
    pair = ["--reviewer", "terse", "--reviewer", "noisy"]
    done = metareview("compare", "run", *pair, "--fail-if-worse", "f1", cwd=tmp_path)
    assert done.returncode == 4
    assert "pairs are undecided" in done.stderr
    assert metareview("compare", "run", *pair, cwd=tmp_path).returncode == 0


def test_the_leaderboard_as_json_and_as_a_table(folder):
    result = json.loads(metareview("leaderboard", "runs/demo", "--beta", "2", "--json", cwd=folder).stdout)
    assert (result["schema"], result["sort"]) == ("metareview.leaderboard/1", "f_beta")
    assert [row["label"] for row in result["rows"]] == ["repetitive", "noisy", "terse"]
    shown = metareview("leaderboard", "runs/demo", "--beta", "2", cwd=folder).stdout
    assert "F2" in "".join(shown.splitlines()[:2])  # a long head takes two lines
    assert re.search(r"1 +repetitive +12 of 12 +0\.\d{3} ", shown)


def hostile(tmp_path):
    """Two reviewers whose names and notes try everything, on one pull request."""
    url = "https://github.com/owner/repo/pull/1"
    evil = "<img src=x onerror=alert(1)> | `code` | **bold** [link](javascript:x)\n\n# head ![i](u) \x1b[31m @all"
    reference, said = tmp_path / "references.jsonl", tmp_path / "said.jsonl"
    reference.write_text(jsonl.write([Review(url, (Comment(evil, "a.py"), Comment("other", "b.py")))])[""])
    names = ["a|b</td>\n<script>", "[c](d)"]
    reviews = [
        Review(url, (Comment(evil, "a.py"),), reviewer=names[0]),
        Review(url, (Comment("hm", "c.py"),), reviewer=names[1]),
    ]
    said.write_text(jsonl.write(reviews)[""])
    run = evaluate_comments(said, reference=reference, judge="exact", out=tmp_path / "run")
    return run, names


def test_nothing_in_names_and_notes_acts_as_markup(tmp_path):
    run, names = hostile(tmp_path)
    page = run_section(run) + comparison_section(compare(run, reviewers=names))
    for active in ("<img", "<script", "</td", "`", "**bold", "](", "# head", "\x1b", "@all"):
        assert active not in page
    assert "&#60;img src=x onerror=alert&#40;1&#41;&#62;" in page
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {10, 8}  # columns of the two tables, and none broken
    assert safe("a\r\nb\tc") == "a b c"
    shown = metareview("compare", "run", "--reviewer", names[0], "--reviewer", names[1], cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "\x1b" not in shown.stdout
    assert "[c](d)" in shown.stdout  # as text: a table that reads names as markup would swallow it


def test_the_page_is_appended_to_and_its_loss_is_only_a_warning(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    append_step_summary(lambda: "one")
    append_step_summary(lambda: "two\n")
    assert page.read_text() == "one\n\ntwo\n\n"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "page.md"))
    append_step_summary(lambda: "three")
    assert "cannot append to $GITHUB_STEP_SUMMARY" in capsys.readouterr().err
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    append_step_summary(lambda: "four")
    assert page.read_text() == "one\n\ntwo\n\n"


def test_a_small_part_of_a_difference_is_not_shown_as_zero():
    assert [signed(value) for value in (None, 0.0, -1 / 2686, 0.0004999, -0.0005, 0.25)] == [
        "–",
        "+0.000",
        "-0.0004",
        "+0.0005",
        "-0.001",
        "+0.250",
    ]


def workflow_commands():
    """The shell commands of the workflow's `run:` keys, by the rules of YAML that it uses."""
    lines = WORKFLOW.read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        found = re.fullmatch(r"( *)(?:- )?run: (.+)", line)
        if not found:
            continue
        if found[2] != "|":
            yield found[2]
            continue
        block = []
        for following in lines[number + 1 :]:
            if following.strip() and len(following) - len(following.lstrip()) <= len(found[1]):
                break
            block.append(following.strip())
        yield "\n".join(block).strip()


def test_the_example_workflow_runs(tmp_path):
    (tmp_path / "benchmark").mkdir()
    shutil.copy(DEMO / "references.jsonl", tmp_path / "benchmark")
    shutil.copytree(DEMO / "reviews" / "noisy", tmp_path / "comments" / "before")
    shutil.copytree(DEMO / "reviews" / "repetitive", tmp_path / "comments" / "after")
    commands = [shlex.split(command.replace("\\\n", " ")) for command in workflow_commands()]
    assert commands[0] == ["python", "-m", "pip", "install", "metareview"]
    assert [command[:2] for command in commands[1:]] == [
        ["metareview", name] for name in ("check", "comments", "comments", "compare", "leaderboard", "report")
    ]
    page = tmp_path / "page.md"
    for command in commands[1:]:
        done = metareview(*command[1:], cwd=tmp_path, page=page)
        assert done.returncode == 0, done.stderr
    titles = [line for line in page.read_text("utf-8").splitlines() if line.startswith("###")]
    assert titles == ["### Review comments", "### Review comments", "### after against before", "### Leaderboard"]

    suite = ElementTree.parse(tmp_path / "junit.xml").getroot().find("testsuite")
    gates = [case.get("name") for case in suite if case.tag == "testcase"][:2]
    assert gates == ["f1 at least 0.1", "positive_recall_rate at least 0.1"]
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert len(suite.findall("testcase")) == 2 + 12
    assert "<svg" in (tmp_path / "report.html").read_text("utf-8")
    report = next(command for command in commands if "report" in command)
    missed = [part.replace("f1=0.1", "f1=0.99") for part in report[1:]]
    (tmp_path / "junit.xml").unlink()
    assert metareview(*missed, cwd=tmp_path).returncode == 3
    assert ElementTree.parse(tmp_path / "junit.xml").getroot().get("failures") == "1"


def test_the_page_about_ci_shows_the_workflow_as_it_is():
    assert f"```yaml\n{WORKFLOW.read_text('utf-8')}```" in (ROOT / "docs" / "ci.md").read_text("utf-8")
    assert "\t" not in WORKFLOW.read_text("utf-8")


# --- outcomes


def heeded(folder, rows, first, judge="none", verdict=None):
    """A run of a bot's outcomes: (changed, comments) on each pull request, numbered from `first`."""
    records = {
        (pr(first + number), "bot"): [outcome(at, at < changed, verdict) for at in range(comments)]
        for number, (changed, comments) in enumerate(rows)
    }
    return make_run(folder, records, judge).folder


MORE, LESS = [(3, 4), (2, 3), (4, 5), (1, 2), (3, 6)], [(0, 4), (1, 5), (0, 3), (1, 2), (0, 6), (1, 4)]


def test_a_new_version_that_is_heeded_less_fails_the_build(tmp_path):
    heeded(tmp_path / "before", MORE, 1)
    heeded(tmp_path / "after", LESS, 50)
    page, out = tmp_path / "page.md", tmp_path / "table.csv"
    gate = ("--fail-if-worse", "lines_changed")
    done = metareview("compare", "before", "after", *gate, "-o", out, cwd=tmp_path, page=page)
    assert done.returncode == 3
    assert "bot (after) is worse than bot (before): lines_changed is 0.125, was 0.650" in done.stderr
    told = " ".join(done.stdout.split())
    assert "Two samples of pull requests, 5 of bot (before) and 6 of bot (after); none is in both." in told
    assert "They are other pull requests and may be from other weeks" in told
    assert "Two samples of pull requests, 5 of bot" in page.read_text("utf-8")
    assert out.read_text("utf-8").startswith("metric,by,value,")
    back = metareview("compare", "after", "before", *gate, "--json", cwd=tmp_path)
    assert back.returncode == 0
    assert json.loads(back.stdout)["paired"] is False


def test_undecided_comments_leave_only_what_was_addressed_open(tmp_path):
    heeded(tmp_path / "before", LESS, 1, "llm", "fully")
    heeded(tmp_path / "after", MORE, 50, "llm", "undecided")
    gate = ("compare", "before", "after", "--fail-if-worse")
    assert metareview(*gate, "lines_changed", cwd=tmp_path).returncode == 0
    open_still = metareview(*gate, "addressed", cwd=tmp_path)
    assert open_still.returncode == 4
    assert "20 comments are undecided" in open_still.stderr


def test_outcomes_and_comments_do_not_compare(folder, tmp_path):
    run = heeded(tmp_path / "outcomes", MORE, 1)
    done = metareview("compare", run, folder / "runs" / "demo", cwd=tmp_path)
    assert done.returncode == 2
    assert "is a run of outcomes and" in done.stderr
    assert "made by metareview outcomes both or by metareview comments both" in done.stderr
    by = metareview("compare", folder / "runs" / "demo", "--by", "severity", cwd=tmp_path)
    assert by.returncode == 2
    assert "--by is for runs of outcomes" in by.stderr


def test_a_leaderboard_of_outcomes_says_how_it_tells_them_apart(tmp_path):
    heeded(tmp_path / "before", LESS, 1)
    heeded(tmp_path / "after", MORE, 50)
    done = metareview("leaderboard", "before", "after", "-o", "board.tex", cwd=tmp_path)
    assert done.returncode == 0
    assert "bot (after) leads with lines changed 0.650 on 5 pull requests." in done.stdout
    assert "two independent samples, Holm over all pairs" in done.stderr
    assert "paired" not in done.stdout + done.stderr
    assert "Wrote board.tex" in done.stderr


def test_a_comparison_of_comments_is_written_to_files(folder, tmp_path):
    out = tmp_path / "table.csv"
    run = folder / "runs" / "demo"
    done = metareview("compare", run, "--reviewer", "terse", "--reviewer", "noisy", "-o", out, cwd=tmp_path)
    assert done.returncode == 0
    assert out.read_text("utf-8").startswith("metric,reviewer_a,reviewer_b,a,b,diff,low,high,p,p_holm")
    wrong = metareview("leaderboard", run, "-o", "x.pdf", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "the suffix decides the format" in wrong.stderr
