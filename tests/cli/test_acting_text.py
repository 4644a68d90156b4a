"""Names, paths and notes that would act if they were printed as they are: on a runner, in a terminal, in a report."""

import json
import re
from pathlib import Path

import pytest

ACTING = [
    "::error::x", "::set-output name=a::b", "a\r::error::x", "a\n::error::x", "##[error]x", "a ##[add-mask]x",
    "  ::warning::x", "\u00a0::error::x", "\u3000::error::x", "\u2028::error::x", "x\u2029::add-mask::y",
    "\x0b::error::x", "\x1c::error::x", "\x85::error::x", "\ufeff::error::x", "\u202eresu\u202c", "\u2066a\u2069",
    "a\u200eb\u200fc\u061c", "\x1b[31mred\x1b]0;title\x07", "\x9b31m", "back\x08\x7f",
]  # fmt: skip
OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
COMMAND = re.compile(r"^\s*::(?!error title=metareview gate::)|##\[")
LINE_ENDS = re.compile("\r\n|\r|\n")


def acts(text, *, in_log=False):
    """What in the text would be obeyed rather than shown."""
    lines = LINE_ENDS.split(text) if in_log else ()
    return [*OBEYED.findall(text), *(line for line in lines if COMMAND.search(line))]


@pytest.fixture
def hostile(here, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "page.md"))
    comments, references, events, answers = [], [], [], []
    for number, text in enumerate(ACTING, 1):
        pr = f"https://github.com/o/r/pull/{number}"
        said = {"path": text, "from_line": 1, "note": f"{text} said"}
        comments.append({"pr": pr, "reviewer": text, "comments": [said]})
        references.append({"pr": pr, "comments": [said | {"note": f"{text} meant", "category": text}]})
        repo = text if number % 2 else "o/r"
        for hour, kind in enumerate(("opened", "review_submitted", "review_comment")):
            at = f"2024-01-{number:02d}T0{hour}:00:00Z"
            event = {"repo": repo, "pr": number, "at": at, "kind": kind, "actor": f"{text}{hour}"}
            events.append(event | {"title": text, "body": text, "files": [text]})
        answers.append({"repo": repo, "pr": number, "router": "::error::r", "candidates": [text], "notes": [text]})
    for name, rows in {"bots": comments, "ref": references, "events": events, "answers": answers}.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return here


RUNS = [
    [
        "comments",
        "bots.jsonl",
        "--reference",
        "ref.jsonl",
        "--judge",
        "exact",
        "--out",
        "run",
        "--fail-under",
        "f1=0.9",
    ],
    ["routing", "events.jsonl", "--predictions", "answers.jsonl", "--router", "recency", "--out", "run"],
    ["outcomes", "bots.jsonl", "--out", "run"],
]


@pytest.mark.parametrize("columns", [None, "30"])
@pytest.mark.parametrize("command", RUNS, ids=lambda command: command[0])
def test_nothing_acts_in_a_log_a_report_or_the_page_of_a_job(hostile, run, monkeypatch, command, columns):
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    for line in (command, [*command, "--json"], ["show", "run"]):
        code, out, err = run(*line)
        assert code in (0, 2, 3)  # a run of outcomes has no evidence to show
        assert acts(out, in_log=True) == []
        assert acts(err, in_log=True) == []
    files = [f"report.{suffix}" for suffix in ("html", "md", "csv", "xml")]
    code, _, _ = run("report", "run", *(part for file in files for part in ("-o", file)))
    assert code == 0
    for file in (*files, "page.md"):
        assert acts(Path(file).read_text("utf-8")) == [], file


def test_json_on_a_runner_means_the_same(hostile, run, monkeypatch):
    _, inert, _ = run(*RUNS[0], "--json")
    monkeypatch.delenv("GITHUB_ACTIONS")
    _, plain, _ = run("report", "run", "-o", "summary.json")
    assert "##[" in Path("summary.json").read_text("utf-8")
    assert (
        json.loads(inert)["reviewers"].keys() == json.loads(Path("summary.json").read_text("utf-8"))["reviewers"].keys()
    )
    assert plain == ""


@pytest.mark.parametrize("text", [each for each in ACTING if "\0" not in each])
def test_what_was_typed_does_not_act_either(hostile, run, text):
    for command in (
        [text],
        [f"--{text}"],
        ["list", text],
        ["routing", text],
        ["routing", "events.jsonl", "--k", text],
        ["routing", "events.jsonl", "--router", text],
        ["comments", text, "--reference", "ref.jsonl"],
        ["comments", "bots.jsonl", "--reference", "ref.jsonl", "--limit", text],
        ["comments", "bots.jsonl", "--reference", "ref.jsonl", "--reviewer", f"no{text}"],
        ["report", text, "-o", text],
    ):
        code, out, err = run(*command)
        assert code == 2
        assert acts(out + err, in_log=True) == []
