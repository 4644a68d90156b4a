"""action.yml, run step by step: what a job shows of it, and what it leaves on the pull request."""

import json
from html import unescape

import pytest
from composite import ACTION, ROOT, Expression, filled, read_outputs
from jobs import NOTES, TOKEN, record, use, write

from github_data import sample_server
from scripted_server import Reply


def test_a_missed_gate_fails_the_job_once_the_comment_is_there(job, server):
    inputs = {"files": "poor.jsonl", "reference": "references.jsonl", "fail_under": "precision=0.9\nrecall=0.9"}
    done = use(job, **inputs, args="--judge\nexact")
    assert done.failed
    assert done.steps == {"Install metareview": 0, "Measure": 0, "Comment on the pull request": 0, "The verdict": 3}
    assert done.outputs == {
        "exit-code": "3",
        "run": "metareview/current",
        "report": "metareview/report.html",
        "summary-json": "metareview/current/summary.json",
    }
    figures = json.loads((job.workspace / done.outputs["summary-json"]).read_text("utf-8"))
    # Ten comments, each one of three references: precision 1, recall a third.
    assert figures["reviewers"]["bot"]["metrics"]["positive_recall_rate"] == pytest.approx(1 / 3)
    assert (job.workspace / done.outputs["report"]).read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "::error title=metareview gate::bot: positive_recall_rate is 0.3333, must be at least 0.9" in done.log
    [body] = server.bodies
    assert body.startswith("<!-- metareview: quality/gate/comments -->\n## ❌ Review comments: a gate was missed\n")
    assert "positive&#95;recall&#95;rate is 0.3333, must be at least 0.9" in body
    assert done.page.startswith("## ❌ Review comments: a gate was missed\n")
    assert "<summary>All gates</summary>" in done.page

    done = use(job, files="good.jsonl", reference="references.jsonl", fail_under="recall=0.9", out="second")
    assert not done.failed
    assert done.outputs["exit-code"] == "0"
    assert done.outputs["run"] == "second/current"
    [body] = server.bodies  # the same comment
    assert "## ✅ Review comments: all gates passed\n" in body
    assert [method for method, _ in server.written] == ["POST", "PATCH"]


def test_a_reviewer_that_got_worse_is_told_so_on_top(job, server):
    done = use(
        job, files="poor.jsonl", reference="references.jsonl", judge="exact", args="--all-prs",
        baseline="good.jsonl", fail_if_worse="recall\nprecision", comment_key="prompt v2", fail_under="f1=0.1",
    )  # fmt: skip
    assert done.outputs["exit-code"] == "3"
    assert (job.workspace / "metareview" / "baseline" / "summary.json").is_file()
    [body] = server.bodies
    lines = [line for line in body.splitlines() if line]
    assert lines[:2] == ["<!-- metareview: prompt%20v2 -->", "## ❌ Review comments (prompt v2): a gate was missed"]
    assert lines[2].startswith(
        "**bot &#40;current&#41; is worse than bot &#40;baseline&#41;, beyond chance&#58; recall"
    )
    assert "recall 0.333 &#40;was 1.000&#41;" in lines[2]
    assert lines[3].startswith("- bot &#40;current&#41; is worse than bot &#40;baseline&#41;&#58; positive&#95;recall")
    gates = body.partition("<summary>All gates</summary>")[2].partition("</details>")[0]
    held_to = [line for line in gates.splitlines() if "no proven loss" in line or "at least" in line]
    assert [line.rpartition("| ")[2] for line in held_to] == ["pass |", "FAIL |", "pass |"]
    assert "https://github.com/acme/shop/pull/" not in body.partition("<sub>")[0]

    # Against the run that is there already, the other way round: better, and the job passes.
    done = use(
        job, files="good.jsonl", reference="references.jsonl", judge="exact", args="--all-prs", out="again",
        baseline="metareview/current", fail_if_worse="recall", comment="false",
    )  # fmt: skip
    assert done.outputs["exit-code"] == "0"
    assert "is better than" in done.page.splitlines()[2]
    assert not (job.workspace / "again" / "baseline").exists()
    assert len(server.bodies) == 1
    assert "Comment on the pull request" not in done.steps


def test_the_action_says_worse_only_where_compare_does(job, server):
    """Both versions say the same on 11 of 12 pull requests; on the last the new one says fifty things more."""
    references = [record(n, "gold", [(1, "leak"), (2, "slow")]) for n in range(1, 13)]
    old = [record(n, "bot", [(1, "leak"), (9, "hm")]) for n in range(1, 13)]
    write(job.workspace / "references.jsonl", references)
    write(job.workspace / "old.jsonl", old)
    write(job.workspace / "new.jsonl", [*old[:11], record(12, "bot", [(1, "leak"), *[(9, "hm")] * 51])])
    done = use(
        job, files="new.jsonl", reference="references.jsonl", judge="exact", baseline="old.jsonl",
        fail_if_worse="noise",
    )  # fmt: skip
    compared = json.loads((job.workspace / "metareview" / "comparison.json").read_text("utf-8"))
    assert compared["metrics"]["unmatched_rate"]["p_holm"] == 1.0  # however much it says, it is one pull request
    assert "the data cannot tell" in compared["verdict"]
    assert done.outputs["exit-code"] == "0"
    [body] = server.bodies
    assert "is worse" not in body
    assert "**bot &#40;current&#41; is neither better nor worse than bot &#40;baseline&#41; beyond chance" in body


def test_the_action_fails_unless_it_is_shown_that_no_more_than_a_margin_was_lost(job, server):
    """On ten pull requests the interval of equal runs is 0 to 0; for one that lost two thirds it is far below."""
    options = {"reference": "references.jsonl", "judge": "exact", "args": "--all-prs", "baseline": "good.jsonl"}
    done = use(job, files="good.jsonl", no_worse="recall=0.05", **options)
    assert done.outputs["exit-code"] == "0"
    assert "a loss of more than 0.05 to" in server.bodies[0]
    done = use(job, files="poor.jsonl", no_worse="recall=0.05", out="second", **options)
    assert done.outputs["exit-code"] == "3"
    assert "may be worse than" in done.page


@pytest.mark.parametrize("named", ["p", "p (Holm)", "95 % interval"])
def test_a_reviewer_named_like_a_column_keeps_its_own(job, server, named):
    said = [record(n, named, [(1, NOTES[0])]) for n in range(1, 11)]
    write(job.workspace / "named.jsonl", said)
    use(job, files="named.jsonl", reference="references.jsonl", judge="exact", baseline="good.jsonl")
    [body] = server.bodies
    table = [line for line in body.splitlines() if line.startswith("|") and ("B - A" in line or "recall" in line)]
    head, recall = ([unescape(cell).strip() for cell in line.strip("|").split("|")] for line in table[:2])
    assert head[:3] == ["10 pull requests", "bot", named]
    assert head[3:] == ["B - A", "95 % interval", "p (Holm)"]
    assert recall[:3] == ["recall", "1.000", "0.333"]


def test_bad_input_is_told_with_its_fix(job, server):
    (job.workspace / "broken.jsonl").write_text('{"pr": "x", "comment": []}\n', "utf-8")
    done = use(job, files="broken.jsonl", reference="references.jsonl", fail_under="f1=0.1")
    assert (done.failed, done.steps["The verdict"]) == (True, 2)
    assert done.outputs == {"exit-code": "2", "run": "", "report": "", "summary-json": ""}
    assert "could not be measured" in done.page
    assert "broken.jsonl&#58;1&#58;" in done.page
    assert "broken.jsonl&#58;1&#58;" in server.bodies[0]
    assert "::error title=metareview::broken.jsonl:1:" in done.log
    done = use(job, files="poor.jsonl", args="--name bot", reference="references.jsonl")
    assert done.outputs["exit-code"] == "2"
    assert "Write one per line, as --name=bot" in done.log
    assert len(server.bodies) == 1


def test_undecided_pairs_fail_the_job_before_any_gate(job, server):
    verdict = {"a": "something else", "b": "nothing here", "match": True}
    write(job.workspace / "verdicts.jsonl", [verdict])
    done = use(
        job, files="poor.jsonl", reference="references.jsonl", args="--verdicts=verdicts.jsonl", fail_under="f1=1"
    )
    assert done.outputs["exit-code"] == "4", done.log
    assert done.outputs["run"] == "metareview/current"
    assert "## ⚠️ Review comments: undecided" in server.bodies[0]


def test_no_input_is_ever_a_command(job, server):
    """Where it reaches a command, and where it reaches every step at once; the values stay values."""
    hostile = '"; touch pwned; "$(touch pwned)`touch pwned`\'; touch pwned #'
    done = use(job, files=hostile, reference="--out=pwned\n${{ github.token }}", comment="false")
    assert (done.failed, done.outputs["exit-code"]) == (True, "2"), done.log
    assert hostile.replace("'", "'\"'\"'") in done.log  # as the one argument that it is
    text = f"{hostile}\ntouch pwned\nexit-code=0\n::set-output name=exit-code::0"
    names = [name for name in ACTION["inputs"] if name not in ("version", "github-token", "python-version")]
    done = use(job, **{name.replace("-", "_"): text for name in names})
    assert (done.failed, done.outputs["exit-code"]) == (True, "2"), done.log
    done = job.use(version="$(touch pwned)", files="poor.jsonl")
    assert done.steps == {"Install metareview": 2}
    assert not list(job.workspace.rglob("*pwned*"))
    assert server.bodies == []


def test_names_in_the_data_do_not_come_alive(job, server):
    names = ["</details><script>alert(1)</script>", "@everyone", "-->", "::error::x", "a|b"]
    every = list(enumerate(NOTES, 1))
    write(job.workspace / "many.jsonl", [record(n, name, every[:1]) for n in range(1, 11) for name in names])
    done = use(job, files="many.jsonl", reference="references.jsonl", judge="exact", fail_under="recall=0.9")
    assert done.outputs["exit-code"] == "3"
    [body] = server.bodies
    for page in (body.partition("\n")[2], done.page):
        assert "<script" not in page
        assert "-->" not in page
        assert "@everyone" not in page
        assert page.count("<details>") == page.count("</details>") == 1
        assert "&#64;&#8203;everyone" in page
    assert not [line for line in done.log.splitlines() if line.startswith("::error::x")]


def test_a_fork_brings_modules_and_a_token_that_only_reads(job, server):
    """What a pull request brings is not imported, whatever its name; and the page of the job is there."""
    for name in ("json.py", "numpy.py", "metareview.py", "sitecustomize.py"):
        (job.workspace / name).write_text("import pathlib\npathlib.Path('pwned').touch()\n", "utf-8")
    refused = Reply(403, {"message": "Resource not accessible by integration"})
    server.script = lambda exchange: refused if exchange.method in ("POST", "PATCH") else None
    done = use(job, files="poor.jsonl", reference="references.jsonl", judge="exact", fail_under="recall=0.1")
    assert not done.failed, done.log
    assert not (job.workspace / "pwned").exists()
    assert "::warning title=metareview::the comment on pull request 7 is not written" in done.log
    assert "all gates passed" in done.page


def test_comments_are_pulled_with_the_token_and_scored_without_it(job):
    with sample_server() as github:
        job.environment |= github.environment(TOKEN)
        job.environment["GITHUB_TOKEN"] = ""
        done = use(
            job, pull="2020-01-01", comment="false", args="--reviewer=*[bot]\n--reference-reviewer=!*[bot]",
        )  # fmt: skip
        assert {each.headers["authorization"] for each in github.log} == {f"Bearer {TOKEN}"}
    assert done.outputs["exit-code"] == "0", done.log
    assert "metareview pull comments --since=2020-01-01T00:00:00Z" in done.log
    pulled = (job.workspace / "metareview" / "comments.jsonl").read_text("utf-8")
    reviewers = {json.loads(line)["reviewer"] for line in pulled.splitlines()}
    scored = json.loads((job.workspace / done.outputs["summary-json"]).read_text("utf-8"))["reviewers"]
    assert set(scored) == {name for name in reviewers if name.endswith("[bot]")}


def test_outcomes_of_a_file_and_of_what_was_pulled(job, server):
    """Of two comments in the file, a later commit changed the lines of one."""
    said = {"side": "right", "note": "Check this.", "author": "heeded-bot", "at": "2026-05-01T10:00:00Z"}
    lines = [
        {**said, "id": str(i), "path": f"{i}.py", "from_line": 10, "to_line": 10, "commit": "a" * 40} for i in (1, 2)
    ]
    patch = "@@ -9,3 +9,3 @@\n x\n-old\n+new\n y\n"
    before = {"sha": "a" * 40, "at": "2026-05-01T09:00:00Z", "author": "dev", "parents": ["0" * 40], "files": []}
    file = {"path": "1.py", "status": "modified", "patch": patch}
    after = {"sha": "b" * 40, "at": "2026-05-01T12:00:00Z", "author": "dev", "parents": ["a" * 40], "files": [file]}
    told = {"author": "dev", "merged_at": "2026-05-02T10:00:00Z", "commits": [before, after], "comments": lines}
    write(
        job.workspace / "heeded.jsonl",
        [{"pr": "https://github.com/acme/shop/pull/3", "reviewer": "heeded-bot", **told}],
    )
    with sample_server() as github:
        job.environment |= github.environment(TOKEN)
        done = use(
            job, command="outcomes", files="heeded.jsonl", pull="2020-01-01", comment="false",
            fail_under="heeded-bot.lines_changed=0.6",
        )  # fmt: skip
    assert done.outputs["exit-code"] == "3", done.log
    figures = json.loads((job.workspace / done.outputs["summary-json"]).read_text("utf-8"))
    assert figures["schema"] == "metareview.outcomes/1"
    assert figures["reviewers"]["heeded-bot"]["metrics"]["lines_changed"] == 0.5
    assert len(figures["reviewers"]) > 1
    assert done.page.splitlines()[:3] == [
        "## ❌ What became of the comments: a gate was missed",
        "",
        "- heeded-bot&#58; lines&#95;changed is 0.5000, must be at least 0.6",
    ]
    assert (job.workspace / done.outputs["report"]).is_file()


def heeded(first, number, share):
    """Pull requests with two comments each, of which a later commit heeds the first on this share of them."""
    patch = "@@ -9,3 +9,3 @@\n x\n-old\n+new\n y\n"
    for place in range(number):
        before = {"sha": "a" * 40, "at": "2026-05-01T09:00:00Z", "author": "dev", "parents": ["0" * 40], "files": []}
        file = {"path": "1.py", "status": "modified", "patch": patch}
        after = {"sha": "b" * 40, "at": "2026-05-01T12:00:00Z", "author": "dev", "parents": ["a" * 40]}
        after["files"] = [file] if place < share * number else []
        said = {"note": "Check.", "at": "2026-05-01T10:00:00Z", "commit": "a" * 40, "from_line": 10, "to_line": 10}
        yield {
            "pr": f"https://github.com/acme/shop/pull/{first + place}", "reviewer": "x[bot]", "author": "dev",
            "merged_at": "2026-05-02T10:00:00Z", "commits": [before, after],
            "comments": [{**said, "id": "1", "path": "1.py"}, {**said, "id": "2", "path": "2.py"}],
        }  # fmt: skip


def test_a_bot_that_is_heeded_less_is_told_so_by_pull_requests_that_each_version_had(job, server):
    write(job.workspace / "old.jsonl", list(heeded(100, 30, 0.9)))
    write(job.workspace / "new.jsonl", list(heeded(500, 30, 0.1)))
    done = use(
        job, command="outcomes", files="new.jsonl", baseline="old.jsonl", fail_if_worse="lines_changed",
        reference="", comment="true",
    )  # fmt: skip
    assert done.outputs["exit-code"] == "3", done.log
    [body] = server.bodies
    assert "is worse than" in body
    assert "lines changed 0.050 &#40;was 0.450&#41;" in body
    assert "Two samples of pull requests" in body


def test_an_expression_stands_in_no_script():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), step["name"]


def test_only_the_steps_that_need_it_have_the_token():
    having = {
        step["name"]: value
        for step in ACTION["runs"]["steps"]
        for value in step.get("env", {}).values()
        if "token" in value
    }
    assert having == {
        "Measure": "${{ inputs.pull != '' && inputs.github-token || '' }}",
        "Comment on the pull request": "${{ inputs.github-token }}",
    }


def test_every_input_is_used_and_every_use_is_an_input():
    text = (ROOT / "action.yml").read_text("utf-8")
    for name, spec in ACTION["inputs"].items():
        assert f"inputs.{name}" in text, name
        assert spec["description"].strip()
    assert ACTION["runs"]["using"] == "composite"


def test_the_runner_of_these_tests_reads_as_githubs_does(tmp_path):
    contexts = {"inputs": {"a": "x", "b": ""}, "steps": {}}
    assert Expression("inputs.a == 'X' && inputs.b != ''", contexts).value is False
    assert Expression("inputs.b || 'it''s'", contexts).value == "it's"
    assert Expression("!(inputs.a != 'x')", contexts).value is True
    assert (
        filled("<${{ steps.none.outputs.y }}${{ inputs.a }}>", {**contexts, "steps": {"none": {"outputs": {}}}})
        == "<x>"
    )
    file = tmp_path / "outputs"
    file.write_text("a=1=2\nb<<E\nx=1\ny\nE\nc=\n", "utf-8")
    assert read_outputs(file) == {"a": "1=2", "b": "x=1\ny", "c": ""}
