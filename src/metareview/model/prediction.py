"""What routers that already ran have answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prediction:
    """One router's answer for one pull request: logins, best first, and how risky it called the change."""

    candidates: tuple[str, ...]
    risk: str


@dataclass(frozen=True, slots=True)
class Predictions:
    """Everything that one router answered, by (repo, pr)."""

    router: str
    answers: Mapping[tuple[str, int], Prediction]
