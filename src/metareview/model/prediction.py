"""What routers that already ran have answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Prediction:
    """One router's answer for one pull request: logins, best first, and how risky it called the change."""

    candidates: tuple[str, ...]
    risk: str
    evidence: Any = None
    """What the router went by, as JSON holds it; kept, never read."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Predictions:
    """Everything that one router answered, by (repo, pr)."""

    router: str
    answers: Mapping[tuple[str, int], Prediction]
    warnings: tuple[str, ...] = ()
    """Of reading the file, with the first of its routers."""
