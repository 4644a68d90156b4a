"""What the judges that ask a server have in common: settings, cache, limits, requests, usage.

A judge of this kind says how it asks about pairs of notes (`ask`) and how many calls that would take (`uncached`).
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Generic, TypedDict, TypeVar

import numpy as np

from metareview.errors import UsageError
from metareview.judges.protocol import Answer, ModelJudge, Progress, Question, Usage
from metareview.judges.registry import JudgeOptions
from metareview.judges.remote.cache import JsonObject, VerdictCache
from metareview.judges.remote.endpoint import Endpoint
from metareview.judges.remote.pool import ATTEMPTS, BACKOFF, RequestFailed, RequestPool
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.verdict import Verdict

Pair = tuple[str, str]
"""A generated note and a reference's note."""
Job = TypeVar("Job")


class RemoteKeywords(TypedDict, total=False):
    """The keyword arguments of every judge that asks a server; RemoteJudge says what they mean."""

    threshold: float | None
    concurrency: int
    cache: VerdictCache | None
    max_calls: int | None
    progress: Progress | None
    timeout: float
    attempts: int
    backoff: float


class RemoteJudge(ModelJudge, Generic[Job]):
    """Asks the server of `settings`, up to `concurrency` requests at once; a job is what one request asks about.

    `max_calls` caps the jobs that are sent in this judge's life; the pairs that this leaves open are undecided, and
    their reason says so. A job gets `attempts` attempts, the first pause between two of them is up to `backoff`
    seconds, and a request may take `timeout` seconds. `close` lets go of the connections and of the cache's file;
    both open again if the judge is used again.
    """

    def __init__(
        self,
        settings: ModelSettings,
        operation: str,
        *,
        optional_fields: tuple[str, ...] = (),
        threshold: float | None = None,
        concurrency: int = 16,
        cache: VerdictCache | None = None,
        max_calls: int | None = None,
        progress: Progress | None = None,
        timeout: float = 60.0,
        attempts: int = ATTEMPTS,
        backoff: float = BACKOFF,
    ) -> None:
        if threshold is not None and not 0 <= threshold <= 1:
            raise UsageError(f"the threshold {threshold} is not between 0 and 1. Give one that is.")
        if concurrency < 1:
            raise UsageError(f"a concurrency of {concurrency} asks nothing. Give 1 or more.")
        if max_calls is not None and max_calls < 0:
            raise UsageError(f"at most {max_calls} model calls make no sense. Give 0 or more.")
        if not timeout > 0:
            raise UsageError(f"a time-out of {timeout} s leaves no time to answer. Give more than 0.")
        self.settings = settings
        self.threshold = threshold
        self.cache = cache
        self.max_calls = max_calls
        self.progress = progress
        self.usage = Usage()
        self._pool: RequestPool[Job] = RequestPool(concurrency, attempts=attempts, backoff=backoff)
        self._endpoint = Endpoint(
            settings,
            operation,
            concurrency=concurrency,
            timeout=timeout,
            optional=optional_fields,
            patience=6 * backoff,
        )
        self._lock = threading.Lock()

    @property
    def warnings(self) -> list[str]:
        refused = sorted(self._endpoint.left_out)
        return [f"the model server refuses {field}; it was asked without" for field in refused]

    @abstractmethod
    def ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The verdicts on pairs of (generated note, reference's note), in their order."""

    @abstractmethod
    def uncached(self, pairs: Sequence[Pair]) -> int:
        """How many calls `ask` would make for these pairs, after the cache."""

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        verdicts = iter(self.ask(_pairs_of(questions)))
        return [_as_answer(list(islice(verdicts, len(question.pairs)))) for question in questions]

    def planned_calls(self, questions: Sequence[Question]) -> int:
        return self.uncached(_pairs_of(questions))

    def close(self) -> None:
        self._endpoint.close()
        if self.cache is not None:
            self.cache.close()

    def _send(
        self,
        jobs: Sequence[Job],
        attempt: Callable[[Job], Iterable[Job] | None],
        give_up: Callable[[Job, str], None],
        sent: set[Job],
    ) -> None:
        """Runs the jobs and counts those that `_post` puts into `sent`."""
        progress, requests = self.progress, self._endpoint.requests
        # A job may be split, so that more get done than there were.
        report = None if progress is None else (lambda done: progress(done, max(done, len(jobs))))
        try:
            self._pool.run(jobs, attempt, give_up, report)
        finally:
            self.usage.llm_calls += len(sent)
            self.usage.requests += self._endpoint.requests - requests
        self._endpoint.raise_if_never_served()

    def _post(self, job: Job, body: JsonObject, sent: set[Job], *, divisible: bool = False) -> JsonObject:
        """The server's reply to a job. The job counts as sent, however often it is, once it reached the server."""
        try:
            reply = self._endpoint.post(body, divisible=divisible)
        except RequestFailed as problem:
            if problem.sent:
                sent.add(job)
            raise
        sent.add(job)
        self._count_tokens(reply.get("usage"))
        return reply

    def _count_tokens(self, reported: object) -> None:
        if isinstance(reported, dict):
            with self._lock:
                self.usage.prompt_tokens += _count(reported.get("prompt_tokens"))
                self.usage.completion_tokens += _count(reported.get("completion_tokens"))

    def _calls_left(self, wanted: int) -> int:
        """How many of the calls that are wanted `max_calls` still allows."""
        return wanted if self.max_calls is None else max(0, min(wanted, self.max_calls - self.usage.llm_calls))

    def _limit_reached(self) -> str:
        """The reason of a pair that `max_calls` left open."""
        return f"not asked: the limit of {self.max_calls} model calls was reached"


def keywords_of(options: JudgeOptions) -> RemoteKeywords:
    """What a judge that asks a server takes from the options; the model's settings come from the environment."""
    return {
        "threshold": options.threshold,
        "concurrency": options.concurrency,
        "cache": VerdictCache(options.cache),
        "max_calls": options.max_llm_calls,
    }


def _pairs_of(questions: Sequence[Question]) -> list[Pair]:
    return [(q.generated[g], q.reference[r]) for q in questions for g, r in q.pairs.tolist()]


def _as_answer(verdicts: Sequence[Verdict]) -> Answer:
    return Answer(
        score=np.array([verdict.score for verdict in verdicts], dtype=np.float64),
        match=np.array([verdict.match for verdict in verdicts], dtype=np.int8),
        reason=[verdict.reason for verdict in verdicts],
        by=[verdict.by for verdict in verdicts],
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
