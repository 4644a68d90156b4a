"""How far the offline judge may be trusted: what its weights file says of pull requests that it had not seen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import PurePath

from metareview.judges.offline.model import FILE

_WEIGHTS = re.compile(r"offline-[0-9]{1,4}")


@dataclass(frozen=True)
class HeldOut:
    """Figures of weights and threshold on pull requests that they were not learned from; each where it is known."""

    weights: str
    """As a run names them: `offline-1`."""
    threshold: float | None = None
    kappa: float | None = None
    kappa_interval: tuple[float, float] | None = None
    """At 95 %, over pull requests."""
    kappa_by: Mapping[str, float] = field(default_factory=dict)
    """By what was held out: `pull_request`, `repository`."""
    kappa_without_rivals: float | None = None
    """Asked about pair by pair, as labels without groups are."""
    models: int | None = None
    """How many models' verdicts it was held to."""
    f1_gap: float | None = None
    """How far the F1 of a tool is from what the models make of it, on average."""
    reliability: Sequence[tuple[float, float, int]] = ()
    """Mean score, share of matches and number of pairs, of pairs that score alike."""


@cache
def held_out(weights: str | None = None) -> HeldOut:
    """Of the weights that ship, or of those with this name; empty where they no longer ship, or the file is silent."""
    name = PurePath(FILE).stem if weights is None else weights
    path = files("metareview") / "data" / f"{name}.json"
    if not _WEIGHTS.fullmatch(name) or not path.is_file():
        return HeldOut(name)
    stored = json.loads(path.read_text("utf-8"))
    figures = stored.get("held_out_figures")
    return parse_held_out(name, stored.get("threshold"), figures if isinstance(figures, dict) else {})


def parse_held_out(weights: str, threshold: object, figures: Mapping[str, object]) -> HeldOut:
    """From the keys of a weights file; what is absent, or is no number, is not known."""
    models, by, curve = (figures.get(key) for key in ("models", "kappa_by", "reliability"))
    by_unit = {key: _number(value) for key, value in by.items()} if isinstance(by, dict) else {}
    return HeldOut(
        weights,
        _number(threshold),
        _number(figures.get("kappa")),
        _ends(figures.get("kappa_interval")),
        {key: value for key, value in by_unit.items() if value is not None},
        _number(figures.get("kappa_without_rivals")),
        models if isinstance(models, int) and not isinstance(models, bool) else None,
        _number(figures.get("f1_gap")),
        tuple(_points(curve)) if isinstance(curve, list) else (),
    )


def _ends(value: object) -> tuple[float, float] | None:
    low, high = map(_number, value) if isinstance(value, list) and len(value) == 2 else (None, None)
    return None if low is None or high is None else (low, high)


def _points(curve: list[object]) -> Sequence[tuple[float, float, int]]:
    return [
        (float(point[0]), float(point[1]), int(point[2]))
        for point in curve
        if isinstance(point, list) and len(point) == 3 and all(_number(each) is not None for each in point)
    ]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
