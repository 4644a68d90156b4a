"""What every judge is asked and what it answers. A judge decides on meaning alone; place was asked before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

SAME, DIFFERENT, UNDECIDED = 1, 0, -1
LONG_NOTE, JUDGED_LENGTH = 100_000, 20_000


def judged_part(note: str) -> str:
    """What a judge reads of a note: all of it, or the first 20,000 characters of one over 100,000."""
    return note if len(note) <= LONG_NOTE else note[:JUDGED_LENGTH]


@dataclass(frozen=True, slots=True)
class Question:
    """One reviewer's notes on one pull request, the references there, and the pairs to decide.

    All notes are given, also those in no pair: they are the rivals that a pair can stand out from.
    """

    generated: Sequence[str]
    reference: Sequence[str]
    pairs: NDArray[np.int64]
    """Shape (n, 2): position in `generated`, position in `reference`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdicts on one question's pairs, in their order."""

    score: NDArray[np.float64]
    """In 0..1; NaN where undecided."""
    match: NDArray[np.int8]
    """SAME, DIFFERENT or UNDECIDED. An undecided pair is an error, never a mismatch."""
    reason: Sequence[str] | str = ""
    """One a pair, or one for all of them."""
    by: Sequence[str] | str = "judge"
    """Who decided: judge, model, cache or label; one a pair, or one for all."""


@dataclass(slots=True)
class Usage:
    """What judging has cost so far."""

    pairs: int = 0
    llm_calls: int = 0
    cached: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@runtime_checkable
class Judge(Protocol):
    name: str
    threshold: float | None = None
    parameters: Mapping[str, object] = {}

    def judge(self, questions: Sequence[Question]) -> Sequence[Answer]: ...


@runtime_checkable
class ModelJudge(Judge, Protocol):
    progress: Callable[[int, int], None] | None

    @property
    def usage(self) -> Usage: ...
    @property
    def warnings(self) -> Sequence[str]: ...
    def planned_calls(self, questions: Sequence[Question]) -> int: ...
