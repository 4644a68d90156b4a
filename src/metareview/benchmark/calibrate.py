"""How far does a judge agree with labels? Pairs are judged as in a run, among the rivals of their group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from metareview.benchmark.disagreements import Disagreement, JudgedLabel, disagreements
from metareview.formats.labels import Label
from metareview.judges.protocol import SAME, UNDECIDED, Judge, Question, judged_part
from metareview.model.measure import Measure
from metareview.runs.files import JsonObject
from metareview.stats import Array, kappa


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


@dataclass(frozen=True)
class Bin:
    """One bin of a reliability curve: scores in low <= score < high (the last bin holds 1 too)."""

    low: float
    high: float
    n: int
    mean_score: float
    match_rate: float


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
    best_kappa: float | None
    reliability: Sequence[Bin]


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

    @property
    def figures(self) -> dict[str, float | None]:
        """What a gate can be set on, by name."""
        return {measure.name: getattr(self.agreement, measure.name) for measure in FIGURES}

    def disagreements(self) -> list[Disagreement]:
        """Where judge and labels differ, worst first."""
        return disagreements(self.judged)

    def to_dict(self) -> JsonObject:
        head = {"schema": "metareview.calibrate/1", "judge": self.judge, "parameters": dict(self.parameters)}
        return {**head, **asdict(self.agreement), "groups": self.groups, "ungrouped": self.ungrouped}


def calibrate(labels: Sequence[Label], judge: Judge) -> Calibration:
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
    found = agreement([label.match for label in labels], scores, judge.threshold, verdicts=verdicts)
    judged = [
        JudgedLabel(
            label.reference,
            label.candidate,
            label.match,
            None if verdict == UNDECIDED else verdict == SAME,
            None if score != score else score,  # NaN
            reason,
            label.group,
        )
        for label, verdict, score, reason in zip(labels, verdicts.tolist(), scores.tolist(), reasons, strict=True)
    ]
    return Calibration(judge.name, judge.parameters, found, len(groups) - ungrouped, ungrouped, judged)


def _question(labels: Sequence[Label]) -> Question:
    """The pairs of one group; all its notes are rivals."""
    candidates = {note: index for index, note in enumerate(dict.fromkeys(label.candidate for label in labels))}
    references = {note: index for index, note in enumerate(dict.fromkeys(label.reference for label in labels))}
    pairs = [(candidates[label.candidate], references[label.reference]) for label in labels]
    return Question(list(map(judged_part, candidates)), list(map(judged_part, references)), np.array(pairs, np.int64))


def agreement(
    labels: ArrayLike, scores: ArrayLike, threshold: float | None, bins: int = 10, verdicts: ArrayLike | None = None
) -> Agreement:
    """Compare scores with labels (0 or 1); a NaN score is a pair that the judge failed on.

    A pair matches if the judge's own verdict says so (1), or without verdicts if score >= threshold.
    The best threshold is the one with the highest kappa of all that divide the scores, halfway between the two scores
    that it divides (the highest threshold if several are best).
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
    best_threshold, best_kappa = _best(y, s)
    return Agreement(
        n=n,
        errors=errors,
        kappa=None if np.isnan(own_kappa) else own_kappa,
        accuracy=float((called == (y == 1)).mean()),
        precision=float(tp / called.sum()) if called.any() else None,
        recall=float(tp / y.sum()) if y.any() else None,
        auc=auc(y, s),
        threshold=threshold,
        best_threshold=best_threshold,
        best_kappa=best_kappa,
        reliability=reliability(y, s, bins),
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
    parts = ((number, which == number) for number in np.unique(which).tolist())
    return [
        Bin(n / bins, (n + 1) / bins, int(inside.sum()), float(s[inside].mean()), float(y[inside].mean()))
        for n, inside in parts
    ]


def _best(y: Array, s: Array) -> tuple[float | None, float | None]:
    """The threshold with the highest kappa: every distinct score is tried."""
    values, inverse, count = np.unique(-s, return_inverse=True, return_counts=True)
    kappas = kappa(np.cumsum(np.bincount(inverse, y)), np.cumsum(count), y.sum(), len(y))
    if np.isnan(kappas).all():
        return None, None
    at = int(np.nanargmax(kappas))
    score, below = -values[at], -values[min(at + 1, len(values) - 1)]
    middle = (score + below) / 2
    # Two neighbouring floats have no middle: the threshold must still divide them.
    return float(middle if middle > below else score), float(kappas[at])
