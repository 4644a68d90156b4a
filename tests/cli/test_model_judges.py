"""The judges that call a model, through the command line and real HTTP."""

import asyncio
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

import metareview as mr
from metareview.api import evaluate_comments
from metareview.cli import _run
from metareview.formats.comments import jsonl
from metareview.judges.remote import first_answer_timeout as timeout_module
from metareview.model.comment import Comment, Review
from model_server import MixingServer, ModelServer, ReplayModel, Reply, always, chat, error, verdict

MARTIAN = Path(__file__).resolve().parents[3] / "shared" / "data" / "martian"
KEY = "sk-very-secret"


@pytest.fixture
def model(monkeypatch, tmp_path):
    """Starts a server and points the environment and the cache at it."""
    running = []

    def start(script):
        server = ModelServer(script).__enter__()
        running.append(server)
        monkeypatch.setenv("LLM_MODEL_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "test-model")
        monkeypatch.setenv("LLM_API_KEY", KEY)
        return server

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    yield start
    for server in running:
        server.__exit__(None, None, None)


def files(folder, said=("leak", "slow", "typo"), expected=("leak", "slowness")):
    url = "https://github.com/o/r/pull/1"
    for name, notes in (("said", said), ("expected", expected)):
        comments = tuple(Comment(note=note, path="a.py", from_line=1, to_line=1) for note in notes)
        (folder / f"{name}.jsonl").write_text(jsonl.write([Review(url, comments, "bot")])[""])
    return [str(folder / "said.jsonl"), "--reference", str(folder / "expected.jsonl"), "--judge", "llm"]


def same_letter(exchange):
    candidate, reference = exchange.notes
    return verdict(candidate[0] == reference[0], 0.9, "first letters")


@pytest.mark.parametrize("judge", ["llm", "cascade"])
def test_a_server_that_only_hangs_ends_in_exit_4_and_one_message(model, monkeypatch, tmp_path, capsys, judge):
    server = model(lambda exchange: Reply(delay=30))
    monkeypatch.setenv("LLM_TIMEOUT", "0.05")
    monkeypatch.setattr("metareview.judges.remote.model.BACKOFF", 0.001)
    # Notes that the cascade is unsure of, and more than would be asked about before it stops.
    said = [f"The cache key {i} is stale" for i in range(9)]
    arguments = ["comments", *files(tmp_path, said, ["The cache key may be old", "A stale cache"])[:-1], judge]
    command = [*arguments, "--concurrency", "2", "--out", "run"]
    assert _run(command) == 4
    printed = capsys.readouterr()
    assert 8 <= len(server.log) <= 10
    assert printed.err.count("was asked no more") == 1
    assert "Check that it is running" in printed.err
    assert "stayed undecided" in printed.err
    server.script = always(False)
    assert _run(command) == 0  # as the message says: the same command, when the server answers again


def test_a_run_asks_once_and_the_next_not_at_all(model, tmp_path, capsys):
    server = model(same_letter)
    arguments = ["comments", *files(tmp_path), "--json", "-q"]
    assert _run([*arguments, "--dry-run"]) == 0
    assert json.loads(capsys.readouterr().out)["llm_calls"] == 6
    assert len(server.log) == 0
    assert _run([*arguments, "--out", "first"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["reviewers"]["bot"]["positive_match_nums"] == 2
    assert (first["judge"]["pairs"], first["judge"]["llm_calls"], first["judge"]["cached"]) == (6, 6, 0)
    assert first["config"]["judge_parameters"]["model"] == "test-model"
    assert _run([*arguments, "--dry-run"]) == 0
    assert json.loads(capsys.readouterr().out)["llm_calls"] == 0
    assert _run([*arguments, "--out", "second"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert (second["judge"]["llm_calls"], second["judge"]["cached"]) == (0, 6)
    assert second["reviewers"] == first["reviewers"]
    assert len(server.log) == 6
    assert _run([*arguments, "--out", "third", "--no-cache"]) == 0
    assert len(server.log) == 12
    assert sorted(path.name for path in Path("third").iterdir()) == [
        "manifest.json", "pairs.jsonl", "results.jsonl", "summary.json",
    ]  # fmt: skip
    assert KEY not in "".join(path.read_text() for path in Path().rglob("*.json*"))
    assert _run(["cache", "info", "--json"]) == 0
    captured = capsys.readouterr().out
    assert json.loads(captured[captured.index('{\n  "schema": "metareview.cache') :])["entries"] == 6
    assert _run(["cache", "clear"]) == 0
    assert "6 answers removed" in capsys.readouterr().err


def test_undecided_pairs_are_exit_4_with_bounds_and_retried(model, tmp_path, capsys):
    server = model(lambda e: error(422, "flagged by a filter") if e.notes[0] == "slow" else same_letter(e))
    arguments = ["comments", *files(tmp_path), "--json", "-q", "--out", "run", "--fail-under", "f1=0.99"]
    assert _run(arguments) == 4
    captured = capsys.readouterr()
    summary = json.loads(captured.out)
    block = summary["reviewers"]["bot"]
    assert (block["judge_error_nums"], block["positive_match_nums"]) == (2, 1)
    assert block["bounds"]["positive_recall_rate"] == [0.5, 1.0]
    assert "2 of 6 pairs stayed undecided" in captured.err
    asked = len(server.log)
    server.script = same_letter
    assert _run(arguments) == 3  # decided now, but 2 of 3 and 2 of 2 is an F1 of 0.8
    assert len(server.log) == asked + 2
    assert json.loads(capsys.readouterr().out)["reviewers"]["bot"]["positive_match_nums"] == 2


def test_answers_that_a_server_swaps_count_for_nothing(monkeypatch, tmp_path, capsys):
    def echoing(exchange):
        found = same_letter(exchange).body["choices"][0]["message"]["content"]
        return chat(json.dumps({"request": exchange.code, **json.loads(found)}))

    monkeypatch.setattr("metareview.judges.remote.model.BACKOFF", 0.001)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LLM_MODEL", "test-model")
    command = ["comments", *files(tmp_path, ["leak", "typo"], ["leak"]), "--no-cache", "--out", "run", "--json", "-q"]
    with MixingServer(echoing, swaps=100) as server:
        monkeypatch.setenv("LLM_MODEL_URL", server.url)
        assert _run([*command, "--concurrency", "2"]) == 4
        assert json.loads(capsys.readouterr().out)["reviewers"]["bot"]["judge_error_nums"] == 2
        server.swaps = 0
        assert _run([*command, "--concurrency", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["reviewers"]["bot"]["positive_match_nums"] == 1


def test_a_cap_on_calls_leaves_the_rest_undecided(model, tmp_path, capsys):
    server = model(same_letter)
    arguments = ["comments", *files(tmp_path), "--max-llm-calls", "4", "-q", "--out", "run"]
    assert _run(arguments) == 4
    assert len(server.log) == 4
    pairs = [json.loads(line) for line in Path("run/pairs.jsonl").read_text().splitlines()]
    assert [p["match"] for p in pairs].count(None) == 2
    assert any("limit of 4 model calls" in p["reason"] for p in pairs)


def test_a_continued_run_accounts_for_every_pair(model, tmp_path, capsys):
    """What the first command had answered is neither asked again nor missing from the second's figures."""
    server = model(same_letter)
    said, expected = tmp_path / "said.jsonl", tmp_path / "expected.jsonl"
    for file, note in ((said, "leak"), (expected, "loss")):
        reviews = [
            Review(f"https://github.com/o/r/pull/{n}", (Comment(note=f"{note} {n}", path="a.py"),), "bot")
            for n in range(5)
        ]
        file.write_text(jsonl.write(reviews)[""])
    arguments = ["comments", str(said), "--reference", str(expected), "--judge", "llm", "--json", "-q"]
    arguments += ["--out", "run", "--no-cache"]
    assert _run([*arguments, "--max-llm-calls", "2"]) == 4
    first = json.loads(capsys.readouterr().out)["judge"]
    assert (first["pairs"], first["llm_calls"], first["cached"], first["errors"]) == (5, 2, 0, 3)
    assert _run(arguments) == 0
    judge = json.loads(capsys.readouterr().out)["judge"]
    assert (judge["pairs"], judge["llm_calls"], judge["cached"], judge["errors"]) == (5, 3, 2, 0)
    assert len(server.log) == 5


def test_without_settings_the_fix_is_in_the_message(monkeypatch, tmp_path, capsys):
    for name in ("LLM_MODEL_URL", "LLM_MODEL", "LLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    assert _run(["comments", *files(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "LLM_MODEL_URL" in message
    assert message.count("\n") == 1
    assert "\N{REPLACEMENT CHARACTER}" not in message
    assert ".env" in message
    assert not Path("runs").exists()
    with pytest.raises(mr.UsageError, match="LLM_MODEL_URL"):
        asyncio.run(mr.get_evaluator_ans_from_json("https://github.com/o/r/pull/1", [], []))


def test_the_environments_key_does_not_go_where_a_file_above_says(model, monkeypatch, tmp_path, capsys):
    server = model(same_letter)
    arguments = ["comments", *files(tmp_path), "-q", "--no-cache"]
    (tmp_path / ".env").write_text(f"LLM_MODEL_URL={server.url}\n")
    (tmp_path / ".env").chmod(0o600)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.delenv("LLM_MODEL_URL")
    assert _run(arguments) == 2
    message = capsys.readouterr().err
    assert f"LLM_MODEL_URL is that of {tmp_path / '.env'}, and LLM_API_KEY that of the environment" in message
    assert KEY not in message
    assert server.log == []
    monkeypatch.delenv("LLM_API_KEY")
    assert _run(arguments) == 0
    assert server.log
    assert not any("authorization" in exchange.headers for exchange in server.log)


def test_a_wrong_key_is_one_message_without_the_key(model, tmp_path, capsys):
    model(lambda e: error(401, f"bad key {KEY}"))
    assert _run(["comments", *files(tmp_path), "-q"]) == 2
    message = capsys.readouterr().err
    assert "LLM_API_KEY" in message
    assert KEY not in message


def test_the_runners_default_asks_a_model(model):
    server = model(same_letter)
    result = asyncio.run(
        mr.get_evaluator_ans_from_json(
            "https://github.com/o/r/pull/1",
            [{"note": "leak", "path": "a.py", "from_line": 1}],
            [{"note": "lost handle", "path": "a.py", "from_line": 2}],
        )
    )
    assert result["positive_match_nums"] == 1
    assert result["llm_comparisons"][0]["by"] == "model"
    assert len(server.log) == 1


OPEN_FILES = Path("/proc/self/fd")


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="no list of a process's open files here")
@pytest.mark.parametrize("matcher", ["llm", "cascade"])
def test_scoring_pull_requests_one_by_one_leaves_no_file_open(model, matcher, tmp_path):
    server = model(always(True))
    config = mr.EvaluatorConfig(semantic_matcher_type=matcher)
    for number in range(8):
        comments = [{"path": "a.py", "from_line": 1, "note": f"The loop bound {number} reads one too far"}]
        good = [{"path": "a.py", "from_line": 1, "note": f"Off by one at {number}: loop runs past the end"}]
        url = f"https://github.com/o/r/pull/{number}"
        result = asyncio.run(mr.get_evaluator_ans_from_json(url, comments, good, config))
        assert result["judge_error_nums"] == 0
        left = [str(file.readlink()) for file in OPEN_FILES.iterdir() if file.is_symlink()]
        assert not [name for name in left if name.startswith(str(tmp_path))]
    assert len(server.log) == 8


@pytest.mark.skipif(not MARTIAN.exists(), reason="the Code Review Bench data is not beside this checkout")
def test_a_real_models_verdicts_give_its_own_table(model, tmp_path):
    """Replayed over HTTP: coverage covers exactly the file's true positives, one-to-one its matched candidates."""
    model(ReplayModel(MARTIAN / "evaluations.json"))
    evaluations = json.loads((MARTIAN / "evaluations.json").read_text("utf-8"))
    hits = Counter()
    candidates = Counter()
    for tools in evaluations.values():
        for tool, result in tools.items():
            hits[tool] += len(result["true_positives"])
            candidates[tool] += len({hit["matched_candidate"] for hit in result["true_positives"]})
    golden = sorted(MARTIAN.glob("golden_*.json"))
    for alignment, expected, count in (
        ("coverage", hits, "positive_covered_nums"),
        ("optimal", candidates, "positive_match_nums"),
    ):
        run = evaluate_comments(MARTIAN / "candidates.json", reference=golden, judge="llm", alignment=alignment)
        assert {name: b[count] for name, b in run.summary["reviewers"].items()} == dict(expected)
        assert run.summary["judge"]["errors"] == 0
    assert run.summary["judge"]["llm_calls"] == 0  # all of it was in the cache by then


def test_repeated_runs_ask_about_equal_notes_once(model, tmp_path, capsys):
    server = model(same_letter)
    arguments = ["comments", *files(tmp_path), "--json", "-q"]
    [review] = (tmp_path / "said.jsonl").read_text().splitlines()
    runs = [json.loads(review) | {"run": f"run-{number}"} for number in (1, 2, 3)]
    runs[2]["comments"][2]["note"] = "other"  # and in two runs typo
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(each) + "\n" for each in runs))
    assert _run([*arguments, "--repeat", "--dry-run"]) == 0
    assert json.loads(capsys.readouterr().out)["llm_calls"] == 4 * 2
    assert _run([*arguments, "--repeat", "--out", "run"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert len(server.log) == summary["judge"]["llm_calls"] == 8
    assert summary["judge"]["pairs"] == 18
    assert summary["reviewers"]["bot"]["positive_match_nums"] == 2


@pytest.mark.parametrize("asked", [["--judge", "llm"], ["--judge", "llm", "--ask", "review"], ["--judge", "embedding"]])
def test_without_a_cache_only_what_is_undecided_is_asked_again(model, monkeypatch, tmp_path, asked):
    """Of one pull request, one of whose pairs stays undecided again and again."""
    texts = []

    def script(exchange):
        if "input" in exchange.body:
            texts.append(exchange.body["input"])
            if "slow" in exchange.body["input"]:
                return error(422, "flagged by a filter")
            return Reply(body={"data": [{"embedding": [1.0, len(text)]} for text in exchange.body["input"]]})
        texts.append(exchange.body["messages"][-1]["content"])
        return error(422, "flagged by a filter") if "slow" in texts[-1] else always(False)(exchange)

    server = model(script)
    for name in ("URL", ""):
        setting = f"MODEL_{name}".rstrip("_")
        monkeypatch.setenv(f"EMBEDDING_{setting}", server.url if name else "m")
    arguments = ["comments", *files(tmp_path, ("leak", "slow", "typo"), ("loss", "drip"))[:-2], *asked, "-q"]
    arguments += ["--no-cache", "--out", "run"]
    assert _run(arguments) == 4
    for _ in range(2):
        del texts[:]
        assert _run(arguments) == 4
        assert texts
        assert all("slow" in text for text in texts)
    server.script = lambda exchange: (
        Reply(body={"data": [{"embedding": [1.0, 1.0]} for _ in exchange.body["input"]]})
        if "input" in exchange.body
        else always(False)(exchange)
    )
    assert _run(arguments) == 0
    asked_before = len(server.log)
    assert not list(Path("run").glob("verdicts*"))  # nothing is undecided: they have done their duty
    assert _run(arguments) == 0
    assert len(server.log) == asked_before
    assert _run([*arguments, "--overwrite"]) == 0  # another run, with nothing to know of
    assert len(server.log) > asked_before


@pytest.mark.parametrize("asked", [["llm"], ["llm", "--ask", "review"], ["cascade"]])
def test_a_model_that_cannot_do_it_is_soon_found_out(model, monkeypatch, tmp_path, capsys, asked):
    server = model(lambda exchange: chat("As a language model I like both of them."))
    monkeypatch.setattr("metareview.judges.remote.model.BACKOFF", 0.001)
    said = [f"The cache key {i} is stale" for i in range(20)]
    expected = ["The cache key may be old", "A stale cache", "Keys of the cache"]
    command = ["comments", *files(tmp_path, said, expected)[:-1], *asked, "--concurrency", "4", "--out", "run"]
    assert _run(command) == 4
    printed = capsys.readouterr().err
    assert len(server.log) < 24 + 4
    assert printed.count("was asked no more") == 1
    assert '"As a language model I like both of them."' in printed
    assert "stayed undecided" in printed
    server.script = always(False)
    assert _run(command) == 0


def test_the_cap_on_calls_is_one_on_requests(model, monkeypatch, tmp_path, capsys):
    seen = set()

    def script(exchange):
        first = exchange.notes not in seen
        seen.add(exchange.notes)
        return error(500) if first else same_letter(exchange)

    server = model(script)
    monkeypatch.setattr("metareview.judges.remote.model.BACKOFF", 0.001)
    arguments = ["comments", *files(tmp_path), "--max-llm-calls", "5", "--concurrency", "1", "--out", "run"]
    assert _run(arguments) == 4
    assert len(server.log) == 5
    assert "the limit of 5 model calls was reached: 5 requests for " in capsys.readouterr().err


@pytest.mark.parametrize("cache", ["folder", "text", "full", "below a file"])
@pytest.mark.parametrize("ask", ["pair", "review"])
def test_a_cache_that_cannot_be_used_costs_nothing(model, tmp_path, capsys, cache, ask):
    server = model(always(True))
    Path("folder").mkdir()
    Path("text").write_text("no database, but a text\n" * 100)
    place = {"full": "/dev/full", "below a file": "text/v.sqlite"}.get(cache, cache)
    assert _run(["comments", *files(tmp_path), "--ask", ask, "--cache", place, "--out", "run"]) == 2
    message = capsys.readouterr().err
    assert "--cache FILE" in message
    assert "Traceback" not in message
    assert server.log == []


@pytest.mark.parametrize("terminal", [False, True])
def test_a_line_says_that_a_silent_server_is_waited_for(model, monkeypatch, tmp_path, capsys, terminal):
    def script(exchange):
        reply = same_letter(exchange)
        reply.delay = 0 if exchange.number == 0 else 1.5
        return reply

    model(script)
    monkeypatch.setattr(timeout_module, "_LINE_EVERY", 0.4)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", "200")
    assert _run(["comments", *files(tmp_path), "--concurrency", "3", "--out", "run"]) == 0
    said = re.findall(r"still waiting for the model: [012] s, (\d) requests? open", capsys.readouterr().err)
    assert len(said) >= 2
    assert "3" in said
    assert _run(["comments", *files(tmp_path), "--out", "again", "--no-cache", "-q"]) == 0
    assert "waiting" not in capsys.readouterr().err
