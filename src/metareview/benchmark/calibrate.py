"""How far does a judge agree with labels? Pairs are judged as in a run, among the rivals of their group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from metareview.benchmark.chance import agreement_intervals, cross_fitted
from metareview.benchmark.disagreements import KINDS, Disagreement, JudgedLabel, disagreements
from metareview.benchmark.thresholds import best_threshold
from metareview.benchmark.units import Units, units_of
from metareview.formats.labels import NotePairLabel
from metareview.judges.protocol import SAME, UNDECIDED, Judge, Question, judged_part
from metareview.model.measure import Measure
from metareview.runs.files import JsonObject
from metareview.stats import Interval, exact_interval, kappa


def _figure(name: str, definition: str) -> Measure:
    """A figure of an agreement that a gate can be set on. There are no counts to make it of: it is its own sum."""
    return Measure(name, name, name, definition, lambda sums: sums, lambda sums: (sums, np.ones_like(sums)))


FIGURES = (
    _figure("kappa", "Agreement beyond chance."),
    _figure("accuracy", "Pairs on which judge and label agree."),
    _figure("precision", "Pairs that the judge calls the same and the label too."),
    _figure("recall", "Pairs labelled the same that the judge calls the same."),
    _figure("auc", "The chance that a match scores higher than a mismatch."),
)


UNKNOWN = "unknown"
"""The kind of a reference that has none."""
_INTERVALS = (*(measure.name for measure in FIGURES), "cross_fitted_kappa", "cross_fitted_gain")


@dataclass(frozen=True)
class Bin:
    """One bin of a reliability curve: scores in low <= score < high (the last bin holds 1 too)."""

    low: float
    high: float
    n: int
    mean_score: float
    match_rate: float
    interval: Interval
    """Of the match rate at 95 %, if each pair stood for itself."""


@dataclass(frozen=True)
class Agreement:
    """A judge against labels. Figures are over the pairs that it decided; None where there is no value."""

    n: int
    """Labelled pairs, failed ones included."""
    errors: int
    """Pairs that the judge failed on."""
    kappa: float | None
    accuracy: float | None
    precision: float | None
    recall: float | None
    auc: float | None
    threshold: float | None
    """The judge's own; None where it has none, as a model that says yes or no."""
    best_threshold: float | None
    """The one with the highest kappa on these very labels: in sample, so that it promises too much."""
    best_kappa: float | None
    reliability: Sequence[Bin]
    intervals: Mapping[str, Interval | None] = field(default_factory=lambda: dict.fromkeys(_INTERVALS))
    """At 95 %, over whole units; None where there are too few."""
    interval_unit: str | None = None
    """What was left out whole: `pull_request` or `group`; None where labels name neither, or all the same one."""
    interval_units: int = 0
    cross_fitted_kappa: float | None = None
    """With thresholds that other units chose; None for fewer than 5 units."""
    cross_fitted_gain: float | None = None
    """How much higher that is than `kappa`."""


Slices = Mapping[str, Mapping[str, Agreement]]
"""By a kind of reference that the labels tell (`severity`, `category`, `context`), then by its value."""


@dataclass(frozen=True)
class Calibration:
    """A judge against labels. `to_dict()` is what `metareview calibrate --json` prints."""

    judge: str
    parameters: Mapping[str, object]
    agreement: Agreement
    groups: int
    ungrouped: int
    """Labels without a group, which are judged without rivals."""
    judged: Sequence[JudgedLabel] = ()
    """Each label with what the judge made of it, in their order."""
    slices: Slices = field(default_factory=dict)

    @property
    def figures(self) -> dict[str, float | None]:
        """What a gate can be set on, by name."""
        return {measure.name: getattr(self.agreement, measure.name) for measure in FIGURES}

    def disagreements(self) -> list[Disagreement]:
        """Where judge and labels differ, worst first."""
        return disagreements(self.judged)

    def to_dict(self) -> JsonObject:
        head = {"schema": "metareview.calibrate/1", "judge": self.judge, "parameters": dict(self.parameters)}
        groups = {"groups": self.groups, "ungrouped": self.ungrouped}
        return {**head, **asdict(self.agreement), "slices": slices_to_dict(self.slices), **groups}


def calibrate(labels: Sequence[NotePairLabel], judge: Judge) -> Calibration:
    """How far the judge's verdicts and scores agree with the labels."""
    groups: dict[str | int, list[int]] = {}
    for position, label in enumerate(labels):
        groups.setdefault(position if label.group is None else label.group, []).append(position)
    questions = [_question([labels[position] for position in positions]) for positions in groups.values()]
    scores = np.full(len(labels), np.nan)
    verdicts = np.full(len(labels), UNDECIDED)
    reasons = [""] * len(labels)
    for answer, positions in zip(judge.judge(questions), groups.values(), strict=True):
        scores[positions] = answer.score
        verdicts[positions] = answer.match
        for row, position in enumerate(positions):
            reasons[position] = answer.reason if isinstance(answer.reason, str) else answer.reason[row]
    ungrouped = sum(label.group is None for label in labels)
    judged = [
        JudgedLabel(
            label.reference,
            label.candidate,
            label.match,
            None if verdict == UNDECIDED else verdict == SAME,
            None if score != score else score,  # NaN
            reason,
            label.group,
            label.pr,
            label.severity,
            label.category,
            label.context,
        )
        for label, verdict, score, reason in zip(labels, verdicts.tolist(), scores.tolist(), reasons, strict=True)
    ]
    found, slices = agreement_of(judged, judge.threshold), agreement_by_kind(judged, judge.threshold)
    return Calibration(judge.name, judge.parameters, found, len(groups) - ungrouped, ungrouped, judged, slices)


def _question(labels: Sequence[NotePairLabel]) -> Question:
    """The pairs of one group; all its notes are rivals."""
    candidates = {note: index for index, note in enumerate(dict.fromkeys(label.candidate for label in labels))}
    references = {note: index for index, note in enumerate(dict.fromkeys(label.reference for label in labels))}
    pairs = [(candidates[label.candidate], references[label.reference]) for label in labels]
    return Question(list(map(judged_part, candidates)), list(map(judged_part, references)), np.array(pairs, np.int64))


def agreement_of(judged: Sequence[JudgedLabel], threshold: float | None) -> Agreement:
    """Labels against what a judge of this threshold made of them, with intervals over pull requests, else groups."""
    return agreement(
        [each.label for each in judged],
        [each.certainty for each in judged],
        threshold,
        verdicts=[UNDECIDED if each.match is None else int(each.match) for each in judged],
        units=units_of([each.pr for each in judged], [each.group for each in judged]),
    )


def agreement_by_kind(judged: Sequence[JudgedLabel], threshold: float | None) -> Slices:
    """The same for each kind of reference; a pair whose reference has none is of the kind `unknown`."""
    found: dict[str, dict[str, Agreement]] = {}
    for kind in KINDS:
        parts: dict[str, list[JudgedLabel]] = {}
        for each in judged:
            parts.setdefault(getattr(each, kind) or UNKNOWN, []).append(each)
        if parts.keys() - {UNKNOWN}:
            found[kind] = {value: agreement_of(part, threshold) for value, part in sorted(parts.items())}
    return found


def slices_to_dict(slices: Slices) -> JsonObject:
    """Of each slice how many labels, and the figures with their intervals."""
    return {
        kind: {
            value: {"n": part.n, "errors": part.errors}
            | {measure.name: getattr(part, measure.name) for measure in FIGURES}
            | {"intervals": {measure.name: part.intervals[measure.name] for measure in FIGURES}}
            | {"interval_unit": part.interval_unit, "interval_units": part.interval_units}
            for value, part in parts.items()
        }
        for kind, parts in slices.items()
    }


def agreement(
    labels: ArrayLike,
    scores: ArrayLike,
    threshold: float | None,
    bins: int = 10,
    verdicts: ArrayLike | None = None,
    units: Units | None = None,
) -> Agreement:
    """Compare scores with labels (0 or 1); a NaN score is a pair that the judge failed on.

    A pair matches if the judge's own verdict says so (1), or without verdicts if score >= threshold.
    The best threshold is the one with the highest kappa of all that divide the scores. With `units`, intervals are
    over these, and thresholds are tried on units that did not choose them.
    """
    y, s = np.asarray(labels, np.float64), np.asarray(scores, np.float64)
    if y.shape != s.shape or y.ndim != 1:
        raise ValueError("labels and scores must be two lists of equal length")
    if not np.isin(y, (0, 1)).all():
        raise ValueError("labels must be 0 or 1")
    decided = ~np.isnan(s)
    n, errors = len(y), int((~decided).sum())
    y, s = y[decided], s[decided]
    if not len(y):
        return Agreement(n, errors, None, None, None, None, None, threshold, None, None, [])
    if verdicts is not None:
        called = np.asarray(verdicts)[decided] == 1
    elif threshold is not None:
        called = s >= threshold
    else:
        raise ValueError("without verdicts there must be a threshold")
    tp = float((called & (y == 1)).sum())
    own_kappa = float(kappa(tp, float(called.sum()), float(y.sum()), len(y)))
    best, best_kappa = best_threshold(y, s)
    kept = None if units is None else units.part(decided)
    fitted = None if kept is None else cross_fitted(y, s, called, kept)
    intervals: dict[str, Interval | None] = dict.fromkeys(_INTERVALS)
    if kept is not None:
        intervals |= agreement_intervals(y, s, called, kept)
    if fitted is not None:
        intervals |= {"cross_fitted_kappa": fitted.interval, "cross_fitted_gain": fitted.gain_interval}
    return Agreement(
        n=n,
        errors=errors,
        kappa=None if np.isnan(own_kappa) else own_kappa,
        accuracy=float((called == (y == 1)).mean()),
        precision=float(tp / called.sum()) if called.any() else None,
        recall=float(tp / y.sum()) if y.any() else None,
        auc=auc(y, s),
        threshold=threshold,
        best_threshold=best,
        best_kappa=best_kappa,
        reliability=reliability(y, s, bins),
        intervals=intervals,
        interval_unit=kept.kind if kept is not None and len(kept.names) > 1 else None,
        interval_units=0 if kept is None else len(kept.names),
        cross_fitted_kappa=fitted.kappa if fitted else None,
        cross_fitted_gain=fitted.gain if fitted else None,
    )


def auc(labels: ArrayLike, scores: ArrayLike) -> float | None:
    """The chance that a match scores higher than a mismatch, ties counting half; None if a kind is absent."""
    y, s = np.asarray(labels, np.float64), np.asarray(scores, np.float64)
    positive = float(y.sum())
    negative = len(y) - positive
    if not positive or not negative:
        return None
    _, inverse, count = np.unique(s, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    return float((rank[inverse][y == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def reliability(labels: ArrayLike, scores: ArrayLike, bins: int = 10) -> list[Bin]:
    """What share of pairs match among those that score alike: bins of equal width, without the empty ones."""
    y, s = np.asarray(labels, np.float64), np.asarray(scores, np.float64)
    which = np.clip((s * bins).astype(np.int64), 0, bins - 1)
    found = []
    for number in np.unique(which).tolist():
        inside = which == number
        n, matches = int(inside.sum()), float(y[inside].sum())
        ends = number / bins, (number + 1) / bins
        found.append(Bin(*ends, n, float(s[inside].mean()), matches / n, exact_interval(matches, n)))
    return found
