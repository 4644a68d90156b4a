"""The llm judge against a server that misbehaves: every fault has its consequence, and none is a mismatch."""

import base64
import logging
import math
import random
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from metareview.errors import UsageError
from metareview.http.connections import retry_after
from metareview.http.secret import Secret
from metareview.judges.remote import pool as pool_module
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
            "429": "HTTP 429",
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


def test_retry_after_holds_everybody_back(monkeypatch):
    """By a clock that stands still until the test moves it."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(pool_module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    pool = RequestPool(4, backoff=0.001)
    attempts = []

    def attempt(job):
        attempts.append((job, clock.now))
        if len(attempts) == 1:
            raise RetryLater("wait", wait=30.0, all_wait=True)
        while not pool._resume_at:  # under way when the server said so
            time.sleep(0.001)

    run = threading.Thread(target=pool.run, args=(range(40), attempt, lambda job, reason: None))
    run.start()
    while not pool._resume_at:
        time.sleep(0.001)
    time.sleep(0.05)  # time enough for those who would not wait
    clock.now = 31.0
    with pool._changed:
        pool._changed.notify_all()
    run.join(30)
    assert sorted(job for job, _ in attempts) == sorted([*range(40), attempts[0][0]])
    assert sum(at < 30 for _, at in attempts) <= 4
    assert [at for job, at in attempts if job == attempts[0][0]] == [0.0, 31.0]


@pytest.mark.parametrize(("status", "everybody"), [(429, True), (503, True), (500, False), (408, False)])
def test_whom_retry_after_holds_back(judging, status, everybody):
    with ModelServer(lambda e: error(status, "wait", retry_after="7")) as server:
        with pytest.raises(RetryLater) as caught:
            judging(server)._server.endpoint.post({"model": "m"})
        assert (caught.value.wait, caught.value.all_wait) == (7.0, everybody)
        assert caught.value.fewer_at_once == (status == 429)


def test_a_server_that_wants_to_be_left_alone_for_long_is(judging):
    def script(exchange):
        return error(429, "quota", retry_after="86400") if exchange.number >= 3 else verdict(True)

    with ModelServer(script) as server:
        judge = judging(server, concurrency=1)
        verdicts = judge.ask(PAIRS[:10])
    assert [v.match for v in verdicts] == [1, 1, 1] + [-1] * 7
    assert len(server.log) == 4
    assert {v.reason for v in verdicts[3:]} == {"the server wants to be left alone for 86400 s: HTTP 429"}


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
        limits.append(pool._limit.at_once)

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
    assert len(server.log) < 40  # 80 if it went on: each of the pairs, once more without response_format
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
        assert verdicts[5].reason == f"the server refuses this request (HTTP {status})"
        # What may be for the form of the request is tried in another form, once.
        assert sum(e.notes == bad for e in server.log) == (2 if status in (400, 422) else 1)
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


FORMS = {
    "plain": lambda key: key,
    "with the scheme": lambda key: f"Bearer {key}",
    "upper case": str.upper,
    "split by spaces": " ".join,
    "split in two": lambda key: f"it begins {key[:12]} and ends {key[12:]}",
    "a prefix": lambda key: key[:14],
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of a sentence": lambda key: base64.b64encode(f"a {key} b".encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "escaped for a URL": lambda key: "".join(f"%{ord(c):02x}" for c in key),
    "escaped for HTML": lambda key: "".join(f"&#{ord(c)};" for c in key),
    "escaped for JSON": lambda key: "".join(f"\\u{ord(c):04x}" for c in key),
    "escaped for Python": lambda key: "".join(f"\\x{ord(c):02x}" for c in key),
    "base64 of the header": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_key_is_in_no_log_no_reason_and_no_cache(judging, cache, caplog, capfd, form):
    """Whatever a server says, in whatever form: of an error only its number, of an answer no reason with the key."""
    echo = form(KEY)
    odd = {"x-echo": f"{echo}\r\nno header at all {echo}"}
    huge = {**chat('{"match": true, "confidence": 1}').body, "usage": {"prompt_tokens": 10**40}}
    replies = {
        PAIRS[0]: error(500, echo),
        PAIRS[1]: Reply(200, {"error": {"message": echo, "code": echo}}),
        PAIRS[2]: Reply(422, {"error": {"message": echo, "code": echo, "type": echo, echo: echo}}),
        PAIRS[3]: Reply(400, echo),
        PAIRS[4]: Reply(200, {"choices": [{"message": {"refusal": echo}}]}),
        PAIRS[5]: Reply(200, huge, odd),
        PAIRS[6]: Reply(429, echo, {"retry-after": "9" * 300}),
    }

    def script(exchange):
        return replies.get(exchange.notes) or verdict(True, reason=f"key {echo}")

    with caplog.at_level(logging.DEBUG), ModelServer(script) as server:
        judge = judging(server, cache=cache, concurrency=1)
        answered = judge.ask([PAIRS[5], *PAIRS[7:9]])
        failed = [*judge.ask(PAIRS[:5]), *judge.ask([PAIRS[6]])]
    assert [v.match for v in answered] == [1, 1, 1]
    assert [v.match for v in failed] == [-1] * 6
    assert {v.reason for v in answered[1:]} == {"(left out: it repeats a part of the key)"}
    assert {v.reason.removeprefix("undecided after 8 attempts: ") for v in failed} == {
        "HTTP 500",
        "the reply has an error and no choices",
        "the server refuses this request (HTTP 422)",
        "the server refuses this request (HTTP 400)",
        "the model declines to answer",
        "the server wants to be left alone for more than a week: HTTP 429",
    }
    assert judge.usage.prompt_tokens < 10**6
    out, err = capfd.readouterr()
    stored = cache.path.read_text("latin-1") + Path(f"{cache.path}-wal").read_text("latin-1")
    shown = [v.reason for v in (*answered, *failed)] + list(judge.warnings) + [out, err, caplog.text, stored]
    assert not any(Secret(KEY).is_in(text) or echo in text for text in shown)


def test_a_key_is_found_before_a_reason_is_cut(judging, cache):
    key = "-_.~!*()" * 4

    def script(exchange):
        return verdict(True, reason="x" * (999 - 31) + key)

    with ModelServer(script) as server:
        judge = LlmJudge(server.settings(key=key), cache=cache)
        [only] = judge.ask(PAIRS[:1])
    assert only.reason == "(left out: it repeats a part of the key)"
    assert key[:8] not in cache.path.read_text("latin-1") + Path(f"{cache.path}-wal").read_text("latin-1")


def test_a_redirect_gets_no_key(judging):
    with ModelServer(lambda exchange: verdict(True)) as other:

        def script(exchange):
            return Reply(307, b"", {"location": f"{other.url}/chat/completions"})

        with ModelServer(script) as server, pytest.raises(UsageError, match="It redirects"):
            judging(server).ask(PAIRS[:1])
        assert other.log == []


def test_a_reason_without_the_key_is_kept(judging, cache):
    with ModelServer(lambda e: verdict(True, reason="Both say that the key of a cache is wrong\x1b[31m\n.")) as server:
        [only] = judging(server, cache=cache).ask(PAIRS[:1])
    assert only.reason == "Both say that the key of a cache is wrong [31m ."


@pytest.mark.parametrize("order", ["refused first", "served first"])
def test_what_becomes_of_a_refused_request_does_not_depend_on_the_order_of_others(judging, order):
    """Half of the pairs is refused with response_format, and the server does not say why."""
    served, refused = PAIRS[:3], PAIRS[3:6]

    def script(exchange):
        if exchange.notes in refused and "response_format" in exchange.body:
            return error(422, "no")
        return verdict(True)

    pairs = [*refused, *served] if order == "refused first" else [*served, *refused]
    with ModelServer(script) as server:
        assert [v.match for v in judging(server, concurrency=1).ask(pairs)] == [1] * 6


@pytest.mark.parametrize("status", [400, 403, 422])
def test_refusals_that_come_in_before_the_first_answer_do_not_end_the_run(judging, status):
    """Five of the first six pairs are refused at once, while the sixth is still being answered."""
    answered = threading.Event()

    def script(exchange):
        if exchange.notes == PAIRS[5]:
            return replace_delay(verdict(True), 0.3)
        return verdict(True) if answered.is_set() or exchange.notes not in PAIRS[:5] else error(status)

    with ModelServer(script) as server:
        verdicts = judging(server, concurrency=6).ask(PAIRS[:8])
    assert [v.match for v in verdicts] == [-1] * 5 + [1] * 3


def replace_delay(reply, seconds):
    reply.delay = seconds
    return reply


def raw_server(serve):
    """A server below HTTP: `serve(connection)` in a thread for each connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener


def trickle(connection, head, drop):
    with connection, suppress(OSError):
        connection.recv(65536)
        connection.sendall(head)
        while True:
            connection.sendall(drop)
            time.sleep(0.02)


TRICKLES = {
    "status line": (b"", b"H"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
    "one header": (b"HTTP/1.1 200 OK\r\nx: ", b"y"),
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body": (b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", b" "),
    "body without an end": (b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", b" "),
    "length of a chunk": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"0"),
}


@pytest.mark.parametrize("name", TRICKLES)
def test_a_request_is_over_in_time_whatever_trickles_in(name):
    """Every byte comes in time; the whole never does."""
    with raw_server(lambda connection: trickle(connection, *TRICKLES[name])) as listener:
        settings = ModelSettings(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", "m")
        judge = LlmJudge(settings, timeout=0.15, backoff=0.001, concurrency=8)
        verdicts = judge.ask(PAIRS[:8])
        judge.close()
    assert {v.match for v in verdicts} == {-1}
    assert 16 <= judge.usage.requests <= 23  # two each in a row, and what was under way with the last of them


def test_a_handshake_is_over_in_time():
    """A server that accepts a connection and never answers its TLS."""
    with raw_server(lambda connection: trickle(connection, b"\x16\x03\x03\x40\x00", b"\x02")) as listener:
        settings = ModelSettings(f"https://127.0.0.1:{listener.getsockname()[1]}/v1", "m")
        judge = LlmJudge(settings, timeout=0.15, backoff=0.001)
        with pytest.raises(RetryLater, match=r"no answer within 1\.5 s"):
            judge._server.endpoint.post({})
        judge.close()


@pytest.mark.parametrize("served", [0, 3])
def test_a_server_that_only_hangs_is_asked_no_more(judging, cache, served):
    def script(exchange):
        return verdict(True) if exchange.number < served else Reply(delay=30)

    with ModelServer(script) as server:
        judge = judging(server, cache=cache, concurrency=3, timeout=0.1)
        verdicts = judge.ask(PAIRS)
        requests = len(server.log)
        assert [v.match for v in verdicts].count(1) == cache.info().entries == served
        undecided = [v for v in verdicts if v.match == -1]
        assert len(undecided) == len(PAIRS) - served
        # Eight in a row, and at most what was under way with the eighth; not eight for each of the pairs.
        assert served + 8 <= judge.usage.requests <= served + 10
        assert requests <= served + 10  # on a busy machine some were over before the server saw them
        assert {v.reason for v in undecided} == {"given up: no answer to 8 requests in a row within 0.1 s each"}
        [warning] = judge.warnings
        assert server.url in warning
        assert "asked no more" in warning
        assert "Check that it is running" in warning
        assert judge.ask(PAIRS[-1:])[0].reason.startswith("not asked: no answer to 8 requests")
        assert len(server.log) == requests


def test_a_server_that_answers_now_and_then_goes_on_being_asked(judging):
    def script(exchange):
        return verdict(True) if exchange.number % 6 == 5 else Reply(delay=30)

    with ModelServer(script) as server:
        judge = judging(server, concurrency=1, timeout=0.1)
        assert [v.match for v in judge.ask(PAIRS[:4])].count(1) >= 2
        assert judge.warnings == []
