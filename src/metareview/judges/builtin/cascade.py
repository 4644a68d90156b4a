"""`cascade`: the offline judge decides the clear pairs; a model is asked about the others, where it matters.

A pair is clear where the offline probability is below LOW or above HIGH. Of the others, the model is only asked about
pairs whose answer can still add a pair to the alignment. Questions go out in rounds, the likeliest partner of each
reference first: a yes settles both notes and makes their other pairs needless. A no makes a rival likelier, since the
offline judge had held the better pair against it: from then on LOW_AFTER_NO is its lower bound. A pair that need not
be asked about keeps the offline verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Judge, ModelJudge, Progress, Question, Remarking
from metareview.judges.registry import JudgePlugin
from metareview.judges.remote.llm import LlmJudge

LOW, LOW_AFTER_NO, HIGH = 0.2, 0.03, 0.89
"""Chosen on held-out scores of the offline judge; docs/judges.md has the figures."""

_OPEN = 2  # a pair that is not clear, and that the model has not been asked about


@dataclass(eq=False)
class CascadeJudge(ModelJudge):
    """Asks `model` only where `first` is unsure and the answer can change the alignment. Closes both.

    `one_to_one`: whether comments and references are paired off; else (coverage) any yes settles a note.
    """

    name = "cascade"
    first: Judge
    model: ModelJudge
    one_to_one: bool = True
    low: float = LOW
    low_after_no: float = LOW_AFTER_NO
    high: float = HIGH

    def __post_init__(self) -> None:
        self.threshold, self.usage = self.model.threshold, self.model.usage
        bounds = {"low": self.low, "low_after_no": self.low_after_no, "high": self.high}
        self.parameters = {**self.first.parameters, **self.model.parameters, **bounds}

    @property
    def progress(self) -> Progress | None:
        return self.model.progress

    @progress.setter
    def progress(self, progress: Progress | None) -> None:
        self.model.progress = progress

    @property
    def warnings(self) -> Sequence[str]:
        return self.model.warnings

    def planned_calls(self, questions: Sequence[Question]) -> int:
        """What the offline judge is unsure of and the cache does not know. Each answer may make others needless."""
        boards = self._boards(questions)
        return self.model.planned_calls([board.question_about(board.pairs_that_matter()) for board in boards])

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        boards = self._boards(questions)
        while this_round := [(board, pairs) for board in boards if (pairs := board.next_round())]:
            answers = self.model.judge([board.question_about(pairs) for board, pairs in this_round])
            for (board, pairs), answer in zip(this_round, answers, strict=True):
                board.settle(pairs, answer)
        return [board.answer() for board in boards]

    def remarks(self, questions: Sequence[Question], *, ask: bool = True) -> list[str]:
        """What either judge has to say; the second is asked about fewer pairs, of the same notes."""
        both = (judge for judge in (self.first, self.model) if isinstance(judge, Remarking))
        return [remark for judge in both for remark in judge.remarks(questions, ask=ask)]

    def close(self) -> None:
        self.first.close()
        self.model.close()

    def _boards(self, questions: Sequence[Question]) -> list[_Board]:
        return [_Board(*asked, self) for asked in zip(questions, self.first.judge(questions), strict=True)]


class _Board:
    """The state of one question's pairs while the rounds go on. A pair is known by its row in `question.pairs`."""

    def __init__(self, question: Question, first: Answer, rules: CascadeJudge) -> None:
        self.question, self.first, self.rules = question, first, rules
        self.notes: list[tuple[int, int]] = [(generated, reference) for generated, reference in question.pairs.tolist()]
        self.score = first.score.copy()
        self.reason = _one_per_pair(first.reason, len(self.score))
        self.by = ["judge"] * len(self.score)
        # For each (side, note): the offline score of the likeliest pair that got a no.
        self.best_denied: dict[tuple[int, int], float] = {}
        self.state: NDArray[np.int8] = np.full(len(self.score), _OPEN, np.int8)
        self.state[self.score < rules.low_after_no] = DIFFERENT
        self.state[self.score > rules.high] = SAME

    def question_about(self, pairs: Sequence[int]) -> Question:
        return replace(self.question, pairs=self.question.pairs[list(pairs)])

    def settle(self, pairs: Sequence[int], answer: Answer) -> None:
        """Takes over what the model answered about these pairs."""
        reasons, by = _one_per_pair(answer.reason, len(pairs)), _one_per_pair(answer.by, len(pairs))
        self.state[pairs] = answer.match
        self.score[pairs] = answer.score
        for index, pair in enumerate(pairs):
            self.reason[pair], self.by[pair] = reasons[index], by[index]
            if answer.match[index] == DIFFERENT:
                for note in enumerate(self.notes[pair]):
                    self.best_denied[note] = max(self.best_denied.get(note, 0.0), float(self.first.score[pair]))

    def next_round(self) -> list[int]:
        """The pairs to ask about now: of those that matter the likeliest first, each note in one pair."""
        chosen: list[int] = []
        busy: set[tuple[int, int]] = set()
        for pair in sorted(self.pairs_that_matter(), key=lambda pair: (-self.score[pair], pair)):
            if busy.isdisjoint(enumerate(self.notes[pair])):
                busy.update(enumerate(self.notes[pair]))
                chosen.append(pair)
        return chosen

    def pairs_that_matter(self) -> list[int]:
        """The open pairs that are unsure by now, and whose answer can still add a pair to the alignment."""
        unsure = [pair for pair in np.flatnonzero(self.state == _OPEN).tolist() if self._is_unsure(pair)]
        if not unsure:
            return []
        certain = [self.notes[pair] for pair in np.flatnonzero(self.state == SAME).tolist()]
        if not self.rules.one_to_one:
            settled = {note for notes in certain for note in enumerate(notes)}
            return [pair for pair in unsure if not settled.issuperset(enumerate(self.notes[pair]))]
        possible = certain + [self.notes[pair] for pair in unsure]
        partner = _maximum_matching(certain)
        # A yes can only add a pair if both notes are free, or can be freed by giving others new partners.
        generated = _can_be_free(possible, partner)
        reference = _can_be_free([(r, g) for g, r in possible], {r: g for g, r in partner.items()})
        return [pair for pair in unsure if self.notes[pair][0] in generated and self.notes[pair][1] in reference]

    def _is_unsure(self, pair: int) -> bool:
        denied = max(self.best_denied.get(note, 0.0) for note in enumerate(self.notes[pair]))
        return bool(self.first.score[pair] >= self.rules.low or self.first.score[pair] < denied)

    def answer(self) -> Answer:
        """Pairs that did not matter keep the offline verdict; a pair that the model failed on is undecided."""
        not_asked = self.state == _OPEN
        for pair in np.flatnonzero(not_asked).tolist():
            self.reason[pair] += "; the model was not asked, it could hardly add a pair"
        match = np.where(not_asked, self.first.match, self.state).astype(np.int8)
        return Answer(self.score, match, self.reason, self.by)


def _one_per_pair(texts: Sequence[str] | str, count: int) -> list[str]:
    return [texts] * count if isinstance(texts, str) else list(texts)


def _maximum_matching(edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """As many of these edges as can be chosen with each end used once: left -> right."""
    if not edges:
        return {}
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    # Indices of 32 bits: older versions of SciPy take no others here.
    graph = coo_array((np.ones(len(edges), np.int8), tuple(np.array(edges, np.int32).T))).tocsr()
    partners = maximum_bipartite_matching(graph, perm_type="column").tolist()
    return {left: right for left, right in enumerate(partners) if right >= 0}


def _can_be_free(edges: Iterable[tuple[int, int]], partner: Mapping[int, int]) -> set[int]:
    """The left ends without a partner, and those that can be left without one by giving the others new partners."""
    partner_of_right = {right: left for left, right in partner.items()}
    neighbours: dict[int, list[int]] = {}
    for left, right in edges:
        neighbours.setdefault(left, []).append(right)
    free = set(neighbours) - set(partner)
    queue = list(free)
    for left in queue:
        freed = {partner_of_right[right] for right in neighbours[left] if right in partner_of_right} - free
        free |= freed
        queue += freed
    return free


PLUGIN = JudgePlugin(
    "Decides with offline where that is sure, and asks a chat model where its answer matters.",
    scores=True,
    make=lambda options: CascadeJudge(OfflineJudge(), LlmJudge.of(options), one_to_one=options.one_to_one),
)
