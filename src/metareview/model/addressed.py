"""Verdicts of models and people on whether a later change did what a comment requests."""

from __future__ import annotations

from dataclasses import dataclass

FULLY, PARTLY, NOT, UNKNOWN = "fully", "partly", "not", "unknown"
ADDRESSED_VERDICTS = (FULLY, PARTLY, NOT, UNKNOWN)
MODEL, CACHE, LABEL, LINES = "model", "cache", "label", "lines"
"""The decider; `lines`: without a model, because no line that the comment points at was changed."""


@dataclass(frozen=True, slots=True)
class Addressed:
    """One of `ADDRESSED_VERDICTS`; None: undecided, which is an error and never a no."""

    verdict: str | None
    by: str
    reason: str = ""
