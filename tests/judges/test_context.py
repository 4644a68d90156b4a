"""What tells that a question or an answer was cut: counts of tokens, and a server's words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.judges.remote.context import cut_question, least_tokens, refusal


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("", 0),
        ("a b  c", 3),
        ("snake_case, camelCase(x1)", 4),  # snake, case, camelCase, x
        ("=====  ----- 12345", 0),  # some vocabularies have a token for such runs
        ("internationalization", 1),  # 20 letters
        ("internationalizations", 2),
        ("überprüfen", 2),  # 10 letters, of which one is not ASCII
        ("缓存键没有包含租户", 3),  # 9 ideographs
    ],
)
def test_the_fewest_tokens_of_a_text(text, least):
    assert least_tokens(text) == least


@given(st.text(), st.text())
def test_the_fewest_tokens_add_up_and_are_no_more_than_letters(one, other):
    assert least_tokens(f"{one} {other}") == least_tokens(one) + least_tokens(other)
    assert least_tokens(one) <= sum(letter.isalnum() for letter in one)


def question(words):
    return {"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "word " * words}]}


@pytest.mark.parametrize(
    ("words", "read", "cut"),
    [
        (998, 1000, False),
        (999, 1000, True),  # two more in the instructions
        (5000, 255, False),  # no count of a whole context
        (5000, 256, True),
        (1600, 2048, True),  # 1.28 per word in a context that is full
        (1600, 2049, False),
        (1570, 2048, False),  # 1.303
        (900, 1024, False),  # no context is so small
        (10, None, False),
        (5000, True, False),
        (5000, "300", False),
    ],
)
def test_a_count_of_tokens_that_cannot_be_of_the_whole_question(words, read, cut):
    reply = {"choices": [], "usage": {"prompt_tokens": read}}
    assert (cut_question(question(words), reply) is not None) == cut


def test_a_reply_without_usage_and_a_request_without_messages_tell_nothing():
    assert cut_question(question(5000), {"choices": []}) is None
    assert cut_question({"input": ["word " * 5000]}, {"data": [], "usage": {"prompt_tokens": 512}}) is None


@pytest.mark.parametrize(
    ("status", "body", "too_long"),
    [
        (400, {"error": {"type": "exceed_context_size_error", "message": "", "code": 400}}, True),
        (400, {"error": {"message": "This model's maximum context length is 8192 tokens."}}, True),
        (400, {"error": {"code": "context_length_exceeded"}}, True),
        (400, {"error": "input exceeds the context window"}, True),
        (500, "the request exceeds the available context size, try increasing it", True),
        (422, {"error": {"message": "prompt is too long: 9000 tokens"}}, True),
        (400, {"error": {"message": "invalid schema"}}, False),
        (503, {"error": {"message": "the context size is being changed"}}, False),
        # A server that repeats the question: what that is about says nothing.
        (422, {"error": {"message": "bad field", "input": "The context size is wrong"}}, False),
        (422, {"detail": [{"input": "The context size is wrong"}]}, False),
        (400, {"error": {"message": "bad field in " + "x" * 300 + " context size"}}, False),
        (400, b"\xff\xfe", False),
        (400, [1], False),
    ],
)
def test_refusals_that_are_for_the_length(status, body, too_long):
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    assert (refusal(status, data) is not None) == too_long


def test_numbers_of_a_refusal_are_shown_and_nothing_else_of_it():
    error = {"type": "exceed_context_size_error", "message": "sk-secret", "n_prompt_tokens": 9123, "n_ctx": 4096}
    reason = refusal(400, json.dumps({"error": error}).encode()).reason
    assert "(HTTP 400: 9,123 tokens, where 4,096 fit). Give it a larger one" in reason
    assert "sk-secret" not in reason
    error |= {"n_ctx": "4096"}
    assert refusal(400, json.dumps({"error": error}).encode()).reason.startswith(
        "the question is too long for the model's context (HTTP 400). Give it a larger one"
    )
