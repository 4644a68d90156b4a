"""What a model answered, read without guessing: a `ModelAnswer`, or `Malformed` with the reason why it is none.

An answer is the JSON object that was asked for. Around it, thinking in `<think>` blocks, a code fence and prose before
or after are tolerated. A plain text counts only if it *is* a yes or a no: "no, they are not the same" is malformed,
not a yes because it contains "same" and not a no because it begins with one. So is an answer that contradicts itself,
by a key that it gives twice with different values, by two objects, or by one inside another.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED
from metareview.judges.remote.pool import RetryLater
from metareview.model.addressed import ADDRESSED_VERDICTS
from metareview.model.label import ISSUE_VERDICTS, IssueVerdict
from metareview.model.words import one_line

_MOST_OBJECTS = 100
_THOUGHT_START = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_TEXTS = {"yes": True, "no": False}
_CONTRADICTS = "the answer contradicts itself"
JsonObject = dict[str, Any]
"""What a model server sent or the cache kept, as it was read; and what is about to be sent or kept."""


class Malformed(RetryLater):
    """An answer that holds no verdict, so that it is asked for again. The reason is safe to show."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the model was asked for, checked. The cache keeps these three fields."""

    match: bool
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class IssueAnswer:
    """What a model says of an unlisted issue, checked. The cache keeps these two fields."""

    verdict: IssueVerdict
    reason: str


@dataclass(frozen=True, slots=True)
class AddressedAnswer:
    """What a model says of what became of a comment, checked. The cache keeps these two fields."""

    verdict: str
    """One of `ADDRESSED_VERDICTS`."""
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a pair comes to. The score is the probability of a match: a confidence c in "no" is 1 - c."""

    match: int
    score: float
    reason: str = ""
    by: str = "model"

    @classmethod
    def undecided(cls, reason: str) -> Verdict:
        return cls(UNDECIDED, math.nan, reason)

    @classmethod
    def of(cls, answer: ModelAnswer, threshold: float | None = None, by: str = "model") -> Verdict:
        """A threshold replaces the model's own `match`."""
        score = answer.confidence if answer.match else 1.0 - answer.confidence
        match = answer.match if threshold is None else score >= threshold
        return cls(SAME if match else DIFFERENT, score, answer.reason, by)


def read_answer(text: str) -> ModelAnswer:
    """The answer in what a model wrote; raises Malformed."""
    found = answer_in(text, "match", _TEXTS, "a yes or no")
    if isinstance(found, str) and found in _TEXTS:
        return ModelAnswer(_TEXTS[found], 1.0, f"The model answered only: {found}.")
    return check_answer(found)


def read_issue_answer(text: str) -> IssueAnswer:
    """The verdict on an unlisted issue in what a model wrote; raises Malformed."""
    found = answer_in(text, "verdict", ISSUE_VERDICTS, "a verdict")
    if isinstance(found, str):
        found = {"verdict": found, "reason": f"The model answered only: {one_line(found)}."}
    return check_issue_answer(found)


def read_addressed_answer(text: str) -> AddressedAnswer:
    """The verdict on what became of a comment in what a model wrote; raises Malformed. A lone word is none: "not" may
    be the beginning of anything."""
    return check_addressed_answer(answer_in(text, "verdict", (), "a verdict"))


def answer_in(text: str, key: str, words: Collection[str], in_words: str) -> object:
    """The JSON value that holds the answer under `key`, or the one of these words that is all of it."""
    value = parse(text)
    if isinstance(value, dict):
        return _consistent([value], key)
    # Only the tag that closes the thinking counts: some chat templates swallow the opening one.
    text = _THOUGHT_END.split(text)[-1].strip()
    if _THOUGHT_START.search(text):
        raise Malformed("the answer ends inside its thinking")
    if not text:
        raise Malformed("the answer is empty")
    objects = _objects_in(text, key)
    _consistent([value for _, _, value in objects], key)
    fenced = _FENCED.findall(text)
    inner = text
    if len(fenced) == 1 and (text.startswith("```") or text.endswith("```")):
        inner = fenced[0].strip()
    word = inner.strip(" \t\n*_`\"'.!").lower()
    if word in words and not objects:
        return word
    value = parse(inner)
    if value is not None:
        return value
    for start, end, found in objects if inner is text else _objects_in(inner, key):
        if start == 0 or end == len(inner):
            return found
    raise Malformed(f"the answer is neither the JSON asked for nor {in_words}")


def is_confidence(value: object) -> TypeGuard[float]:
    """Whether it is a number from 0 to 1."""
    return not isinstance(value, bool) and isinstance(value, (int, float)) and 0 <= value <= 1


def check_answer(value: object) -> ModelAnswer:
    """The three fields, if they are what was asked for; raises Malformed. A missing reason is forgiven."""
    if not isinstance(value, dict):
        raise Malformed("the answer is JSON, but no object")
    match, confidence, reason = value.get("match"), value.get("confidence"), value.get("reason", "")
    if not isinstance(match, bool):
        raise Malformed('the answer\'s "match" is neither true nor false')
    if not is_confidence(confidence):
        raise Malformed('the answer\'s "confidence" is no number from 0 to 1')
    return ModelAnswer(match, float(confidence), one_line(str(reason or "")))


def check_issue_answer(value: object) -> IssueAnswer:
    """The two fields, if they are what was asked for; raises Malformed. A missing reason is forgiven."""
    return IssueAnswer(*_one_of(ISSUE_VERDICTS, value))


def check_addressed_answer(value: object) -> AddressedAnswer:
    """The same of what became of a comment."""
    return AddressedAnswer(*_one_of(ADDRESSED_VERDICTS, value))


Word = TypeVar("Word", bound=str)


def _one_of(verdicts: Sequence[Word], value: object) -> tuple[Word, str]:
    """The verdict, which must be one of these, and the reason."""
    if not isinstance(value, dict):
        raise Malformed("the answer is JSON, but no object")
    said = value.get("verdict")
    verdict = next((each for each in verdicts if each == said), None)
    if verdict is None:
        raise Malformed(f'the answer\'s "verdict" is none of {", ".join(verdicts)}')
    return verdict, one_line(str(value.get("reason") or ""))


def parse(text: str | bytes) -> object:
    """What the JSON says; None where it is none, or gives a key twice with different values."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None


class _Contradiction(ValueError):
    pass


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    value = dict(pairs)
    if len(value) < len(pairs) and any(_differ(value[name], each) for name, each in pairs):
        raise _Contradiction
    return value


def _differ(one: object, other: object) -> bool:
    return json.dumps(one) != json.dumps(other)  # 1, 1.0 and true are equal in Python


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _objects_in(text: str, key: str) -> list[tuple[int, int, JsonObject]]:
    """The objects in a text that hold a verdict, with where each starts and ends."""
    objects: list[tuple[int, int, JsonObject]] = []
    start = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            return objects
        try:
            value, end = _DECODER.raw_decode(text, start)
        except _Contradiction:
            raise Malformed(_CONTRADICTS) from None
        except (ValueError, RecursionError):
            value, end = None, start + 1
        if isinstance(value, dict) and any(True for _ in _given(value, key)):
            objects.append((start, end, value))
        start = text.find("{", end)
    if start >= 0:
        raise Malformed("the answer holds more than a verdict")
    return objects


def _consistent(values: list[JsonObject], key: str) -> JsonObject:
    """The first, if all verdicts in them, at whatever depth, say the same; raises Malformed."""
    if len({_kind(match) for value in values for match in _given(value, key)}) > 1:
        raise Malformed(_CONTRADICTS)
    return values[0] if values else {}


def _kind(match: object) -> tuple[str, object]:
    if isinstance(match, list):  # the matches of a list question: two of them say the same only if they are equal
        try:
            return "list", json.dumps(match)
        except RecursionError:
            raise Malformed("the answer holds more than a verdict") from None
    return type(match).__name__, match if isinstance(match, (bool, int, float, str)) else None


def _given(value: object, key: str) -> Iterator[object]:
    """What is given under a key, such as `match`, anywhere in a value."""
    inside = [value]
    while inside:
        value = inside.pop()
        if isinstance(value, dict):
            yield from (each for name, each in value.items() if name.strip().lower() == key)
            inside += value.values()
        elif isinstance(value, list):
            inside += value
