"""`cascade`: the offline judge decides what is clear; a model is asked about the rest, where its answer matters.

One question holds the notes of a review that leave doubts (cascade_questions.py). What is not asked about keeps the
offline verdict. A threshold cuts the final score of each pair, offline's or the model's; which pairs are asked about
does not depend on it, so that runs with other thresholds are points of one curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from metareview.errors import UsageError, did_you_mean
from metareview.judges.cascade_questions import ListRules, rows_to_ask
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.pair_verdicts import one_per_pair, with_rows
from metareview.judges.protocol import (
    DIFFERENT,
    SAME,
    UNDECIDED,
    Answer,
    HasWarnings,
    Judge,
    ModelJudge,
    Planned,
    Progress,
    Question,
    check_threshold,
    settings_from,
)
from metareview.judges.registry import REVIEW, JudgeOptions, JudgePlugin
from metareview.judges.remote.llm import LlmJudge
from metareview.model.words import format_score

SETTINGS = {"careful": ListRules(), "frugal": ListRules(worth=0.09)}
"""How much is asked, by name. Chosen on held-out scores; docs/judges.md has figures."""
_NOT_ASKED = "; the model was not asked, there was too little to gain for the text"


@dataclass(eq=False)
class CascadeJudge(ModelJudge):
    """Asks `model` only where `first` is unsure and the answer can change the alignment. Closes both.

    `rules` say what is unsure. `threshold` is the cut on the final score; without it each judge has its own verdict.
    `one_to_one`: comments and references are paired off; else (coverage) any yes settles a note.
    """

    name = "cascade"
    first: Judge
    model: ModelJudge
    rules: ListRules = field(default_factory=ListRules)
    threshold: float | None = None
    one_to_one: bool = True

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        self.usage = self.model.usage
        self.parameters = {**self.first.parameters, **self.model.parameters, **asdict(self.rules)}

    @classmethod
    def of(cls, options: JudgeOptions) -> CascadeJudge:
        """The judge that the options describe, with the settings of the environment."""
        name = options.cascade or "careful"
        if name not in SETTINGS:
            fix = f"{did_you_mean(name, SETTINGS)} Give {' or '.join(SETTINGS)}."
            raise UsageError(f"--cascade {name!r} is not known.{fix}")
        rules, low, high = SETTINGS[name], options.cascade_low, options.cascade_high
        rules = replace(rules, low=rules.low if low is None else low, high=rules.high if high is None else high)
        if rules.low > rules.high:
            both = None not in (options.cascade_low, options.cascade_high)
            fix = "Swap them." if both else "Lower the one or raise the other."
            raise UsageError(
                f"--cascade-low {rules.low} is above --cascade-high {rules.high}: nothing lies between. {fix}"
            )
        model = LlmJudge.of(replace(options, ask=REVIEW, threshold=None))
        first = OfflineJudge(examples=options.examples)
        return cls(first, model, rules, options.threshold, one_to_one=options.one_to_one)

    @property
    def progress(self) -> Progress | None:
        return self.model.progress

    @progress.setter
    def progress(self, progress: Progress | None) -> None:
        self.model.progress = progress

    @property
    def warnings(self) -> Sequence[str]:
        """The model's, and that a cut outside the bounds leaves scores between them to the first judge alone."""
        cut = self.first.threshold if self.threshold is None else self.threshold
        low, high = self.rules.low, self.rules.high
        if cut is None or low <= cut <= high:
            return self.model.warnings
        start, end = (cut, low) if cut < low else (high, cut)
        verdict = "match" if cut < low else "do not match"
        return [
            *self.model.warnings,
            f"pairs that {self.first.name} scores between {format_score(start)} and {format_score(end)} {verdict}"
            f" without the model: it is asked from {format_score(low)} to {format_score(high)}, and the cut is"
            f" {format_score(cut)}",
        ]

    @property
    def settings_from(self) -> str:
        return settings_from(self.model)

    def planned(self, questions: Sequence[Question]) -> Planned:
        rows = self._rows_to_ask(questions, self.first.judge(questions))
        return self.model.planned(_about(questions, rows))

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        firsts = self.first.judge(questions)
        rows = self._rows_to_ask(questions, firsts)
        asked = _about(questions, rows)
        second = iter(self.model.judge(asked) if asked else ())
        return [
            self._final(first, of_one, next(second) if len(of_one) else None)
            for first, of_one in zip(firsts, rows, strict=True)
        ]

    def _rows_to_ask(self, questions: Sequence[Question], firsts: Sequence[Answer]) -> list[NDArray[np.int64]]:
        return [
            rows_to_ask(question, first.score, self.rules, one_to_one=self.one_to_one)
            for question, first in zip(questions, firsts, strict=True)
        ]

    def _final(self, first: Answer, rows: NDArray[np.int64], second: Answer | None) -> Answer:
        """The first answer, with the model's in the rows that it was asked about. A pair that it failed on is
        undecided."""
        reasons = one_per_pair(first.reason, len(first.score))
        unsure = (first.score >= self.rules.low) & (first.score <= self.rules.high)
        for row in np.setdiff1d(np.flatnonzero(unsure), rows).tolist():
            reasons[row] += _NOT_ASKED
        final = Answer(first.score, first.match, reasons, ["judge"] * len(reasons))
        if second is not None:
            final = with_rows(final, rows, second)
        if self.threshold is None:
            return final
        decided = np.where(final.score >= self.threshold, SAME, DIFFERENT)
        return replace(final, match=np.where(final.match == UNDECIDED, UNDECIDED, decided).astype(np.int8))

    def warning_data(self, questions: Sequence[Question], *, ask: bool = True) -> list[object]:
        """The data of both judges; the second is asked about fewer pairs, of the same notes."""
        return [judge.warning_data(questions, ask=ask) for judge in self._with_warnings]

    def remarks_of(self, parts: Sequence[Sequence[object]], *, ask: bool = True) -> list[str]:
        each = zip(self._with_warnings, zip(*parts, strict=True), strict=False)  # none where there are no parts
        return [warning for judge, of_judge in each for warning in judge.remarks_of(of_judge, ask=ask)]

    @property
    def _with_warnings(self) -> list[HasWarnings]:
        return [judge for judge in (self.first, self.model) if isinstance(judge, HasWarnings)]

    def close(self) -> None:
        self.first.close()
        self.model.close()


def _about(questions: Sequence[Question], rows: Sequence[NDArray[np.int64]]) -> list[Question]:
    """The questions with these rows of their pairs, without those that have none."""
    each = zip(questions, rows, strict=True)
    return [replace(question, pairs=question.pairs[of_one]) for question, of_one in each if len(of_one)]


PLUGIN = JudgePlugin(
    "Decides with offline where that is sure, and asks a chat model where its answer matters.",
    scores=True,
    make=CascadeJudge.of,
    asks=(REVIEW,),
    has_bounds=True,
)
