"""People's labels in place of a judge's verdicts: the judge is only believed where there is no label.

A judge that asks a model is not asked about labelled pairs. One that costs nothing is, so that the evidence says where
people contradict it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from metareview.formats.labels import NotePairLabel
from metareview.formats.verdicts import labelled_reason
from metareview.judges.pair_verdicts import PairVerdict, answer_of, undecided, with_rows
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer, HasWarnings, Judge, ModelJudge, Question
from metareview.judges.stored import PullRequests, read_part
from metareview.model.words import format_score, plural

LabelKey = tuple[str | None, str, str]
"""The pull request, or None where a label holds for every one; the comment's note and the reference's."""


@dataclass(frozen=True)
class LabelIndex:
    """Labels by pull request and notes. The reviewer does not matter: a label is about what was read."""

    pull_requests: PullRequests
    labels: Mapping[LabelKey, NotePairLabel]

    @classmethod
    def of(cls, labels: Sequence[NotePairLabel]) -> LabelIndex:
        """Of two labels on the same notes of one pull request, the later holds."""
        known = PullRequests(label.pr for label in labels if label.pr is not None)
        found: dict[LabelKey, NotePairLabel] = {}
        for label in labels:
            pr = None if label.pr is None else known.key(label.pr)
            found[pr, read_part(label.candidate), read_part(label.reference)] = label
        return cls(known, found)

    def rows(self, question: Question) -> dict[int, LabelKey]:
        """The labelled pairs of a question, by their row; none of those with negatives."""
        return {} if question.negative else dict(self._rows(question))

    def _rows(self, question: Question) -> Iterator[tuple[int, LabelKey]]:
        pr = self.pull_requests.find(question.pr)
        generated, reference = (list(map(read_part, notes)) for notes in (question.generated, question.reference))
        for row, (ours, theirs) in enumerate(question.pairs.tolist()):
            notes = generated[ours], reference[theirs]
            for key in ((pr, *notes), (None, *notes)) if pr is not None else ((None, *notes),):
                if key in self.labels:
                    yield row, key
                    break

    def unlabelled(self, question: Question) -> Question:
        """A question without its labelled pairs; all notes stay, as rivals."""
        labelled = list(self.rows(question))
        return replace(question, pairs=np.delete(question.pairs, labelled, axis=0)) if labelled else question


def judge_with_labels(judge: Judge, labels: LabelIndex | None, questions: Sequence[Question]) -> Sequence[Answer]:
    """The judge's answers, overridden by labels."""
    if labels is None:
        return judge.judge(questions)
    asks_model = isinstance(judge, ModelJudge)
    answers = judge.judge([labels.unlabelled(question) for question in questions] if asks_model else questions)
    if len(answers) != len(questions):  # of a judge of the user's own, refused by the caller
        return answers
    found = []
    for question, answer in zip(questions, answers, strict=True):
        rows = labels.rows(question)
        size = len(question.pairs)
        if asks_model and rows:
            others = np.delete(np.arange(size), list(rows))
            if len(answer.match) == len(answer.score) == len(others):
                answer = with_rows(undecided(size), others, answer)
        found.append(_overridden(judge, labels, rows, answer, size))
    return found


def _overridden(judge: Judge, labels: LabelIndex, rows: Mapping[int, LabelKey], answer: Answer, size: int) -> Answer:
    if not rows or len(answer.match) != size or len(answer.score) != size:
        return answer

    def verdict(row: int, label: NotePairLabel) -> PairVerdict:
        match = SAME if label.match else DIFFERENT
        against = answer.match[row] not in (match, UNDECIDED)
        judged = f", against {judge.name} ({format_score(answer.score[row])})" if against else ""
        return PairVerdict(match, float(label.match), labelled_reason(label.match, label.by) + judged, "label")

    return with_rows(answer, list(rows), answer_of(verdict(row, labels.labels[key]) for row, key in rows.items()))


class WarningData(NamedTuple):
    """The data of some questions that a run's warnings about its judge and labels are made from."""

    decided: int
    """The pairs that labels decide."""
    contradicted: int
    used: frozenset[LabelKey]
    of_judge: object


def has_warnings(judge: Judge, labels: LabelIndex | None) -> bool:
    """True if there may be warnings."""
    return labels is not None or isinstance(judge, HasWarnings)


def warning_data(
    judge: Judge, labels: LabelIndex | None, questions: Sequence[Question], *, ask: bool = True
) -> WarningData:
    """The data of a part of a run's questions. Without `ask`, the judge is not run for it."""
    labelled = [] if labels is None else [(question, labels.rows(question)) for question in questions]
    labelled = [(question, rows) for question, rows in labelled if rows]
    contradicted = 0
    if labels is not None and labelled and ask and not isinstance(judge, ModelJudge):
        answers = judge.judge([replace(question, pairs=question.pairs[list(rows)]) for question, rows in labelled])
        for (_, rows), answer in zip(labelled, answers, strict=True):
            wanted = (SAME if labels.labels[key].match else DIFFERENT for key in rows.values())
            verdicts = zip(wanted, answer.match.tolist(), strict=True)
            contradicted += sum(match not in (UNDECIDED, verdict) for verdict, match in verdicts)
    return WarningData(
        sum(len(rows) for _, rows in labelled),
        contradicted,
        frozenset(key for _, rows in labelled for key in rows.values()),
        judge.warning_data(_unlabelled(labels, questions), ask=ask) if isinstance(judge, HasWarnings) else None,
    )


def merged_warnings(
    judge: Judge, labels: LabelIndex | None, parts: Sequence[WarningData], *, ask: bool = True
) -> list[str]:
    """The warnings from the data of all parts: of the labels, and of the judge."""
    warnings = [] if labels is None else list(_label_warnings(judge, labels, parts, ask=ask))
    if isinstance(judge, HasWarnings):
        warnings += judge.remarks_of([part.of_judge for part in parts], ask=ask)
    return warnings


def warnings_of(
    judge: Judge, labels: LabelIndex | None, questions: Sequence[Question], *, ask: bool = True
) -> list[str]:
    """The warnings about all questions of a run. Without `ask`, the judge is not run for them."""
    return merged_warnings(judge, labels, [warning_data(judge, labels, questions, ask=ask)], ask=ask)


def _label_warnings(judge: Judge, labels: LabelIndex, parts: Sequence[WarningData], *, ask: bool) -> Iterator[str]:
    """Counts of labelled pairs, of those against the judge, and of labels about no pair of the run."""
    decided, contradicted = sum(part.decided for part in parts), sum(part.contradicted for part in parts)
    against = f", {contradicted:,} against the judge" if ask and not isinstance(judge, ModelJudge) else ""
    yield f"{plural(decided, 'pair')} decided by labels{against}"
    if unused := len(labels.labels) - len(frozenset[LabelKey]().union(*(part.used for part in parts))):
        yield (
            f"{unused:,} of {plural(len(labels.labels), 'label')} about no pair of this run:"
            " another pull request, other notes, or places too far apart"
        )


def _unlabelled(labels: LabelIndex | None, questions: Sequence[Question]) -> list[Question]:
    return list(questions) if labels is None else [labels.unlabelled(question) for question in questions]
