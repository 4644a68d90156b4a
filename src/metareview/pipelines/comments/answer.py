"""Answer: the judge's verdicts on all pairs, asked in large batches over many pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from metareview.comments.case import Case
from metareview.comments.decide import JudgedCase
from metareview.errors import UsageError
from metareview.judges.protocol import Answer, Judge, Question

BATCH_PAIRS = 1_000_000
"""How many pairs are judged in one go: enough to keep a model busy, few enough to fit in memory."""


Answered = tuple[Case, JudgedCase | None]
"""A case with its verdicts; None for a case that a filter drops."""


def answer(cases: Iterable[Case], judge: Judge) -> Iterator[Answered]:
    """Each case with its verdicts, in order."""
    for batch in answer_in_batches(cases, judge):
        yield from batch


def answer_in_batches(cases: Iterable[Case], judge: Judge) -> Iterator[list[Answered]]:
    """The same, as many at a time as the judge was asked about: what it has answered need not wait for the rest."""
    for batch in _batches(cases):
        asked = [case for case in batch if not case.skipped]
        answers = _judged(judge, [case.question() for case in asked])
        rest = [case.unexplained(answer) for case, answer in zip(asked, answers, strict=True)]
        negative_answers = _judged(judge, [case.negative_question() for case in rest])
        judged = map(JudgedCase, rest, answers, negative_answers)
        yield [(case, None if case.skipped else next(judged)) for case in batch]


def _judged(judge: Judge, questions: Sequence[Question]) -> Sequence[Answer]:
    """The judge's answers; UsageError where a judge of the user's own does not answer what it was asked."""
    answers = judge.judge(questions)
    if len(answers) != len(questions) or any(
        len(answer.match) != len(question.pairs) or len(answer.score) != len(question.pairs)
        for question, answer in zip(questions, answers, strict=True)
    ):
        raise UsageError(
            f"judge {judge.name}: it must return one answer per question, with a score and a match per pair, in order."
            " Correct its judge method."
        )
    for answer in answers:
        wrong = answer.score[(answer.score < 0) | (answer.score > 1)]  # undecided pairs may have none, NaN
        if len(wrong):
            raise UsageError(f"judge {judge.name}: a score must lie between 0 and 1, found {wrong[0]:g}.")
    return answers


def _batches(cases: Iterable[Case]) -> Iterator[list[Case]]:
    batch: list[Case] = []
    pairs = 0
    for case in cases:
        batch.append(case)
        pairs += len(case.candidates) + len(case.negative_candidates)
        if pairs >= BATCH_PAIRS:
            yield batch
            batch, pairs = [], 0
    if batch:
        yield batch
