"""The offline judge's published accuracy: figures of its weights file on pull requests that it did not learn from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import isfinite
from pathlib import PurePath

from metareview.judges.offline.model import FILE

_WEIGHTS = re.compile(r"offline-[0-9]{1,4}")


@dataclass(frozen=True)
class KappaOf:
    """Kappa on one kind of pairs, with its interval by pull request."""

    kappa: float
    interval: tuple[float, float] | None
    pairs: int | None


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
    """Scored pair by pair, as labels without groups are."""
    models: int | None = None
    """Number of models whose verdicts it was compared with."""
    f1_gap: float | None = None
    """Mean absolute difference between a tool's F1 by this judge and by the models."""
    by_severity: Mapping[str, KappaOf] = field(default_factory=dict)
    reliability: Sequence[tuple[float, float, int]] = ()
    """Mean score, share of matches and number of pairs, of pairs that score alike."""


@cache
def held_out(weights: str | None = None) -> HeldOut:
    """Of the weights that ship, or of those with this name; empty where they no longer ship, or without figures."""
    name = PurePath(FILE).stem if weights is None else weights
    path = files("metareview") / "data" / f"{name}.json"
    if not _WEIGHTS.fullmatch(name) or not path.is_file():
        return HeldOut(name)
    stored = json.loads(path.read_text("utf-8"))
    return parse_held_out(name, stored.get("threshold"), _object(stored.get("held_out_figures")))


def parse_held_out(weights: str, threshold: object, figures: Mapping[str, object]) -> HeldOut:
    """From the figures of a weights file, or from those that a run keeps; what is no number is not known.

    A file has them for each way to hold out (`by_pull_request`, `by_repository`), older ones and runs by name alone.
    """
    ways = {way: _object(figures.get(f"by_{way}")) for way in ("pull_request", "repository")}
    kappas = {way: _object(each.get("kappa")) for way, each in ways.items()}
    main, known = ways["pull_request"], kappas["pull_request"]
    by = _object(figures.get("kappa_by")) or {way: each.get("value") for way, each in kappas.items()}
    by_unit = {way: _number(value) for way, value in by.items()}
    models = figures.get("models", len(_object(main.get("kappa_of_each_model"))) or None)
    gaps = (figures.get("f1_gap"), main.get("f1_gap_one_to_one"), figures.get("f1_gap_one_to_one"))
    kinds = {kind: _kappa_of(_object(each)) for kind, each in _object(figures.get("by_severity")).items()}
    curve = figures.get("reliability")
    return HeldOut(
        weights,
        _number(threshold),
        _number(figures.get("kappa", known.get("value"))),
        _ends(figures.get("kappa_interval", known.get("interval"))),
        {way: value for way, value in by_unit.items() if value is not None},
        _number(figures.get("kappa_without_rivals")),
        models if isinstance(models, int) and not isinstance(models, bool) else None,
        next((gap for gap in map(_number, gaps) if gap is not None), None),
        {kind: each for kind, each in kinds.items() if each is not None},
        tuple(_points(curve)) if isinstance(curve, list | tuple) else (),
    )


def _kappa_of(figures: Mapping[str, object]) -> KappaOf | None:
    value, pairs = _number(figures.get("value", figures.get("kappa"))), _number(figures.get("pairs"))
    if value is None:
        return None
    return KappaOf(value, _ends(figures.get("interval")), None if pairs is None else int(pairs))


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _ends(value: object) -> tuple[float, float] | None:
    low, high = map(_number, value) if isinstance(value, list | tuple) and len(value) == 2 else (None, None)
    return None if low is None or high is None else (low, high)


def _points(curve: Sequence[object]) -> Sequence[tuple[float, float, int]]:
    return [
        (float(point[0]), float(point[1]), int(point[2]))
        for point in curve
        if isinstance(point, list | tuple) and len(point) == 3 and all(_number(each) is not None for each in point)
    ]


def _number(value: object) -> float | None:
    """The value as a finite number; None for anything else."""
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return number if number is not None and isfinite(number) else None
