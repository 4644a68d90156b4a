"""The labels of a run's folder that are about its notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from metareview.comments.records import CommentRecord
from metareview.model.label import Labels, PairLabel
from metareview.runs.labels import LabelFile
from metareview.runs.run import CommentsRun


@dataclass(frozen=True)
class HeldLabels:
    """What people said about a run."""

    labels: Labels
    stale: int
    """Labels of pairs that the run has not, or has with other notes: of an earlier run in the same folder."""


def labels_of(run: CommentsRun) -> HeldLabels:
    """Everything that was said about this run; a label holds for the notes that were read, and no others."""
    labels = Labels() if run.folder is None else LabelFile(run.folder).read()
    if not labels.pairs:
        return HeldLabels(labels, 0)
    about = {(label.pr, label.reviewer) for label in labels.pairs}
    records = {record.key: record for record in run.read_records() if record.key in about}
    return fitting(labels, records)


def fitting(labels: Labels, records: Mapping[tuple[str, str], CommentRecord]) -> HeldLabels:
    """The labels of pairs that these records have with the same notes."""
    notes = {
        key: (
            {each.position: each.comment.note for each in record.comments},
            {each.position: each.comment.note for each in record.references},
        )
        for key, record in records.items()
    }

    def fits(label: PairLabel) -> bool:
        ours, theirs = notes.get((label.pr, label.reviewer), ({}, {}))
        return (ours.get(label.generated), theirs.get(label.reference)) == (label.comment_note, label.reference_note)

    kept = [label for label in labels.pairs if fits(label)]
    return HeldLabels(replace(labels, pairs=kept), len(labels.pairs) - len(kept))
