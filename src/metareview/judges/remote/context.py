"""Detects questions and answers that did not fit into the model's context: what was cut must not count.

Some servers refuse a question that is too long. Others cut it, answer what is left, and tell it only by the number of
tokens that they read. That number has a lower bound: every run of letters is a token at least, in whatever vocabulary,
and a long one is several. Comments of code reviews come to 1.3 tokens per run and more (1.5 on average with a
vocabulary of 131,000 tokens, 1.7 with one of 32,000), so that a count below the bound means that a quarter or more of
the question is missing. A count that is a multiple of 1,024 is a context that is full to the brim, and already tells
where it is below 1.3 per run.
"""

from __future__ import annotations

import re

from metareview.judges.remote.answers import ChatReply, CutShort, JsonObject, parse
from metareview.judges.remote.pool import TooLong

LARGER = (
    "Give it a larger one: for Ollama OLLAMA_CONTEXT_LENGTH, or num_ctx in the model's file; for llama.cpp --ctx-size, "
    "which the slots of --parallel share"
)
_REFUSALS = frozenset({400, 413, 422, 500})
_TOO_LONG = re.compile(
    r"exceed_context_size|context_length_exceeded|context[ _](?:size|length|window)|n_ctx|prompt is too long"
    r"|too many tokens"
)
_WORDS = 300
_LETTERS = re.compile(r"[^\W\d_]+")
_IDEOGRAPHS = "\u2e80"  # the first of the scripts that do not space their words
_LONG_WORD, _LONG_FOREIGN_WORD, _LONG_IDEOGRAPHS = 20, 8, 4
"""As many letters as a single token may have: of ASCII, of other alphabets, of scripts without spaces."""
_LEAST_COUNT = 256
"""A count below is none of a whole context: some servers leave out what they had read before."""
_CONTEXT_STEP, _LEAST_CONTEXT = 1024, 2048
_PER_RUN = 1.3


def least_tokens(text: str) -> int:
    """A lower bound on the tokens of a text, in any vocabulary."""
    return sum(-(-len(run) // _longest_token(run)) for run in _LETTERS.findall(text))


def refusal(status: int, data: bytes) -> TooLong | None:
    """TooLong for a refusal because of the question's length, with the server's own numbers where it gives them."""
    if status not in _REFUSALS:
        return None
    value = parse(data)
    error = value.get("error", value) if isinstance(value, dict) else value
    fields = error if isinstance(error, dict) else {"message": error or data.decode("utf-8", "replace")}
    # No more of it: a server may repeat the question, and that may be about contexts.
    words = " ".join(str(fields.get(name))[:_WORDS] for name in ("type", "code", "message"))
    if not _TOO_LONG.search(words.lower()):
        return None
    sizes = [n for name in ("n_prompt_tokens", "n_ctx") if type(n := fields.get(name)) is int and 0 < n < 10**9]
    shown = f": {sizes[0]:,} tokens, where {sizes[1]:,} fit" if len(sizes) == 2 else ""
    return TooLong(f"the question is too long for the model's context (HTTP {status}{shown}). {LARGER}.")


def cut_question(body: JsonObject, reply: JsonObject) -> TooLong | None:
    """TooLong for a reply whose count of tokens shows that the server cut the question before it answered."""
    usage = reply.get("usage")
    read = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    if type(read) is not int or read < _LEAST_COUNT:
        return None
    least = sum(least_tokens(message["content"]) for message in body.get("messages", ()))
    full = read % _CONTEXT_STEP == 0 and read >= _LEAST_CONTEXT
    if read >= (_PER_RUN if full else 1) * least:
        return None
    return TooLong(
        f"the server cut the question: it read {read:,} tokens of {max(least, read + 1):,} or more, so its answer does "
        f"not count. Its context is too small. {LARGER}."
    )


def cut_answer(reply: JsonObject) -> CutShort | None:
    """CutShort for an answer that ended at the server's limit, unless it is complete JSON."""
    answer = ChatReply.of(reply)
    if answer.finish != "length" or isinstance(parse(answer.content), dict):
        return None
    return CutShort("the answer was cut at the server's limit on tokens (finish_reason length)")


def _longest_token(run: str) -> int:
    if run.isascii():
        return _LONG_WORD
    return _LONG_IDEOGRAPHS if max(run) >= _IDEOGRAPHS else _LONG_FOREIGN_WORD
