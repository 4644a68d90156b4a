"""How far does a judge agree with labels? Pairs are judged as in a run, among the rivals of their group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from metareview.benchmark.agreement import agreement
from metareview.judges.protocol import UNDECIDED, Judge, Question, judged_part
from metareview.model.label import Label


def questions_of(labels: Sequence[Label]) -> tuple[list[Question], list[list[int]]]:
    """One question a group, its rivals the full product of its notes; and for each the labels that it asks about."""
    groups: dict[str | int, list[int]] = {}
    for position, label in enumerate(labels):
        groups.setdefault(position if label.group is None else label.group, []).append(position)
    questions = []
    for positions in groups.values():
        references = _numbered(labels[position].reference for position in positions)
        candidates = _numbered(labels[position].candidate for position in positions)
        pairs = [(candidates[labels[p].candidate], references[labels[p].reference]) for p in positions]
        questions.append(
            Question(
                [judged_part(note) for note in candidates],
                [judged_part(note) for note in references],
                np.array(pairs, np.int64).reshape(-1, 2),
            )
        )
    return questions, list(groups.values())


def judge_labels(labels: Sequence[Label], judge: Judge) -> tuple[np.ndarray, np.ndarray]:
    """The judge's scores (NaN where it failed) and verdicts on the labelled pairs, in their order."""
    questions, places = questions_of(labels)
    scores = np.full(len(labels), np.nan)
    matches = np.full(len(labels), UNDECIDED, np.int8)
    for answer, positions in zip(judge.judge(questions), places, strict=True):
        scores[positions] = answer.score
        matches[positions] = answer.match
    return scores, matches


def calibrate(labels: Sequence[Label], judge: Judge) -> dict[str, Any]:
    """The result of `metareview calibrate`: how far the judge's verdicts and scores agree with the labels."""
    scores, verdicts = judge_labels(labels, judge)
    threshold = getattr(judge, "threshold", None)
    found = agreement([label.match for label in labels], scores, threshold, verdicts=verdicts)
    return {
        "schema": "metareview.calibrate/1",
        "judge": judge.name,
        "parameters": getattr(judge, "parameters", {}),
        **found.as_json(),
        "groups": len({label.group for label in labels if label.group is not None}),
        "ungrouped": sum(label.group is None for label in labels),
    }


def _numbered(notes: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for note in notes:
        found.setdefault(note, len(found))
    return found
