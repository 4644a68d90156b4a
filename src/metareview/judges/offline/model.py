"""The offline judge's model: a logistic regression whose pairs compete with their rivals, a dozen numbers.

    fit      s = sum of weight x (feature - mean) / scale, cut to -8..12
    claimed  C = exp(candidates) + sum of u exp(s) over the other comments on the same reference
    wanted   R = exp(references) + sum of v exp(s) (exp(candidates) / C)^yielding over the same comment's
                 other references
                 where s of a rival is RIVALRY at the most
    score    p = logistic(own T (1 - exp(-s / T)) - rival_candidates log C - rival_references log R
                          + intercept)

T is the saturation. u and v are 1 minus how far the rival says the same as this comment, as this reference.
So a pair that fits well scores high if nothing else fits as well; a rival reference that another comment fits
better is less of a rival, and one that says the same is none. Three comments that say one thing in three wordings must
not rule each other out: for the best comment on a reference all other comments together weigh CROWD of its own exp(s)
at the most, as far as this makes it an even chance.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.offline.features import NAMES, Features
from metareview.judges.offline.notes import Background, Floats
from metareview.judges.offline.words import PieceTable

FORMAT = "metareview.offline/1"
FILE, VECTORS = "offline-1.json", "offline-1-vectors.npz"
LOWEST, HIGHEST = -8.0, 12.0
RIVALRY = 5.5
"""How well a rival can fit at the most, to other pairs: two comments that both quote a reference must not rule each
other out."""
CROWD = 0.5
"""What the other comments on a reference weigh at the most against the best one."""
EQUAL = 0.999
"""The least score of two notes that are equal but for white space, whatever the rivals."""


@dataclass(frozen=True)
class Competition:
    """The part of the model that weighs a pair against its rivals."""

    own: float
    saturation: float
    rival_candidates: float
    rival_references: float
    candidates: float
    references: float
    yielding: float
    intercept: float


@dataclass(frozen=True)
class Model:
    """Everything that was learned: weights, competition, threshold, and the statistics behind features."""

    mean: Floats
    scale: Floats
    weight: Floats
    competition: Competition
    threshold: float
    background: Background
    version: str

    def fit(self, values: Floats) -> Floats:
        """How well each pair fits by itself."""
        fit: Floats = np.clip((values - self.mean) / self.scale @ self.weight, LOWEST, HIGHEST)
        return fit

    def score(self, features: Features) -> tuple[Floats, Floats]:
        """For every pair: how well it fits, and the probability that it is the same issue."""
        fit = self.fit(features.values)
        logit = compete(fit, features, self.competition)
        p: Floats = 1 / (1 + np.exp(-logit))
        # Sums over rivals depend on their order in the last digits; a score must not.
        p = np.where(features.equal, np.maximum(p, EQUAL), p)
        return fit, p.round(9)


def other_comments(values: Floats, features: Features) -> Floats:
    """For each pair: the sum over other comments on the same reference, each less as it repeats this one."""
    grid = features.grid
    total = np.bincount(grid.column, values, minlength=len(grid.reference_note))
    same = grid.gather(sp.csr_array(features.alike_comments @ grid.matrix(values)))
    rest: Floats = total[grid.column] - values - same
    return rest


def other_references(values: Floats, features: Features) -> Floats:
    """For each pair: the sum over the same comment's other references, each less as it is like this one."""
    grid = features.grid
    total = np.bincount(grid.row, values, minlength=len(grid.note))
    same = grid.gather(sp.csr_array(grid.matrix(values) @ features.alike_references))
    rest: Floats = total[grid.row] - values - same
    return rest


def compete(fit: Floats, features: Features, c: Competition) -> Floats:
    """The logit of each pair's score."""
    strength = np.exp(np.minimum(fit, RIVALRY))
    # What is left of a difference of equal sums may be a little less than 0.
    others = np.maximum(other_comments(strength, features), 0)
    claimed = np.exp(c.candidates) + others
    yielded = strength * (claimed / np.exp(c.candidates)) ** -c.yielding
    wanted = np.exp(c.references) + np.maximum(other_references(yielded, features), 0)
    rising = c.saturation * (1 - np.exp(-fit / c.saturation))
    logit: Floats = (
        c.own * rising
        - c.rival_candidates * np.log(claimed)
        - c.rival_references * np.log(wanted)
        + c.intercept
    )
    at_least = np.exp(c.candidates) + np.minimum(others, CROWD * strength)
    eased = np.minimum(logit + c.rival_candidates * np.log(claimed / at_least), 0)
    return np.where(_best_comment(fit, features), np.maximum(logit, eased), logit)


def _best_comment(fit: Floats, features: Features) -> NDArray[np.bool_]:
    """Whether no other comment fits the pair's reference better; equal ones, to the last digits, all do."""
    best = np.full(len(features.grid.reference_note), -np.inf)
    np.maximum.at(best, features.grid.column, fit)
    at_best: NDArray[np.bool_] = fit >= best[features.grid.column] - 1e-9
    return at_best


def read_background(stored: dict[str, Any], vectors: Path) -> Background:
    """The background of a weights file: `{"notes": n, "frequency": {"1": "stem stem", "2": ...}}`."""
    frequency = {stem: int(df) for df, stems in stored["frequency"].items() for stem in stems.split()}
    return Background(stored["notes"], frequency, PieceTable.read(vectors))


@cache
def shipped() -> Model:
    """The model that comes with the package."""
    folder = Path(str(files("metareview") / "data"))
    return read_model(folder / FILE, folder / VECTORS)


def read_model(file: Path, vectors: Path) -> Model:
    stored = json.loads(file.read_text("utf-8"))
    if stored["format"] != FORMAT or [f["name"] for f in stored["features"]] != list(NAMES):
        raise ValueError(f"{file.name} is no {FORMAT} file with the features {', '.join(NAMES)}")
    return Model(
        mean=np.array([f["mean"] for f in stored["features"]]),
        scale=np.array([f["scale"] for f in stored["features"]]),
        weight=np.array([f["weight"] for f in stored["features"]]),
        competition=Competition(**stored["competition"]),
        threshold=stored["threshold"],
        background=read_background(stored["background"], vectors),
        version=stored["version"],
    )
