"""Parses what a model answered, without guessing: an answer, or `Malformed` with the reason why it is none.

An answer is the JSON object that was asked for, alone or in one code fence, behind thinking in one `<think>` block at
most. Text beside it may take it back or quote it from a note, so such an answer does not count. Nor does one that gives
a key twice, or its verdict in more than one place, nor one that only [echoes a note](echoed_notes.py), nor one with the
code of another request: answers can be swapped on their way. Plain text counts only if it *is* one of the words asked
for: "no, they are not the same" is malformed, neither a yes because it contains "same" nor a no because it begins so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeGuard

from metareview.judges.remote.echoed_notes import EchoedNotes

_THOUGHT = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*)```", re.DOTALL)
_AROUND_WORDS = " \t\n*_`\"'.!"
_REQUEST = "request"
_CONTRADICTS = "the answer contradicts itself"
ECHOES = "the answer is one that a note asks for"
JsonObject = dict[str, Any]
"""JSON as a model server sent it or the cache kept it; and what is about to be sent or kept."""
Redact = Callable[[str], str]
"""Makes a text that a model wrote safe to show and keep."""


class Malformed(Exception):
    """The reply holds no answer. The reason is safe to show."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CutShort(Malformed):
    """The answer ended at the server's limit on tokens. A model that means the same each time will do so again."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The first choice of a chat completion, as far as it has the form of one."""

    content: str = ""
    """The text that the model wrote, its parts joined; empty where there is none."""
    finish: object = None
    """The reason why it ended there."""
    declined: bool = False

    @classmethod
    def of(cls, reply: JsonObject) -> ChatReply:
        choices = reply.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        choice = choice if isinstance(choice, dict) else {}
        message = choice.get("message")
        message = message if isinstance(message, dict) else {}
        content = message.get("content")
        if isinstance(content, list):
            texts: Iterable[object] = (part.get("text") for part in content if isinstance(part, dict))
            content = "".join(text for text in texts if isinstance(text, str))
        content = content if isinstance(content, str) else ""
        return cls(content, choice.get("finish_reason"), not content and isinstance(message.get("refusal"), str))


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """A model's checked verdict on a pair. The cache keeps these three fields."""

    match: bool
    confidence: float
    reason: str


def answer_in(
    text: str, key: str, notes: EchoedNotes, words: Mapping[str, bool], in_words: str, code: str | None = None
) -> JsonObject | str:
    """The object with the answer under `key`, less the code of the request; or the one of `words` that is all of it.

    An object without a code counts: a server that ignores the schema may leave it out. `in_words` names the words.
    """
    value = _value_of(_unfenced(text.strip()))
    if not isinstance(value, dict):
        text = _unfenced(_without_thinking(text, notes))
        if not text:
            raise Malformed("the answer is empty")
        word = text.strip(_AROUND_WORDS).lower()
        if word in words:
            if words[word] and notes.contain_word(word):
                raise Malformed(ECHOES)
            return word
        value = _value_of(text)
    if value is None:
        alone = "the answer is not the JSON asked for and nothing else"
        raise Malformed(alone if "{" in text else f"the answer is neither the JSON asked for nor {in_words}")
    if not isinstance(value, dict):
        raise Malformed("the answer is JSON, but no object")
    if len(list(islice(_values_under(value, key), 2))) > 1:
        raise Malformed(_CONTRADICTS)
    repeated = value.pop(_REQUEST, code)
    if code is not None and repeated != code:
        raise Malformed("the answer carries the code of another request")
    if notes.contain(value):  # without the code, which no note can hold
        raise Malformed(ECHOES)
    return value


def is_confidence(value: object) -> TypeGuard[float]:
    """True for a number from 0 to 1."""
    return not isinstance(value, bool) and isinstance(value, (int, float)) and 0 <= value <= 1


def parse(text: str | bytes) -> object:
    """Parsed JSON; None where it is invalid, or gives a key twice with different values."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None


def _without_thinking(text: str, notes: EchoedNotes) -> str:
    """The text behind the thinking. Some chat templates swallow the opening tag; where a note holds such a tag, a lone
    one may be a quotation."""
    text = text.strip()
    tags = list(islice(_THOUGHT.finditer(text), 3))
    ends = [bool(tag[1]) for tag in tags]
    if not tags:
        return text
    if ends[-1] is False:
        raise Malformed("the answer ends inside its thinking")
    swallowed = ends == [True] and not notes.match(_THOUGHT)
    if swallowed or (ends == [False, True] and tags[0].start() == 0):
        return text[tags[-1].end() :].strip()
    raise Malformed("the answer has more tags than those around its thinking")


def _unfenced(text: str) -> str:
    fenced = _FENCED.fullmatch(text)
    return fenced[1].strip() if fenced else text


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    value = dict(pairs)
    if len(value) < len(pairs) and any(_differ(value[name], each) for name, each in pairs):
        raise ValueError("a key twice")
    return value


def _differ(one: object, other: object) -> bool:
    return json.dumps(one) != json.dumps(other)  # 1, 1.0 and true are equal in Python


def _value_of(text: str) -> object:
    """Parsed JSON, None where it is invalid; raises Malformed where it gives a key twice."""
    try:
        return json.loads(text, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError):
        return None


def _each_key_once(pairs: list[tuple[str, object]]) -> JsonObject:
    if len(value := dict(pairs)) < len(pairs):
        raise Malformed(_CONTRADICTS)
    return value


def _values_under(value: object, key: str) -> Iterator[object]:
    """All values under a key, such as `match`, anywhere in a value."""
    inside = [value]
    while inside:
        value = inside.pop()
        if isinstance(value, dict):
            yield from (each for name, each in value.items() if name.strip().lower() == key)
            inside += value.values()
        elif isinstance(value, list):
            inside += value
