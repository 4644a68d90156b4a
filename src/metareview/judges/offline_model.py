"""The offline judge's model: a logistic regression whose pairs compete with their rivals, a dozen numbers in all.

    fit      s = sum of weight x (feature - mean) / scale, cut to -8..12
    claimed  C = exp(candidates) + sum of exp(s) over the other comments that could raise the same reference
    wanted   R = exp(references) + sum of (1 - likeness) exp(s) (exp(candidates) / C)^yielding over the other
                 references that the same comment could raise, where likeness is between the two references
    score    p = logistic(own x T (1 - exp(-s / T)) - rival_candidates log C - rival_references log R + intercept)

A pair that fits well has a high s; it scores high if nothing else fits as well. A rival reference that another
comment fits better is less of a rival, and one that says almost the same is none.
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

from metareview.judges.offline_features import NAMES, Features, Grid
from metareview.judges.offline_notes import Background, Floats, PieceTable

FORMAT = "metareview.offline/1"
FILE, VECTORS = "offline-1.json", "offline-1-vectors.npz"
LOWEST, HIGHEST = -8.0, 12.0
ALIKE = 0.98
"""No two references are taken to be more alike than this."""
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
    """Everything that was learned: weights, competition, threshold, and the statistics behind the features."""

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
        logit = compete(fit, features.grid, features.likeness, self.competition)
        p = 1 / (1 + np.exp(-logit))
        # Sums over rivals depend on their order in the last digits; a score must not.
        return fit, np.round(np.where(features.equal, np.maximum(p, EQUAL), p), 9)


def others_in_column(values: Floats, grid: Grid) -> Floats:
    """For each pair: the sum over the other comments on the same reference."""
    total = np.bincount(grid.column, values, minlength=len(grid.reference_note))
    return np.maximum(total[grid.column] - values, 0)


def others_in_row(values: Floats, grid: Grid, likeness: sp.csr_array) -> Floats:
    """For each pair: the sum over the same comment's other references, each less as it is like this one."""
    total = np.bincount(grid.row, values, minlength=len(grid.note))
    alike = sp.csr_array(
        (np.minimum(likeness.data, ALIKE), likeness.indices, likeness.indptr), likeness.shape
    )
    same = grid.gather(sp.csr_array(grid.matrix(values) @ alike))
    return np.maximum(total[grid.row] - values - same, 0)


def compete(fit: Floats, grid: Grid, likeness: sp.csr_array, c: Competition) -> Floats:
    """The logit of each pair's score."""
    strength = np.exp(fit)
    claimed = np.exp(c.candidates) + others_in_column(strength, grid)
    yielded = strength * (claimed / np.exp(c.candidates)) ** -c.yielding
    wanted = np.exp(c.references) + others_in_row(yielded, grid, likeness)
    rising = c.saturation * (1 - np.exp(-fit / c.saturation))
    logit: Floats = (
        c.own * rising
        - c.rival_candidates * np.log(claimed)
        - c.rival_references * np.log(wanted)
        + c.intercept
    )
    return logit


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
