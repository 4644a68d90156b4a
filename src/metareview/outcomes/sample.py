"""The frame of a run of outcomes: which comments were drawn for people to label, and from how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from metareview.model.addressed import LINES, NOT, UNKNOWN
from metareview.model.label import OutcomeKey
from metareview.outcomes.records import CommentOutcome

RecordKey = tuple[str, str]
"""The pull request and the reviewer."""
ADDRESSED, NOT_ADDRESSED, UNSURE, NOT_ASKED = "addressed", "not addressed", "unsure", "not asked"
CHANGED, UNCHANGED, CANNOT_TELL = "lines changed", "lines unchanged", "cannot tell"
GROUPS = (ADDRESSED, NOT_ADDRESSED, UNSURE, NOT_ASKED, CHANGED, UNCHANGED, CANNOT_TELL)
"""What comments are told apart by: the first four where a judge was asked, the others where none was."""
_OF_LINES = {True: CHANGED, False: UNCHANGED, None: CANNOT_TELL}


@dataclass(frozen=True, slots=True)
class Unit:
    """A comment that may be drawn."""

    pr: str
    reviewer: str
    position: int
    group: str
    """One of `GROUPS`."""
    lines_changed: bool | None

    @property
    def key(self) -> OutcomeKey:
        return self.pr, self.reviewer, self.position

    @property
    def record(self) -> RecordKey:
        return self.pr, self.reviewer


@dataclass(frozen=True, slots=True)
class Stratum:
    """Comments that are alike; None where they were not told apart by that."""

    reviewer: str | None
    group: str | None
    size: int


@dataclass(frozen=True)
class OutcomeFrame:
    """What was drawn, and from how many comments."""

    run: str
    """The fingerprint of the run that it was drawn from."""
    seed: int
    budget: int
    strata: Sequence[Stratum]
    members: Mapping[RecordKey, Sequence[int]]
    """How many comments of each stratum a reviewer has on a pull request; without those that have none."""
    drawn: Sequence[tuple[int, Unit]]
    """The stratum of each drawn comment, and the comment, in the order in which to ask."""
    stratum: Mapping[OutcomeKey, int] = field(default_factory=dict)
    """The stratum of every comment, drawn or not; empty in files of older versions."""

    @property
    def comments(self) -> int:
        """All of them, drawn or not."""
        return sum(stratum.size for stratum in self.strata)


def unit_of(record: RecordKey, outcome: CommentOutcome, *, judged: bool) -> Unit:
    """`judged`: whether the run asked a judge."""
    lines = outcome.lines_changed.value
    group = _judged_group(outcome) if judged else _OF_LINES[lines]
    return Unit(*record, outcome.position, group, lines)


def _judged_group(outcome: CommentOutcome) -> str:
    verdict = outcome.verdict
    if verdict is None or verdict.by == LINES:
        return NOT_ASKED
    if verdict.verdict in (None, UNKNOWN):
        return UNSURE
    return NOT_ADDRESSED if verdict.verdict == NOT else ADDRESSED
