"""`word-overlap`: two notes raise the same issue if they share enough of their words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import metareview as mr
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Question
from metareview.judges.registry import JudgePlugin


class WordOverlap(mr.Judge):
    """Scores a pair by the words that both notes have, as a share of the words that either has."""

    name = "word-overlap"

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = 0.5 if threshold is None else threshold

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        ours = [set(note.casefold().split()) for note in question.generated]
        theirs = [set(note.casefold().split()) for note in question.reference]
        shared = [len(ours[g] & theirs[r]) for g, r in question.pairs.tolist()]
        either = [len(ours[g] | theirs[r]) for g, r in question.pairs.tolist()]
        score = np.array(shared) / np.maximum(np.array(either), 1)
        match = np.where(score >= self.threshold, SAME, DIFFERENT).astype(np.int8)
        return Answer(score, match, [f"shares {count} words" for count in shared])


PLUGIN = JudgePlugin(
    summary="Enough words in common, whatever their order.",
    scores=True,
    make=lambda options: WordOverlap(options.threshold),
)
