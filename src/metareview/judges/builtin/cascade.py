"""`cascade`: the offline judge decides the clear pairs; a model is asked about the others, where it matters.

A pair is clear where the offline probability is below LOW or above HIGH. Of the others, the model is only asked about
pairs whose answer can still add a pair to the alignment. Questions go out in rounds, the likeliest partner of each
reference first: a yes settles both notes and makes their other pairs needless. A no makes a rival likelier, since the
offline judge had held the better pair against it: from then on LOW_AFTER_NO is its lower bound. A pair that need not
be asked about keeps the offline verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Judge, ModelJudge, Progress, Question
from metareview.judges.registry import JudgeOptions, JudgePlugin
from metareview.judges.remote.judge import keywords_of
from metareview.judges.remote.llm import LlmJudge

LOW, LOW_AFTER_NO, HIGH = 0.2, 0.03, 0.89
"""Chosen on held-out scores of the offline judge; docs/judges.md has the figures."""

_OPEN = 2  # a pair that is not clear, and that the model has not been asked about


class CascadeJudge(ModelJudge):
    """Asks `model` only where `first` is unsure and the answer can change the alignment. Closes both.

    `one_to_one`: whether comments and references are paired off; else (coverage) any yes settles a note.
    """

    name = "cascade"

    def __init__(
        self,
        first: Judge,
        model: ModelJudge,
        *,
        one_to_one: bool = True,
        low: float = LOW,
        low_after_no: float = LOW_AFTER_NO,
        high: float = HIGH,
    ) -> None:
        self.first, self.model = first, model
        self.one_to_one = one_to_one
        self.low, self.low_after_no, self.high = low, low_after_no, high
        self.threshold = model.threshold
        self.usage = model.usage
        bounds = {"low": low, "low_after_no": low_after_no, "high": high}
        self.parameters = {**first.parameters, **model.parameters, **bounds}

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
        return self.model.planned_calls(
            [board.question_about(board.pairs_that_matter()) for board in self._boards(questions)]
        )

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        boards = self._boards(questions)
        while True:
            this_round = [(board, pairs) for board in boards if (pairs := board.next_round())]
            if not this_round:
                return [board.answer() for board in boards]
            answers = self.model.judge([board.question_about(pairs) for board, pairs in this_round])
            for (board, pairs), answer in zip(this_round, answers, strict=True):
                board.settle(pairs, answer)

    def close(self) -> None:
        self.first.close()
        self.model.close()

    def _boards(self, questions: Sequence[Question]) -> list[_Board]:
        answers = self.first.judge(questions)
        return [_Board(question, answer, self) for question, answer in zip(questions, answers, strict=True)]


class _Board:
    """The state of one question's pairs while the rounds go on. A pair is known by its row in `question.pairs`."""

    def __init__(self, question: Question, first: Answer, rules: CascadeJudge) -> None:
        self.question, self.one_to_one, self.low = question, rules.one_to_one, rules.low
        self.generated: list[int] = question.pairs[:, 0].tolist()
        self.reference: list[int] = question.pairs[:, 1].tolist()
        self.offline_score = first.score
        self.offline_match = first.match
        self.score = first.score.copy()
        self.reason = _one_per_pair(first.reason, len(self.score))
        self.by = ["judge"] * len(self.score)
        # For each generated note and each reference: the offline score of the likeliest pair that got a no.
        self.best_denied: tuple[dict[int, float], dict[int, float]] = ({}, {})
        self.state: NDArray[np.int8] = np.full(len(self.score), _OPEN, np.int8)
        self.state[self.score < rules.low_after_no] = DIFFERENT
        self.state[self.score > rules.high] = SAME

    def question_about(self, pairs: Sequence[int]) -> Question:
        return Question(self.question.generated, self.question.reference, self.question.pairs[list(pairs)])

    def settle(self, pairs: Sequence[int], answer: Answer) -> None:
        """Takes over what the model answered about these pairs."""
        reasons, by = _one_per_pair(answer.reason, len(pairs)), _one_per_pair(answer.by, len(pairs))
        self.state[pairs] = answer.match
        self.score[pairs] = answer.score
        for index, pair in enumerate(pairs):
            self.reason[pair] = reasons[index]
            self.by[pair] = by[index]
            if answer.match[index] == DIFFERENT:
                notes = (self.generated[pair], self.reference[pair])
                for best, note in zip(self.best_denied, notes, strict=True):
                    best[note] = max(best.get(note, 0.0), float(self.offline_score[pair]))

    def next_round(self) -> list[int]:
        """The pairs to ask about now: of those that matter the likeliest first, each note in one pair."""
        chosen: list[int] = []
        busy_generated: set[int] = set()
        busy_reference: set[int] = set()
        for pair in sorted(self.pairs_that_matter(), key=lambda pair: (-self.score[pair], pair)):
            generated, reference = self.generated[pair], self.reference[pair]
            if generated not in busy_generated and reference not in busy_reference:
                busy_generated.add(generated)
                busy_reference.add(reference)
                chosen.append(pair)
        return chosen

    def pairs_that_matter(self) -> list[int]:
        """The open pairs that are unsure by now, and whose answer can still add a pair to the alignment."""
        unsure = [pair for pair in np.flatnonzero(self.state == _OPEN).tolist() if self._is_unsure(pair)]
        if not unsure:
            return []
        generated, reference = self.generated, self.reference
        same = np.flatnonzero(self.state == SAME).tolist()
        if not self.one_to_one:
            matched, covered = {generated[pair] for pair in same}, {reference[pair] for pair in same}
            return [p for p in unsure if generated[p] not in matched or reference[p] not in covered]
        certain = [(generated[pair], reference[pair]) for pair in same]
        possible = certain + [(generated[pair], reference[pair]) for pair in unsure]
        partner_of_generated = _maximum_matching(certain)
        partner_of_reference = {right: left for left, right in partner_of_generated.items()}
        # A yes can only add a pair if both notes are free, or can be freed by giving others new partners.
        free_generated = _can_be_free(possible, partner_of_generated, partner_of_reference)
        swapped = [(right, left) for left, right in possible]
        free_reference = _can_be_free(swapped, partner_of_reference, partner_of_generated)
        return [p for p in unsure if generated[p] in free_generated and reference[p] in free_reference]

    def _is_unsure(self, pair: int) -> bool:
        score = float(self.offline_score[pair])
        if score >= self.low:
            return True
        denied_generated, denied_reference = self.best_denied
        return score < max(
            denied_generated.get(self.generated[pair], 0.0), denied_reference.get(self.reference[pair], 0.0)
        )

    def answer(self) -> Answer:
        """Pairs that did not matter keep the offline verdict; a pair that the model failed on is undecided."""
        not_asked = self.state == _OPEN
        for pair in np.flatnonzero(not_asked).tolist():
            self.reason[pair] += "; the model was not asked, it could hardly add a pair"
        match = np.where(not_asked, self.offline_match, self.state).astype(np.int8)
        return Answer(self.score, match, self.reason, self.by)


def _one_per_pair(texts: Sequence[str] | str, count: int) -> list[str]:
    return [texts] * count if isinstance(texts, str) else list(texts)


def _maximum_matching(edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """As many of these edges as can be chosen with each end used once: left -> right."""
    if not edges:
        return {}
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    left, right = np.array(edges).T
    graph = coo_array((np.ones(len(edges), np.int8), (left, right))).tocsr()
    partners = maximum_bipartite_matching(graph, perm_type="column").tolist()
    return {left: right for left, right in enumerate(partners) if right >= 0}


def _can_be_free(
    edges: Iterable[tuple[int, int]], partner_of_left: dict[int, int], partner_of_right: dict[int, int]
) -> set[int]:
    """The left ends without a partner, and those that can be left without one by giving the others new partners."""
    neighbours: dict[int, list[int]] = {}
    for left, right in edges:
        neighbours.setdefault(left, []).append(right)
    free = {left for left in neighbours if left not in partner_of_left}
    queue = list(free)
    for left in queue:
        for right in neighbours[left]:
            freed = partner_of_right.get(right)
            if freed is not None and freed not in free:
                free.add(freed)
                queue.append(freed)
    return free


def _make(options: JudgeOptions) -> CascadeJudge:
    return CascadeJudge(OfflineJudge(), LlmJudge(**keywords_of(options)), one_to_one=options.one_to_one)


PLUGIN = JudgePlugin(
    "Decides with offline where that is sure, and asks a chat model where its answer matters.", scores=True, make=_make
)
