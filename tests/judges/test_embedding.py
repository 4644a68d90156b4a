import json
import math
from collections import Counter

import numpy as np
import pytest

from metareview.errors import UsageError
from metareview.judges.protocol import Judge, Question
from metareview.judges.remote.cache import CacheCount
from metareview.judges.remote.embedding import THRESHOLD, EmbeddingJudge
from model_server import KEY, ModelServer, Reply, error

# Cosines by hand: a·b = 24/25, a·c = 3/5, b·c = 4/5, a·d = -3/5, c·d = -1.
VECTORS = {"a": [3, 4], "b": [4, 3], "c": [1.0, 0.0], "d": [-1, 0], "big": [30, 40]}


def reply_to(exchange, vectors=VECTORS):
    rows = [
        {"object": "embedding", "index": i, "embedding": vectors.get(text, [1, len(text)])}
        for i, text in enumerate(exchange.body["input"])
    ]
    return Reply(200, {"object": "list", "data": rows, "usage": {"prompt_tokens": 7, "total_tokens": 7}})


def test_the_score_is_the_cosine_and_never_below_zero(judging):
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("c", "d"), ("a", "a"), ("a", "big")]
    with ModelServer(reply_to) as server:
        verdicts = judging(server, EmbeddingJudge, threshold=0.7).ask(pairs)
    assert [v.score for v in verdicts] == pytest.approx([0.96, 0.6, 0, 0, 1, 1], abs=1e-6)
    assert [v.match for v in verdicts] == [1, 0, 0, 0, 1, 1]
    assert all(0 <= v.score <= 1 for v in verdicts)


def test_a_match_needs_the_threshold_and_the_default_is_as_documented(judging):
    with ModelServer(reply_to) as server:
        assert [v.match for v in judging(server, EmbeddingJudge).ask([("b", "c"), ("a", "c")])] == [1, 0]  # 0.8 and 0.6
        assert judging(server, EmbeddingJudge, threshold=0.81).ask([("b", "c")])[0].match == 0
    assert THRESHOLD == 0.75


def test_each_text_is_sent_once_in_batches(judging):
    texts = [f"note {i}" for i in range(150)]
    pairs = [(a, b) for a in texts[:75] for b in texts[75:]]
    with ModelServer(reply_to) as server:
        judge = judging(server, EmbeddingJudge)
        assert judge.uncached(pairs) == 3
        assert isinstance(judge, Judge)
        verdicts = judge.ask(pairs) + judge.ask(pairs[:10])
    assert (len(verdicts), sum(v.match == -1 for v in verdicts)) == (75 * 75 + 10, 0)
    assert sorted(len(e.body["input"]) for e in server.log) == [22, 64, 64]
    assert Counter(text for e in server.log for text in e.body["input"]) == Counter(texts)
    exchange = server.log[0]
    assert (exchange.path, exchange.body["model"]) == ("/v1/embeddings", "test-model")
    assert exchange.headers["authorization"] == f"Bearer {KEY}"
    assert (judge.usage.llm_calls, judge.usage.requests, judge.usage.prompt_tokens) == (3, 3, 21)


def test_answers_come_back_in_the_order_of_the_questions(judging):
    questions = [
        Question(["a", "b"], ["c"], np.array([[1, 0], [0, 0]])),
        Question([], [], np.empty((0, 2), dtype=np.int64)),
        Question(["d"], ["c"], np.array([[0, 0]])),
    ]
    with ModelServer(reply_to) as server:
        first, none, last = judging(server, EmbeddingJudge).judge(questions)
    assert first.score.tolist() == pytest.approx([0.8, 0.6])
    assert first.match.tolist() == [1, 0]
    assert none.match.tolist() == []
    assert last.score.tolist() == [0.0]


def test_the_index_decides_which_vector_belongs_to_which_text(judging):
    def shuffled(exchange):
        reply = reply_to(exchange)
        reply.body["data"].reverse()
        return reply

    with ModelServer(shuffled) as server:
        assert judging(server, EmbeddingJudge).ask([("a", "c"), ("b", "c")])[0].score == pytest.approx(0.6)


def test_vectors_are_cached_by_text_and_model(judging, cache):
    with ModelServer(reply_to) as server:
        first = judging(server, EmbeddingJudge, cache=cache).ask([("a", "b"), ("a", "c")])
        judge = judging(server, EmbeddingJudge, cache=cache)
        again = judge.ask([("a", "b"), ("b", "c"), ("a", "d")])
        assert [v.by for v in again] == ["cache", "cache", "model"]
        assert again[0].score == pytest.approx(first[0].score, abs=1e-6)
        assert again[1].score == pytest.approx(0.8, abs=1e-6)
        assert [e.body["input"] for e in server.log] == [["a", "b", "c"], ["d"]]
        assert (judge.usage.cached, judge.usage.llm_calls) == (2, 1)
        assert cache.info().by == (CacheCount("embedding", "test-model", 4, server.url),)
        key = judge.key(judge.prompt, "a")
        for broken in ({"vector": "!"}, {"vector": ""}, {}, {"vector": [1]}, {"vector": "AAAAAAAAAAA="}):
            cache.put(key, broken, judge="embedding", model="test-model")
            assert judging(server, EmbeddingJudge, cache=cache).ask([("a", "b")])[0].score == pytest.approx(0.96)
        assert [e.body["input"] for e in server.log[2:]] == [["a"]] * 5


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_batch_that_is_too_large_is_halved_and_the_size_remembered(judging, status):
    def script(exchange):
        return error(status, "too many") if len(exchange.body["input"]) > 10 else reply_to(exchange)

    texts = [f"note {i}" for i in range(192)]
    with ModelServer(script) as server:
        judge = judging(server, EmbeddingJudge, concurrency=1)
        verdicts = judge.ask([(text, "c") for text in texts])
    assert all(v.match != -1 for v in verdicts)
    served = Counter(t for e in server.log if e.reply.status == 200 for t in e.body["input"])
    assert served == Counter([*texts, "c"])
    assert [len(e.body["input"]) for e in server.log if e.reply.status != 200] == [64, 32, 16]


def test_a_text_that_the_server_refuses_costs_only_its_own_pairs(judging, cache):
    def script(exchange):
        return error(400, "too long") if "bad" in exchange.body["input"] else reply_to(exchange)

    with ModelServer(script) as server:
        judge = judging(server, EmbeddingJudge, cache=cache)
        verdicts = judge.ask([("a", "b"), ("bad", "b"), ("a", "bad"), ("c", "b")])
    assert [v.match for v in verdicts] == [1, -1, -1, 1]
    assert math.isnan(verdicts[1].score)
    assert verdicts[1].reason == "the server refuses this request (HTTP 400)"
    assert cache.info().entries == 3


def replace(text, **change):
    """A reply with one row spoilt."""

    def script(exchange):
        reply = reply_to(exchange)
        for row in reply.body["data"]:
            if exchange.body["input"][row["index"]] == text:
                row.update(change)
        return reply

    return script


def without(text):
    def script(exchange):
        reply = reply_to(exchange)
        reply.body["data"] = [row for row in reply.body["data"] if exchange.body["input"][row["index"]] != text]
        return reply

    return script


SPOILT = {
    "missing": without("b"),
    "no vector": replace("b", embedding=None),
    "empty": replace("b", embedding=[]),
    "zeros": replace("b", embedding=[0, 0]),
    "NaN": replace("b", embedding=[math.nan, 1]),
    "infinite": replace("b", embedding=[math.inf, 1]),
    "huge": replace("b", embedding=[10**400, 1]),
    "text": replace("b", embedding=["1", "2"]),
    "truth values": replace("b", embedding=[True, False]),
    "wrong dimension": replace("b", embedding=[1, 2, 3]),
    "index out of range": replace("b", index=99),
    "negative index": replace("b", index=-1),
}


@pytest.mark.parametrize("script", SPOILT.values(), ids=SPOILT)
def test_a_vector_that_is_none_is_asked_for_again_and_then_an_error(judging, cache, script):
    with ModelServer(script) as server:
        judge = judging(server, EmbeddingJudge, cache=cache)
        verdicts = judge.ask([("a", "c"), ("a", "b"), ("b", "d"), ("c", "d")])
        assert [v.match for v in verdicts] == [0, -1, -1, 0]
        assert "undecided after 8 attempts: 1 of 1 vectors missing or unusable" in verdicts[1].reason
        assert [e.body["input"] for e in server.log] == [["a", "c", "b", "d"]] + [["b"]] * 7
        assert cache.info().entries == 3
        server.script = reply_to
        assert judging(server, EmbeddingJudge, cache=cache).ask([("a", "b")])[0].score == pytest.approx(0.96, abs=1e-6)


@pytest.mark.parametrize(
    "fault", [error(429), error(500), Reply(drop=True), Reply(delay=5), Reply(body="{"), Reply(body={"data": None})]
)
def test_a_passing_fault_is_retried(judging, fault):
    with ModelServer(lambda e: fault if e.number < 3 else reply_to(e)) as server:
        judge = judging(server, EmbeddingJudge, timeout=0.5 if fault.delay else 30)
        assert judge.ask([("a", "b")])[0].score == pytest.approx(0.96)
    assert (len(server.log), judge.usage.llm_calls) == (4, 1)


@pytest.mark.parametrize("status", [400, 401, 404])
def test_wrong_settings_are_a_usage_error_without_the_key(judging, status):
    with ModelServer(lambda e: error(status, f"bad key {KEY}")) as server:
        judge = judging(server, EmbeddingJudge, concurrency=2)
        with pytest.raises(UsageError, match="EMBEDDING_") as caught:
            judge.ask([(f"note {i}", f"other {i}") for i in range(100)])
    assert KEY not in str(caught.value)
    assert len(server.log) < 20


def test_an_empty_note_is_undecided_and_not_sent(judging):
    with ModelServer(reply_to) as server:
        verdicts = judging(server, EmbeddingJudge).ask([("a", " \n"), ("a", "b")])
    assert [v.match for v in verdicts] == [-1, 1]
    assert verdicts[0].reason == "an empty note has no embedding"
    assert server.log[0].body["input"] == ["a", "b"]


def test_what_the_cache_stores_is_json_that_anybody_can_read(judging, cache):
    with ModelServer(reply_to) as server:
        judge = judging(server, EmbeddingJudge, cache=cache)
        judge.ask([("a", "b")])
    value = cache.get_many([judge.key(judge.prompt, "a")])[judge.key(judge.prompt, "a")]
    assert json.loads(json.dumps(value)) == value
    # Base64 of the little-endian float32 pair (0.6, 0.8): 9a99193f cdcc4c3f.
    assert value == {"vector": "mpkZP83MTD8="}
