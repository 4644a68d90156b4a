"""`cascade`: the offline judge decides what is clear; a model is asked about the rest, where its answer matters.

With `ask="review"` one question holds the notes of a review that leave doubts (cascade/lists.py); with `ask="pair"`
pairs are asked about one by one, in rounds (cascade/pairs.py). What is not asked about keeps the offline verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from metareview.errors import UsageError, did_you_mean
from metareview.judges.cascade.lists import ListRules, rows_to_ask
from metareview.judges.cascade.pairs import PairRules, Rounds
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import (
    Answer,
    Judge,
    ModelJudge,
    Planned,
    Progress,
    Question,
    Remarking,
    one_per_pair,
    settings_from,
)
from metareview.judges.registry import PAIR, REVIEW, JudgeOptions, JudgePlugin
from metareview.judges.remote.llm import LlmJudge

SETTINGS: dict[str, dict[str, ListRules | PairRules]] = {
    "careful": {REVIEW: ListRules(), PAIR: PairRules()},
    "frugal": {REVIEW: ListRules(worth=0.09), PAIR: PairRules(0.2, 0.93, 0.03)},
}
"""How much is asked, by name and by what a question holds. Chosen on held-out scores; docs/judges.md has figures."""
_NOT_ASKED = "; the model was not asked, it could hardly add a pair"
_NOT_WORTH = "; the model was not asked, there was too little to gain for the text"


@dataclass(eq=False)
class CascadeJudge(ModelJudge):
    """Asks `model` only where `first` is unsure and the answer can change the alignment. Closes both.

    `rules` say what is unsure, for a model that is asked in lists or pair by pair. `one_to_one`: whether comments and
    references are paired off; else (coverage) any yes settles a note.
    """

    name = "cascade"
    first: Judge
    model: ModelJudge
    rules: ListRules | PairRules
    one_to_one: bool = True

    def __post_init__(self) -> None:
        self.threshold, self.usage = self.model.threshold, self.model.usage
        self.parameters = {**self.first.parameters, **self.model.parameters, **asdict(self.rules)}

    @classmethod
    def of(cls, options: JudgeOptions) -> CascadeJudge:
        """The judge that the options describe, with the settings of the environment."""
        ask, name = options.ask or REVIEW, options.cascade or "careful"
        if name not in SETTINGS:
            fix = f"{did_you_mean(name, SETTINGS)} Give {' or '.join(SETTINGS)}."
            raise UsageError(f"--cascade {name!r} is not known.{fix}")
        rules = SETTINGS[name][ask]
        low, high = options.cascade_low, options.cascade_high
        rules = replace(rules, low=rules.low if low is None else low, high=rules.high if high is None else high)
        first = OfflineJudge(options.threshold, options.examples)  # a threshold cuts the final score, whoever gave it
        if not rules.low <= first.threshold <= rules.high:
            raise UsageError(
                f"The bounds {rules.low} and {rules.high} must lie on both sides of offline's threshold, "
                f"{first.threshold}: beyond them its verdict holds."
                " Change --cascade-low, --cascade-high or --threshold."
            )
        return cls(first, LlmJudge.of(replace(options, ask=ask)), rules, one_to_one=options.one_to_one)

    @property
    def progress(self) -> Progress | None:
        return self.model.progress

    @progress.setter
    def progress(self, progress: Progress | None) -> None:
        self.model.progress = progress

    @property
    def warnings(self) -> Sequence[str]:
        return self.model.warnings

    @property
    def settings_from(self) -> str:
        return settings_from(self.model)

    def planned_calls(self, questions: Sequence[Question]) -> int:
        return self.planned(questions).calls

    def planned(self, questions: Sequence[Question]) -> Planned:
        """What is unsure, or may become so, and not in the cache. Pair by pair, each yes makes others needless."""
        asked = []
        for question, first in zip(questions, self.first.judge(questions), strict=True):
            if isinstance(self.rules, ListRules):
                rows = rows_to_ask(question, first.score, self.rules, one_to_one=self.one_to_one)
            else:
                rounds = Rounds(question.pairs, first.score, self.rules, one_to_one=self.one_to_one)
                rows = np.array(rounds.rows_that_may_matter(), np.int64)
            asked.append(_about(question, rows))
        return self.model.planned([question for question in asked if len(question.pairs)])

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        boards = [
            _Board(question, first) for question, first in zip(questions, self.first.judge(questions), strict=True)
        ]
        if isinstance(self.rules, ListRules):
            self._ask_lists(boards, self.rules)
        else:
            self._ask_pairs(boards, self.rules)
        return [board.answer(self.rules) for board in boards]

    def _ask_lists(self, boards: Sequence[_Board], rules: ListRules) -> None:
        rows = [rows_to_ask(b.question, b.first.score, rules, one_to_one=self.one_to_one).tolist() for b in boards]
        self._ask([(board, chosen) for board, chosen in zip(boards, rows, strict=True) if chosen])

    def _ask_pairs(self, boards: Sequence[_Board], rules: PairRules) -> None:
        rounds = [Rounds(b.question.pairs, b.first.score, rules, one_to_one=self.one_to_one) for b in boards]
        while now := [
            (state, board, rows) for state, board in zip(rounds, boards, strict=True) if (rows := state.next_round())
        ]:
            answers = self._ask([(board, rows) for _, board, rows in now])
            for (state, _, rows), answer in zip(now, answers, strict=True):
                state.settle(rows, answer.match)

    def _ask(self, asked: Sequence[tuple[_Board, list[int]]]) -> Sequence[Answer]:
        answers = self.model.judge([_about(board.question, rows) for board, rows in asked]) if asked else ()
        for (board, rows), answer in zip(asked, answers, strict=True):
            board.take(rows, answer)
        return answers

    def remarks(self, questions: Sequence[Question], *, ask: bool = True) -> list[str]:
        """What either judge has to say; the second is asked about fewer pairs, of the same notes."""
        both = (judge for judge in (self.first, self.model) if isinstance(judge, Remarking))
        return [remark for judge in both for remark in judge.remarks(questions, ask=ask)]

    def close(self) -> None:
        self.first.close()
        self.model.close()


def _about(question: Question, rows: Sequence[int] | np.ndarray) -> Question:
    return replace(question, pairs=question.pairs[list(rows)])


class _Board:
    """The verdicts on one question's pairs: the offline judge's, and in their place the model's as they come in."""

    def __init__(self, question: Question, first: Answer) -> None:
        self.question, self.first = question, first
        self.score, self.match = first.score.copy(), first.match.copy()
        self.reason = one_per_pair(first.reason, len(self.score))
        self.by = ["judge"] * len(self.score)

    def take(self, rows: Sequence[int], answer: Answer) -> None:
        """What the model answered about these pairs; one that it failed on is undecided."""
        self.score[rows], self.match[rows] = answer.score, answer.match
        reasons, by = one_per_pair(answer.reason, len(rows)), one_per_pair(answer.by, len(rows))
        for row, reason, decided_by in zip(rows, reasons, by, strict=True):
            self.reason[row], self.by[row] = reason, decided_by

    def answer(self, rules: ListRules | PairRules) -> Answer:
        why = _NOT_WORTH if isinstance(rules, ListRules) else _NOT_ASKED
        for row in np.flatnonzero((self.first.score >= rules.low) & (self.first.score <= rules.high)).tolist():
            if self.by[row] == "judge":
                self.reason[row] += why
        return Answer(self.score, self.match, self.reason, self.by)


PLUGIN = JudgePlugin(
    "Decides with offline where that is sure, and asks a chat model where its answer matters.",
    scores=True,
    make=CascadeJudge.of,
    asks_chat=True,
    has_bounds=True,
)
