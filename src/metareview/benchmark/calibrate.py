"""How far does a judge agree with labels? Pairs are judged as in a run, among the rivals of their group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metareview.benchmark.agreement import Agreement, Floats, agreement
from metareview.formats.labels import Label
from metareview.judges.protocol import UNDECIDED, Judge, Question, judged_part
from metareview.runs.files import JsonObject


@dataclass(frozen=True)
class Calibration:
    """A judge against labels. `to_dict()` is what `metareview calibrate --json` prints."""

    judge: str
    parameters: Mapping[str, object]
    agreement: Agreement
    groups: int
    ungrouped: int
    """Labels without a group, which are judged without rivals."""

    def to_dict(self) -> JsonObject:
        return {
            "schema": "metareview.calibrate/1",
            "judge": self.judge,
            "parameters": dict(self.parameters),
            **self.agreement.to_dict(),
            "groups": self.groups,
            "ungrouped": self.ungrouped,
        }


def calibrate(labels: Sequence[Label], judge: Judge) -> Calibration:
    """How far the judge's verdicts and scores agree with the labels."""
    scores, verdicts = judge_labels(labels, judge)
    return Calibration(
        judge.name,
        judge.parameters,
        agreement([label.match for label in labels], scores, judge.threshold, verdicts=verdicts),
        groups=len({label.group for label in labels if label.group is not None}),
        ungrouped=sum(label.group is None for label in labels),
    )


def judge_labels(labels: Sequence[Label], judge: Judge) -> tuple[Floats, Floats]:
    """The judge's scores (NaN where it failed) and verdicts on the labelled pairs, in their order."""
    groups: dict[str | int, list[int]] = {}
    for position, label in enumerate(labels):
        groups.setdefault(position if label.group is None else label.group, []).append(position)
    questions = [_question([labels[position] for position in positions]) for positions in groups.values()]
    scores = np.full(len(labels), np.nan)
    matches = np.full(len(labels), float(UNDECIDED))
    for answer, positions in zip(judge.judge(questions), groups.values(), strict=True):
        scores[positions] = answer.score
        matches[positions] = answer.match
    return scores, matches


def _question(labels: Sequence[Label]) -> Question:
    """The pairs of one group; all its notes are rivals."""
    candidates: dict[str, int] = {}
    references: dict[str, int] = {}
    pairs = [
        (
            candidates.setdefault(label.candidate, len(candidates)),
            references.setdefault(label.reference, len(references)),
        )
        for label in labels
    ]
    return Question(list(map(judged_part, candidates)), list(map(judged_part, references)), np.array(pairs, np.int64))
