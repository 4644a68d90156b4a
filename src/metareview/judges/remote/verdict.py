"""What a model answered, read without guessing: a `ModelAnswer`, or `Malformed` with the reason why it is none.

An answer is the JSON object that was asked for, alone or in one code fence, behind thinking in one `<think>` block at
most. Whatever else stands beside it may take it back, or quote it from a note: then it does not count. Nor does one
that gives a key twice, or its verdict in more than one place, nor one that [a note holds](quotation.py), nor one that
repeats the code of another request: answers can be swapped on their way. A plain text
counts only if it *is* a yes or a no: "no, they are not the same" is malformed, not a yes because it contains "same" and
not a no because it begins with one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeGuard, TypeVar

from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED
from metareview.judges.remote.pool import RetryLater
from metareview.judges.remote.quotation import Quotable
from metareview.model.addressed import ADDRESSED_VERDICTS
from metareview.model.label import ISSUE_VERDICTS, IssueVerdict
from metareview.model.words import one_line

_THOUGHT = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*)```", re.DOTALL)
_AROUND_WORDS = " \t\n*_`\"'.!"
_TEXTS = {"yes": True, "no": False}
_ISSUE_WORDS: dict[str, bool] = {verdict: verdict != "invalid" for verdict in ISSUE_VERDICTS}
_REQUEST = "request"
_CONTRADICTS = "the answer contradicts itself"
QUOTES = "the answer is one that a note asks for"
JsonObject = dict[str, Any]
"""What a model server sent or the cache kept, as it was read; and what is about to be sent or kept."""
Shown = Callable[[str], str]
"""What may be shown and kept of a text that a model wrote."""


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


def read_answer(text: str, notes: Iterable[str] = (), shown: Shown = one_line, code: str | None = None) -> ModelAnswer:
    """The answer in what a model wrote about these notes; raises Malformed. `shown` is what may be kept of a reason,
    `code` that of the request."""
    found = answer_in(text, "match", Quotable(notes), _TEXTS, "a yes or no", code)
    if isinstance(found, str):
        return ModelAnswer(_TEXTS[found], 1.0, f"The model answered only: {found}.")
    return check_answer(found, shown)


def read_issue_answer(
    text: str, notes: Iterable[str] = (), shown: Shown = one_line, code: str | None = None
) -> IssueAnswer:
    """The verdict on an unlisted issue in what a model wrote; raises Malformed."""
    found = answer_in(text, "verdict", Quotable(notes), _ISSUE_WORDS, "a verdict", code)
    if isinstance(found, str):
        found = {"verdict": found, "reason": f"The model answered only: {found}."}
    return check_issue_answer(found, shown)


def read_addressed_answer(
    text: str, notes: Iterable[str] = (), shown: Shown = one_line, code: str | None = None
) -> AddressedAnswer:
    """The verdict on what became of a comment in what a model wrote; raises Malformed. A lone word is none: "not" may
    be the beginning of anything."""
    return check_addressed_answer(answer_in(text, "verdict", Quotable(notes), {}, "a verdict", code), shown)


def answer_in(
    text: str, key: str, notes: Quotable, words: Mapping[str, bool], in_words: str, code: str | None = None
) -> JsonObject | str:
    """The object that holds the answer under `key`, without the code of the request, or the one of these words that is
    all of it.

    A word is given with whether a comment gains by it: then it does not count where a note says it. An object without
    a code counts: a server that ignores the schema may leave it out.
    """
    value = _value_of(_unfenced(text.strip()))
    if not isinstance(value, dict):
        text = _unfenced(_without_thinking(text, notes))
        if not text:
            raise Malformed("the answer is empty")
        word = text.strip(_AROUND_WORDS).lower()
        if word in words:
            if words[word] and notes.says(word):
                raise Malformed(QUOTES)
            return word
        value = _value_of(text)
    if value is None:
        alone = "the answer is not the JSON asked for and nothing else"
        raise Malformed(alone if "{" in text else f"the answer is neither the JSON asked for nor {in_words}")
    if not isinstance(value, dict):
        raise Malformed("the answer is JSON, but no object")
    if len(list(islice(_given(value, key), 2))) > 1:
        raise Malformed(_CONTRADICTS)
    repeated = value.pop(_REQUEST, code)
    if code is not None and repeated != code:
        raise Malformed("the answer carries the code of another request")
    if notes.holds(value):  # without the code, which no note can hold
        raise Malformed(QUOTES)
    return value


def _without_thinking(text: str, notes: Quotable) -> str:
    """What stands behind the thinking. Some chat templates swallow the tag that opens it; where a note holds such a
    tag, a lone one may be a quotation."""
    text = text.strip()
    tags = list(islice(_THOUGHT.finditer(text), 3))
    ends = [bool(tag[1]) for tag in tags]
    if not tags:
        return text
    if ends[-1] is False:
        raise Malformed("the answer ends inside its thinking")
    swallowed = ends == [True] and not notes.find(_THOUGHT)
    if swallowed or (ends == [False, True] and tags[0].start() == 0):
        return text[tags[-1].end() :].strip()
    raise Malformed("the answer has more tags than those around its thinking")


def _unfenced(text: str) -> str:
    fenced = _FENCED.fullmatch(text)
    return fenced[1].strip() if fenced else text


def is_confidence(value: object) -> TypeGuard[float]:
    """Whether it is a number from 0 to 1."""
    return not isinstance(value, bool) and isinstance(value, (int, float)) and 0 <= value <= 1


def check_answer(value: object, shown: Shown = one_line) -> ModelAnswer:
    """The three fields, if they are what was asked for; raises Malformed. A missing reason is forgiven."""
    if not isinstance(value, dict):
        raise Malformed("the answer is JSON, but no object")
    match, confidence, reason = value.get("match"), value.get("confidence"), value.get("reason", "")
    if not isinstance(match, bool):
        raise Malformed('the answer\'s "match" is neither true nor false')
    if not is_confidence(confidence):
        raise Malformed('the answer\'s "confidence" is no number from 0 to 1')
    return ModelAnswer(match, float(confidence), shown(str(reason or "")))


def check_issue_answer(value: object, shown: Shown = one_line) -> IssueAnswer:
    """The two fields, if they are what was asked for; raises Malformed. A missing reason is forgiven."""
    return IssueAnswer(*_one_of(ISSUE_VERDICTS, value, shown))


def check_addressed_answer(value: object, shown: Shown = one_line) -> AddressedAnswer:
    """The same of what became of a comment."""
    return AddressedAnswer(*_one_of(ADDRESSED_VERDICTS, value, shown))


Word = TypeVar("Word", bound=str)


def _one_of(verdicts: Sequence[Word], value: object, shown: Shown) -> tuple[Word, str]:
    """The verdict, which must be one of these, and the reason."""
    if not isinstance(value, dict):
        raise Malformed("the answer is JSON, but no object")
    said = value.get("verdict")
    verdict = next((each for each in verdicts if each == said), None)
    if verdict is None:
        raise Malformed(f'the answer\'s "verdict" is none of {", ".join(verdicts)}')
    return verdict, shown(str(value.get("reason") or ""))


def parse(text: str | bytes) -> object:
    """What the JSON says; None where it is none, or gives a key twice with different values."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    value = dict(pairs)
    if len(value) < len(pairs) and any(_differ(value[name], each) for name, each in pairs):
        raise ValueError("a key twice")
    return value


def _differ(one: object, other: object) -> bool:
    return json.dumps(one) != json.dumps(other)  # 1, 1.0 and true are equal in Python


def _value_of(text: str) -> object:
    """What an answer says, if it is JSON; raises Malformed where it gives a key twice."""
    try:
        return json.loads(text, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError):
        return None


def _each_key_once(pairs: list[tuple[str, object]]) -> JsonObject:
    if len(value := dict(pairs)) < len(pairs):
        raise Malformed(_CONTRADICTS)
    return value


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
