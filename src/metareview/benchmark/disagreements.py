"""Where a judge and labels differ, the worst first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from metareview.runs.files import JsonObject

KINDS = ("severity", "category", "context")
"""What agreement is sliced by."""


@dataclass(frozen=True, slots=True)
class JudgedLabel:
    """A pair that people labelled, and what the judge makes of it; None where the judge is undecided."""

    reference: str
    candidate: str
    label: bool
    match: bool | None
    score: float | None
    reason: str = ""
    group: str | None = None
    pr: str | None = None
    """The pull request, and what kind of issue the reference raises, each where it is known."""
    severity: str | None = None
    category: str | None = None
    context: str | None = None

    @property
    def certainty(self) -> float:
        """The score. A verdict without one is as sure as can be; NaN where there is no verdict."""
        if self.match is None:
            return float("nan")
        return float(self.match) if self.score is None else self.score


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair on which the judge and the label differ, or which the judge left undecided."""

    pair: JudgedLabel
    distance: float | None
    """How far the score is from the label, 1 for the same and 0 for different; None where the judge is undecided."""

    def to_dict(self) -> JsonObject:
        pair = self.pair
        notes = {"a": pair.reference, "b": pair.candidate, "label": pair.label, "match": pair.match}
        return {**notes, "score": pair.score, "distance": self.distance, "reason": pair.reason, "group": pair.group}


def disagreements(items: Iterable[JudgedLabel]) -> list[Disagreement]:
    """The items whose verdict is not the label's: the largest distance first, undecided ones last, else in order.

    A verdict without a score is as far from the label as can be.
    """
    found = [
        Disagreement(item, None if item.match is None else 1.0 if item.score is None else abs(item.label - item.score))
        for item in items
        if item.match is not item.label
    ]
    return sorted(found, key=lambda each: (each.distance is None, -(each.distance or 0)))
