"""`metareview comments` with a model on one's own machine, through the command line and real HTTP."""

import json
from collections import Counter
from pathlib import Path

import pytest

from local_server import MODEL, LocalServer
from metareview.formats.comments import jsonl
from metareview.model.comment import Comment, Review

SAID = [f"The cache key {i} is stale" for i in range(9)]
EXPECTED = ["The cache key may be old", "A stale cache", "The lock is never released"]
"""The offline judge is unsure of the first two."""
SAME = {("The cache key 3 is stale", "The cache key may be old"), ("The cache key 0 is stale", "A stale cache")}
LONG = "The cache key 3 is stale: " + "it holds the old name of the tenant, " * 700


@pytest.fixture
def serve(monkeypatch, here):
    """Starts a server, and sets the environment as docs/local-models.md says."""
    running = []

    def start(**habits):
        server = LocalServer(lambda *pair: pair in SAME, **habits).__enter__()
        running.append(server)
        monkeypatch.setenv("LLM_MODEL_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", MODEL)
        return server

    monkeypatch.delenv("LLM_API_KEY", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    monkeypatch.setattr("metareview.judges.remote.model.BACKOFF", 0.001)
    yield start
    for server in running:
        server.__exit__(None, None, None)


def comments(judge, said=SAID, expected=EXPECTED):
    url = "https://github.com/o/r/pull/1"
    for name, notes in (("said", said), ("expected", expected)):
        made = tuple(Comment(note=note, path="a.py", from_line=1, to_line=1) for note in notes)
        Path(f"{name}.jsonl").write_text(jsonl.write([Review(url, made, "bot")])[""])
    return ["comments", "said.jsonl", "--reference", "expected.jsonl", "--judge", judge]


def besides_settings(err):
    """What else is said than which model is asked."""
    first, *others = err.splitlines()
    assert first.startswith(f"Model: {MODEL} at http://127.0.0.1")
    return others


@pytest.mark.parametrize("style", ["fenced", "thinking", "thinking, its start swallowed"])
@pytest.mark.parametrize("judge", ["llm", "cascade"])
def test_a_server_with_every_bad_habit_gives_the_figures_of_one_without(serve, run, monkeypatch, judge, style):
    command = [*comments(judge), "--json", "--no-cache"]
    serve()
    code, out, err = run(*command, "--out", "good")
    good = json.loads(out)
    assert (code, besides_settings(err)) == (0, [])
    assert good["reviewers"]["bot"]["positive_match_nums"] == 2
    monkeypatch.setenv("LLM_TIMEOUT", "2")  # 20 s for the first answer, 0.5 s until that is said
    bad = serve(load=0.9, slots=1, seconds=0.02, schema="ignored", style=style, usage=False)
    code, out, err = run(*command, "--out", "bad")
    summary = json.loads(out)
    assert code == 0
    assert besides_settings(err) == ["waiting for the model server's first answer; it may be loading the model"]
    assert summary["reviewers"] == good["reviewers"]
    assert summary["judge"]["errors"] == 0
    assert summary["judge"]["llm_calls"] == good["judge"]["llm_calls"] > 0
    assert set(bad.answered.values()) == {1}
    assert len(bad.answered) == summary["judge"]["llm_calls"]


@pytest.mark.parametrize("habits", [{"overflow": "400"}, {"overflow": "cut"}, {"overflow": "half"}])
def test_a_context_that_is_too_small_is_exit_4_with_the_fix_and_the_same_command_goes_on(serve, run, habits):
    server = serve(context=4096, **habits)
    command = [*comments("llm", [*SAID, LONG]), "--out", "run", "--json"]
    code, out, err = run(*command)
    assert code == 4
    assert "Warning: 3 requests did not fit into the context of the model" in err
    assert "OLLAMA_CONTEXT_LENGTH" in err
    assert "3 of 30 pairs stayed undecided" in err
    pairs = [json.loads(line) for line in Path("run/pairs.jsonl").read_text().splitlines()]
    assert Counter(pair["match"] for pair in pairs) == {None: 3, 0: 25, 1: 2}
    asked = len(server.log)
    server.habits.context = 16_384
    code, out, err = run(*command)
    assert (code, besides_settings(err)) == (0, [])
    assert len(server.log) == asked + 3
    assert json.loads(out)["reviewers"]["bot"]["positive_match_nums"] == 2


def test_answers_that_are_cut_are_exit_4_with_the_fix(serve, run):
    serve(schema="ignored", style="thinking", predict=40)
    code, _, err = run(*comments("llm", SAID[:2]), "--out", "run", "-q")
    assert code == 4
    assert "6 of 6 pairs stayed undecided" in err
    code, _, err = run(*comments("llm", SAID[:2]), "--out", "other")
    assert "the model server cut 18 answers at its limit on tokens, and none was used. Raise it (num_predict" in err


def test_a_model_that_is_not_there(serve, run, monkeypatch):
    serve()
    monkeypatch.setenv("LLM_MODEL", "absent:7b")
    code, _, err = run(*comments("llm"), "--out", "run")
    assert code == 2
    assert "It does not have absent:7b. Fetch it: ollama pull absent:7b" in err


@pytest.mark.parametrize("seconds", ["soon", "0", "-1", "nan", "inf", "1e9"])
def test_a_time_out_that_is_none(serve, run, monkeypatch, seconds):
    server = serve()
    monkeypatch.setenv("LLM_TIMEOUT", seconds)
    code, _, err = run(*comments("llm"), "--out", "run")
    assert code == 2
    assert "LLM_TIMEOUT is no number of seconds from above 0 to 86,400. Set it to how long one request may take" in err
    assert server.log == []
