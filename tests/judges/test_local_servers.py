"""The llm judge against servers as people run them on their own machine."""

import json
import socket
import threading
from collections import Counter

import pytest

from local_server import MODEL, STYLES, LocalServer
from metareview.errors import UsageError
from metareview.judges.remote.llm import LlmJudge
from metareview.judges.remote.local import how_to_start
from metareview.judges.remote.settings import ModelSettings
from model_server import ModelServer, Reply, chat

PAIRS = [(f"leak {i}", f"{'leak' if i % 3 else 'race'} {i}") for i in range(24)]
EXPECTED = [int(i % 3 > 0) for i in range(24)]
LONG = ("leak of a word " * 1500, "race")  # 6,000 tokens


def decided(verdicts):
    assert [verdict.reason for verdict in verdicts if verdict.match == -1] == []
    return [verdict.match for verdict in verdicts]


class Screen:
    """Takes what a terminal would show."""

    def __init__(self):
        self.lines = []

    def __call__(self, done, total):
        pass

    def note(self, line):
        self.lines.append(line)


def test_the_first_answer_may_take_longer_than_a_request_has(judging):
    screen = Screen()
    with LocalServer(load=0.9) as server:
        judge = judging(server, timeout=0.3, progress=screen)
        assert decided(judge.ask(PAIRS)) == EXPECTED
        assert server.left == 0
        assert len(server.log) == len(PAIRS)  # nothing was sent twice
        server.habits.seconds = 5
        more = judge.ask([("leak", "leak")])
    assert [verdict.reason for verdict in more] == ["undecided after 8 attempts: no answer within 0.3 s"]
    assert screen.lines == ["waiting for the model server's first answer; it may be loading the model"]
    assert judge.warnings == []


def test_a_server_that_is_quick_is_not_said_to_be_loading(judging):
    screen = Screen()
    with LocalServer() as server:
        judging(server, progress=screen).ask(PAIRS)
    assert screen.lines == []


def test_a_server_that_says_that_it_is_loading_is_waited_for(judging):
    with LocalServer(load=0.6, loading="503") as server:
        judge = judging(server, concurrency=2, backoff=0.01)
        assert decided(judge.ask(PAIRS)) == EXPECTED
        told = [exchange for exchange in server.log if exchange.reply.status == 503]
    assert 8 < len(told) < 60  # more often than a job is attempted, but not once for each of them at every turn
    assert judge.usage.llm_calls == len(PAIRS)


def test_a_server_that_never_gets_ready_is_given_up(judging):
    with LocalServer(load=1000, loading="503") as server:
        verdicts = judging(server, timeout=0.05, backoff=0.001).ask(PAIRS[:3])
    assert {verdict.reason for verdict in verdicts} == {
        "undecided after 8 attempts: HTTP 503, unavailable_error: it is loading its model"
    }


def test_requests_that_queue_up_in_the_server_are_all_answered(judging, cache):
    """One at a time, four of them in the time of a request, sixteen at once."""
    with LocalServer(slots=1, seconds=0.08) as server:
        judge = judging(server, cache=cache, timeout=0.32)
        assert decided(judge.ask(PAIRS)) == EXPECTED
        assert set(server.answered) == set(PAIRS)
        assert len(server.log) < 2 * len(PAIRS)
    assert cache.info().entries == len(PAIRS)
    assert judge.warnings == []


@pytest.mark.parametrize("style", STYLES)
def test_a_schema_that_is_ignored(judging, style):
    with LocalServer(schema="ignored", style=style, usage=False) as server:
        judge = judging(server)
        assert decided(judge.ask(PAIRS)) == EXPECTED
    assert len(server.log) == len(PAIRS)
    assert judge.usage.prompt_tokens == 0


def test_words_beside_the_object_leave_a_pair_undecided(judging, cache):
    with LocalServer(schema="ignored", style="chatty") as server:
        judge = judging(server, cache=cache)
        verdicts = judge.ask(PAIRS[:2])
    assert [verdict.match for verdict in verdicts] == [-1, -1]
    assert "the answer is not the JSON asked for and nothing else" in verdicts[0].reason
    assert len(server.log) == 2 * 8
    assert cache.info().entries == 0


@pytest.mark.parametrize("schema", ["refused", "unsupported", "crash", "hang"])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_schema_that_the_server_cannot_bear(judging, schema, concurrency):
    pairs = [(f"leak {i}", "leak") for i in range(48)]
    with LocalServer(schema=schema, style="fenced") as server:
        judge = judging(server, concurrency=concurrency, timeout=0.3 if schema == "hang" else 30)
        assert decided(judge.ask(pairs)) == [1] * 48
        assert set(server.answered) == set(pairs)
        with_it = sum("response_format" in exchange.body for exchange in server.log)
    assert with_it < 48  # after the first few, none has it
    assert judge.warnings == ["the model server refuses response_format; it was asked without"]


def test_a_server_that_fails_for_a_while_keeps_its_schema(judging):
    failures = Counter()

    def script(exchange):
        failures[exchange.notes] += 1
        if exchange.notes == PAIRS[0] and failures[exchange.notes] <= 2:
            return Reply(500, "oops")
        return chat('{"match": true, "confidence": 1, "reason": ""}')

    with ModelServer(script) as server:
        judge = judging(server, concurrency=1)
        assert decided(judge.ask([PAIRS[0]])) == [1]
        assert decided(judge.ask(PAIRS[1:4])) == [1, 1, 1]
    sent = ["response_format" in exchange.body for exchange in server.log]
    assert sent == [True, True, False, True, True, True]
    assert judge.warnings == []


@pytest.mark.parametrize("status", ["400", "500"])
def test_a_question_that_is_too_long_is_undecided_at_once_with_the_fix(judging, cache, status):
    with LocalServer(context=4096, overflow=status) as server:
        judge = judging(server, cache=cache)
        *verdicts, long = judge.ask([*PAIRS, LONG])
        assert decided(verdicts) == EXPECTED
        assert long.match == -1
        assert long.reason.startswith(f"the question is too long for the model's context (HTTP {status}: 6,")
        assert ", where 4,096 fit). Give it a larger one: for Ollama OLLAMA_CONTEXT_LENGTH" in long.reason
        assert len(server.log) == len(PAIRS) + 1
        assert cache.info().entries == len(PAIRS)
        [warning] = judge.warnings
        assert warning.startswith("1 request did not fit into the context of the model at http://127.0.0.1")
        assert "--ctx-size" in warning
        server.habits.context = 8192
        assert decided(judging(server, cache=cache).ask([LONG])) == [0]


def test_questions_that_are_all_too_long_do_not_make_the_settings_wrong(judging):
    with LocalServer(context=100) as server:
        verdicts = judging(server, concurrency=2).ask(PAIRS)
    assert {verdict.match for verdict in verdicts} == {-1}
    assert len(server.log) == len(PAIRS)


@pytest.mark.parametrize(("overflow", "read"), [("cut", "4,096"), ("half", "2,050")])
def test_an_answer_to_a_question_that_was_cut_does_not_count(judging, cache, overflow, read):
    with LocalServer(context=4096, overflow=overflow) as server:
        judge = judging(server, cache=cache)
        *verdicts, long = judge.ask([*PAIRS, LONG])
        assert decided(verdicts) == EXPECTED
        assert server.log[-1].reply.status == 200
        assert long.match == -1  # the server said yes, of what it had read
        assert long.reason.startswith(f"the server cut the question: it read {read} tokens of 6,")
        assert len(server.log) == len(PAIRS) + 1
        assert cache.info().entries == len(PAIRS)
        assert "OLLAMA_CONTEXT_LENGTH" in judge.warnings[0]


def test_a_context_that_is_full_to_the_brim_tells_that_little_was_cut(judging):
    note = "a leak of it, " * 550  # 2,200 words and 550 commas: with the instructions, a quarter more than 2,048
    with LocalServer(context=3072, overflow="cut") as server:
        [full] = judging(server).ask([(note, "race")])
        server.habits.context = 10**6
        [whole] = judging(server).ask([(note, "race")])
    assert (full.match, whole.match) == (-1, 0)


def test_a_server_that_counts_only_what_it_had_not_read_before_is_believed(judging):
    with ModelServer(lambda e: chat('{"match": true, "confidence": 1, "reason": ""}')) as server:  # "100 tokens"
        assert decided(judging(server).ask([LONG])) == [1]


@pytest.mark.parametrize("style", ["plain", "thinking"])
def test_an_answer_that_is_cut_says_so(judging, style):
    with LocalServer(schema="ignored", style=style, predict=30) as server:
        judge = judging(server)
        verdicts = judge.ask(PAIRS[:2])
    reason = "undecided after 3 attempts: the answer was cut at the server's limit on tokens (finish_reason length)"
    assert [verdict.reason for verdict in verdicts] == [reason] * 2
    assert len(server.log) == 6
    [warning] = judge.warnings
    assert warning.startswith("the model server cut 6 answers at its limit on tokens")
    assert "num_predict" in warning


def cut(content):
    return Reply(200, {"choices": [{"message": {"content": content}, "finish_reason": "length"}]})


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ('{"match": true, "confidence": 0.9, "reason": "r"}', 1),
        ('{"match": true, "confidence": 0.9, "reason": "r"}' + " \n" * 40, 1),
        ('{"match": true, "confidence": 0.9, "reason": "r"} On second thoughts', -1),
        ("Yes", -1),  # the beginning of what?
        ("", -1),
        (None, -1),
    ],
)
def test_what_counts_of_an_answer_that_ended_at_a_limit(judging, content, match):
    with ModelServer(lambda exchange: cut(content)) as server:
        assert [verdict.match for verdict in judging(server).ask(PAIRS[:1])] == [match]


def test_a_model_that_is_not_there_is_named_with_the_command_that_fetches_it():
    with LocalServer() as server:
        judge = LlmJudge(server.settings(model="absent:7b"))
        with pytest.raises(UsageError, match=r"It does not have absent:7b\. Fetch it: ollama pull absent:7b"):
            judge.ask(PAIRS)
        judge.close()


@pytest.mark.parametrize(
    ("body", "path", "fix"),
    [
        ({"error": {"message": "The model `m` was not found"}}, "/v1", "Set LLM_MODEL to a model that it has"),
        ("404 page not found", "", r"Set LLM_MODEL_URL to http://127\.0\.0\.1:\d+/v1\."),
        ("404 page not found", "/v1", r"Check LLM_MODEL_URL \(most end in /v1\)"),
    ],
)
def test_what_is_missing_where_a_server_has_no_such_thing(body, path, fix):
    with ModelServer(lambda exchange: Reply(404, body)) as server:
        judge = LlmJudge(ModelSettings(server.url.removesuffix("/v1") + path, "m"))
        with pytest.raises(UsageError, match=fix):
            judge.ask(PAIRS[:1])
        judge.close()


@pytest.mark.parametrize(
    ("url", "command"),
    [
        ("http://localhost:11434/v1", "To start Ollama: ollama serve."),
        ("http://127.0.0.1:8080/v1", "To start llama.cpp: llama-server -m MODEL.gguf --port 8080."),
        ("http://localhost:1234/v1", ""),
        ("http://gpu.example:11434/v1", ""),
        ("https://h.example/v1", ""),
    ],
)
def test_how_a_local_server_is_started(url, command):
    assert how_to_start(ModelSettings(url, MODEL)) == command


def test_a_server_that_is_not_running_is_named_with_the_command_that_starts_it(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr("metareview.judges.remote.local._OLLAMA_PORT", port)
    judge = LlmJudge(ModelSettings(f"http://127.0.0.1:{port}/v1", MODEL), backoff=0.01)
    with pytest.raises(UsageError, match=r"and that the server is running\. To start Ollama: ollama serve\.$"):
        judge.ask(PAIRS)
    judge.close()


def test_a_request_that_hangs_from_the_start_is_not_waited_for_once_others_are_served(judging):
    """Its server has answered everything else, and nothing more for the time of a request."""
    first = threading.Event()

    def script(exchange):
        if exchange.notes == PAIRS[0] and not first.is_set():
            first.set()
            return Reply(delay=30)
        return chat(json.dumps({"match": True, "confidence": 1, "reason": ""}))

    with ModelServer(script) as server:
        judge = judging(server, timeout=1.0)
        assert decided(judge.ask(PAIRS)) == [1] * len(PAIRS)
        assert len(server.log) == len(PAIRS) + 1
