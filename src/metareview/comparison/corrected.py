"""Corrected figures: what a run's figures would be with people's verdicts in place of the judge's.

Only the number of true matches M is unknown: precision is M over comments, recall M over references. The labels of the
frame estimate M for each pull request, and these estimates take the place of the judge's counts in the same intervals
and tests, so that they answer for both kinds of chance: which pull requests there are, and which blocks were drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property

import numpy as np

from metareview.comments.blocks import Frame, RecordKey
from metareview.comments.measures import (
    Counts,
    Rates,
    f1,
    positive_match_rate,
    positive_recall_rate,
    rates,
    table,
    unmatched_rate,
)
from metareview.comparison.frame import LabelledFrame
from metareview.comparison.held_labels import HeldLabels, labels_of
from metareview.comparison.hidden_units import HiddenUnits, extra_variances
from metareview.comparison.label_plan import Plan, plan_of
from metareview.model.measure import Measure
from metareview.outcomes.measures import MEASURES as OUTCOMES
from metareview.runs.files import JsonObject, as_json
from metareview.runs.frame_json import read_frame
from metareview.runs.run import CommentsRun
from metareview.stats import Interval, intervals

CORRECTED = (positive_match_rate, positive_recall_rate, f1, unmatched_rate)
_NAMES = {each.name for each in CORRECTED} | {"f_beta", *(each.name for each in OUTCOMES if each.needs)}
_COLUMN = {field.name: position for position, field in enumerate(fields(Counts))}


def named_corrected(measure: Measure) -> Measure:
    """The measure under the name that its figure has where labels correct it, so that "F1" stays the judge's."""
    return replace(measure, label=f"corrected {measure.label}") if measure.name in _NAMES else measure


@dataclass(frozen=True, slots=True)
class CorrectedFigures:
    """One reviewer's figures: as the judge has them, and corrected."""

    judged: Rates
    metrics: Rates
    """Cut to 0..1."""
    intervals: Mapping[str, Interval | None]
    """None while the correction is provisional: with few labels in a stratum they would promise too much."""
    plan: Plan | None
    """None where F1 has no interval."""


@dataclass(frozen=True)
class Correction:
    """What labels make of a run."""

    labelled: LabelledFrame
    held: HeldLabels
    matched: Mapping[RecordKey, float] | None
    """Estimated matched comments of each reviewer on each pull request that has blocks; None: too few labels."""
    covered: Mapping[RecordKey, float] | None
    """The same of raised references; one-to-one they are equal."""

    @property
    def known(self) -> bool:
        """Whether there is an estimate."""
        return self.matched is not None

    @property
    def provisional(self) -> bool:
        """Whether the estimate has no interval and enters no comparison, nor anything made from it."""
        return self.labelled.sample.provisional

    @property
    def complete(self) -> bool:
        """Whether there is an estimate that is not provisional."""
        return self.labelled.sample.complete

    @cached_property
    def hidden(self) -> list[HiddenUnits]:
        """Blocks that may differ from all labelled ones of their stratum; one-to-one they move both counts at once."""
        of_comments = {_COLUMN["matched"]: 1.0, _COLUMN["unmatched"]: -1.0}
        of_references = {_COLUMN["covered"]: 1.0}
        return [
            self.labelled.hidden("matches", columns=of_comments | of_references),
            self.labelled.hidden("comments", columns=of_comments),
            self.labelled.hidden("references", columns=of_references),
        ]

    def row(self, key: RecordKey, counts: Sequence[float]) -> tuple[float, ...]:
        """A row of counts with the estimates in the place of the judge's matches."""
        return corrected_row(counts, *((of or {}).get(key, 0.0) for of in (self.matched, self.covered)))


def corrected_row(counts: Sequence[float], matched: float, covered: float) -> tuple[float, ...]:
    row = list(counts)
    row[_COLUMN["matched"]], row[_COLUMN["covered"]] = matched, covered
    row[_COLUMN["unmatched"]] = row[_COLUMN["generated"]] - matched
    return tuple(row)


def correction_of(run: CommentsRun) -> Correction | None:
    """What the labels in the run's folder make of its matches; None where no frame was drawn."""
    if run.folder is None:
        return None
    frame = read_frame(run.folder, run.manifest.fingerprint)
    return None if frame is None else corrected(frame, labels_of(run))


def corrected(frame: Frame, held: HeldLabels) -> Correction:
    labelled = LabelledFrame(frame, held.labels.pair_verdicts())
    matched, covered = labelled.estimate("matches", "comments"), labelled.estimate("matches", "references")
    return Correction(labelled, held, matched, covered)


def corrected_figures(run: CommentsRun, correction: Correction) -> dict[str, CorrectedFigures]:
    """Each reviewer's figures; nothing where too little is labelled."""
    if not correction.known:
        return {}
    counts: dict[str, dict[RecordKey, Sequence[float]]] = {}
    for record in run.read_records():
        if not record.skipped:
            counts.setdefault(record.reviewer, {})[record.key] = table([record.counts])[0].tolist()
    return figures_of_counts(run.result.measures, correction, counts)


def figures_of_counts(
    measures: Sequence[Measure], correction: Correction, counts: Mapping[str, Mapping[RecordKey, Sequence[float]]]
) -> dict[str, CorrectedFigures]:
    """The same from each reviewer's rows of counts."""
    corrected_names = {each.name for each in CORRECTED}
    shown = [measure for measure in measures if measure.name in corrected_names]
    return {
        name: _figures(rates(np.array(list(rows.values())).sum(axis=0), shown, CORRECTED), rows, shown, correction)
        for name, rows in counts.items()
    }


def _figures(
    judged: Rates, counts: Mapping[RecordKey, Sequence[float]], measures: Sequence[Measure], correction: Correction
) -> CorrectedFigures:
    """From one reviewer's rows of counts, one per pull request."""
    rows = np.array([correction.row(key, row) for key, row in counts.items()])
    totals = rows.sum(axis=0)
    found = rates(totals, measures, CORRECTED)
    cut = {name: None if value is None else min(max(value, 0.0), 1.0) for name, value in found.items()}
    if not correction.complete:
        return CorrectedFigures(judged, cut, dict.fromkeys(cut), None)
    extra = extra_variances(correction.hidden, list(counts), totals, measures)
    of_f1 = next(measure for measure in measures if measure.name == f1.name)
    plan = plan_of(rows, of_f1, correction.labelled, correction.hidden, list(counts))
    return CorrectedFigures(judged, cut, intervals(rows, measures, extra), plan)


def corrected_to_dict(correction: Correction, figures: Mapping[str, CorrectedFigures]) -> JsonObject:
    """For JSON: how far the labelling of the frame is, and each reviewer's figures."""
    labelled = correction.labelled
    frame = {
        "blocks": labelled.frame.blocks,
        "drawn": len(labelled.frame.drawn),
        "labelled": labelled.done,
        "missing": labelled.sample.missing,
        "provisional": correction.provisional,
        "passed_over": labelled.sample.passed_over,
    }
    return as_json({"frame": frame, "corrected": {name: asdict(each) for name, each in figures.items()}})
