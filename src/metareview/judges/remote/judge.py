"""What the judges that ask a server have in common: they are asked about pairs of notes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import islice
from typing import Self, TypedDict

import numpy as np

from metareview.errors import UsageError
from metareview.judges.protocol import Answer, ModelJudge, Planned, Progress, Question
from metareview.judges.registry import JudgeOptions
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.model import RemoteModel
from metareview.judges.remote.pool import BACKOFF
from metareview.judges.remote.prompt import sendable
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.verdict import Verdict

Pair = tuple[str, str]  # a generated note and a reference's note


class RemoteKeywords(TypedDict, total=False):
    """What a judge that asks a server can be given besides the server's settings."""

    threshold: float | None
    concurrency: int
    cache: VerdictCache | None
    max_calls: int | None
    progress: Progress | None
    timeout: float
    backoff: float


def keywords_of(options: JudgeOptions) -> RemoteKeywords:
    return {
        "threshold": options.threshold,
        "concurrency": options.concurrency,
        "cache": VerdictCache(options.cache),
        "max_calls": options.max_llm_calls,
    }


class RemoteJudge(RemoteModel, ModelJudge):
    """A judge that asks a server. The pairs that `max_calls` leaves open are undecided, and their reason says so."""

    def __init__(
        self,
        settings: ModelSettings | None = None,
        *,
        threshold: float | None = None,
        concurrency: int = 16,
        cache: VerdictCache | None = None,
        max_calls: int | None = None,
        progress: Progress | None = None,
        timeout: float | None = None,
        backoff: float = BACKOFF,
    ) -> None:
        if threshold is not None and not 0 <= threshold <= 1:
            raise UsageError(f"the threshold {threshold} is not between 0 and 1. Give one that is.")
        super().__init__(
            settings,
            concurrency=concurrency,
            cache=cache,
            max_calls=max_calls,
            progress=progress,
            timeout=timeout,
            backoff=backoff,
        )
        if threshold is not None:
            self.threshold = threshold

    @classmethod
    def of(cls, options: JudgeOptions) -> Self:
        """The judge that the options describe, with the settings of the environment."""
        return cls(**keywords_of(options))

    @abstractmethod
    def _ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The verdicts on pairs of sendable notes, in their order."""

    @abstractmethod
    def _calls(self, pairs: Sequence[Pair]) -> Sequence[int]:
        """The calls that `_ask` would make for these pairs, but for `max_calls`: how many characters each holds."""

    def ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The verdicts on pairs of (generated note, reference's note), in their order."""
        verdicts = self._ask(_sendable(pairs))
        self.usage.cached += sum(verdict.by == "cache" for verdict in verdicts)
        return verdicts

    def uncached(self, pairs: Sequence[Pair]) -> int:
        """How many calls `ask` would make for these pairs, after the cache, if none has to be repeated."""
        return self._planned_pairs(pairs).calls

    def _planned_pairs(self, pairs: Sequence[Pair]) -> Planned:
        calls = self._calls(_sendable(pairs))
        allowed = self._calls_left(len(calls))
        return Planned(allowed, sum(calls[:allowed]))

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        verdicts = iter(self.ask([pair for question in questions for pair in _pairs_of(question)]))
        return [as_answer(list(islice(verdicts, len(question.pairs)))) for question in questions]

    def planned_calls(self, questions: Sequence[Question]) -> int:
        return self.planned(questions).calls

    def planned(self, questions: Sequence[Question]) -> Planned:
        return self._planned_pairs([pair for question in questions for pair in _pairs_of(question)])


def _sendable(pairs: Sequence[Pair]) -> list[Pair]:
    return [(sendable(generated), sendable(reference)) for generated, reference in pairs]


def sendable_pairs(question: Question) -> list[Pair]:
    """The notes of a question's pairs, as a model gets to read them."""
    generated, reference = (list(map(sendable, notes)) for notes in (question.generated, question.reference))
    return [(generated[g], reference[r]) for g, r in question.pairs.tolist()]


def _pairs_of(question: Question) -> list[Pair]:
    return [(question.generated[g], question.reference[r]) for g, r in question.pairs.tolist()]


def as_answer(verdicts: Sequence[Verdict]) -> Answer:
    return Answer(
        score=np.array([verdict.score for verdict in verdicts], np.float64),
        match=np.array([verdict.match for verdict in verdicts], np.int8),
        reason=[verdict.reason for verdict in verdicts],
        by=[verdict.by for verdict in verdicts],
    )
