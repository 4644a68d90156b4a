"""What is kept of each scored pull request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class TruthEvent:
    """The event that made somebody a target."""

    id: str
    kind: str
    actor: str
    at: int


@dataclass(frozen=True, slots=True)
class Truth:
    """The people who should have been on the list; nobody, for one of two reasons, is a state of its own."""

    state: str
    """`observed`; `no_response`: nobody came in time; `unknown`: the history ends before the window does."""
    targets: tuple[str, ...] = ()
    events: tuple[TruthEvent, ...] = ()
    """What each target was first seen by, in the order of targets."""


@dataclass(frozen=True, slots=True)
class Declarations:
    """Which of the three a pull request's body has."""

    issue: bool
    ai_disclosure: bool
    provenance: bool


@dataclass(frozen=True, slots=True)
class RouterAnswer:
    """One router's list for one pull request."""

    candidates: tuple[str, ...] = ()
    """The first ones, best first, without those who are not eligible."""
    scores: tuple[float, ...] | None = None
    listed: int = 0
    """How many the whole list has."""
    rank: int = 0
    """Position of the first truth target, from 1; 0: none."""
    risk: str = "unknown"
    figures: Mapping[str, float | None] = field(default_factory=dict)
    """What the ranks are worth: hit@k, the reciprocal rank, under `all_reviewers` more; and expertise@k. Null
    where the router is not applicable, or where it is not known."""
    evidence: Any = None
    """What the router went by, as JSON holds it, and `notes` in its own words; kept, never read."""
    notes: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    """Positions of all truth targets in the list, rising; kept where several people may be right."""

    def with_figures(self, figures: Mapping[str, float | None]) -> RouterAnswer:
        """The same with other figures; many times quicker than dataclasses.replace."""
        head = self.candidates, self.scores, self.listed, self.rank, self.risk
        return RouterAnswer(*head, figures, self.evidence, self.notes, self.ranks)


@dataclass(frozen=True, slots=True)
class RoutingRecord:
    """One pull request: its cutoff, truth, times, declarations, and each router's answer."""

    repo: str
    pr: int
    author: str | None
    created_at: int
    cutoff: int
    truth: Truth
    ttfr_seconds: float | None
    ttfc_seconds: float | None
    declarations: Declarations
    merged: bool
    merged_within: bool | None
    answers: Mapping[str, RouterAnswer]
    files: int = 0
    """Changed files at the cutoff; 0: not known."""
    truth_expertise: bool | None = None
    """Whether anybody of the truth had changed or reviewed one of them before; None where either is not known."""

    @property
    def name(self) -> str:
        """The pull request as `owner/name#7`."""
        return f"{self.repo}#{self.pr}"
