"""What a person is asked next about a run of outcomes, wherever it is asked, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from metareview.comparison.outcome_frame import LabelledOutcomes
from metareview.errors import InputError, UsageError
from metareview.model.label import Labels, OutcomeLabel
from metareview.outcomes.records import CommentOutcome, OutcomeRecord
from metareview.outcomes.sample import OutcomeFrame, RecordKey, Unit
from metareview.runs.labels import LabelFile
from metareview.runs.run import AnyRun, OutcomesRun, is_outcomes, now

OutcomeRecordOf = Callable[[str, str], OutcomeRecord]
"""The record of a pull request and a reviewer."""
_DRAW_ANEW = "Delete frame.json in the run's folder to draw anew; labels stay."


@dataclass(frozen=True, slots=True)
class OutcomeQuestion:
    """Did the later change do what this comment asks?"""

    number: int
    """In the order of asking, from 1."""
    of: int
    """Comments that were drawn."""
    unit: Unit
    outcome: CommentOutcome
    """With the judge's verdict, to be shown only after the answer: who has read it is no second opinion."""

    def label(self, verdict: str | None, name: str | None) -> OutcomeLabel:
        return OutcomeLabel(*self.unit.key, self.outcome.comment.note, verdict, now(), name)


@dataclass(frozen=True)
class OutcomeQueue:
    """The comments of a frame, as far as one person has labelled them. Everybody goes through all of them, so that what
    two people say of the same can be compared; whoever gives no name shares the work with the others who do not."""

    frame: OutcomeFrame
    labels: Labels
    """Everybody's."""
    name: str | None
    record_of: OutcomeRecordOf

    @property
    def labelled(self) -> LabelledOutcomes:
        return LabelledOutcomes(self.frame, self.labels.of(self.name).outcome_verdicts())

    def next(self, skipped: Collection[int] = ()) -> OutcomeQuestion | None:
        """The comment to ask about now; None at the end. `skipped`: numbers to pass over."""
        return next((self.at(at + 1) for at, _ in self.labelled.open() if at + 1 not in skipped), None)

    def at(self, number: int) -> OutcomeQuestion | None:
        if not 1 <= number <= len(self.frame.drawn):
            return None
        unit = self.frame.drawn[number - 1][1]
        record = self.record_of(*unit.record)
        outcome = next((each for each in record.comments if each.position == unit.position), None)
        if outcome is None:
            problem = f"the sample has comment {unit.position} of {unit.reviewer} on {unit.pr}, and the run has not"
            raise InputError(problem, fix=_DRAW_ANEW)
        return OutcomeQuestion(number, len(self.frame.drawn), unit, outcome)


def outcome_records_of(run: OutcomesRun, keys: Iterable[RecordKey]) -> dict[RecordKey, OutcomeRecord]:
    """The records of these pull requests and reviewers, read in one go; InputError where the run has not all."""
    wanted = set(keys)
    records = {record.key: record for record in run.read_records() if record.key in wanted}
    for pr, reviewer in sorted(wanted - records.keys()):
        raise InputError(f"the sample has {reviewer} on {pr}, and the run has not", file=run.label, fix=_DRAW_ANEW)
    return records


@dataclass(frozen=True)
class HeldOutcomeLabels:
    """What people said about a run of outcomes."""

    labels: Labels
    stale: int
    """Labels of comments that the run has not, or has with other notes: of an earlier run in the same folder."""


def outcome_labels_of(run: OutcomesRun) -> HeldOutcomeLabels:
    """Everything that was said about this run; a label holds for the note that was read, and no other."""
    labels = Labels() if run.folder is None else LabelFile(run.folder).read()
    about = {(label.pr, label.reviewer) for label in labels.outcomes}
    return fitting_outcomes(labels, {record.key: record for record in run.read_records() if record.key in about})


def fitting_outcomes(labels: Labels, records: Mapping[RecordKey, OutcomeRecord]) -> HeldOutcomeLabels:
    """The labels of comments that these records have with the same note."""
    notes = {
        (*key, outcome.position): outcome.comment.note for key, record in records.items() for outcome in record.comments
    }
    kept = [label for label in labels.outcomes if notes.get(label.key) == label.note]
    return HeldOutcomeLabels(replace(labels, outcomes=kept), len(labels.outcomes) - len(kept))


def outcomes_run(run: AnyRun) -> OutcomesRun:
    """The run, if it is one of outcomes."""
    if is_outcomes(run):
        return run
    raise UsageError(f"{run.label} is a run of {run.kind.name}, not of outcomes.")
