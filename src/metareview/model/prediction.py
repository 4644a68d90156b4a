"""Predictions of routers that already ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

NO_REPOSITORY = ""
"""Of an answer that does not say which repository it is about."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One router's answer for one pull request: logins, best first, and how risky it called the change."""

    candidates: tuple[str, ...]
    risk: str
    evidence: Any = None
    """Evidence of the router, as JSON; kept, never read."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Predictions:
    """Everything that one router answered, by (repo, pr)."""

    router: str
    answers: Mapping[tuple[str, int], Prediction]
    warnings: tuple[str, ...] = ()
    """Of reading the file, with the first of its routers."""

    def about(self, repo: str) -> Predictions:
        """A copy in which answers without a repository are about this one."""
        answers = {(named or repo, pr): answer for (named, pr), answer in self.answers.items()}
        return replace(self, answers=answers)
