"""`cascade`: the offline judge decides the clear pairs; a model is asked about the rest, where it matters.

A pair is clear where the offline probability is below LOW or above HIGH. Of the others, a model is only asked about
pairs whose answer can still add a pair to the alignment. Questions go out in rounds, the likeliest partner of each
reference first: a yes settles both notes, and spares the model their other pairs. A no makes a rival likelier, since
the offline judge had held the better one against it: from then on LOW_AFTER_NO counts for it. A pair that need not be
asked keeps the offline verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer, Judge, Question, Usage
from metareview.judges.remote.verdict import Verdict

LOW, LOW_AFTER_NO, HIGH = 0.2, 0.03, 0.89
"""Chosen on held-out scores of the offline judge; docs/judges.md has the figures."""

_OPEN = 2  # not decided yet, and not asked


class Model(Protocol):
    """What a cascade needs of the judge behind it: verdicts on pairs of (generated note, reference's note)."""

    @property
    def usage(self) -> Usage: ...

    def ask(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]: ...

    def uncached(self, pairs: Sequence[tuple[str, str]]) -> int: ...


class CascadeJudge:
    """Asks `model` only where `first` is unsure and the answer can change the alignment.

    `one_to_one`: whether comments and references are paired off; else (coverage) a note is settled by any yes.
    """

    name = "cascade"
    free = False

    def __init__(
        self,
        first: Judge,
        model: Model,
        *,
        one_to_one: bool = True,
        low: float = LOW,
        low_after_no: float = LOW_AFTER_NO,
        high: float = HIGH,
    ) -> None:
        self.first, self.model = first, model
        self.one_to_one = one_to_one
        self.low, self.low_after_no, self.high = low, low_after_no, high

    @property
    def usage(self) -> Usage:
        return self.model.usage

    @property
    def threshold(self) -> float | None:
        return getattr(self.model, "threshold", None)

    @property
    def parameters(self) -> dict[str, object]:
        """What, besides the notes, decides its answers; a run's manifest has it."""
        parts = (getattr(judge, "parameters", {}) for judge in (self.first, self.model))
        return {key: value for part in parts for key, value in part.items()} | {
            "low": self.low,
            "low_after_no": self.low_after_no,
            "high": self.high,
        }

    @property
    def warnings(self) -> list[str]:
        return list(getattr(self.model, "warnings", []))

    def planned_calls(self, questions: Sequence[Question]) -> int:
        """At the most: what the offline judge is unsure of and the cache does not know; answers spare others."""
        unsure = []
        for question, answer in zip(questions, self.first.judge(questions), strict=True):
            board = _Board(question, answer, self)
            unsure += [board.notes(edge) for edge in board.that_matter()]
        return self.model.uncached(unsure)

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        boards = [
            _Board(question, answer, self)
            for question, answer in zip(questions, self.first.judge(questions), strict=True)
        ]
        while True:
            asked = [(board, edge) for board in boards for edge in board.next_round()]
            if not asked:
                return [board.answer() for board in boards]
            verdicts = self.model.ask([board.notes(edge) for board, edge in asked])
            for (board, edge), verdict in zip(asked, verdicts, strict=True):
                board.settle(edge, verdict)


class _Board:
    """The state of one question's pairs while the rounds go on."""

    def __init__(self, question: Question, first: Answer, rules: CascadeJudge) -> None:
        self.question, self.one_to_one, self.low = question, rules.one_to_one, rules.low
        self.generated: list[int] = question.pairs[:, 0].tolist()
        self.reference: list[int] = question.pairs[:, 1].tolist()
        self.likely = first.score
        self.score = first.score.copy()
        self.fallback = first.match
        self.reason = (
            [first.reason] * len(self.score) if isinstance(first.reason, str) else list(first.reason)
        )
        self.by = ["judge"] * len(self.score)
        # For each generated note and each reference: the likeliest pair that the model has said no to.
        self._best_ruled_out: tuple[dict[int, float], dict[int, float]] = ({}, {})
        self.state: NDArray[np.int8] = np.full(len(self.score), _OPEN, np.int8)
        self.state[self.score < rules.low_after_no] = DIFFERENT
        self.state[self.score > rules.high] = SAME

    def notes(self, edge: int) -> tuple[str, str]:
        return (
            self.question.generated[self.generated[edge]],
            self.question.reference[self.reference[edge]],
        )

    def settle(self, edge: int, verdict: Verdict) -> None:
        self.state[edge] = verdict.match
        self.score[edge] = verdict.score
        self.reason[edge] = verdict.reason
        self.by[edge] = verdict.by
        if verdict.match == DIFFERENT:
            for best, note in zip(
                self._best_ruled_out, (self.generated[edge], self.reference[edge]), strict=True
            ):
                best[note] = max(best.get(note, 0.0), float(self.likely[edge]))

    def next_round(self) -> list[int]:
        """The open pairs to ask about now: those that matter, the likeliest first, each note in one pair."""
        matter = self.that_matter()
        chosen: list[int] = []
        busy_generated: set[int] = set()
        busy_reference: set[int] = set()
        for edge in sorted(matter, key=lambda edge: (-self.score[edge], edge)):
            g, r = self.generated[edge], self.reference[edge]
            if g not in busy_generated and r not in busy_reference:
                busy_generated.add(g)
                busy_reference.add(r)
                chosen.append(edge)
        return chosen

    def that_matter(self) -> list[int]:
        """The open pairs that are unsure by now, and whose answer can still add a pair to the alignment."""
        still_open = [edge for edge in np.flatnonzero(self.state == _OPEN).tolist() if self._unsure(edge)]
        if not still_open:
            return []
        same = np.flatnonzero(self.state == SAME).tolist()
        if not self.one_to_one:
            said, raised = {self.generated[e] for e in same}, {self.reference[e] for e in same}
            return [e for e in still_open if self.generated[e] not in said or self.reference[e] not in raised]
        certain = [(self.generated[e], self.reference[e]) for e in same]
        possible = certain + [(self.generated[e], self.reference[e]) for e in still_open]
        partner_of_generated = _matching(certain)
        partner_of_reference = {r: g for g, r in partner_of_generated.items()}
        # A yes can only add a pair if both notes are free, or can be freed by moving others along.
        free_generated = _freeable(possible, partner_of_generated, partner_of_reference)
        free_reference = _freeable([(r, g) for g, r in possible], partner_of_reference, partner_of_generated)
        return [
            e
            for e in still_open
            if self.generated[e] in free_generated and self.reference[e] in free_reference
        ]

    def _unsure(self, edge: int) -> bool:
        if self.likely[edge] >= self.low:
            return True
        ruled_out = max(
            self._best_ruled_out[0].get(self.generated[edge], 0.0),
            self._best_ruled_out[1].get(self.reference[edge], 0.0),
        )
        return ruled_out > float(self.likely[edge])

    def answer(self) -> Answer:
        """Pairs that did not matter keep the offline verdict; a pair that the model failed on is undecided."""
        unasked = self.state == _OPEN
        for edge in np.flatnonzero(unasked).tolist():
            self.reason[edge] += "; the model was not asked, it could hardly add a pair"
        match = np.where(unasked, self.fallback, self.state).astype(np.int8)
        assert set(match.tolist()) <= {SAME, DIFFERENT, UNDECIDED}
        return Answer(self.score, match, self.reason, self.by)


def _matching(edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """A maximum matching of these edges: left -> right."""
    if not edges:
        return {}
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    left, right = np.array(edges).T
    graph = coo_array((np.ones(len(edges), np.int8), (left, right))).tocsr()
    partners = maximum_bipartite_matching(graph, perm_type="column").tolist()
    return {left: right for left, right in enumerate(partners) if right >= 0}


def _freeable(
    edges: Sequence[tuple[int, int]], partner: dict[int, int], partner_back: dict[int, int]
) -> set[int]:
    """The left notes that are free, or that some alternating path of these edges can free."""
    neighbours = _neighbours(edges)
    found = {left for left in neighbours if left not in partner}
    queue = list(found)
    for left in queue:
        for right in neighbours[left]:
            freed = partner_back.get(right)
            if freed is not None and freed not in found:
                found.add(freed)
                queue.append(freed)
    return found


def _neighbours(edges: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for left, right in edges:
        found.setdefault(left, []).append(right)
    return found
