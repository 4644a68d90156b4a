"""`exact`: two notes are the same if they are equal after trimming and collapsing white space.

How their characters are encoded makes no difference: an `é` may be one character or two (Unicode's NFC).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metareview.judges.protocol import Answer, Judge, Question
from metareview.judges.registry import JudgePlugin
from metareview.text.equality import collapsed


class ExactJudge(Judge):
    """Finds copies, and nothing else."""

    name = "exact"

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        return list(map(_answer, questions))


def _answer(question: Question) -> Answer:
    numbers: dict[str, int] = {}
    generated, reference = (
        np.array([numbers.setdefault(collapsed(note), len(numbers)) for note in notes], np.int64)
        for notes in (question.generated, question.reference)
    )
    same = generated[question.pairs[:, 0]] == reference[question.pairs[:, 1]]
    reasons = ["equal" if equal else "different" for equal in same.tolist()]
    return Answer(same.astype(np.float64), same.astype(np.int8), reasons)


PLUGIN = JudgePlugin(
    "Calls notes the same if they are equal, white space aside.", scores=False, make=lambda _: ExactJudge()
)
