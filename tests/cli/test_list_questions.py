"""`--ask review` through the command line and real HTTP: what is asked, planned, kept, refused."""

import json
from itertools import product
from pathlib import Path

import pytest

from metareview.api import evaluate_comments
from metareview.cli import _run
from metareview.errors import UsageError
from metareview.formats.comments import jsonl
from metareview.judges.builtin.exact import ExactJudge
from metareview.model.comment import Comment, Review
from metareview.pipelines.comments.options import CommentsOptions
from model_server import ModelServer, chat, matches, verdict

SAID, EXPECTED = ("leak", "slow", "typo"), ("leak of a handle", "slowness")


@pytest.fixture
def model(monkeypatch, tmp_path):
    running = []

    def start(script):
        server = ModelServer(script).__enter__()
        running.append(server)
        for name, value in (("MODEL_URL", server.url), ("MODEL", "test-model"), ("API_KEY", "sk-very-secret")):
            monkeypatch.setenv(f"LLM_{name}", value)
        return server

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    yield start
    for server in running:
        server.__exit__(None, None, None)


@pytest.fixture
def files(tmp_path):
    """Two pull requests with the same notes at one place, and a comment far away from every reference."""

    def write(name, notes):
        here = [Comment(note=note, path="a.py", from_line=1, to_line=1) for note in notes]
        far = [Comment(note="far away", path="b.py", from_line=1, to_line=1)] if name == "said" else []
        urls = [f"https://github.com/o/r/pull/{number}" for number in (1, 2)]
        (tmp_path / f"{name}.jsonl").write_text(jsonl.write([Review(url, (*here, *far), "bot") for url in urls])[""])
        return str(tmp_path / f"{name}.jsonl")

    return [write("said", SAID), "--reference", write("expected", EXPECTED)]


def same_letter(exchange):
    if "<<<" in exchange.body["messages"][1]["content"]:
        candidate, reference = exchange.notes
        return verdict(candidate[0] == reference[0])
    references, comments = exchange.listed
    pairs = product(enumerate(references), enumerate(comments))
    return matches(*((r, c) for (r, reference), (c, comment) in pairs if reference[0] == comment[0]))


def test_a_run_in_lists_gives_the_figures_of_one_in_pairs_with_fewer_calls(model, files, capsys):
    server = model(same_letter)
    summaries = {}
    for ask, calls in (("pair", 6), ("review", 1)):  # the two pull requests have the same notes: asked once
        arguments = ["comments", *files, "--judge", "llm", "--ask", ask, "--json", "-q"]
        assert _run([*arguments, "--dry-run"]) == 0
        planned = json.loads(capsys.readouterr().out)
        before = len(server.log)
        assert _run([*arguments, "--out", ask]) == 0
        summaries[ask] = json.loads(capsys.readouterr().out)
        sent = [sum(len(m["content"]) for m in e.body["messages"]) for e in server.log[before:]]
        assert planned["llm_calls"] == len(sent) == summaries[ask]["judge"]["llm_calls"] == calls
        assert planned["prompt_characters"] == sum(sent)
        assert planned["prompt_tokens"] == -(-sum(sent) // 4)
        assert _run([*arguments, "--dry-run"]) == 0
        assert json.loads(capsys.readouterr().out)["prompt_characters"] == 0
    assert summaries["pair"]["reviewers"] == summaries["review"]["reviewers"]
    assert "far away" not in server.log[-1].listed[1]
    parameters = {ask: summary["config"]["judge_parameters"] for ask, summary in summaries.items()}
    assert parameters["review"]["ask"] == "review"
    assert "ask" not in parameters["pair"]


def test_without_the_option_llm_asks_in_pairs_as_ever(model, files, capsys):
    server = model(same_letter)
    assert _run(["comments", *files, "--judge", "llm", "-q", "--out", "run"]) == 0
    assert all("<<<REFERENCE" in e.body["messages"][1]["content"] for e in server.log)


def test_pairs_without_an_answer_are_undecided_and_the_same_command_asks_again(model, files, capsys):
    server = model(lambda e: chat("") if "slow" in e.listed[1] else same_letter(e))
    arguments = ["comments", *files, "--judge", "llm", "--ask", "review", "--out", "run", "--concurrency", "4"]
    assert _run(arguments) == 4
    assert "4 of 12 pairs stayed undecided" in capsys.readouterr().err
    pairs = [json.loads(line) for line in Path("run/pairs.jsonl").read_text().splitlines()]
    undecided = [pair for pair in pairs if pair["match"] is None]
    assert {pair["generated"] for pair in undecided} == {1}
    assert all("the answer is empty" in pair["reason"] for pair in undecided)
    asked = len(server.log)
    server.script = same_letter
    assert _run(arguments) == 0
    assert all(e.listed[1] == ["slow"] for e in server.log[asked:])  # of the lists, only what is missing


def test_a_dry_run_says_the_tokens_in_words_and_that_they_are_an_estimate(model, files, capsys):
    model(same_letter)
    assert _run(["comments", *files, "--judge", "llm", "--ask", "review", "--dry-run"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 model call, about 400 tokens of prompts (estimated)." in printed
    assert _run(["comments", *files, "--dry-run"]) == 0
    assert "token" not in capsys.readouterr().out


def test_a_dry_run_of_a_judge_that_asks_no_model_has_no_tokens(files, capsys):
    assert _run(["comments", *files, "--dry-run", "--json"]) == 0
    assert not {"prompt_characters", "prompt_tokens"} & json.loads(capsys.readouterr().out).keys()


def test_labels_spare_a_list_the_notes_that_they_decide(model, files, tmp_path, capsys):
    server = model(same_letter)
    labels = [{"a": reference, "b": "typo", "match": False} for reference in EXPECTED]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))
    arguments = ["comments", *files, "--judge", "llm", "--ask", "review", "--labels", "labels.jsonl", "--json", "-q"]
    assert _run([*arguments, "--dry-run"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert _run([*arguments, "--out", "run"]) == 0
    [exchange] = server.log
    assert sorted(exchange.listed[1]) == ["leak", "slow"]
    assert planned["prompt_characters"] == sum(len(message["content"]) for message in exchange.body["messages"])


def test_calibrate_asks_about_a_group_in_one_list(model, tmp_path, capsys):
    server = model(same_letter)
    labels = [
        {"a": reference, "b": note, "match": reference[0] == note[0], "group": group}
        for group in ("one", "other")
        for note in (f"leak {group}", "slow")
        for reference in EXPECTED
    ]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))
    assert _run(["calibrate", "labels.jsonl", "--judge", "llm", "--ask", "review", "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["kappa"], found["parameters"]["ask"]) == (8, 1.0, "review")
    assert len(server.log) == 2


def test_python_takes_the_same_option(model, files):
    server = model(same_letter)
    run = evaluate_comments(files[0], reference=files[2], judge="llm", ask="review")
    assert run.summary["judge"]["llm_calls"] == len(server.log) == 1
    assert run.summary["reviewers"]["bot"]["positive_match_nums"] == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ask", "review"], "The judge offline asks no chat model, so --ask means nothing to it. Leave it out"),
        (["--judge", "embedding", "--ask", "pair"], "The judge embedding asks no chat model"),
        (
            ["--judge", "llm", "--ask", "revue"],
            "--ask 'revue' is not known. Did you mean 'review'? Give pair or review.",
        ),
        (
            ["--judge", "cascade", "--ask", "pair"],
            "The judge cascade asks in lists only, so --ask pair means nothing to it. Leave --ask out, or choose"
            " --judge llm.",
        ),
        (["--judge", "llm", "--cascade-low", "0.1"], "--cascade-low is for the judge cascade, and the judge is llm."),
        (["--cascade-high", "0.9"], "--cascade-high is for the judge cascade, and the judge is offline."),
        (["--judge", "cascade", "--cascade-high", "1.5"], "--cascade-high must be from 0 to 1, found 1.5."),
        (["--judge", "cascade", "--cascade-low", "nan"], "--cascade-low must be from 0 to 1, found nan."),
        (["--judge", "cascade", "--cascade-low", "0.9", "--cascade-high", "0.1"], "nothing lies between. Swap them."),
        (["--judge", "cascade", "--cascade-high", "0.001"], "nothing lies between. Lower the one or raise the other."),
    ],
)
def test_an_option_that_means_nothing_to_the_judge_is_refused_with_the_fix(files, capsys, options, message):
    assert _run(["comments", *files, *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_stored_verdicts_and_judge_objects_take_no_such_option(files):
    with pytest.raises(UsageError, match="--cascade-low means nothing to them"):
        CommentsOptions(files[0], files[2], verdicts="v.jsonl", cascade_low=0.1)
    with pytest.raises(UsageError, match="on the judge object"):
        evaluate_comments(files[0], reference=files[2], judge=ExactJudge(), ask="pair")


def test_calibrate_of_a_run_asks_nobody_however(tmp_path, capsys):
    assert _run(["calibrate", "--run", str(tmp_path), "--ask", "review"]) == 2
    assert "--ask means nothing beside --run" in capsys.readouterr().err
