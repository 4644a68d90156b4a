"""The llm judge against a server that behaves: what is sent, what comes back, what is not sent again."""

import asyncio
import math
import threading

import numpy as np
import pytest

from metareview.errors import UsageError
from metareview.judges.protocol import Judge, ModelJudge
from metareview.judges.remote.cache import CacheCount
from metareview.judges.remote.llm import PairPrompt
from model_server import KEY, ModelServer, chat, error, verdict
from remote_judges import question, same_number

PAIRS = [(f"generated {i}", f"reference {i}") for i in range(40)]


def test_verdicts_come_back_in_the_order_of_the_questions(judging):
    questions = [
        question(["g 1", "g 2"], ["r 2", "r 1"]),
        question([], ["r 1"]),
        question(["g 1", "g 1"], ["r 1"]),  # equal notes: two pairs, and known from the first question
    ]
    with ModelServer(same_number) as server:
        judge = judging(server)
        first, none, last = judge.judge(questions)
    assert isinstance(judge, Judge)
    assert isinstance(judge, ModelJudge)
    assert first.match.tolist() == [0, 1, 1, 0]
    assert first.score.tolist() == pytest.approx([0.2, 0.8, 0.8, 0.2])
    assert (none.match.tolist(), none.score.tolist()) == ([], [])
    assert last.match.tolist() == [1, 1]
    assert (first.match.dtype, first.score.dtype) == (np.int8, np.float64)
    assert list(first.by) == ["model"] * 4
    assert list(first.reason) == ["because"] * 4
    assert sorted(server.served().values()) == [1, 1, 1, 1]
    usage = judge.usage
    assert (usage.llm_calls, usage.requests, usage.cached) == (4, 4, 0)
    assert (usage.prompt_tokens, usage.completion_tokens) == (400, 40)


def test_the_request_is_what_the_interface_promises(judging):
    with ModelServer(same_number) as server:
        judging(server).ask([("the generated note", "the reference")])
    [exchange] = server.log
    assert exchange.path == "/v1/chat/completions"
    assert exchange.headers["authorization"] == f"Bearer {KEY}"
    assert exchange.body["model"] == "test-model"
    assert exchange.body["temperature"] == 0
    schema = exchange.body["response_format"]["json_schema"]
    assert exchange.body["response_format"]["type"] == "json_schema"
    assert schema["strict"] is True
    assert schema["schema"]["required"] == ["request", "match", "confidence", "reason"]
    assert schema["schema"]["additionalProperties"] is False
    assert exchange.notes == ("the generated note", "the reference")


def test_without_a_key_no_key_is_sent(judging):
    with ModelServer(same_number) as server:
        judging(server, key="").ask(PAIRS[:1])
    assert "authorization" not in server.log[0].headers


def test_what_the_cache_knows_is_not_asked(judging, cache):
    with ModelServer(same_number) as server:
        first = judging(server, cache=cache).ask(PAIRS[:10])
        judge = judging(server, cache=cache)
        assert judge.uncached([*PAIRS[:12], PAIRS[11]]) == 2
        again = judge.ask([*PAIRS[:12], PAIRS[0]])
    assert [v.by for v in again] == ["cache"] * 10 + ["model"] * 2 + ["cache"]
    assert [(v.match, v.score, v.reason) for v in again[:10]] == [(v.match, v.score, v.reason) for v in first]
    assert len(server.log) == 12
    assert (judge.usage.cached, judge.usage.llm_calls) == (11, 2)
    assert cache.info().by == (CacheCount("llm", "test-model", 12, server.url),)


def test_a_cached_value_that_is_no_verdict_is_asked_anew(judging, cache):
    with ModelServer(same_number) as server:
        judge = judging(server, cache=cache)
        judge.ask(PAIRS[:1])
        cache.put(judge.key(PairPrompt(), PAIRS[0]), {"match": "yes"}, judge="llm", model="test-model")
        assert judging(server, cache=cache).ask(PAIRS[:1])[0].by == "model"
        assert judging(server, cache=cache).ask(PAIRS[:1])[0].by == "cache"


def test_it_works_inside_a_running_event_loop(judging):
    async def main(server):
        judge = judging(server)
        direct = judge.ask(PAIRS[:2])
        other = await asyncio.to_thread(judge.ask, PAIRS[2:4])
        return [v.match for v in direct + other]

    with ModelServer(same_number) as server:
        assert asyncio.run(main(server)) == [1, 1, 1, 1]


def test_progress_is_told_in_the_callers_thread_and_ends_at_the_total(judging):
    told = []

    def progress(done, total):
        told.append((done, total, threading.current_thread()))

    with ModelServer(same_number, latency=0.03) as server:
        judging(server, progress=progress, concurrency=4).ask(PAIRS)
    assert told[-1] == (40, 40, threading.current_thread())
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})
    assert {(total, thread) for _, total, thread in told} == {(40, threading.current_thread())}


@pytest.mark.parametrize("status", [400, 422, 501])
@pytest.mark.parametrize("message", ["Unknown field 'response_format'.", "json_schema is not available", "bad request"])
@pytest.mark.parametrize("ask", ["pair", "review"])
def test_a_server_that_refuses_response_format_is_asked_without(judging, status, message, ask):
    def script(exchange):
        if "response_format" in exchange.body:
            return error(status, message)
        answer = same_number(exchange).body["choices"][0]["message"]["content"]
        return chat(f"<think>yes?</think>\n```json\n{answer}\n```")

    questions = [question([f"g {i}"], ["r 1"]) for i in range(4)]
    with ModelServer(script) as server:
        judge = judging(server, concurrency=1, ask=ask)
        assert judge.warnings == []
        assert [answer.match.tolist() for answer in judge.judge(questions)] == [[0], [1], [0], [0]]
    assert ["response_format" in e.body for e in server.log] == [True, False, False, False, False]
    assert judge.warnings == ["the model server refuses response_format; it was asked without"]
    assert (judge.usage.llm_calls, judge.usage.requests) == (4, 5)


def test_a_model_that_takes_no_temperature_is_asked_without(judging):
    def script(exchange):
        if "temperature" in exchange.body:
            return error(400, "Unsupported value: 'temperature' does not support 0 with this model.")
        return verdict("response_format" in exchange.body)

    with ModelServer(script) as server:
        judge = judging(server, concurrency=1)
        assert [v.match for v in judge.ask(PAIRS[:2])] == [1, 1]
    assert len(server.log) == 3


def test_text_answers_count_only_if_they_are_a_yes_or_a_no(judging):
    answers = {"a": "Yes.", "b": "no", "c": "No, they are not the same"}
    with ModelServer(lambda e: chat(answers[e.notes[0]])) as server:
        judge = judging(server)
        verdicts = judge.ask([("a", "r"), ("b", "r"), ("c", "r")])
    assert [v.match for v in verdicts] == [1, 0, -1]
    assert "neither the JSON asked for nor a yes or no" in verdicts[2].reason
    assert sum(e.notes[0] == "c" for e in server.log) == 8


def test_content_in_parts_is_joined(judging):
    parts = [{"type": "text", "text": '{"match": true,'}, {"type": "text", "text": ' "confidence": 1}'}]
    with ModelServer(lambda e: chat(parts)) as server:
        assert judging(server).ask(PAIRS[:1])[0].match == 1


def test_a_reply_in_chunks_is_read_whole_and_the_connection_kept(judging):
    def script(exchange):
        reply = same_number(exchange)
        reply.chunked = True
        return reply

    with ModelServer(script) as server:
        judge = judging(server, concurrency=1)
        assert [v.match for v in judge.ask(PAIRS[:5])] == [1] * 5
    assert (len(server.log), server.connections) == (5, 1)


def test_strange_notes_arrive_whole(judging):
    notes = ["", "a\x00b", "\U0001f680", "x" * 90_000, "line\r\n\r\nHTTP/1.1 200", '"}],"model":"evil']
    with ModelServer(lambda e: verdict(True)) as server:
        judging(server).ask([(note, "r") for note in notes])
        judging(server).ask([("half \ud83d", "y" * 100_001)])
    assert {e.notes[0] for e in server.log[:-1]} == set(notes)
    assert {e.body["model"] for e in server.log} == {"test-model"}
    assert server.log[-1].notes == ("half \ufffd", "y" * 20_000)


@pytest.mark.parametrize(
    "options", [{"threshold": 1.1}, {"threshold": math.nan}, {"concurrency": 0}, {"max_calls": -1}, {"timeout": 0}]
)
def test_impossible_options_are_usage_errors(judging, options):
    with ModelServer(same_number) as server, pytest.raises(UsageError, match=r"Give .*\."):
        judging(server, **options)


# In pairs and in lists: questions of one pair each

QUESTIONS = [question([generated], [reference]) for generated, reference in PAIRS]


@pytest.fixture(params=["pair", "review"])
def asking(judging, request):
    """Makes judges that ask in one way or the other."""
    return lambda server, **options: judging(server, ask=request.param, **options)


def matches_of(answers):
    return [answer.match.tolist()[0] for answer in answers]


def test_all_pull_requests_are_asked_about_at_once(asking):
    with ModelServer(same_number, latency=0.05) as server:
        asking(server, concurrency=6).judge(QUESTIONS)
    assert server.peak == 6


def test_another_model_is_asked_anew(asking, cache):
    with ModelServer(same_number) as server:
        for model in ("one", "other", "one"):
            asking(server, cache=cache, model=model).judge(QUESTIONS[:2])
    assert [e.body["model"] for e in server.log] == ["one"] * 2 + ["other"] * 2


def test_the_cache_answers_the_next_judge(asking, cache):
    with ModelServer(same_number) as server:
        first = asking(server, cache=cache).judge(QUESTIONS[:3])
        judge = asking(server, cache=cache)
        assert judge.planned(QUESTIONS[:5]).calls == 2
        again = judge.judge(QUESTIONS[:5])
    assert [list(answer.by) for answer in again] == [["cache"]] * 3 + [["model"]] * 2
    for before, after in zip(first, again, strict=False):
        assert (before.score.tolist(), before.reason) == (after.score.tolist(), after.reason)
    assert (len(server.log), judge.usage.cached, judge.usage.llm_calls) == (5, 3, 2)
    assert cache.info().by == (CacheCount("llm", "test-model", 5, server.url),)


def test_small_batches_share_what_was_answered_even_without_a_cache(asking):
    with ModelServer(same_number) as server:
        judge = asking(server)
        for start in range(5):
            answers = judge.judge(QUESTIONS[start : start + 3])
            assert [(answer.match.tolist(), list(answer.by)) for answer in answers] == [([1], ["model"])] * 3
    assert (len(server.log), judge.usage.llm_calls, judge.usage.cached) == (7, 7, 0)


def test_nothing_is_asked_beyond_the_limit(asking, cache):
    with ModelServer(same_number) as server:
        judge = asking(server, cache=cache, max_calls=5)
        assert judge.planned(QUESTIONS).calls == 5
        first = judge.judge(QUESTIONS[:3])
        rest = judge.judge(QUESTIONS[:9])
        assert len(server.log) == 5
        assert matches_of(first) == [1, 1, 1]
        assert matches_of(rest) == [1] * 5 + [-1] * 4
        assert all(math.isnan(answer.score[0]) for answer in rest[5:])
        assert {reason for answer in rest[5:] for reason in answer.reason} == {
            "not asked: the limit of 5 model calls was reached"
        }
        assert (judge.usage.llm_calls, judge.usage.cached) == (5, 3)
        # The next run asks for what is left, and no more.
        again = asking(server, cache=cache).judge(QUESTIONS[:9])
        assert [list(answer.by) for answer in again] == [["cache"]] * 5 + [["model"]] * 4


def test_a_threshold_replaces_the_models_own_match(asking, cache):
    both = question(["g 1"], ["r 1"]), question(["g 1"], ["r 2"])
    with ModelServer(same_number) as server:
        found = {each: matches_of(asking(server, cache=cache, threshold=each).judge(both)) for each in (None, 0.8, 0.9)}
    assert found == {None: [1, 0], 0.8: [1, 0], 0.9: [0, 0]}
    assert len(server.log) == 2  # the threshold is applied to what the model said, not asked about


def test_a_threshold_below_a_no_makes_it_a_match(judging, cache):
    with ModelServer(lambda e: verdict(e.notes[0] == "yes", 0.6)) as server:
        loose = judging(server, cache=cache, threshold=0.4).ask([("yes", "r"), ("no", "r")])
    assert [v.match for v in loose] == [1, 1]


def test_the_manifest_says_who_judged_and_how_and_hides_the_key(judging):
    with ModelServer(same_number) as server:
        pairs, lists = judging(server, threshold=0.5), judging(server, ask="review")
    head = {"model": "test-model", "server": server.url}
    assert pairs.parameters == {**head, "prompt": "2", "temperature": 0}
    assert lists.parameters == {**head, "prompt": "list-2", "temperature": 0, "ask": "review"}
    assert (pairs.name, pairs.threshold) == ("llm", 0.5)
    assert KEY not in repr(pairs.parameters) + repr(vars(pairs).keys()) + repr(pairs.settings)
