"""The verdict on a pair, and answers made of such: from all verdicts, or with those of some pairs replaced."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer


class PairVerdict(NamedTuple):
    """The verdict on a pair. The score is the probability of a match; NaN where undecided."""

    match: int
    score: float
    reason: str = ""
    by: str = "model"

    @classmethod
    def undecided(cls, reason: str, by: str = "model") -> PairVerdict:
        return cls(UNDECIDED, math.nan, reason, by)

    @classmethod
    def of_score(cls, score: float, threshold: float, reason: str, by: str) -> PairVerdict:
        return cls(SAME if score >= threshold else DIFFERENT, score, reason, by)


def answer_of(verdicts: Iterable[PairVerdict]) -> Answer:
    """The answer with these verdicts, in their order."""
    columns = list(zip(*verdicts, strict=True)) or [(), (), (), ()]
    match, score, reason, by = columns
    return Answer(np.array(score, np.float64), np.array(match, np.int8), list(reason), list(by))


def undecided(count: int) -> Answer:
    """An answer without a verdict on any of so many pairs."""
    return Answer(np.full(count, np.nan), np.full(count, UNDECIDED, np.int8))


def with_rows(answer: Answer, rows: Sequence[int] | NDArray[np.int64], part: Answer) -> Answer:
    """A copy in which these pairs have the verdicts of `part`, in its order."""
    score, match = np.array(answer.score, np.float64), np.array(answer.match, np.int8)
    score[rows], match[rows] = part.score, part.match
    reason, by = one_per_pair(answer.reason, len(match)), one_per_pair(answer.by, len(match))
    for at, row in enumerate(rows):
        reason[row] = part.reason if isinstance(part.reason, str) else part.reason[at]
        by[row] = part.by if isinstance(part.by, str) else part.by[at]
    return Answer(score, match, reason, by)


def one_per_pair(texts: Sequence[str] | str, count: int) -> list[str]:
    """The reasons of an answer, or who decided, as a list with one text per pair."""
    return [texts] * count if isinstance(texts, str) else list(texts)
