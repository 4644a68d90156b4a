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
from metareview.comments.units import PULL_REQUEST, unit_rows
from metareview.comparison.frame import LabelledFrame
from metareview.comparison.held_labels import HeldLabels, labels_of
from metareview.comparison.hidden_units import HiddenUnits, extra_variances
from metareview.comparison.label_errors import Disagreement, disagreement_of, excess_matches
from metareview.comparison.label_plan import Plan, plan_of
from metareview.model.measure import Measure
from metareview.outcomes.measures import MEASURES as OUTCOMES
from metareview.runs.files import JsonObject, as_json
from metareview.runs.frame_json import read_frame
from metareview.runs.run import CommentsRun
from metareview.stats import Array, Extra, Interval, intervals, summed_variances

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
    label_bias: Mapping[str, float | None] | None = None
    """By how much each figure is too high if labels are wrong as often as two people's disagreement implies; None
    where that is not known."""


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

    @cached_property
    def disagreement(self) -> Disagreement | None:
        """How often two people disagree on drawn blocks; None where too few blocks have two."""
        return disagreement_of(self.labelled, self.held.labels)

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
    return figures_of_run(run, correction, counts)


def figures_of_run(
    run: CommentsRun, correction: Correction, counts: Mapping[str, Mapping[RecordKey, Sequence[float]]]
) -> dict[str, CorrectedFigures]:
    """The same from each reviewer's rows of counts.

    How much repeated runs differ is taken from the judge's figures of each: labels are of a sample of all runs, and
    tell too little of one.
    """
    repeats = {name: block.repeats for name, block in run.result.reviewers.items()}
    of_runs = {name: each.run_variance for name, each in repeats.items() if each}
    return figures_of_counts(run.result.measures, correction, counts, unit=run.result.config.unit, of_runs=of_runs)


def figures_of_counts(
    measures: Sequence[Measure],
    correction: Correction,
    counts: Mapping[str, Mapping[RecordKey, Sequence[float]]],
    *,
    unit: str = PULL_REQUEST,
    of_runs: Mapping[str, Extra] | None = None,
) -> dict[str, CorrectedFigures]:
    """The same with intervals over this unit; `of_runs`: by reviewer, the variance of its mean over repeated runs."""
    corrected_names = {each.name for each in CORRECTED}
    shown = [measure for measure in measures if measure.name in corrected_names]
    more = of_runs or {}
    return {name: _figures(rows, shown, correction, unit, more.get(name, {})) for name, rows in counts.items()}


def _figures(
    counts: Mapping[RecordKey, Sequence[float]],
    measures: Sequence[Measure],
    correction: Correction,
    unit: str,
    of_runs: Extra,
) -> CorrectedFigures:
    """From one reviewer's rows of counts, one per pull request."""
    keys = list(counts)
    judged = rates(np.array(list(counts.values())).sum(axis=0), measures, CORRECTED)
    rows = np.array([correction.row(key, row) for key, row in counts.items()])
    totals = rows.sum(axis=0)
    cut = _cut(rates(totals, measures, CORRECTED))
    bias = _label_bias(correction, keys, totals, cut, measures)
    if not correction.complete:
        return CorrectedFigures(judged, cut, dict.fromkeys(cut), None, bias)
    extra = summed_variances(of_runs, extra_variances(correction.hidden, keys, totals, measures))
    of_f1 = next(measure for measure in measures if measure.name == f1.name)
    of_units = unit_rows(rows, [pr for pr, _ in keys], unit)
    plan = plan_of(of_units, of_f1, correction.labelled, correction.hidden, keys)
    return CorrectedFigures(judged, cut, intervals(of_units, measures, extra), plan, bias)


def _label_bias(
    correction: Correction, keys: Sequence[RecordKey], totals: Array, figures: Rates, measures: Sequence[Measure]
) -> dict[str, float | None] | None:
    """The figures less what they would be without the matches that wrong labels may have added."""
    found = correction.disagreement
    if found is None or found.error_rate is None:
        return None
    excess = excess_matches(correction.labelled, found.error_rate, keys)
    both = excess.get("matches", 0.0)
    matched, covered = (
        totals[_COLUMN[count]] - both - excess.get(kind, 0.0)
        for count, kind in (("matched", "comments"), ("covered", "references"))
    )
    without = _cut(rates(np.array(corrected_row(totals.tolist(), matched, covered)), measures, CORRECTED))
    return {
        name: None if value is None or (rest := without[name]) is None else value - rest
        for name, value in figures.items()
    }


def _cut(figures: Rates) -> dict[str, float | None]:
    """Cut to 0..1: rates of estimated counts may lie beyond."""
    return {name: None if value is None else min(max(value, 0.0), 1.0) for name, value in figures.items()}


def corrected_to_dict(correction: Correction, figures: Mapping[str, CorrectedFigures]) -> JsonObject:
    """For JSON: how far the labelling of the frame is, and each reviewer's figures."""
    labelled = correction.labelled
    frame: JsonObject = {
        "blocks": labelled.frame.blocks,
        "drawn": len(labelled.frame.drawn),
        "labelled": labelled.done,
        "missing": labelled.sample.missing,
        "provisional": correction.provisional,
        "passed_over": labelled.sample.passed_over,
    }
    if (two := correction.disagreement) is not None:
        frame["two_people"] = {"blocks": two.blocks, "differ": two.differ, "error_rate": two.error_rate}
    return as_json({"frame": frame, "corrected": {name: asdict(each) for name, each in figures.items()}})
