"""The offline judge's model: how well a pair fits by itself, and how it stands among its rivals.

It is a logistic regression of twelve learned numbers, four weights and the eight of `Competition`. For each pair of a
comment and a reference it takes three steps:

1. Fit. How well the pair fits by itself: its features, brought to mean 0 and scale 1, times their weights.

       fit = sum of weight x (feature - mean) / scale, cut to -8..12

2. Rivals. The strength of a pair is exp(fit), with the fit counted as RIVALRY at most. Two sums say how contested the
   pair is:

       claimed = exp(candidates) + strengths of the other comments on the same reference
       wanted  = exp(references) + strengths of the same comment's other references

   A rival that raises the same issue is none, so each strength is first multiplied by 1 minus how alike the rival and
   this pair's own note are (see `Features`). In `wanted`, a reference that other comments claim is less of a rival:
   its strength is also multiplied by (exp(candidates) / its own claimed) ^ yielding.

3. Score. The probability that the two notes raise the same issue, which is high where a pair fits well and nothing else
   fits as well. A fit helps less and less as it grows, by the saturation T:

       score = logistic(own T (1 - exp(-fit / T)) - rival_candidates log(claimed) - rival_references log(wanted)
                        + intercept)

Two rules follow. One issue that three comments put in three wordings must not lose all three: for the best comment on a
reference, all others together count as CROWD of its own strength at most, as far as that brings its score up to 1/2.
And notes that are equal but for white space score EQUAL at least.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metareview.judges.offline.examples import ExampleWeights, Nearness, read_weights
from metareview.judges.offline.features import NAMES, Features
from metareview.judges.offline.notes import Background, Floats
from metareview.judges.offline.words import PieceTable

Bools = NDArray[np.bool_]

FORMAT = "metareview.offline/2"
FILE, VECTORS = "offline-2.json", "offline-1-vectors.npz"
LOWEST, HIGHEST = -8.0, 12.0  # the bounds that a fit is cut to
# The highest fit that a rival is counted with: two comments that both quote a reference must not rule each other out.
RIVALRY = 5.5
CROWD = 0.5  # what all other comments on a reference count at most against the best one, as a share of its strength
EQUAL = 0.999  # the least score of two notes that are equal but for white space, with any rivals


@dataclass(frozen=True)
class Competition:
    """The learned numbers for weighing a pair against its rivals; the names are those of the formulas above."""

    own: float  # how much the pair's own fit counts
    saturation: float  # the fit from which more of it hardly helps
    rival_candidates: float  # how much other comments on the reference count
    rival_references: float  # how much the comment's other references count
    candidates: float  # the fit of an imaginary rival comment that every reference has
    references: float  # the fit of an imaginary rival reference that every comment has
    yielding: float  # how far a reference that others claim is less of a rival: 0 not at all, 1 in full proportion
    intercept: float


@dataclass(frozen=True)
class Model:
    """The learned model: weights, competition, threshold, and the word statistics behind the features."""

    mean: Floats
    scale: Floats
    weight: Floats
    competition: Competition
    threshold: float
    examples: ExampleWeights
    background: Background
    version: str

    def score(self, features: Features) -> tuple[Floats, Floats]:
        """For each pair: how well it fits by itself, and the probability that it is the same issue."""
        fit = self.fit(features.values)
        return fit.round(9), self.probability(compete(fit, features, self.competition), features.pairs.equal)

    def score_with(self, score: Floats, near: Nearness, equal: Bools) -> Floats:
        """Probabilities of pairs, given their scores and known verdicts on the same references."""
        return np.where(equal, score, self.examples.rescored(score, near))

    def score_alone(self, values: Floats, equal: Bools) -> Floats:
        """The probability for pairs that have no rivals, as `score` gives it for questions of one note each way.

        `values` are their features, `equal` marks those that are the same but for white space.
        """
        c = self.competition
        logit = c.own * _saturated(self.fit(values), c) + c.intercept
        return self.probability(logit - c.rival_candidates * c.candidates - c.rival_references * c.references, equal)

    def fit(self, values: Floats) -> Floats:
        """The fit of each pair by itself, from its features."""
        fit: Floats = np.zeros(len(values))
        for column, mean, scale, weight in zip(values.T, self.mean, self.scale, self.weight, strict=True):
            fit += (column - mean) / scale * weight  # pair by pair: a matrix product may add each row up in its own way
        return np.clip(fit, LOWEST, HIGHEST)

    @staticmethod
    def probability(logit: Floats, equal: Bools) -> Floats:
        """The score of each pair; `equal` marks those that are the same but for white space."""
        score: Floats = 1 / (1 + np.exp(-logit))
        score = np.where(equal, np.maximum(score, EQUAL), score)
        # Sums over rivals and words depend on their order in the last digits; the score of a pair must not.
        return score.round(9)


def compete(fit: Floats, features: Features, c: Competition) -> Floats:
    """The logit of each pair's score: steps 2 and 3, and the rule for the best comment."""
    strength = strength_of(fit)
    pairs, rivals = features.pairs, features.rivals
    others = rivals.other_comments(strength)
    wanted = rivals.other_references(yielded(strength, others, c))
    best = np.full(len(pairs.layout.right.note), -np.inf)
    np.maximum.at(best, pairs.reference, fit)
    return logit_among(fit, others, wanted, best[pairs.reference], c)


def strength_of(fit: Floats) -> Floats:
    """The strength of a pair as a rival."""
    strength: Floats = np.exp(np.minimum(fit, RIVALRY))
    return strength


def yielded(strength: Floats, others: Floats, c: Competition) -> Floats:
    """The strength of a pair as a rival of its comment's other references, given that of other comments on its own."""
    left: Floats = strength * ((np.exp(c.candidates) + others) / np.exp(c.candidates)) ** -c.yielding
    return left


def logit_among(fit: Floats, others: Floats, wanted: Floats, best: Floats, c: Competition) -> Floats:
    """The logit of each pair's score, given its rivals: the strength of other comments on its reference, of its
    comment's other references, and the best fit on its reference."""
    claimed = np.exp(c.candidates) + others
    logit: Floats = (
        c.own * _saturated(fit, c)
        - c.rival_candidates * np.log(claimed)
        - c.rival_references * np.log(np.exp(c.references) + wanted)
        + c.intercept
    )
    claimed_at_most = np.exp(c.candidates) + np.minimum(others, CROWD * strength_of(fit))
    raised = np.minimum(logit + c.rival_candidates * np.log(claimed / claimed_at_most), 0)
    # Several comments on a reference may be best, if rounding alone parts them.
    return np.where(fit >= best - 1e-9, np.maximum(logit, raised), logit)


def _saturated(fit: Floats, c: Competition) -> Floats:
    return c.saturation * (1 - np.exp(-fit / c.saturation))


def read_background(stored: dict[str, Any], vectors: Path) -> Background:
    """The background of a weights file: `{"notes": n, "frequency": {"1": "stem stem", "2": ...}}`."""
    frequency = {stem: int(df) for df, stems in stored["frequency"].items() for stem in stems.split()}
    return Background(stored["notes"], frequency, PieceTable.read(vectors))


@cache
def shipped() -> Model:
    """The model that comes with the package: what scripts/train_offline.py and scripts/distil_vectors.py wrote."""
    folder = Path(str(files("metareview") / "data"))
    stored = json.loads((folder / FILE).read_text("utf-8"))
    features = {feature["name"]: feature for feature in stored["features"]}
    return Model(
        **{key: np.array([features[name][key] for name in NAMES]) for key in ("mean", "scale", "weight")},
        competition=Competition(**stored["competition"]),
        threshold=stored["threshold"],
        examples=read_weights(stored["examples"]),
        background=read_background(stored["background"], folder / VECTORS),
        version=stored["version"],
    )
