"""Which comments a model is asked about, and what the others come to without it: by labels, or by what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from metareview.judges.stored import PullRequests
from metareview.model.addressed import LABEL, LINES, NOT, UNKNOWN, Addressed
from metareview.model.label import OutcomeLabel
from metareview.model.words import plural
from metareview.outcomes.records import CommentOutcome, OutcomeRecord

if TYPE_CHECKING:  # whatever asks a server is imported where a model is asked
    from metareview.judges.remote.addressed import AddressedQuestion

NOBODY, EVERYTHING, CASCADE = "none", "llm", "cascade"
JUDGES = (NOBODY, EVERYTHING, CASCADE)
"""Who decides what was addressed: nobody, a model, or a model where the lines changed or that is not known."""
NOT_KNOWN = "the later change is not known"
NOTHING_CHANGED = "nothing was changed after the comment"
LINES_STAYED = "its lines were not changed"


def spared(outcome: CommentOutcome, judge: str) -> Addressed | None:
    """What a comment comes to without a model; None where the model is to be asked."""
    if judge == CASCADE and outcome.lines_changed.value is False:
        return Addressed(NOT, LINES, LINES_STAYED)
    if outcome.later_change is None:
        return Addressed(UNKNOWN, LINES, NOT_KNOWN)
    if not outcome.later_change.strip():
        return Addressed(NOT, LINES, NOTHING_CHANGED)
    return None


class OutcomeLabels:
    """Labels by comment. A label is about what was read: it holds for its note, at its position or, where the input has
    grown since, at the only one of this reviewer's on the pull request that has this note."""

    def __init__(self, labels: Iterable[OutcomeLabel] = ()) -> None:
        """Those in force, one per comment."""
        self._labels = [label for label in labels if label.verdict is not None]
        self._pull_requests = PullRequests(label.pr for label in self._labels)
        self._exact: dict[tuple[str, str, str, int], OutcomeLabel] = {}
        self._by_note: dict[tuple[str, str, str], list[OutcomeLabel]] = {}
        for label in self._labels:
            of_note = self._pull_requests.key(label.pr), label.reviewer, label.note
            self._exact[*of_note, label.position] = label
            self._by_note.setdefault(of_note, []).append(label)

    def __len__(self) -> int:
        return len(self._exact)

    def of(self, record: OutcomeRecord) -> dict[int, OutcomeLabel]:
        """The labels of a record's comments, by position."""
        pr = self._pull_requests.find(record.pr) if self._labels else None
        if pr is None:
            return {}
        times = Counter(outcome.comment.note for outcome in record.comments)
        found = {}
        for outcome in record.comments:
            note = outcome.comment.note
            of_note = self._by_note.get((pr, record.reviewer, note), [])
            label = self._exact.get((pr, record.reviewer, note, outcome.position))
            if label is None and len(of_note) == 1 == times[note]:
                label = of_note[0]
            if label is not None:
                found[outcome.position] = label
        return found


@dataclass(frozen=True)
class AddressedPlan:
    """What is known of some records' comments without a model, and what it is to be asked."""

    records: Sequence[OutcomeRecord]
    known: Sequence[Sequence[Addressed | None]]
    """For each record's comments; None: to be asked, or, without a judge, asked of nobody."""
    questions: Sequence[AddressedQuestion]
    """About those of the others that are to be asked, in their order."""
    spared: int
    """Comments that are decided by what changed."""

    def answered(self, answers: Sequence[Addressed]) -> list[OutcomeRecord]:
        """The records with every verdict: what was known, and the model's answers to `questions`."""
        if len(answers) != len(self.questions):
            raise ValueError(f"{len(answers)} answers to {len(self.questions)} questions")
        left = iter(answers)
        asked = bool(self.questions)
        return [
            replace(
                record,
                comments=tuple(
                    replace(outcome, verdict=next(left, None) if verdict is None and asked else verdict)
                    for outcome, verdict in zip(record.comments, verdicts, strict=True)
                ),
            )
            for record, verdicts in zip(self.records, self.known, strict=True)
        ]


def decided_by_labels(records: Iterable[OutcomeRecord], judge: str) -> tuple[int, int]:
    """How many comments labels decided, and of how many of these what changed would have said otherwise."""
    labelled = against = 0
    for record in records:
        for outcome in record.comments:
            if outcome.verdict is not None and outcome.verdict.by == LABEL:
                told = None if judge == NOBODY else spared(outcome, judge)
                labelled += 1
                against += told is not None and told.verdict not in (outcome.verdict.verdict, UNKNOWN)
    return labelled, against


def label_remarks(labels: OutcomeLabels, labelled: int, against: int) -> Iterator[str]:
    """What the reader of a run with these labels should know: how many comments they decide, over all its records."""
    otherwise = f", {against:,} of them against what changed" if against else ""
    yield f"{plural(labelled, 'comment')} decided by labels{otherwise}"
    if unused := len(labels) - labelled:
        yield (
            f"{unused:,} of {plural(len(labels), 'label')} about no comment of this run: another pull request, reviewer"
            " or note"
        )


def plan_questions(records: Sequence[OutcomeRecord], judge: str, labels: OutcomeLabels | None = None) -> AddressedPlan:
    """For each comment: what a label says, else what it comes to by what changed, else a question to the model. Without
    a judge (`none`) only labels decide, and nothing is asked."""
    labels = labels or OutcomeLabels()
    known: list[list[Addressed | None]] = []
    questions: list[AddressedQuestion] = []
    by_lines = 0
    for record in records:
        of_record = labels.of(record)
        verdicts: list[Addressed | None] = []
        for outcome in record.comments:
            label = of_record.get(outcome.position)
            if label is not None:
                verdicts.append(Addressed(label.verdict, LABEL, _said_by(label)))
                continue
            told = None if judge == NOBODY else spared(outcome, judge)
            by_lines += told is not None
            verdicts.append(told)
            if told is None and judge != NOBODY:
                questions.append(_question(outcome))
        known.append(verdicts)
    return AddressedPlan(records, known, questions, by_lines)


def _question(outcome: CommentOutcome) -> AddressedQuestion:
    from metareview.judges.remote.addressed import AddressedQuestion

    return AddressedQuestion.of(outcome.comment, outcome.code, outcome.later_change or "")


def _said_by(label: OutcomeLabel) -> str:
    return f"labelled by {label.name}" if label.name else "labelled"
