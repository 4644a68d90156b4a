"""The judges that need no model: `none` asks nothing, `exact` and `rouge` compare words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from metareview.judges.protocol import Answer, Question, Usage
from metareview.text.rouge import EncodedTexts

ROUGE_THRESHOLD = 0.7


class NoJudge:
    """`none`: everything that may match by place matches."""

    name = "none"
    free = True
    threshold: float | None = None
    parameters: Mapping[str, object] = {}

    def __init__(self) -> None:
        self.usage = Usage()

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        return [
            Answer(np.ones(n), np.ones(n, np.int8), "by place alone")
            for n in (len(question.pairs) for question in questions)
        ]


class ExactJudge:
    """`exact`: equal after trimming and collapsing white space."""

    name = "exact"
    free = True
    threshold: float | None = None
    parameters: Mapping[str, object] = {}

    def __init__(self) -> None:
        self.usage = Usage()

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        return list(map(self._answer, questions))

    def _answer(self, question: Question) -> Answer:
        self.usage.pairs += len(question.pairs)
        numbers: dict[str, int] = {}
        ours, theirs = (
            np.array([numbers.setdefault(" ".join(note.split()), len(numbers)) for note in notes], np.int64)
            for notes in (question.generated, question.reference)
        )
        same = ours[question.pairs[:, 0]] == theirs[question.pairs[:, 1]]
        reasons = ["equal" if equal else "different" for equal in same.tolist()]
        return Answer(same.astype(np.float64), same.astype(np.int8), reasons)


class RougeJudge:
    """`rouge`: ROUGE-L recall of the reference's note in the comment's, greater than the threshold."""

    name = "rouge"
    free = True
    threshold: float | None = None
    parameters: Mapping[str, object] = {}

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = ROUGE_THRESHOLD if threshold is None else threshold
        self.usage = Usage()

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        return list(map(self._answer, questions))

    def _answer(self, question: Question) -> Answer:
        self.usage.pairs += len(question.pairs)
        notes = EncodedTexts([*question.reference, *question.generated])
        places = question.pairs[:, ::-1] + (0, len(question.reference))
        recall = notes.recall_pairs(places)
        same = recall > self.threshold
        reasons = [f"ROUGE-L recall {value:.3f}" for value in recall.tolist()]
        return Answer(recall, same.astype(np.int8), reasons)
