"""People's verdicts in place of a judge's: a judge that is only asked, or only believed, where nobody has labelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from metareview.formats.labels import NotePairLabel
from metareview.formats.verdicts import labelled_reason
from metareview.judges.protocol import (
    DIFFERENT,
    SAME,
    UNDECIDED,
    Answer,
    Judge,
    ModelJudge,
    Planned,
    Progress,
    Question,
    Remarking,
    SummedRemarks,
    Usage,
    one_per_pair,
    settings_from,
)
from metareview.judges.stored import PullRequests, read_part
from metareview.model.words import format_score, plural

LabelKey = tuple[str | None, str, str]
"""The pull request, or None where a label holds for every one; the comment's note and the reference's."""


@dataclass(frozen=True)
class LabelIndex:
    """Labels by pull request and notes. Whose comment it was does not matter: a label is about what was read."""

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

    def rows(self, question: Question) -> Iterator[tuple[int, LabelKey]]:
        """The pairs of a question that are labelled, by their row; none of those with negatives."""
        if question.negative:
            return
        pr = self.pull_requests.find(question.pr)
        generated, reference = (list(map(read_part, notes)) for notes in (question.generated, question.reference))
        for row, (ours, theirs) in enumerate(question.pairs.tolist()):
            notes = generated[ours], reference[theirs]
            for key in ((pr, *notes), (None, *notes)) if pr is not None else ((None, *notes),):
                if key in self.labels:
                    yield row, key
                    break


class LabelsSeen(NamedTuple):
    """What labels decide among some questions."""

    decided: int
    contradicted: int
    used: frozenset[LabelKey]
    inner: object


def with_labels(judge: Judge, labels: Sequence[NotePairLabel]) -> LabelledJudge:
    """The judge, overridden by these labels; it still is one that asks a model if it was."""
    index = LabelIndex.of(labels)
    return LabelledModelJudge(judge, index) if isinstance(judge, ModelJudge) else LabelledJudge(judge, index)


class LabelledJudge(Judge):
    """Labels first, then `inner`, which costs nothing: it is asked about labelled pairs too, so that the evidence says
    where people contradict it. Closes nothing: whoever opened `inner` closes it."""

    def __init__(self, inner: Judge, index: LabelIndex) -> None:
        self.inner, self.index = inner, index
        self.name, self.threshold, self.parameters = inner.name, inner.threshold, inner.parameters

    def __reduce__(self) -> tuple[type[LabelledJudge], tuple[Judge, LabelIndex]]:
        """How it is sent to another process."""
        return type(self), (self.inner, self.index)

    def judge(self, questions: Sequence[Question]) -> Sequence[Answer]:
        answers = self.inner.judge(questions)
        if len(answers) != len(questions):  # a judge of the user's own, refused by whoever asked
            return answers
        return [self._overridden(question, answer) for question, answer in zip(questions, answers, strict=True)]

    def _overridden(self, question: Question, answer: Answer) -> Answer:
        labelled = dict(self.index.rows(question))
        size = len(question.pairs)
        if not labelled or len(answer.match) != size or len(answer.score) != size:
            return answer
        score, match = np.array(answer.score, np.float64), np.array(answer.match, np.int8)
        reason, by = one_per_pair(answer.reason, size), one_per_pair(answer.by, size)
        for row, key in labelled.items():
            label = self.index.labels[key]
            said = SAME if label.match else DIFFERENT
            against = match[row] not in (said, UNDECIDED)
            judged = f", against {self.inner.name} ({format_score(score[row])})" if against else ""
            score[row], match[row], by[row] = float(label.match), said, "label"
            reason[row] = labelled_reason(label.match, label.by) + judged
        return Answer(score, match, reason, by)

    def labelled_pairs(self, questions: Sequence[Question]) -> int:
        """How many of these pairs labels decide."""
        return sum(1 for question in questions for _ in self.index.rows(question))

    def remarks(self, questions: Sequence[Question], *, ask: bool = True) -> list[str]:
        """How many pairs labels decide, how often against the judge, and how many labels are about no pair here."""
        remarks = self.remarks_of([self.remark_facts(questions, ask=ask)], ask=ask)
        if isinstance(self.inner, Remarking) and not isinstance(self.inner, SummedRemarks):
            remarks += self.inner.remarks([self._unlabelled(question) for question in questions], ask=ask)
        return remarks

    def remark_facts(self, questions: Sequence[Question], *, ask: bool = True) -> LabelsSeen:
        asked, used = [], set[LabelKey]()
        for question in questions:
            labelled = dict(self.index.rows(question))
            used |= set(labelled.values())
            if labelled:
                asked.append((replace(question, pairs=question.pairs[list(labelled)]), list(labelled.values())))
        return LabelsSeen(
            sum(len(keys) for _, keys in asked),
            self._contradicted(asked) if ask and self._may_be_asked else 0,
            frozenset(used),
            self.inner.remark_facts([self._unlabelled(question) for question in questions], ask=ask)
            if isinstance(self.inner, SummedRemarks)
            else None,
        )

    def remarks_of(self, parts: Sequence[LabelsSeen], *, ask: bool = True) -> list[str]:
        """The remarks, but for those of an inner judge that needs all questions at once."""
        decided, contradicted = sum(part.decided for part in parts), sum(part.contradicted for part in parts)
        against = f", {contradicted:,} against the judge" if ask and self._may_be_asked else ""
        remarks = [f"{plural(decided, 'pair')} decided by labels{against}"]
        if unused := len(self.index.labels) - len(frozenset[LabelKey]().union(*(part.used for part in parts))):
            remarks.append(
                f"{unused:,} of {plural(len(self.index.labels), 'label')} about no pair of this run:"
                " another pull request, other notes, or places too far apart"
            )
        if isinstance(self.inner, SummedRemarks):
            remarks += self.inner.remarks_of([part.inner for part in parts], ask=ask)
        return remarks

    @property
    def _may_be_asked(self) -> bool:
        return not isinstance(self.inner, ModelJudge)

    def _contradicted(self, asked: Sequence[tuple[Question, Sequence[LabelKey]]]) -> int:
        answers = self.inner.judge([question for question, _ in asked]) if asked else ()
        return sum(
            int(match) not in (UNDECIDED, SAME if self.index.labels[key].match else DIFFERENT)
            for (_, keys), answer in zip(asked, answers, strict=True)
            for key, match in zip(keys, answer.match.tolist(), strict=True)
        )

    def _unlabelled(self, question: Question) -> Question:
        """What is left to ask; all notes stay, as rivals."""
        labelled = [row for row, _ in self.index.rows(question)]
        return replace(question, pairs=np.delete(question.pairs, labelled, axis=0)) if labelled else question


class LabelledModelJudge(LabelledJudge, ModelJudge):
    """The same over a judge that asks a model, which is not asked about labelled pairs."""

    inner: ModelJudge

    @property
    def usage(self) -> Usage:  # type: ignore[override]
        return self.inner.usage

    @property
    def progress(self) -> Progress | None:
        return self.inner.progress

    @progress.setter
    def progress(self, progress: Progress | None) -> None:
        self.inner.progress = progress

    @property
    def warnings(self) -> Sequence[str]:
        return self.inner.warnings

    @property
    def settings_from(self) -> str:
        return settings_from(self.inner)

    def planned_calls(self, questions: Sequence[Question]) -> int:
        return self.planned(questions).calls

    def planned(self, questions: Sequence[Question]) -> Planned:
        return self.inner.planned([self._unlabelled(question) for question in questions])

    def judge(self, questions: Sequence[Question]) -> Sequence[Answer]:
        left = [self._unlabelled(question) for question in questions]
        answers = self.inner.judge(left)
        if len(answers) != len(questions):
            return answers
        return [
            self._overridden(question, _spread(question, [row for row, _ in self.index.rows(question)], answer))
            for question, answer in zip(questions, answers, strict=True)
        ]


def _spread(question: Question, labelled: Sequence[int], answer: Answer) -> Answer:
    """An answer about the other pairs as one about all, in which the labelled ones are open."""
    size = len(question.pairs)
    if not labelled or len(answer.match) != size - len(labelled) or len(answer.score) != len(answer.match):
        return answer
    others = np.delete(np.arange(size), labelled)
    score, match = np.full(size, np.nan), np.full(size, UNDECIDED, np.int8)
    score[others], match[others] = answer.score, answer.match
    reason, by = [""] * size, ["judge"] * size
    given = zip(
        others.tolist(), one_per_pair(answer.reason, len(others)), one_per_pair(answer.by, len(others)), strict=True
    )
    for row, why, who in given:
        reason[row], by[row] = why, who
    return Answer(score, match, reason, by)
