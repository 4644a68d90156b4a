"""What people are asked about a run in the viewer, what becomes of their answers, and what these do to its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from metareview.comments.blocks import Position, RecordKey
from metareview.comments.measures import Rates, rates, table
from metareview.comments.records import CommentRecord
from metareview.comparison.corrected import (
    CORRECTED,
    CorrectedFigures,
    Correction,
    corrected,
    corrected_row,
    figures_of_run,
)
from metareview.comparison.evidence import comments_run
from metareview.comparison.frame import open_frame
from metareview.comparison.held_labels import HeldLabels, fitting
from metareview.comparison.overridden import overridden_matches
from metareview.comparison.queue import IssueQueue, PairQueue, last_label, taken_back
from metareview.comparison.unlisted import Evidence, known_unlisted, read_evidence, unlisted_of
from metareview.comparison.unlisted_figures import UnlistedFigures, unlisted_figures
from metareview.comparison.unlisted_labels import current_labels
from metareview.errors import InputError, UsageError
from metareview.model.label import ISSUE_VERDICTS, IssueLabel, Label, Labels, PairLabel
from metareview.model.unlisted import Issue, Unlisted
from metareview.runs.frame_json import read_frame
from metareview.runs.labels import LabelFile
from metareview.runs.run import CommentsRun, now
from metareview.viewer.run_view import RunView

Fields = Mapping[str, str]
"""Of a form."""
PAIRS, ISSUES = "pairs", "issues"
"""What a form is about."""
PAIR_VERDICTS: Mapping[str, bool | None] = {"same": True, "different": False, "clear": None}
_LONGEST_NAME = 80


def asked_name(fields: Fields) -> str | None:
    """Who labels; None where nobody is named."""
    return " ".join(fields.get("name", "").split())[:_LONGEST_NAME] or None


@dataclass(frozen=True)
class Labelling:
    """The labels of a run as they are now, seen by one person."""

    view: RunView
    name: str | None

    @property
    def run(self) -> CommentsRun:
        return comments_run(self.view.run)

    @property
    def records(self) -> Mapping[RecordKey, CommentRecord]:
        """Every record that was scored, without its pairs; read once, as long as the run's files stay as they are."""
        return self.view.kept("records", self._scored)

    def _scored(self) -> Mapping[RecordKey, CommentRecord]:
        scored = (record for record in self.run.read_records() if not record.skipped)
        return {record.key: replace(record, comparisons=()) for record in scored}

    @cached_property
    def held(self) -> HeldLabels:
        return fitting(LabelFile(self.view.folder).read(), self.records)

    @property
    def labels(self) -> Labels:
        return self.held.labels

    def record_of(self, pr: str, reviewer: str) -> CommentRecord:
        """With its pairs; InputError where the run has no such record."""
        record = self.view.record_of(pr, reviewer)
        if not isinstance(record, CommentRecord) or record.skipped:
            raise InputError(f"nothing of {reviewer} on {pr}", file=self.view.folder, fix="Load the page again.")
        return record

    # Pairs

    @cached_property
    def pair_queue(self) -> PairQueue | None:
        """None where no frame was drawn."""
        frame = read_frame(self.view.folder, self.run.manifest.fingerprint)
        return None if frame is None else PairQueue(frame, self.labels, self.name, self.record_of)

    def draw_pairs(self, budget: int | None) -> None:
        open_frame(self.run, budget=budget)

    def pair_label(self, fields: Fields) -> PairLabel:
        """What a form says of a pair; InputError where the run has no such pair."""
        record = self.record_of(fields.get("pr", ""), fields.get("reviewer", ""))
        generated, reference = (_number(fields.get(each, "")) for each in ("generated", "reference"))
        ours = next((each.comment.note for each in record.comments if each.position == generated), None)
        theirs = next((each.comment.note for each in record.references if each.position == reference), None)
        if ours is None or theirs is None or fields.get("verdict") not in PAIR_VERDICTS:
            raise InputError("no such pair, or no such verdict", file=self.view.folder, fix="Load the page again.")
        match = PAIR_VERDICTS[fields["verdict"]]
        return PairLabel(record.pr, record.reviewer, generated, reference, ours, theirs, match, now(), self.name)

    # Unlisted issues

    @cached_property
    def unlisted(self) -> Unlisted | None:
        """None where they were not grouped."""
        return known_unlisted(self.run)

    @cached_property
    def issue_queue(self) -> IssueQueue | None:
        return (
            None if self.unlisted is None else IssueQueue(self.unlisted, self._issue_labels, self.name, self._evidence)
        )

    @cached_property
    def _issue_labels(self) -> Labels:
        """The labels with each issue under its name of now."""
        return self.labels if self.unlisted is None else current_labels(self.unlisted, self.labels).labels

    def _evidence(self, issue: Issue) -> Evidence:
        return read_evidence(self._light_run, [issue])[issue.id]

    @cached_property
    def _light_run(self) -> CommentsRun:
        """The run with its records in memory."""
        return replace(self.run, folder=None, kept_records=list(self.records.values()))

    def draw_issues(self, budget: int | None) -> None:
        unlisted_of(self.run, budget)

    def issue_label(self, fields: Fields) -> IssueLabel:
        """What a form says of an unlisted issue; InputError where the run has no such issue."""
        issue = self.unlisted.by_id.get(fields.get("issue", "")) if self.unlisted else None
        verdict = next((each for each in ISSUE_VERDICTS if each == fields.get("verdict")), None)
        if issue is None or (verdict is None and fields.get("verdict") != "clear"):
            raise InputError("no such issue, or no such verdict", file=self.view.folder, fix="Load the page again.")
        note = self._evidence(issue).comments[0].comment.note
        return IssueLabel(issue.id, issue.pr, issue.comments, note, verdict, now(), self.name)

    # Answers

    def keep(self, label: Label) -> None:
        LabelFile(self.view.folder).append([label])

    def last(self, *, issues: bool) -> Label | None:
        return last_label(self._issue_labels.issues if issues else self.labels.pairs, self.name)

    def undo(self, *, issues: bool) -> None:
        label = self.last(issues=issues)
        if label is not None:
            self.keep(taken_back(label))

    # Figures

    @cached_property
    def correction(self) -> Correction | None:
        queue = self.pair_queue
        return None if queue is None else corrected(queue.frame, self.held)

    @cached_property
    def corrected(self) -> dict[str, CorrectedFigures]:
        if self.correction is None or not self.correction.known:
            return {}
        return figures_of_run(self.run, self.correction, self._counts)

    @property
    def _counts(self) -> Mapping[str, Mapping[RecordKey, Sequence[float]]]:
        return self.view.kept("counts", self._counted)

    def _counted(self) -> Mapping[str, Mapping[RecordKey, Sequence[float]]]:
        counts: dict[str, dict[RecordKey, Sequence[float]]] = {}
        for key, record in self.records.items():
            counts.setdefault(record.reviewer, {})[key] = table([record.counts])[0].tolist()
        return counts

    def put_in(self) -> Mapping[str, Rates]:
        """Each reviewer's figures with the labels in the place of the judge's verdicts: for display alone."""
        alignment = self.run.result.config.alignment
        verdicts: dict[RecordKey, dict[Position, bool]] = {}
        for (pr, reviewer, generated, reference), match in self.labels.pair_verdicts().items():
            verdicts.setdefault((pr, reviewer), {})[generated, reference] = match
        found = {}
        for reviewer, rows in self._counts.items():
            changed = dict(rows)
            for key in verdicts.keys() & rows.keys():
                pairs = [pair for pair in self.view.pairs_of(key[0]) if pair.reviewer == reviewer]
                counted = overridden_matches(self.records[key], pairs, verdicts[key], coverage=alignment == "coverage")
                changed[key] = corrected_row(rows[key], *counted)
            found[reviewer] = rates(np.array(list(changed.values())).sum(axis=0), self.run.result.measures, CORRECTED)
        return found

    @cached_property
    def plus(self) -> UnlistedFigures | None:
        """The figures with what the references lack; None where unlisted issues were not grouped."""
        if self.unlisted is None:
            return None
        return unlisted_figures(self._light_run, self.unlisted, self.labels, self.correction)


def keep_answer(labelling: Labelling, fields: Fields) -> None:
    """What a form of a queue, or of a pull request's page, says."""
    labelling.keep(labelling.issue_label(fields) if fields.get("kind") == ISSUES else labelling.pair_label(fields))


def take_back(labelling: Labelling, fields: Fields) -> None:
    """The last answer of whoever labels."""
    labelling.undo(issues=fields.get("kind") == ISSUES)


def draw_sample(labelling: Labelling, fields: Fields) -> None:
    """The sample of pairs or of unlisted issues, or more of it."""
    budget = budget_in(fields)
    if fields.get("kind") == ISSUES:
        labelling.draw_issues(budget)
    else:
        labelling.draw_pairs(budget)


def budget_in(fields: Fields) -> int:
    """How many a form wants drawn; UsageError where that is no number."""
    budget = _number(fields.get("budget", ""))
    if budget < 1:
        raise UsageError("How many is a whole number, such as 120.")
    return budget


def position_in(fields: Fields) -> int:
    """The comment that a form is about; -1, which none has, where it names none."""
    return _number(fields.get("position", ""))


def _number(text: str) -> int:
    """A position; -1, which nothing has, where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
