"""What everything that asks a server has in common: settings, cache, limits, requests, usage."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TypeVar

from metareview.errors import UsageError
from metareview.judges.protocol import Notable, Parameters, Progress, Usage
from metareview.judges.remote import context
from metareview.judges.remote.cache import Claim, VerdictCache, verdict_key
from metareview.judges.remote.endpoint import Endpoint
from metareview.judges.remote.pool import BACKOFF, RequestFailed, RequestPool, TooLong
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.spending import Budget, Usability
from metareview.judges.remote.verdict import JsonObject, Malformed
from metareview.model.words import plural

Job = TypeVar("Job")
LEASE, RENEWED_EVERY = 60.0, 15.0
"""The seconds for which a question is claimed: how long others wait for a process of another machine that is gone."""
OTHER_PROCESS = "another process is asking"


class RemoteModel:
    """Asks the server of `settings` (default: the environment's), up to `concurrency` requests at once.

    A job is what one request asks about. `max_calls` caps the requests that reach the server in this model's life,
    repeated ones included; what this leaves open is undecided, and its reason says so. So is the rest where none of a
    few dozen answers could be used. The first pause between two attempts at a job is up to `backoff` seconds,
    and a request may take `timeout` seconds in all, by default those of the settings. `close` lets go of the
    connections and of the cache's file; both open again if the model is used again.
    """

    name: str  # what its answers are kept under
    kind: str  # whose settings it takes: LLM or EMBEDDING
    operation: str
    optional_fields: tuple[str, ...] = ()  # what a server may refuse of a request, and is then asked without
    largest_reply = 8 * 2**20  # no answer of a chat model, with all its thinking, is half as long
    parameters: Parameters = MappingProxyType({})

    def __init__(
        self,
        settings: ModelSettings | None = None,
        *,
        concurrency: int = 16,
        cache: VerdictCache | None = None,
        max_calls: int | None = None,
        progress: Progress | None = None,
        timeout: float | None = None,
        backoff: float = BACKOFF,
    ) -> None:
        if concurrency < 1:
            raise UsageError(f"a concurrency of {concurrency} asks nothing. Give 1 or more.")
        if max_calls is not None and max_calls < 0:
            raise UsageError(f"at most {max_calls} model calls make no sense. Give 0 or more.")
        if timeout is not None and not timeout > 0:
            raise UsageError(f"a time-out of {timeout} s leaves no time to answer. Give more than 0.")
        self.settings = settings or ModelSettings.load(self.kind)
        timeout = self.settings.timeout if timeout is None else timeout
        self.parameters: Parameters = {"model": self.settings.model, "server": self.settings.server, **self.parameters}
        self.cache, self.max_calls, self.progress = cache, max_calls, progress
        self.usage = Usage()
        self._pool = RequestPool(concurrency, backoff, timeout)
        self._budget = Budget(max_calls)
        self._usability = Usability(self.settings.model, self.settings.api_key)
        self._endpoint = Endpoint(
            self.settings, self.operation, self.optional_fields, concurrency, timeout, backoff, self.largest_reply,
            self._budget,
        )  # fmt: skip
        self._too_long = self._cut_short = 0
        self._lock = threading.Lock()
        self._answered: dict[str, JsonObject] = {}

    @property
    def warnings(self) -> list[str]:
        refused = sorted(self._endpoint.left_out)
        warnings = [f"the model server refuses {field}; it was asked without" for field in refused]
        if self._endpoint.silent:
            warnings.append(
                f"{self._endpoint.server} gave {self._endpoint.silence}, so it was asked no more and the rest is "
                "undecided. Check that it is running and not overloaded (a lower --concurrency may help), then run the "
                "same command again with the same --out."
            )
        warnings += self._usability.warnings
        again = "What is undecided is asked about again by the same command with the same --out."
        if self._budget.used_up and self.usage.requests > self.usage.llm_calls:
            warnings.append(
                f"the limit of {self.max_calls} model calls was reached: {plural(self.usage.requests, 'request')} for "
                f"{plural(self.usage.llm_calls, 'question')}, because repeated ones count. {again}"
            )
        if self._too_long:
            warnings.append(
                f"{plural(self._too_long, 'request')} did not fit into the context of the model at "
                f"{self.settings.shown_url}, and no answer to a cut question was taken. {context.LARGER}. {again}"
            )
        if self._cut_short:
            warnings.append(
                f"the model server cut {plural(self._cut_short, 'answer')} at its limit on tokens, and none was used. "
                "Raise it (num_predict for Ollama, --n-predict for llama.cpp, or the context), or use a model that "
                f"thinks less. {again}"
            )
        return warnings

    def close(self) -> None:
        self._endpoint.close()
        if self.cache is not None:
            self.cache.close()

    @property
    def settings_from(self) -> str:
        return self.settings.origin

    def _verdict_key(self, prompt: str, parameters: Parameters, notes: Sequence[str]) -> str:
        """The cache's key of what this model says of these notes."""
        return verdict_key(self.name, self.settings.model, self.settings.server, prompt, parameters, notes)

    def _stored(self, keys: Collection[str]) -> dict[str, JsonObject]:
        """What was answered before, by key: in the cache or, where there is none, by this judge."""
        if self.cache is None:
            return {key: self._answered[key] for key in keys if key in self._answered}
        return self.cache.get_many(list(keys))

    def _keep(self, key: str, value: JsonObject) -> None:
        if self.cache is None:
            self._answered[key] = value
        else:
            self.cache.put(key, value, judge=self.name, model=self.settings.model, server=self.settings.server)

    def _claim(self, keys: Sequence[str]) -> Claim:
        """Before keys are asked for: none that another process is asking for, for as long as this one renews it.

        The cache is written to here, so that one that cannot be is noticed before anything was paid for.
        """
        if self.cache is None:
            return Claim({}, frozenset(keys))
        return self.cache.claim(keys, LEASE)

    @contextmanager
    def _asking(self, keys: Collection[str]) -> Iterator[None]:
        """Lets go of claims for which there was no answer."""
        try:
            yield
        except BaseException:
            if self.cache is not None:
                self.cache.release(keys)
            raise

    def _send(
        self,
        jobs: Sequence[Job],
        attempt: Callable[[Job], Iterable[Job] | None],
        give_up: Callable[[Job, str], None],
        sent: set[Job],
    ) -> None:
        """Runs the jobs and counts those that `_post` puts into `sent`."""
        if not jobs:
            return
        progress, requests = self.progress, self._endpoint.requests
        # A job may be split, so that more get done than there were.
        report = None if progress is None else (lambda done: progress(done, max(done, len(jobs))))
        note = progress.note if isinstance(progress, Notable) else None

        renewed = time.monotonic()
        self._endpoint.patience.begin()

        def meanwhile() -> None:
            nonlocal renewed
            if self.cache is not None and time.monotonic() - renewed >= RENEWED_EVERY:
                renewed = time.monotonic()
                self.cache.renew(LEASE)
            if note is not None and (news := self._endpoint.patience.news(self._pool.resumes_in)):
                note(news)

        def left_open(job: Job, reason: str) -> None:
            asked_before = job in sent and reason == self._budget.reason()
            give_up(job, self._budget.reason(again=True) if asked_before else reason)

        try:
            self._pool.run(jobs, attempt, left_open, report, meanwhile)
        finally:
            self.usage.llm_calls += len(sent)
            self.usage.requests += self._endpoint.requests - requests
        self._endpoint.raise_if_never_served()

    def _post(self, job: Job, body: JsonObject, sent: set[Job], *, divisible: bool = False) -> JsonObject:
        """The server's reply to a job. The job counts as sent, however often it is, once it reached the server.

        Raises TooLong where it did not fit into the model's context, also where the server cut and answered it.
        """
        self._usability.check()
        try:
            reply = self._endpoint.post(body, divisible=divisible)
        except RequestFailed as problem:
            self._count(problem, divisible)
            if problem.sent:
                sent.add(job)
            if isinstance(problem, Malformed):
                problem.after_others = True
                self._usability.unusable(problem)
            raise
        sent.add(job)
        reported = reply.get("usage")
        if isinstance(reported, dict):
            with self._lock:
                self.usage.prompt_tokens += _number(reported.get("prompt_tokens"))
                self.usage.completion_tokens += _number(reported.get("completion_tokens"))
        if too_long := context.cut_question(body, reply):
            self._count(too_long, divisible)
            raise too_long
        self._count(context.cut_answer(reply), divisible)
        return reply

    @contextmanager
    def _reading(self, reply: JsonObject) -> Iterator[None]:
        """Around whatever makes something of a reply: Malformed where nothing can be made of it. Others are then asked
        about first, since they tell whether that is the model's fault or the question's."""
        try:
            yield
        except Malformed as problem:
            problem.after_others = True
            self._usability.unusable(problem, reply)
            raise
        self._usability.used()

    def _count(self, problem: RequestFailed | None, divisible: bool) -> None:
        """Counts what did not fit, for the warnings; not what may yet be answered in parts."""
        if divisible:
            return
        with self._lock:
            self._too_long += isinstance(problem, TooLong)
            self._cut_short += isinstance(problem, context.CutShort)

    def _calls_left(self, wanted: int) -> int:
        """How many of the calls that are wanted `max_calls` still allows."""
        return self._budget.left(wanted)

    def _limit_reached(self) -> str:
        """The reason of a pair that `max_calls` left open."""
        return self._budget.reason()


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0
