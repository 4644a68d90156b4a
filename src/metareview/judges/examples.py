"""Known verdicts on the same references: which comments of other reviewers raise which issue.

A comment that was found to raise a reference is a further wording of it; one that was found to raise none is a rival,
something else that one could mean on this pull request. What is measured is never its own example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metareview.judges.protocol import Question


@dataclass(frozen=True, slots=True)
class KnownNotes:
    """Known verdicts on one question's references: other comments on them, each distinct note once.

    Questions with the same `match`, the very same object, must have the same notes; they are looked at together.
    """

    notes: Sequence[str]
    match: NDArray[np.int8]
    """(notes, the question's references): SAME, DIFFERENT, or UNDECIDED where nothing is known of the two."""
    left_out: Sequence[int] = ()
    """The rows that are no examples for this question: its own reviewer's comments."""


class Examples(Protocol):
    """The source of known verdicts for a judge."""

    digest: str
    """A hash of all that is known: two runs with equal digests learned from the same."""

    def known(self, question: Question) -> KnownNotes | None:
        """The known notes on a question's references, apart from its own reviewer's comments; None for nothing."""
