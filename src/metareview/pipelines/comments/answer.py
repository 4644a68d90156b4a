"""Answer: the judge's verdicts on all pairs, asked in large batches over many pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from metareview.comments.case import Case
from metareview.comments.decide import JudgedCase
from metareview.errors import UsageError
from metareview.judges.labelled import LabelIndex, judge_with_labels
from metareview.judges.protocol import Answer, Judge, ModelJudge, Question

BATCH_PAIRS = 1_000_000
"""How many pairs are judged in one go: enough to keep a model busy, few enough to fit in memory."""
BATCH_NOTES = 30_000
"""How many notes a judge that asks no model is given in one go: it holds what it found in them until all are counted,
and larger batches are no quicker."""


Answered = tuple[Case, JudgedCase | None]
"""A case with its verdicts; None for a case that a filter drops."""


def answer(cases: Iterable[Case], judge: Judge) -> Iterator[Answered]:
    """Each case with its verdicts, in order."""
    for batch in answer_in_batches(cases, judge):
        yield from batch


def answer_in_batches(
    cases: Iterable[Case], judge: Judge, labels: LabelIndex | None = None
) -> Iterator[list[Answered]]:
    """Each case with its verdicts, in the batches in which the judge was asked; labels override it."""
    for batch in _batches(cases, notes=None if isinstance(judge, ModelJudge) else BATCH_NOTES):
        asked = [case for case in batch if not case.skipped]
        answers = _answers(judge, labels, [case.question() if len(case.candidates) else None for case in asked])
        rest = [case.unexplained(answer) for case, answer in zip(asked, answers, strict=True)]
        negative_answers = _answers(
            judge, labels, [case.negative_question() if len(case.negative_candidates) else None for case in rest]
        )
        judged = map(JudgedCase, rest, answers, negative_answers)
        yield [(case, None if case.skipped else next(judged)) for case in batch]


def _answers(judge: Judge, labels: LabelIndex | None, questions: Sequence[Question | None]) -> list[Answer]:
    """One for each; what has no pairs is not asked."""
    asked = [question for question in questions if question is not None]
    answers = iter(_judged(judge, labels, asked) if asked else ())
    nothing = Answer(np.empty(0), np.empty(0, np.int8))
    return [nothing if question is None else next(answers) for question in questions]


def _judged(judge: Judge, labels: LabelIndex | None, questions: Sequence[Question]) -> Sequence[Answer]:
    """The judge's answers; UsageError where a judge of the user's own does not answer what it was asked."""
    answers = judge_with_labels(judge, labels, questions)
    if len(answers) != len(questions) or any(
        len(answer.match) != len(question.pairs) or len(answer.score) != len(question.pairs)
        for question, answer in zip(questions, answers, strict=True)
    ):
        raise UsageError(
            f"judge {judge.name}: it must return one answer per question, with a score and a match per pair, in order."
            " Correct its judge method."
        )
    scores = np.concatenate([np.empty(0), *(answer.score for answer in answers)])
    wrong = scores[(scores < 0) | (scores > 1)]  # undecided pairs may have none, NaN
    if len(wrong):
        raise UsageError(f"judge {judge.name}: a score must lie between 0 and 1, found {wrong[0]:g}.")
    return answers


def _batches(cases: Iterable[Case], notes: int | None) -> Iterator[list[Case]]:
    batch: list[Case] = []
    pairs = texts = 0
    for case in cases:
        batch.append(case)
        pairs += len(case.candidates) + len(case.negative_candidates)
        texts += len(case.generated.comments) + len(case.reference.comments) + len(case.negative.comments)
        if pairs >= BATCH_PAIRS or (notes is not None and texts >= notes):
            yield batch
            batch, pairs, texts = [], 0, 0
    if batch:
        yield batch
