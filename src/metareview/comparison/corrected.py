"""Corrected figures: what a run's figures would be with people's verdicts in place of the judge's.

Only the number of true matches M is unknown: precision is M over comments, recall M over references. The labels of the
frame estimate M for each pull request, and these estimates take the place of the judge's counts in the same intervals
and tests, so that they answer for both kinds of chance: which pull requests there are, and which blocks were drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np
from scipy.special import stdtrit

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
from metareview.model.measure import Measure
from metareview.outcomes.measures import MEASURES as OUTCOMES
from metareview.runs.files import JsonObject, as_json
from metareview.runs.frame_json import read_frame
from metareview.runs.run import CommentsRun
from metareview.stats import LEVEL, Array, Extra, Interval, intervals, standard_error

GOAL = 0.03
"""Half the width of the interval of F1 that a plan is made for."""
CORRECTED = (positive_match_rate, positive_recall_rate, f1, unmatched_rate)
_NAMES = {each.name for each in CORRECTED} | {"f_beta", *(each.name for each in OUTCOMES if each.needs)}
_COLUMN = {field.name: position for position, field in enumerate(fields(Counts))}


def named_corrected(measure: Measure) -> Measure:
    """The measure under the name that its figure has where labels correct it, so that "F1" stays the judge's."""
    return replace(measure, label=f"corrected {measure.label}") if measure.name in _NAMES else measure


@dataclass(frozen=True, slots=True)
class Plan:
    """What would bring the interval of F1 to GOAL to either side."""

    blocks: int | None
    """Labelled blocks in all; None where no number of labels is enough."""
    half_width: float
    """What it is now."""
    at_best: float
    """What it would be with every block labelled."""
    prs: int | None
    """Where labels are not enough: about how many pull requests, all labelled, would be."""


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
    def complete(self) -> bool:
        """Whether it rests on as many labels as its intervals need, and on a random sample; until then it is
        provisional."""
        return self.known and not self.labelled.sample.thin and not self.labelled.skipped

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
    return figures_of_counts(run, correction, counts)


def figures_of_counts(
    run: CommentsRun, correction: Correction, counts: Mapping[str, Mapping[RecordKey, Sequence[float]]]
) -> dict[str, CorrectedFigures]:
    """The same from each reviewer's rows of counts.

    How much repeated runs differ is taken from the judge's figures of each: labels are of a sample of all runs, and
    say too little of one.
    """
    corrected_names = {each.name for each in CORRECTED}
    shown = [measure for measure in run.result.measures if measure.name in corrected_names]
    found = {}
    for name, rows in counts.items():
        corrected_rows = np.array([correction.row(key, row) for key, row in rows.items()])
        judged = rates(np.array(list(rows.values())).sum(axis=0), shown, CORRECTED)
        repeats = run.result.reviewers[name].repeats
        extra = repeats.run_variance if repeats else {}
        found[name] = _figures(judged, corrected_rows, shown, correction, name, extra)
    return found


def _figures(
    judged: Rates, rows: Array, measures: Sequence[Measure], correction: Correction, reviewer: str, extra: Extra
) -> CorrectedFigures:
    """From rows of corrected counts, one per pull request."""
    found = rates(rows.sum(axis=0), measures, CORRECTED)
    cut = {name: None if value is None else min(max(value, 0.0), 1.0) for name, value in found.items()}
    if not correction.complete:
        return CorrectedFigures(judged, cut, dict.fromkeys(cut), None)
    of_f1 = next(measure for measure in measures if measure.name == f1.name)
    plan = _plan(rows, of_f1, correction.labelled, reviewer)
    return CorrectedFigures(judged, cut, intervals(rows, measures, extra), plan)


def _plan(rows: Array, of_f1: Measure, labelled: LabelledFrame, reviewer: str) -> Plan | None:
    """Splits the variance of F1 into what comes from which pull requests there are, and what from which blocks were
    drawn; more labels only make the latter smaller."""
    error, units = standard_error(rows, of_f1)
    size = float(of_f1.parts(rows)[1].sum())
    if error is None or not size:
        return None
    spread = _Spread.of(labelled, reviewer)
    t = float(stdtrit(units - 1, (1 + LEVEL) / 2))
    # Strata whose labelled blocks were all alike have no part in the error so far, whatever is expected of the next.
    from_prs = max(0.0, error**2 - spread.seen() / size**2)

    def half_width(factor: float) -> float:
        return t * float(np.sqrt(from_prs + spread.expected(factor) / size**2))

    done, now, at_best = labelled.done, t * error, half_width(np.inf)
    if at_best > GOAL:
        return Plan(None, now, at_best, int(np.ceil(units * (at_best / GOAL) ** 2)))
    low, high = 0, done if now <= GOAL else labelled.frame.blocks
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(middle / done) <= GOAL else (middle, high)
    return Plan(high, now, at_best, None)


@dataclass(frozen=True)
class _Spread:
    """How much of the jackknife's variance of one reviewer's matches comes from not all blocks being labelled."""

    sizes: Array
    own: Array
    """How many blocks of each stratum are the reviewer's; those of repeated runs by their weight."""
    labelled: Array
    variances: Array
    """Of the numbers of a stratum's labelled blocks."""

    @classmethod
    def of(cls, labelled: LabelledFrame, reviewer: str) -> _Spread:
        frame, sample = labelled.frame, labelled.sample
        # A block of one of three runs is a third in the mean, and a ninth in its square.
        weighed = (
            np.array(counts) / frame.runs.get(key, 1) ** 2
            for key, counts in frame.members.items()
            if key[1] == reviewer
        )
        own = np.sum(list(weighed), axis=0)
        strata, values = labelled.known()
        beyond = (np.array(values) - sample.mean[strata]) ** 2
        n = sample.labelled
        variances = np.bincount(strata, beyond, len(frame.strata)) / np.maximum(n - 1, 1)
        return cls(sample.sizes.astype(float), own * np.ones(len(frame.strata)), n.astype(float), variances)

    def seen(self) -> float:
        """What is in the error now."""
        return self._beyond_full(self.labelled, self.variances)

    def expected(self, factor: float) -> float:
        """What would be in it with this many times as many labelled blocks in each stratum."""
        n = self.labelled
        # Where all labelled blocks were alike, a next one might still differ.
        unseen = np.where((self.variances > 0) | (n >= self.sizes), self.variances, (n + 1) / (n + 2) ** 2)
        return self._beyond_full(np.minimum(self.sizes, n * factor), unseen)

    def _beyond_full(self, n: Array, variances: Array) -> float:
        """The squares of (N / n) (value - mean), summed over n labelled blocks, less what they are with all labelled:
        these squares, not the variance of the sample, are what the jackknife over pull requests adds up."""

        def squares(of: Array) -> Array:
            each: Array = np.maximum(of - 1, 0) / np.maximum(of, 1) ** 2
            return each

        more = np.maximum(squares(n) - squares(self.sizes), 0)
        return float((self.sizes * self.own * more * variances).sum())


def corrected_to_dict(correction: Correction, figures: Mapping[str, CorrectedFigures]) -> JsonObject:
    """For JSON: how far the labelling of the frame is, and each reviewer's figures."""
    labelled = correction.labelled
    frame = {
        "blocks": labelled.frame.blocks,
        "drawn": len(labelled.frame.drawn),
        "labelled": labelled.done,
        "missing": labelled.missing,
        "provisional": correction.known and not correction.complete,
        "passed_over": labelled.skipped,
    }
    return as_json({"frame": frame, "corrected": {name: asdict(each) for name, each in figures.items()}})
