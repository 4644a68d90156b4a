"""What a model answered, read without guessing: a `ModelAnswer`, or `Malformed` with the reason why it is none.

An answer is the JSON object that was asked for. Around it, thinking in `<think>` blocks, a code fence and prose before
or after are tolerated. A plain text counts only if it *is* a yes or a no: "no, they are not the same" is malformed,
not a yes because it contains "same" and not a no because it begins with one.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED
from metareview.judges.remote.pool import RetryLater

_REASON_LENGTH = 1_000
_MOST_OBJECTS = 100
_THOUGHT_START = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_TEXTS = {"yes": True, "no": False}
_DECODER = json.JSONDecoder()


class Malformed(RetryLater):
    """An answer that holds no verdict, so that it is asked for again. The reason is safe to show."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the model was asked for, checked. The cache keeps these three fields."""

    match: bool
    confidence: float
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
    value = parse(text)
    if isinstance(value, dict):
        return check_answer(value)
    # Only the tag that closes the thinking counts: some chat templates swallow the opening one.
    text = _THOUGHT_END.split(text)[-1].strip()
    if _THOUGHT_START.search(text):
        raise Malformed("the answer ends inside its thinking")
    if not text:
        raise Malformed("the answer is empty")
    fenced = _FENCED.findall(text)
    if len(fenced) == 1 and (text.startswith("```") or text.endswith("```")):
        text = fenced[0].strip()
    word = text.strip(" \t\n*_`\"'.!").lower()
    if word in _TEXTS:
        return ModelAnswer(_TEXTS[word], 1.0, f"The model answered only: {word}.")
    value = parse(text)
    return check_answer(_object_in(text) if value is None else value)


def check_answer(value: object) -> ModelAnswer:
    """The three fields, if they are what was asked for; raises Malformed. A missing reason is forgiven."""
    if not isinstance(value, dict):
        raise Malformed("the answer is JSON, but no object")
    match, confidence, reason = value.get("match"), value.get("confidence"), value.get("reason", "")
    if not isinstance(match, bool):
        raise Malformed('the answer\'s "match" is neither true nor false')
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
        raise Malformed('the answer\'s "confidence" is no number from 0 to 1')
    return ModelAnswer(match, float(confidence), one_line(str(reason or "")))


def one_line(text: str, length: int = _REASON_LENGTH) -> str:
    """A stranger's text, fit for a terminal and UTF-8: one line, no control characters, not endless."""
    text = text[: 4 * length].encode("utf-8", "replace").decode()
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= length else text[: length - 1] + "…"


def parse(text: str | bytes) -> object:
    """What the JSON says; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _object_in(text: str) -> object:
    """The verdict object that `text` starts or ends with. Two with different verdicts are none."""
    objects: list[tuple[int, int, dict[object, object]]] = []
    start = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, end = None, start + 1
        if isinstance(value, dict) and "match" in value:
            objects.append((start, end, value))
        start = text.find("{", end)
    if len({json.dumps(value["match"]) for _, _, value in objects}) > 1:
        raise Malformed("the answer holds two verdicts that differ")
    for start, end, value in objects:
        if start == 0 or end == len(text):
            return value
    raise Malformed("the answer is neither the JSON asked for nor a yes or no")
