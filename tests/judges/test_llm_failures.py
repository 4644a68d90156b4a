"""The llm judge against a server that misbehaves: every fault has its consequence, and none is a mismatch."""

import logging
import math
import random
import socket
import threading
from collections import Counter, defaultdict
from datetime import UTC, datetime

import pytest

from metareview.errors import UsageError
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.endpoint import retry_after
from metareview.judges.remote.llm import LlmJudge
from metareview.judges.remote.pool import GiveUp, RequestPool, RetryLater
from metareview.judges.remote.settings import ModelSettings
from model_server import KEY, ModelServer, Reply, chat, error, verdict

PAIRS = [(f"generated {i}", f"reference {i}") for i in range(40)]


def dripping(reply):
    """An answer of which every byte comes in time, and the whole never does."""
    reply.drip = 0.05
    return reply


FAULTS = {
    "429": lambda: error(429, "slow down"),
    "429 with retry-after": lambda: error(429, "slow down", retry_after="0.01"),
    "408": lambda: error(408),
    "409": lambda: error(409),
    "425": lambda: error(425),
    "500": lambda: Reply(500, "<html>oops</html>"),
    "502": lambda: Reply(502, b""),
    "503 with retry-after": lambda: error(503, "loading", retry_after="0.01"),
    "529": lambda: error(529, "overloaded"),
    "dropped": lambda: Reply(drop=True),
    "dropped in the middle": lambda: Reply(body={"choices": [{"message": {"content": "x" * 500}}]}, cut=40),
    "hanging": lambda: Reply(delay=30),
    "dripping": lambda: dripping(verdict(False)),
    "invalid JSON": lambda: Reply(body='{"choices": ['),
    "empty reply": lambda: Reply(body=b""),
    "JSON, but a list": lambda: Reply(body=[]),
    "no choices": lambda: Reply(body={"choices": []}),
    "null choices": lambda: Reply(body={"choices": None}),
    "strange choices": lambda: Reply(body={"choices": ["yes"]}),
    "no message": lambda: Reply(body={"choices": [{}]}),
    "null content": lambda: chat(None),
    "empty content": lambda: chat("  "),
    "prose": lambda: chat("They look the same to me."),
    "wrong schema": lambda: chat('{"same": true}'),
    "wrong type": lambda: chat('{"match": "true", "confidence": 0.9, "reason": ""}'),
    "no confidence": lambda: chat('{"match": true}'),
    "cut off": lambda: chat('{"match": true, "confidence": 0.9, "rea'),
    "error in a 200": lambda: Reply(body={"error": {"message": "upstream is down", "code": 502}}),
}


@pytest.fixture
def cache(tmp_path):
    cache = VerdictCache(tmp_path / "verdicts.sqlite")
    yield cache
    cache.close()


@pytest.fixture
def judging():
    made = []

    def make(server, **options):
        options = {"backoff": 0.001, "timeout": 30, **options}
        made.append(LlmJudge(server.settings(), **options))
        return made[-1]

    yield make
    for judge in made:
        judge.close()


def failing_first(times, fault):
    """Each pair meets the fault so many times, then a good answer."""
    seen = Counter()

    def script(exchange):
        seen[exchange.notes] += 1
        return fault() if seen[exchange.notes] <= times else verdict(True)

    return script


@pytest.mark.parametrize("name", FAULTS)
def test_a_passing_fault_is_retried_and_never_stored(judging, cache, name):
    with ModelServer(failing_first(2, FAULTS[name])) as server:
        judge = judging(server, cache=cache, timeout=0.5 if name in ("hanging", "dripping") else 30)
        verdicts = judge.ask(PAIRS[:3])
        assert [v.match for v in verdicts] == [1, 1, 1]
        assert len(server.log) == 9
        usage = judge.usage
        assert (usage.llm_calls, usage.requests) == (3, 9)
        assert cache.info().entries == 3


@pytest.mark.parametrize("name", ["429", "500", "dropped", "wrong schema", "no choices", "empty content"])
def test_after_eight_attempts_a_pair_is_undecided_and_says_why(judging, cache, name):
    with ModelServer(lambda e: FAULTS[name]() if e.notes == PAIRS[0] else verdict(True)) as server:
        judge = judging(server, cache=cache)
        bad, good = judge.ask(PAIRS[:2])
        assert sum(e.notes == PAIRS[0] for e in server.log) == 8
        assert (bad.match, good.match) == (-1, 1)
        assert math.isnan(bad.score)
        said = {
            "429": "HTTP 429: slow down",
            "500": "HTTP 500",
            "dropped": "the connection was dropped",
            "wrong schema": '"match" is neither true nor false',
            "no choices": "no choices",
            "empty content": "the answer is empty",
        }
        assert bad.reason.startswith("undecided after 8 attempts: ")
        assert said[name] in bad.reason
        assert (judge.usage.llm_calls, judge.usage.requests) == (2, 9)
        assert cache.info().entries == 1
        server.script = lambda e: verdict(False)
        again = judging(server, cache=cache).ask(PAIRS[:2])  # the next run asks again, for this pair only
        assert [(v.match, v.by) for v in again] == [(0, "model"), (1, "cache")]


def test_all_faults_share_one_budget(judging):
    kinds = ["429", "500", "dropped", "invalid JSON", "wrong schema", "no choices", "hanging", "408"]
    faults = iter(kinds)
    with ModelServer(lambda e: FAULTS[next(faults)]()) as server:
        [only] = judging(server, timeout=0.5).ask(PAIRS[:1])
    assert only.match == -1
    assert len(server.log) == len(kinds) == 8


def test_under_a_fifth_of_faults_no_call_is_lost_or_repeated(judging, cache):
    chance = random.Random(7)
    kinds = [kind for name, kind in FAULTS.items() if name not in ("hanging", "dripping")]
    pairs = [(f"g {i}", f"r {i}") for i in range(400)]

    failed = Counter()

    def script(exchange):
        # Eight faults in a row, which end a pair's budget, come once in a thousand runs: never in this one.
        if chance.random() < 0.2 and failed[exchange.notes] < 7:
            failed[exchange.notes] += 1
            return chance.choice(kinds)()
        return verdict(exchange.notes[0][-1] in "02468")

    with ModelServer(script) as server:
        judge = judging(server, cache=cache)
        verdicts = judge.ask(pairs)
    assert [v.reason for v in verdicts if v.match == -1] == []
    assert [v.match for v in verdicts] == [1 - i % 2 for i in range(400)]
    assert server.served() == Counter(pairs)  # every pair was answered, exactly once
    faults = len(server.log) - 400
    assert 60 < faults < 140
    assert (judge.usage.llm_calls, judge.usage.requests) == (400, 400 + faults)
    assert cache.info().entries == 400


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_holds_everybody_back(judging, status):
    first = threading.Event()

    def script(exchange):
        if not first.is_set():
            first.set()
            return error(status, "wait", retry_after="0.4")
        return verdict(True)

    with ModelServer(script, latency=0.02) as server:
        assert all(v.match == 1 for v in judging(server, concurrency=4).ask(PAIRS))
    told = server.log[0].ended
    assert len(server.log) == 41
    # What was under way, or sent before the reply was read, may still come in; unheld, all 40 would.
    assert sum(told < e.started < told + 0.4 for e in server.log) <= 8
    assert all(e.started >= told + 0.4 for e in server.log if e.notes == server.log[0].notes and e.number)


def test_a_server_that_wants_to_be_left_alone_for_long_is(judging):
    def script(exchange):
        return error(429, "quota", retry_after="86400") if exchange.number >= 3 else verdict(True)

    with ModelServer(script) as server:
        judge = judging(server, concurrency=1)
        verdicts = judge.ask(PAIRS[:10])
    assert [v.match for v in verdicts] == [1, 1, 1] + [-1] * 7
    assert len(server.log) == 4
    assert {v.reason for v in verdicts[3:]} == {"the server wants to be left alone for 86400 s: HTTP 429: quota"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
    ],
)
def test_the_forms_of_retry_after(headers, seconds):
    assert retry_after(headers, datetime(2015, 10, 21, 7, 28, 0, tzinfo=UTC)) == seconds


def test_fewer_requests_at_once_where_the_server_bears_fewer(judging):
    with ModelServer(lambda e: verdict(True), latency=0.01) as server:
        answer = server.script
        server.script = lambda e: error(429) if server.under_way > 4 else answer(e)
        pairs = [(f"g {i}", f"r {i}") for i in range(300)]
        judge = judging(server, concurrency=16)
        assert all(v.match == 1 for v in judge.ask(pairs))
    assert server.served() == Counter(pairs)
    refused = len(server.log) - 300
    assert 0 < refused < 150  # 16 at once all the time would have 12 of 16 refused


def test_a_429_halves_the_number_at_once_and_successes_restore_it():
    pool = RequestPool(16, backoff=0.001)
    limits = []
    together = threading.Barrier(16)
    refused = set()

    def attempt(job):
        if job < 16 and job not in refused:
            refused.add(job)
            together.wait()  # all 16 are under way when the first is refused
            raise RetryLater("429", fewer_at_once=True)
        limits.append(int(pool._limit))

    pool.run(range(16), attempt, lambda job, reason: None)
    assert limits[0] == 8  # halved once, not 16 times
    pool.run(range(16, 400), attempt, lambda job, reason: None)
    assert max(limits) == limits[-1] == 16
    assert limits[16:] == sorted(limits[16:])


def test_a_job_that_waits_does_not_hold_up_a_thread():
    pool = RequestPool(1, backoff=0.2)
    order = []
    failed = set()

    def attempt(job):
        order.append(job)
        if job == 0 and not failed:
            failed.add(job)
            raise RetryLater("once")
        if job == 1:
            raise GiveUp("never")

    given_up = {}
    pool.run(range(5), attempt, given_up.__setitem__)
    assert order == [0, 1, 2, 3, 4, 0]
    assert given_up == {1: "never"}


def test_a_defect_in_an_attempt_ends_the_run_with_itself():
    def attempt(job):
        raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError, match="ours"):
        RequestPool(4).run(range(100), attempt, lambda job, reason: None)


SETUP = {
    401: "LLM_API_KEY",
    402: "no credit left",
    403: "LLM_API_KEY",
    404: "LLM_MODEL_URL",
    307: "LLM_MODEL_URL",
    400: "LLM_MODEL",
    418: "LLM_MODEL",
}


@pytest.mark.parametrize("status", SETUP)
def test_wrong_settings_end_the_run_at_once_with_the_fix_and_without_the_key(judging, cache, status):
    with ModelServer(lambda e: error(status, f"you sent {e.headers['authorization']}, model missing")) as server:
        judge = judging(server, cache=cache, concurrency=2)
        with pytest.raises(UsageError) as caught:
            judge.ask(PAIRS)
    message = str(caught.value)
    assert SETUP[status] in message
    assert f"HTTP {status}" in message
    assert server.url in message
    assert KEY not in message
    assert len(server.log) <= 10
    assert cache.info().entries == 0


def test_a_missing_key_is_said_to_be_missing():
    with ModelServer(lambda e: error(401, "who are you")) as server:
        judge = LlmJudge(server.settings(key=""))
        with pytest.raises(UsageError, match=r"it wants a key.*Set LLM_API_KEY"):
            judge.ask(PAIRS[:2])
        judge.close()


def test_an_exhausted_account_ends_the_run(judging):
    body = {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}
    with ModelServer(lambda e: Reply(429, body)) as server, pytest.raises(UsageError, match="no credit left"):
        judging(server, concurrency=1).ask(PAIRS)
    assert len(server.log) == 1


@pytest.mark.parametrize("status", [400, 403, 413, 422])
def test_a_pair_that_a_working_server_refuses_is_undecided_at_once(judging, cache, status):
    bad = PAIRS[5]
    with ModelServer(lambda e: error(status, "content filter") if e.notes == bad else verdict(True)) as server:
        judge = judging(server, cache=cache, concurrency=1)
        verdicts = judge.ask(PAIRS[:10])
        assert [v.match for v in verdicts] == [1] * 5 + [-1] + [1] * 4
        assert verdicts[5].reason == f"the server refuses this request (HTTP {status}: content filter)"
        assert sum(e.notes == bad for e in server.log) == 1
        # The rest is cached: the refused pair alone is asked, and is no reason to call the settings wrong.
        assert judging(server, cache=cache).ask(PAIRS[:10])[5].match == -1


def test_paid_answers_are_kept_when_the_run_ends_early(judging, cache):
    with ModelServer(lambda e: error(401) if e.number == 5 else verdict(True)) as server:
        with pytest.raises(UsageError):
            judging(server, cache=cache, concurrency=1).ask(PAIRS)
        assert cache.info().entries == 5


def test_a_server_that_is_not_there_is_a_wrong_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    judge = LlmJudge(ModelSettings(f"http://127.0.0.1:{port}/v1", "m"), backoff=0.01)
    with pytest.raises(UsageError, match=rf"127\.0\.0\.1:{port}/v1 cannot be reached .*Check LLM_MODEL_URL"):
        judge.ask(PAIRS)
    assert (judge.usage.llm_calls, judge.usage.requests) == (0, 0)


def test_a_server_that_goes_away_leaves_the_rest_undecided(judging, cache):
    with ModelServer(lambda e: verdict(True)) as server:
        judge = judging(server, cache=cache)
        assert judge.ask(PAIRS[:5])[4].match == 1
    rest = judge.ask(PAIRS[:8])
    assert [v.match for v in rest] == [1] * 5 + [-1] * 3
    assert "attempts: no connection" in rest[7].reason or "attempts: the connection" in rest[7].reason


def test_the_key_is_in_no_log_no_reason_and_no_cache(judging, cache, caplog):
    def script(exchange):
        echo = f"key {exchange.headers['authorization']}"
        by_pair = defaultdict(lambda: verdict(True, reason=echo))
        by_pair[PAIRS[0]] = error(500, "x" * 280 + echo)
        by_pair[PAIRS[1]] = Reply(200, {"error": {"message": "y" * 280 + echo}})
        by_pair[PAIRS[2]] = error(422, echo)
        return by_pair[exchange.notes]

    with caplog.at_level(logging.DEBUG), ModelServer(script) as server:
        verdicts = judging(server, cache=cache).ask(PAIRS[:6])
    assert [v.match for v in verdicts] == [-1, -1, -1, 1, 1, 1]
    for text in [*(v.reason for v in verdicts), caplog.text, cache.path.read_text("latin-1")]:
        assert KEY[:12] not in text
    assert verdicts[5].reason == "key Bearer ***"
