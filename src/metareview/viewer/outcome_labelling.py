"""What people are asked about a run of outcomes in the viewer, what becomes of their answers, and of the figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from metareview.comparison.outcome_corrected import OutcomeCorrection, outcome_correction
from metareview.comparison.outcome_frame import open_outcome_frame
from metareview.comparison.outcome_queue import HeldOutcomeLabels, OutcomeQueue, fitting_outcomes, outcomes_run
from metareview.comparison.queue import last_label, taken_back
from metareview.errors import InputError
from metareview.model.addressed import ADDRESSED_VERDICTS
from metareview.model.label import Label, Labels, OutcomeLabel
from metareview.outcomes.records import CommentOutcome, OutcomeRecord
from metareview.outcomes.sample import OutcomeFrame, RecordKey
from metareview.runs.labels import LabelFile
from metareview.runs.outcome_frame_json import read_outcome_frame
from metareview.runs.rows import outcomes_at
from metareview.runs.run import OutcomesRun, now
from metareview.viewer.labelling import Fields, budget_in, position_in
from metareview.viewer.run_view import RunView


@dataclass(frozen=True)
class OutcomeLabelling:
    """The labels of a run of outcomes as they are now, seen by one person."""

    view: RunView
    name: str | None

    @property
    def run(self) -> OutcomesRun:
        return outcomes_run(self.view.run)

    def record_of(self, pr: str, reviewer: str) -> OutcomeRecord:
        """InputError where the run has no such record."""
        record = self.view.record_of(pr, reviewer)
        if not isinstance(record, OutcomeRecord):
            raise InputError(f"nothing of {reviewer} on {pr}", file=self.view.folder, fix="Load the page again.")
        return record

    @cached_property
    def held(self) -> HeldOutcomeLabels:
        """Only the comments that labels are about are read."""
        labels = LabelFile(self.view.folder).read()
        positions: dict[RecordKey, set[int]] = {}
        for label in labels.outcomes:
            positions.setdefault((label.pr, label.reviewer), set()).add(label.position)
        places = {key: self.view.index.record_places(*key) for key in positions}
        records = {key: outcomes_at(self.view.folder, of[0], positions[key]) for key, of in places.items() if of}
        return fitting_outcomes(labels, records)

    @property
    def labels(self) -> Labels:
        return self.held.labels

    @cached_property
    def frame(self) -> OutcomeFrame | None:
        """None where none was drawn."""
        return read_outcome_frame(self.view.folder, self.run.manifest.fingerprint)

    @cached_property
    def queue(self) -> OutcomeQueue | None:
        return None if self.frame is None else OutcomeQueue(self.frame, self.labels, self.name, self.record_of)

    @cached_property
    def correction(self) -> OutcomeCorrection | None:
        """What the labels make of the figures; the keys of records come from the index."""
        if self.frame is None:
            return None
        return outcome_correction(self.run, self.frame, self.held, self.view.index.record_keys())

    def outcome_of(self, label: OutcomeLabel) -> CommentOutcome | None:
        record = self.record_of(label.pr, label.reviewer)
        return next((each for each in record.comments if each.position == label.position), None)

    def label(self, fields: Fields) -> OutcomeLabel:
        """What a form says of a comment; InputError where the run has no such comment."""
        record, position = self.record_of(fields.get("pr", ""), fields.get("reviewer", "")), position_in(fields)
        outcome = next((each for each in record.comments if each.position == position), None)
        verdict = fields.get("verdict")
        if outcome is None or (verdict not in ADDRESSED_VERDICTS and verdict != "clear"):
            raise InputError("no such comment, or no such verdict", file=self.view.folder, fix="Load the page again.")
        kept = None if verdict == "clear" else verdict
        return OutcomeLabel(record.pr, record.reviewer, position, outcome.comment.note, kept, now(), self.name)

    def keep(self, label: Label) -> None:
        LabelFile(self.view.folder).append([label])

    def last(self, *, issues: bool = False) -> Label | None:
        return last_label(self.labels.outcomes, self.name)


def keep_outcome(labelling: OutcomeLabelling, fields: Fields) -> None:
    """What a form of the queue says."""
    labelling.keep(labelling.label(fields))


def take_back_outcome(labelling: OutcomeLabelling, fields: Fields) -> None:
    """The last answer of whoever labels."""
    if (label := labelling.last()) is not None:
        labelling.keep(taken_back(label))


def draw_outcomes(labelling: OutcomeLabelling, fields: Fields) -> None:
    """The sample of comments, or more of it."""
    open_outcome_frame(labelling.run, budget=budget_in(fields))
