"""The names of the routing harness, for routers that were written for it.

`metareview routing data/github/OWNER/NAME/history.sqlite --router mine:MyRouter` runs such a router as it is: its
`route(repo=…, pr_number=…, as_of=…, data_dir=…, top_k=…)` is called at each cutoff. It reads the history by itself, so
nothing keeps it from looking past the cutoff, and the run says so. These classes stand in for the harness's where that
is not installed; they hold the same fields, and check nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from metareview.routing.protocol import LookupRouter as Router

__all__ = ["Evidence", "RouteCandidate", "RouteResult", "Router", "Target", "TargetType"]


class TargetType(StrEnum):
    user = "user"
    team = "team"


@dataclass(frozen=True)
class Target:
    type: TargetType
    name: str


@dataclass(frozen=True)
class Evidence:
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RouteCandidate:
    target: Target
    score: float
    evidence: Sequence[Evidence] = ()


@dataclass(frozen=True)
class RouteResult:
    repo: str
    pr_number: int
    as_of: datetime
    top_k: int = 5
    candidates: Sequence[RouteCandidate] = ()
    risk: str = "unknown"
    confidence: str = "unknown"
    notes: Sequence[str] = ()
