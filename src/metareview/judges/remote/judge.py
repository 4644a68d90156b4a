"""What the judges that ask a server have in common: they are asked about pairs of notes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import islice
from typing import Generic, Self

import numpy as np

from metareview.errors import UsageError
from metareview.judges.protocol import Answer, ModelJudge, Progress, Question
from metareview.judges.registry import JudgeOptions
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.model import Job, RemoteModel
from metareview.judges.remote.pool import BACKOFF
from metareview.judges.remote.prompt import sendable
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.verdict import Verdict

Pair = tuple[str, str]  # a generated note and a reference's note


class RemoteJudge(RemoteModel[Job], ModelJudge, Generic[Job]):
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
        cache, max_calls = VerdictCache(options.cache), options.max_llm_calls
        return cls(threshold=options.threshold, concurrency=options.concurrency, cache=cache, max_calls=max_calls)

    @abstractmethod
    def _ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The verdicts on pairs of sendable notes, in their order."""

    @abstractmethod
    def _calls(self, pairs: Sequence[Pair]) -> int:
        """How many calls `_ask` would make for these pairs, but for `max_calls`."""

    def ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The verdicts on pairs of (generated note, reference's note), in their order."""
        verdicts = self._ask(_sendable(pairs))
        self.usage.cached += sum(verdict.by == "cache" for verdict in verdicts)
        return verdicts

    def uncached(self, pairs: Sequence[Pair]) -> int:
        """How many calls `ask` would make for these pairs, after the cache, if none has to be repeated."""
        return self._calls_left(self._calls(_sendable(pairs)))

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        verdicts = iter(self.ask(_pairs_of(questions)))
        return [_as_answer(list(islice(verdicts, len(question.pairs)))) for question in questions]

    def planned_calls(self, questions: Sequence[Question]) -> int:
        return self.uncached(_pairs_of(questions))


def _sendable(pairs: Sequence[Pair]) -> list[Pair]:
    return [(sendable(generated), sendable(reference)) for generated, reference in pairs]


def _pairs_of(questions: Sequence[Question]) -> list[Pair]:
    return [(q.generated[g], q.reference[r]) for q in questions for g, r in q.pairs.tolist()]


def _as_answer(verdicts: Sequence[Verdict]) -> Answer:
    return Answer(
        score=np.array([verdict.score for verdict in verdicts], np.float64),
        match=np.array([verdict.match for verdict in verdicts], np.int8),
        reason=[verdict.reason for verdict in verdicts],
        by=[verdict.by for verdict in verdicts],
    )
