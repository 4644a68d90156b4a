"""Corrected figures of a run of outcomes: which share was addressed, by people's labels of a random sample.

Both ends of the rate are unknown: how many comments were addressed, and of how many anybody can tell. Both are
estimated for each pull request, and these estimates go into the same jackknife as counts do, so that its interval
answers for both kinds of chance: which pull requests there are, and which comments were drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from metareview.comparison.hidden_units import HiddenUnits, extra_variances
from metareview.comparison.outcome_frame import LabelledOutcomes
from metareview.comparison.outcome_queue import HeldOutcomeLabels, outcome_labels_of
from metareview.model.address import pull_request_key
from metareview.model.addressed import NOT, UNKNOWN
from metareview.model.measure import Measure
from metareview.outcomes.measures import ADDRESSED, COLUMNS, FULLY_ADDRESSED, MEASURES
from metareview.outcomes.sample import OutcomeFrame, RecordKey
from metareview.runs.files import JsonObject, as_json
from metareview.runs.outcome_frame_json import read_outcome_frame
from metareview.runs.run import OutcomesRun
from metareview.stats import Array, Interval, intervals

CORRECTED: tuple[Measure, ...] = tuple(each for each in MEASURES if each.name in (ADDRESSED, FULLY_ADDRESSED))
_FIRST = 2 * next(at for at, each in enumerate(MEASURES) if each.name == ADDRESSED)
_LINES = {True: "changed", False: "unchanged", None: "cannot_tell"}


@dataclass(frozen=True, slots=True)
class CorrectedOutcomes:
    """One reviewer's figures: as the judge has them, and corrected."""

    judged: Mapping[str, float | None]
    """None where no judge was asked."""
    metrics: Mapping[str, float | None]
    """Cut to 0..1."""
    intervals: Mapping[str, Interval | None]
    """None while the correction is provisional: with few labels in a stratum they would promise too much."""
    decidable: float
    """Of how many of the reviewer's comments anybody can tell, as estimated: what the rates are over."""


@dataclass(frozen=True, slots=True)
class WorthOfLines:
    """Among labelled comments whose lines changed, stayed, or of which that is not known: how many were addressed."""

    labelled: int
    decidable: int
    """Of these, how many people could decide."""
    addressed: int
    rate: float | None
    """Which share of the run's decidable comments of this kind was addressed: each label weighs as many comments as it
    stands for. None where too little is labelled."""


@dataclass(frozen=True)
class OutcomeCorrection:
    """What labels make of a run of outcomes."""

    labelled: LabelledOutcomes
    held: HeldOutcomeLabels
    figures: Mapping[str, CorrectedOutcomes]
    """By reviewer; empty where too little is labelled."""

    @property
    def known(self) -> bool:
        """Whether there is an estimate."""
        return not self.labelled.sample.missing

    @property
    def provisional(self) -> bool:
        """Whether the estimate has no interval and enters no comparison."""
        return self.labelled.sample.provisional

    @property
    def complete(self) -> bool:
        """Whether there is an estimate that is not provisional."""
        return self.labelled.sample.complete

    def worth_of_lines(self) -> dict[str, WorthOfLines]:
        """How much a changed line tells, by `changed`, `unchanged` and `cannot_tell`."""
        weights = self.labelled.weights()
        found = {}
        for value, name in _LINES.items():
            of_kind = [
                (verdict, weight)
                for (_, unit, verdict), weight in zip(self.labelled.known, weights, strict=True)
                if unit.lines_changed is value
            ]
            decided = [(verdict != NOT, weight) for verdict, weight in of_kind if verdict != UNKNOWN]
            total = sum(weight for _, weight in decided)
            yes = sum(weight for is_addressed, weight in decided if is_addressed)
            number = sum(is_addressed for is_addressed, _ in decided)
            rate = float(yes / total) if total > 0 and self.known else None
            found[name] = WorthOfLines(len(of_kind), len(decided), number, rate)
        return found


def outcome_correction_of(run: OutcomesRun) -> OutcomeCorrection | None:
    """What the labels in the run's folder make of it; None where no frame was drawn."""
    frame = None if run.folder is None else read_outcome_frame(run.folder, run.manifest.fingerprint)
    if frame is None:
        return None
    return outcome_correction(run, frame, outcome_labels_of(run), (record.key for record in run.read_records()))


def outcome_correction(
    run: OutcomesRun, frame: OutcomeFrame, held: HeldOutcomeLabels, keys: Iterable[RecordKey]
) -> OutcomeCorrection:
    """What labels make of a run; `keys`: of all its records, which are read only where enough is labelled."""
    labelled = LabelledOutcomes(frame, held.labels.outcome_verdicts())
    rows = corrected_rows(labelled)
    if rows is None:
        return OutcomeCorrection(labelled, held, {})
    by_reviewer: dict[str, list[RecordKey]] = {}
    for key in keys:
        by_reviewer.setdefault(key[1], []).append(key)
    figures = {
        name: corrected_figures(
            labelled,
            rows,
            sorted(of_one, key=lambda key: pull_request_key(key[0])),
            {each.name: run.result.metrics[name][each.name] for each in CORRECTED},
        )
        for name, of_one in by_reviewer.items()
    }
    return OutcomeCorrection(labelled, held, figures)


def corrected_rows(labelled: LabelledOutcomes) -> dict[RecordKey, Array] | None:
    """For each reviewer and pull request a row of counts, with estimates in the place of those of what was addressed;
    None where too little is labelled."""
    addressed, fully, decidable = (labelled.estimate(what) for what in ("addressed", "fully", "decidable"))
    if addressed is None or fully is None or decidable is None:
        return None
    rows = {}
    for key in labelled.frame.members:
        row = np.zeros(COLUMNS)
        row[_FIRST : _FIRST + 4] = addressed[key], decidable[key], fully[key], decidable[key]
        rows[key] = row
    return rows


def with_estimates(counts: Array, estimates: Array | None) -> tuple[float, ...]:
    """A row of counts with the estimates of what was addressed; with none of it where nothing was said."""
    row = counts.copy()
    row[_FIRST : _FIRST + 4] = 0.0 if estimates is None else estimates[_FIRST : _FIRST + 4]
    return tuple(row.tolist())


def corrected_figures(
    labelled: LabelledOutcomes,
    rows: Mapping[RecordKey, Array],
    keys: Sequence[RecordKey],
    judged: Mapping[str, float | None],
) -> CorrectedOutcomes:
    """Of one reviewer with these records, from rows of corrected counts."""
    # A pull request on which the reviewer was silent is one of its units, too.
    counts = np.array([rows.get(key, np.zeros(COLUMNS)) for key in keys])
    sums = counts.sum(axis=0)
    found = {each.name: each.value(sums) for each in CORRECTED}
    cut = {name: None if value is None else min(max(value, 0.0), 1.0) for name, value in found.items()}
    ends: dict[str, Interval | None] = dict.fromkeys(cut)
    if labelled.sample.complete:
        ends = intervals(counts, CORRECTED, extra_variances(hidden_outcomes(labelled), keys, sums, CORRECTED))
    return CorrectedOutcomes(judged, cut, ends, float(sums[_FIRST + 1]))


def hidden_outcomes(labelled: LabelledOutcomes) -> list[HiddenUnits]:
    """Comments that may differ from all labelled ones of their stratum. One moves a rate by 1 / x at the most, also
    where it differs in whether anybody can tell."""
    return [labelled.hidden("addressed", _FIRST), labelled.hidden("fully", _FIRST + 2)]


def outcome_correction_to_dict(correction: OutcomeCorrection) -> JsonObject:
    """For JSON: how far the labelling of the frame is, each reviewer's figures, and what a changed line is worth."""
    labelled = correction.labelled
    frame = {
        "comments": labelled.frame.comments,
        "drawn": len(labelled.frame.drawn),
        "labelled": labelled.done,
        "missing": labelled.sample.missing,
        "provisional": correction.provisional,
        "passed_over": labelled.sample.passed_over,
    }
    return as_json(
        {
            "frame": frame,
            "corrected": {name: asdict(each) for name, each in correction.figures.items()},
            "lines_changed": {name: asdict(each) for name, each in correction.worth_of_lines().items()},
        }
    )
