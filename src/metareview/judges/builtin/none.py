"""`none`: all pairs that may match by location match."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metareview.judges.protocol import Answer, Judge, Question
from metareview.judges.registry import JudgePlugin

BY_LOCATION = "by location alone"
"""The reason of its verdicts, which say nothing of what two notes mean."""


class NoJudge(Judge):
    """Calls every pair that it is asked about the same."""

    name = "none"

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        counts = [len(question.pairs) for question in questions]
        return [Answer(np.ones(count), np.ones(count, np.int8), BY_LOCATION) for count in counts]


PLUGIN = JudgePlugin(
    "Goes by location alone: whatever may match there matches.", scores=False, make=lambda _: NoJudge()
)
