"""What a judge may cost: every request counts, answers that nothing can be made of have an end, and no number that a
server names is too large."""

import json

import pytest

from metareview.http.connections import Unreachable
from metareview.http.secret import Secret
from metareview.judges.remote.addressed import AddressedModel, AddressedQuestion
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.embedding import EmbeddingJudge
from metareview.judges.remote.llm import LlmJudge
from metareview.judges.remote.settings import ModelSettings
from metareview.model.comment import Comment
from model_server import KEY, ModelServer, Reply, always, chat, error, matches, verdict
from remote_judges import question

PAIRS = [(f"generated {i}", f"reference {i}") for i in range(60)]
PROSE = "They look the same to me."


def vectors(exchange):
    return Reply(body={"data": [{"embedding": [1.0, len(text)]} for text in exchange.body["input"]]})


# Answers that nothing can be made of


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_model_none_of_whose_answers_can_be_used_is_asked_no_more(judging, cache, concurrency):
    with ModelServer(lambda exchange: chat(PROSE)) as server:
        judge = judging(server, cache=cache, concurrency=concurrency)
        verdicts = judge.ask(PAIRS)
        assert 24 <= len(server.log) < 24 + concurrency  # not eight for each of the 60 pairs
        assert len({exchange.notes for exchange in server.log}) >= 20  # many pairs once, not a few again and again
        assert {v.match for v in verdicts} == {-1}
        assert {v.reason for v in verdicts} == {
            "given up: none of 24 answers could be used (the answer is neither the JSON asked for nor a yes or no)"
        }
        [warning] = judge.warnings
        assert f'"{PROSE}"' in warning
        assert "test-model" in warning
        assert "asked no more" in warning
        asked = len(server.log)
        assert judge.ask([("another", "pair")])[0].reason.startswith("given up: none of 24 answers could be used")
        assert len(server.log) == asked
        server.script = lambda exchange: verdict(True)
        assert {v.match for v in judging(server, cache=cache).ask(PAIRS)} == {1}  # the next run asks about all


def test_one_answer_that_can_be_used_is_enough_to_go_on(judging):
    with ModelServer(lambda exchange: verdict(True) if exchange.notes == PAIRS[17] else chat(PROSE)) as server:
        judge = judging(server, concurrency=1)
        assert [v.match for v in judge.ask(PAIRS[:30])].count(1) == 1
    assert len(server.log) == 29 * 8 + 1
    assert judge.warnings == []


def test_a_few_hopeless_pairs_do_not_keep_the_others_from_being_asked(judging):
    """However long the pauses are in comparison to an answer."""
    with ModelServer(lambda exchange: chat(PROSE) if exchange.notes in PAIRS[:5] else verdict(True)) as server:
        judge = judging(server, concurrency=1, backoff=1e-9)
        assert [v.match for v in judge.ask(PAIRS[:8])] == [-1] * 5 + [1] * 3


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (lambda: Reply(body="<html>Welcome</html>"), "the reply is no JSON object"),
        (lambda: Reply(body={}), "the reply has no choices"),
        (lambda: chat(""), "the answer is empty"),
        (lambda: chat(None), "the answer is empty"),
        (lambda: chat("<think>hm"), "the answer ends inside its thinking"),
    ],
)
def test_whatever_cannot_be_used_has_an_end(judging, reply, said):
    with ModelServer(lambda exchange: reply()) as server:
        judge = judging(server, concurrency=4)
        verdicts = judge.ask(PAIRS)
    assert len(server.log) < 24 + 4
    assert all(said in v.reason for v in verdicts)
    assert said in judge.warnings[-1]


def test_an_error_of_the_server_is_no_answer_of_the_model(judging):
    """A gateway may tell of a passing problem in a 200."""
    with ModelServer(lambda exchange: Reply(body={"error": {"message": "upstream is down"}})) as server:
        judge = judging(server)
        assert {v.reason for v in judge.ask(PAIRS[:10])} == {
            "undecided after 8 attempts: the reply has an error and no choices"
        }
    assert len(server.log) == 80
    assert judge.warnings == []


def test_the_excerpt_is_short_on_one_line_and_without_the_key(judging):
    with ModelServer(lambda exchange: chat("Well,\n\x1b[31m" + "x" * 100_000)) as server:
        judge = judging(server)
        judge.ask(PAIRS)
    [warning] = judge.warnings
    assert '"Well, [31mxxx' in warning
    assert len(warning) < 700
    with ModelServer(lambda exchange: chat(f"My key is {KEY[:-3]}")) as server:
        judge = judging(server)
        judge.ask(PAIRS)
    assert "My key" not in judge.warnings[0]
    assert KEY[3:] not in judge.warnings[0]


def test_lists_and_comments_have_the_same_end(judging):
    questions = [question([f"a {i}", f"b {i}", f"c {i}"], [f"x {i}", f"y {i}"]) for i in range(20)]
    with ModelServer(lambda exchange: chat(PROSE)) as server:
        judge = judging(server, ask="review", concurrency=4)
        answers = judge.judge(questions)
        assert {int(match) for answer in answers for match in answer.match} == {-1}
        assert len(server.log) < 24 + 4
        assert PROSE in judge.warnings[0]
    with (
        ModelServer(lambda exchange: chat(PROSE)) as server,
        AddressedModel(server.settings(), concurrency=4, backoff=0.001) as model,
    ):
        told = model.ask([AddressedQuestion.of(Comment(f"comment {i}", "a.py"), "code", "change") for i in range(60)])
        assert {each.verdict for each in told} == {None}
        assert len(server.log) < 24 + 4
        assert PROSE in model.warnings[0]


def test_vectors_that_are_none_have_the_same_end(judging):
    with ModelServer(lambda exchange: Reply(body={"data": [{"embedding": "no"}]})) as server:
        judge = judging(server, EmbeddingJudge, concurrency=2)
        judge.prompt.batch = 4
        verdicts = judge.ask(PAIRS)
        assert len(server.log) < 24 + 2
        assert "none of 24 answers could be used" in verdicts[0].reason
        assert "vectors missing or unusable" in judge.warnings[0]


# Every request counts


def test_the_limit_is_on_requests_repeated_ones_included(judging, cache):
    seen = set()

    def second_time_lucky(exchange):
        first = exchange.notes not in seen
        seen.add(exchange.notes)
        return error(500) if first else verdict(True)

    with ModelServer(second_time_lucky) as server:
        judge = judging(server, cache=cache, max_calls=11, concurrency=1)
        verdicts = judge.ask(PAIRS[:20])
        assert len(server.log) == judge.usage.requests == 11
        assert [v.match for v in verdicts].count(1) == cache.info().entries < 11
        reasons = {v.reason for v in verdicts if v.match == -1}
        assert reasons <= {
            "not asked: the limit of 11 model calls was reached",
            "not asked again: the limit of 11 model calls was reached",
        }
        assert len(reasons) == 2
        assert any("11 requests" in warning for warning in judge.warnings)
        judge.ask(PAIRS[:20])
        assert len(server.log) == 11


def test_what_is_sent_again_without_a_field_counts_too(judging):
    def script(exchange):
        return error(400, "response_format is not known") if "response_format" in exchange.body else verdict(True)

    with ModelServer(script) as server:
        judge = judging(server, max_calls=6, concurrency=1)
        verdicts = judge.ask(PAIRS[:10])
    assert len(server.log) == judge.usage.requests == 6
    assert [v.match for v in verdicts] == [1] * 5 + [-1] * 5


def test_the_limit_holds_for_lists_and_vectors(judging):
    questions = [question([f"a {i}", f"b {i}"], [f"x {i}"]) for i in range(9)]
    with ModelServer(lambda exchange: error(500) if exchange.number % 2 else matches((0, 0))) as server:
        judge = judging(server, ask="review", max_calls=7)
        judge.judge(questions)
        assert len(server.log) == judge.usage.requests == 7
    with ModelServer(lambda exchange: error(500) if exchange.number % 2 else vectors(exchange)) as server:
        judge = judging(server, EmbeddingJudge, max_calls=3)
        judge.prompt.batch = 4
        judge.ask(PAIRS)
        assert len(server.log) == judge.usage.requests == 3


def test_what_never_reached_the_server_does_not_count(judging):
    """The limit is on what is paid for."""
    with ModelServer(always(True)) as server:
        judge = judging(server, max_calls=2, concurrency=1)
        exchange, failures = judge._server.endpoint._connections.exchange, iter([True, True, False, False])

        def unreachable_twice(*arguments, **options):
            if next(failures):
                raise Unreachable("no connection: refused")
            return exchange(*arguments, **options)

        judge._server.endpoint._connections.exchange = unreachable_twice
        assert [v.match for v in judge.ask(PAIRS[:3])] == [1, 1, -1]
    assert len(server.log) == judge.usage.requests == 2


# Numbers that a server names

ODD = ["1e400", "-1e400", "1" + "0" * 400, "-1" + "0" * 400, "NaN", '"many"', "[1, 2]", "{}", "null", "true", "1.5",
       "9223372036854775808", "999999999999"]  # fmt: skip


@pytest.mark.parametrize("number", ODD)
def test_a_count_of_tokens_may_be_anything(judging, cache, number):
    reply = verdict(True)
    reply.body["usage"] = {"prompt_tokens": "N", "completion_tokens": "N"}
    body = json.dumps(reply.body).replace('"N"', number)
    with ModelServer(lambda exchange: Reply(body=body)) as server:
        judge = judging(server, cache=cache)
        assert {v.match for v in judge.ask(PAIRS[:3])} == {1}
    assert 0 <= judge.usage.prompt_tokens < 2**63
    json.dumps(judge.usage.prompt_tokens + judge.usage.completion_tokens, allow_nan=False)


@pytest.mark.parametrize("header", ["1e400", "9" * 400, "-9", "nan", "[]", f"Fri, 31 Dec {'9' * 20} 23:59:59 GMT"])
def test_a_retry_after_may_be_anything(judging, header):
    replies = iter([error(429, "slow down", retry_after=header)] + [verdict(True)] * 9)
    with ModelServer(lambda exchange: next(replies)) as server:
        [found] = judging(server).ask(PAIRS[:1])
    if header in ("1e400", "9" * 400):
        assert found.reason == "the server wants to be left alone for more than a week: HTTP 429"
    else:
        assert found.match == 1


def test_a_key_is_not_needed_for_an_excerpt():
    with ModelServer(lambda exchange: chat(PROSE)) as server:
        judge = LlmJudge(ModelSettings(server.url, "m", Secret("")), cache=VerdictCache(":memory:"), backoff=0.001)
        judge.ask(PAIRS)
        assert PROSE in judge.warnings[0]
