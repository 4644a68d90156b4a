"""`rouge`: ROUGE-L recall of the reference's note in the comment's, greater than the threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metareview.judges.protocol import Answer, Judge, Question
from metareview.judges.registry import JudgePlugin
from metareview.model.words import format_score
from metareview.text.rouge import EncodedTexts

THRESHOLD = 0.7


class RougeJudge(Judge):
    """Compares words in their order. A score equal to the threshold is no match, as in text matching."""

    name = "rouge"
    threshold: float

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = THRESHOLD if threshold is None else threshold

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        return list(map(self._answer, questions))

    def _answer(self, question: Question) -> Answer:
        notes = EncodedTexts([*question.reference, *question.generated])
        recall = notes.recall_pairs(question.pairs[:, ::-1] + (0, len(question.reference)))
        reasons = [f"ROUGE-L recall {format_score(value)}" for value in recall.tolist()]
        return Answer(recall, (recall > self.threshold).astype(np.int8), reasons)


PLUGIN = JudgePlugin(
    f"Calls notes the same if the ROUGE-L recall of the reference's note is above {THRESHOLD}.",
    scores=True,
    make=lambda options: RougeJudge(options.threshold),
)
