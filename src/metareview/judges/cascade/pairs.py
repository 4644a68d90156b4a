"""What to ask a model pair by pair, in rounds: the likeliest partner of each reference first.

A yes settles both notes and makes their other pairs needless. A no makes a rival likelier, since the offline judge had
held the better pair against it: from then on `low_after_no` is its lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metareview.judges.cascade.matters import Edge, that_matter
from metareview.judges.protocol import DIFFERENT, SAME

OPEN = 2  # a pair that is not clear, and that the model has not been asked about


@dataclass(frozen=True, slots=True)
class PairRules:
    """Scores outside low..high are clear."""

    low: float = 0.1
    high: float = 0.95
    low_after_no: float = 0.02


class Rounds:
    """The state of one question's pairs while the rounds go on. A pair is known by its row."""

    def __init__(
        self, pairs: NDArray[np.int64], score: NDArray[np.float64], rules: PairRules, *, one_to_one: bool
    ) -> None:
        self.score, self.rules, self.one_to_one = score, rules, one_to_one
        self.edges: list[Edge] = [(generated, reference) for generated, reference in pairs.tolist()]
        # For each (side, note): the offline score of the likeliest pair that got a no.
        self.best_denied: dict[tuple[int, int], float] = {}
        self.state: NDArray[np.int8] = np.full(len(score), OPEN, np.int8)
        self.state[score < min(rules.low, rules.low_after_no)] = DIFFERENT
        self.state[score > rules.high] = SAME

    def settle(self, rows: Sequence[int], match: NDArray[np.int8]) -> None:
        """Takes over what the model answered about these pairs."""
        self.state[rows] = match
        for row, verdict in zip(rows, match.tolist(), strict=True):
            if verdict == DIFFERENT:
                for note in enumerate(self.edges[row]):
                    self.best_denied[note] = max(self.best_denied.get(note, 0.0), float(self.score[row]))

    def next_round(self) -> list[int]:
        """The pairs to ask about now: of those that matter the likeliest first, each note in one pair."""
        chosen: list[int] = []
        busy: set[tuple[int, int]] = set()
        for row in sorted(self.rows_that_matter(), key=lambda row: (-self.score[row], row)):
            if busy.isdisjoint(enumerate(self.edges[row])):
                busy.update(enumerate(self.edges[row]))
                chosen.append(row)
        return chosen

    def rows_that_matter(self) -> list[int]:
        """The open pairs that are unsure by now, and whose answer can still add a pair to the alignment."""
        return self._that_matter([row for row in np.flatnonzero(self.state == OPEN).tolist() if self._is_unsure(row)])

    def rows_that_may_matter(self) -> list[int]:
        """The same whatever the answers: also the pairs that a no would make unsure, and a no to those in turn."""
        unsure: list[int] = []
        likeliest: dict[tuple[int, int], float] = {}
        for row in sorted(np.flatnonzero(self.state == OPEN).tolist(), key=lambda row: -self.score[row]):
            notes = list(enumerate(self.edges[row]))
            if self._is_unsure(row) or any(self.score[row] < likeliest.get(note, 0.0) for note in notes):
                unsure.append(row)
                for note in notes:
                    likeliest.setdefault(note, float(self.score[row]))
        return self._that_matter(sorted(unsure))

    def _that_matter(self, unsure: Sequence[int]) -> list[int]:
        if not unsure:
            return []
        certain = [self.edges[row] for row in np.flatnonzero(self.state == SAME).tolist()]
        matters = that_matter([self.edges[row] for row in unsure], certain, one_to_one=self.one_to_one)
        return [row for row, does in zip(unsure, matters, strict=True) if does]

    def _is_unsure(self, row: int) -> bool:
        denied = max(self.best_denied.get(note, 0.0) for note in enumerate(self.edges[row]))
        return bool(self.score[row] >= self.rules.low or self.score[row] < denied)
