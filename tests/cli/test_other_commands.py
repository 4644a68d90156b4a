import json
import re

import click
import pytest
from review_sample import CHECK, REFERENCES, files, lines

from metareview import __version__
from metareview.cli import COMMANDS, cli
from metareview.judges.registry import JUDGES

# What the interface promises in the end. What is not there yet must not show, and must be refused.
PROMISED_COMMANDS = ["comments", "text", "routing", "compare", "leaderboard", "report", "view", "check", "calibrate",
                     "convert", "pull", "list", "cache", "demo"]  # fmt: skip
PROMISED_OPTIONS = [
    ["--negatives", "ref.jsonl"], ["--judge", "exact"], ["--line-distance", "2"], ["--alignment", "optimal"],
    ["--ignore-location"], ["--threshold", "0.5"], ["--format", "aacr-text"], ["--reference-format", "jsonl"],
    ["--language", "Go"], ["--pr-category", "Bug Fix"], ["--comment-category", "Code Defect"],
    ["--context", "Diff Level"], ["--all-prs"], ["--name", "x"], ["--limit", "1"], ["--seed", "1"], ["--out", "r"],
    ["--fail-under", "f1=0"], ["--fail-over", "f1=1"], ["--dry-run"], ["--overwrite"], ["--labels", "labels.jsonl"],
    ["--concurrency", "2"], ["--cache", "c.sqlite"], ["--no-cache"], ["--max-llm-calls", "1"], ["--engine", "spark"],
    ["--workers", "2"], ["--spark-master", "local"], ["--json"], ["-q"],
]  # fmt: skip
PROMISED_JUDGES = ["none", "exact", "rouge", "offline", "embedding", "llm", "cascade"]


def help_of(run, *command):
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    return out


def words(text):
    return re.findall(r"(?<![\w-])-{0,2}\w[\w-]*", text)


# Help


def test_version(run):
    assert run("--version") == (0, f"metareview, version {__version__}\n", "")


def test_help_lists_the_commands_that_there_are_and_no_others(run):
    text = help_of(run)
    listed = re.findall(r"^  (\w+)  +\S", text.split("Commands:")[1], re.MULTILINE)
    assert listed == list(COMMANDS)
    assert "Example: metareview comments " in text
    assert help_of(run) == run("-h")[1]


def leaves(command, *names):
    """Every command that does something, by the words that call it."""
    if not isinstance(command, click.Group):
        return [(names, command)]
    context = click.Context(command)
    inner = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [leaf for name, below in inner for leaf in leaves(below, *names, name)]


@pytest.mark.parametrize(("names", "command"), leaves(cli))
def test_every_command_has_an_example_json_and_quiet(run, names, command):
    text = help_of(run, *names)
    assert f"Example: metareview {' '.join(names)}" in " ".join(text.split())
    assert {"--json", "--quiet", "--help"} <= set(words(text))
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("name", PROMISED_COMMANDS)
def test_a_command_shows_if_and_only_if_it_works(run, here, name):
    if name in COMMANDS:
        assert name in words(help_of(run))
        return
    code, out, err = run(name, "x")
    assert (code, out) == (2, "")
    assert f"No such command '{name}'" in err
    assert name not in words(help_of(run).split("Commands:")[1])


@pytest.mark.parametrize("option", PROMISED_OPTIONS, ids=lambda option: option[0])
def test_an_option_of_comments_shows_if_and_only_if_it_works(run, sample, option):
    before = files(sample)
    code, out, err = run("comments", "reviews", "--reference", "ref.jsonl", *option, "--dry-run")
    refused = f"No such option '{option[0]}'" in err or f"No such option: {option[0]}" in err
    assert refused != (option[0] in words(help_of(run, "comments")))
    if refused:
        assert (code, out) == (2, "")
    assert files(sample) == before


@pytest.mark.parametrize("name", PROMISED_JUDGES)
def test_a_judge_shows_if_and_only_if_it_works(run, sample, name):
    line = help_of(run, "comments").split("--judge NAME")[1].split("--line-distance")[0]
    assert (name in words(line)) == (name in JUDGES.names())
    if name not in JUDGES.names():
        code, out, err = run("comments", "reviews", "--reference", "ref.jsonl", "--judge", name)
        assert (code, out) == (2, "")
        assert err == f"Error: Unknown judge {name!r}. The judges are {', '.join(JUDGES.names())}.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["comments"], "Missing argument 'GENERATED'"),
        (["comments", "reviews"], "Missing option '--reference'"),
        (["check"], "Missing option '--reference'"),
        (["text"], "Missing argument 'FILE'"),
        (["demo", "extra"], "unexpected extra argument"),
    ],
)
def test_a_wrong_call_is_exit_2(run, here, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert files(here) == {}


# demo


def test_the_demo_shows_three_reviewers_and_what_to_do_next(run, here):
    code, out, err = run("demo")
    assert code == 0
    header, *rows = out.splitlines()
    assert header.split()[:4] == ["reviewer", "pull", "requests", "comments"]
    assert sorted(row.split()[0] for row in rows) == ["noisy", "repetitive", "terse"]
    assert {tuple(row.split()[1:4]) for row in rows} == {("12", "of", "12")}
    f1 = [float(row.split()[7]) for row in rows]
    assert f1 == sorted(f1, reverse=True)
    folder = re.search(r"The pairing behind every figure: (runs/\d{8}-\d{6}-demo)\n", err)[1]
    assert {path.name for path in (here / folder).iterdir()} == {
        "manifest.json",
        "pairs.jsonl",
        "results.jsonl",
        "summary.json",
    }
    assert err.splitlines()[-1].startswith("Next, with your own: metareview comments YOUR_COMMENTS/ --reference")


def test_the_demo_as_json_and_in_a_folder_of_ones_own(run, here):
    code, out, err = run("demo", "--json", "--out", "d")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["schema"] == "metareview.comments/1"
    assert {block["prs"] for block in found["reviewers"].values()} == {12}
    assert all(block["metrics"]["false_positive_rate"] is not None for block in found["reviewers"].values())
    before = files(here)
    assert run("demo", "--out", "d", "-q")[2] == ""
    assert files(here) == before
    (here / "x").mkdir()
    (here / "x/mine.txt").write_text("mine")
    assert run("demo", "--out", "x")[0] == 2
    assert run("demo", "--out", "x", "--overwrite")[0] == 2  # no run of ours is there
    assert [each.name for each in (here / "x").iterdir()] == ["mine.txt"]
    assert run("demo", "--out", "d", "--overwrite")[0] == 0


# text

ITEMS = [
    {"retrieved_context": ["a b c d", "x"], "ground_truth_context": ["a b c d"]},  # precision 1/2, recall 1
    {"retrieved_context": [], "ground_truth_context": ["a"]},  # precision null, recall 0, f1 0
]


def test_text_as_json(run, here):
    (here / "t.jsonl").write_text(lines(*ITEMS))
    code, out, err = run("text", "t.jsonl", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["schema"], found["n"]) == ("metareview.text/1", 2)
    assert (found["precision"], found["recall"]) == (0.5, 0.5)
    assert found["f1"] == pytest.approx((2 / 3 + 0) / 2)
    assert found["items"][1] == {"precision": None, "recall": 0, "f1": 0}


def test_text_for_people(run, here):
    (here / "t.jsonl").write_text(lines(*ITEMS))
    code, out, err = run("text", "t.jsonl", "--strategy", "exact-chunk")
    assert (code, out) == (0, "2 items: precision 0.500  recall 0.500  f1 0.333\n")
    assert err == "Undefined for some items, left out of the mean: precision 1.\n"
    assert run("text", "t.jsonl", "-q")[2] == ""


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("{", [], "t.jsonl:1: broken JSON"),
        ("", [], "t.jsonl: no items. Give at least one line such as"),
        (lines(*ITEMS), ["--strategy", "fuzzy"], "exact-chunk, exact-sentence, rouge-chunk, rouge-sentence"),
        (lines(*ITEMS), ["--threshold", "2"], "from 0 to 1"),
        (lines(*ITEMS), ["--threshold", "0.5", "--strategy", "exact-chunk"], "threshold"),
    ],
)
def test_bad_text_is_exit_2(run, here, content, options, message):
    (here / "t.jsonl").write_text(content)
    code, out, err = run("text", "t.jsonl", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("Error: ")
    assert message in err


# check


def test_a_sound_benchmark_passes(run, sample):
    before = files(sample)
    code, out, err = run("check", "--reference", "ref.jsonl", "--negatives", "neg.jsonl")
    assert (code, err) == (0, "")
    assert out.startswith("3 pull requests, 4 references, 1 negative\n")
    assert out.endswith("Sound.\n")
    assert [line.split()[0] for line in out.splitlines()[1:5]] == ["pass"] * 4
    code, out, err = run("check", "--reference", "ref.jsonl", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["schema"], found["sound"], found["references"]) == ("metareview.check/1", True, 4)
    assert list(found["probes"]) == ["oracle", "silence", "shuffled notes", "shifted lines"]
    assert files(sample) == before


def test_an_unsound_benchmark_is_exit_2_with_what_is_wrong(run, sample):
    (sample / "neg.jsonl").write_text(lines({"pr": REFERENCES[1]["pr"], "comments": [CHECK]}))
    code, out, err = run("check", "--reference", "ref.jsonl", "--negatives", "neg.jsonl", "--json")
    assert (code, json.loads(out)["sound"]) == (2, False)
    assert err == "Error: ref.jsonl: this benchmark is not sound. Correct what is marked FAIL or error.\n"
    code, out, _ = run("check", "--reference", "ref.jsonl", "--negatives", "neg.jsonl", "-q")
    assert code == 2
    assert "error: github.com/octo/app#2: 1 comment is both reference and negative\n" in out
    assert "Sound." not in out


def test_a_reversed_range_is_named_by_check(run, sample):
    (sample / "ref.jsonl").write_text(lines(REFERENCES[0], {"pr": "u", "comments": [CHECK | {"from_line": 12}]}))
    code, out, _ = run("check", "--reference", "ref.jsonl")
    assert code == 0
    assert "warning: ref.jsonl:2: from_line 12 is after to_line 9; swapped\n" in out


def test_check_shows_hostile_text_as_text(run, here):
    odd = {"pr": "[/b]\x1b[2J", "comments": [{"note": "x", "path": "a", "from_line": 1}]}
    (here / "ref.jsonl").write_text(lines(odd))
    code, out, err = run("check", "--reference", "ref.jsonl")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert "[/b]�[2J" in out


def test_bad_input_to_check_is_exit_2(run, here):
    assert run("check", "--reference", "none.json") == (2, "", "Error: none.json: no such file. Check the path.\n")
    (here / "ref.json").write_text('[{"githubPrUrl": "u",\n"comments": 5}]')
    code, out, err = run("check", "--reference", "ref.json", "--json")
    assert (code, out) == (2, "")
    assert err.startswith("Error: ref.json:2: comments must be a list, found a number. ")
    assert run("check", "--reference", "ref.json", "--line-distance", "-1")[0] == 2


COMPARED = ["compare", "r", "--reviewer", "terse", "--reviewer", "noisy"]


@pytest.mark.parametrize("command", [["demo"], ["leaderboard", "r"], COMPARED])
def test_what_is_shown_fits_the_terminal_and_says_what_does_not(command, run, here, monkeypatch):
    run("demo", "--out", "r", "-q")
    shown = {}
    for width in (80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        code, out, err = run(*command)
        assert code == 0
        shown[width] = out.splitlines() + err.splitlines()
        # An address is never broken.
        assert [line for line in shown[width] if len(line) > width and "https://" not in line] == []
    assert not any(line.startswith("No room for") for line in shown[200])
    if command == ["demo"]:
        assert "No room for: line F1, noise. They are in --json, and shown on a wider terminal." in shown[80]
        assert "line F1" in shown[200][0]
