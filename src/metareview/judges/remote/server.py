"""A model server as the ask loop uses it: limits, retries, usage, and warnings about how it answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from metareview.judges.protocol import Progress, ProgressWithMessages, Usage
from metareview.judges.remote import context
from metareview.judges.remote.answers import CutShort, JsonObject, Malformed
from metareview.judges.remote.endpoint import Endpoint, Operation
from metareview.judges.remote.pool import RequestFailed, RequestPool, RetryLater, TooLong
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.stop_conditions import StopConditions
from metareview.model.words import plural

Job = TypeVar("Job")
_ATTEMPTS_IF_CUT = 3
_AGAIN = "What is undecided is asked about again by the same command with the same --out."


class RemoteServer:
    """Sends jobs to a server until each is done or given up. A job is the subject of one request."""

    def __init__(
        self,
        settings: ModelSettings,
        operation: Operation,
        max_calls: int | None,
        concurrency: int,
        timeout: float,
        backoff: float,
    ) -> None:
        self.settings = settings
        self.stop = StopConditions(settings, max_calls, concurrency, timeout)
        self.endpoint = Endpoint(settings, operation, self.stop, concurrency, timeout, backoff)
        self.usage = Usage()
        self._pool = RequestPool(concurrency, backoff, timeout)
        self._too_long = self._cut_short = 0
        self._lock = threading.Lock()

    def redact(self, text: str) -> str:
        """A text that the model wrote as one line, without the key."""
        return self.settings.api_key.line_of(text, instead="(left out: it repeats a part of the key)")

    def run(
        self,
        jobs: Sequence[Job],
        attempt: Callable[[Job], Iterable[Job]],
        give_up: Callable[[Job, str], None],
        sent: set[Job],
        progress: Progress | None,
        meanwhile: Callable[[], None],
    ) -> None:
        """Run `attempt` on each job, and count those that `post` adds to `sent`; as `RequestPool.run` otherwise."""
        if not jobs:
            return
        requests, first_answer = self.endpoint.requests, self.endpoint.first_answer
        # A job may be split, so that more get done than there were.
        report = None if progress is None else (lambda done: progress(done, max(done, len(jobs))))
        show = progress.note if isinstance(progress, ProgressWithMessages) else None
        first_answer.restart()
        self.stop.new_run()

        def between() -> None:
            meanwhile()
            if show is not None and (line := first_answer.news(self._pool.resumes_in)):
                show(line)

        def left_open(job: Job, reason: str) -> None:
            asked_before = job in sent and reason == self.stop.limit_reason()
            give_up(job, self.stop.limit_reason(again=True) if asked_before else reason)

        try:
            self._pool.run(jobs, attempt, left_open, report, between)
        finally:
            self.usage.llm_calls += len(sent)
            self.usage.requests += self.endpoint.requests - requests
        self.endpoint.raise_if_never_served()

    def post(self, job: Job, body: JsonObject, sent: set[Job], *, divisible: bool) -> JsonObject:
        """The reply to a job, which is added to `sent` once it reached the server, however often it is sent.

        Raises TooLong where it did not fit into the model's context, also where the server cut and answered it.
        """
        try:
            reply = self.endpoint.post(body, divisible=divisible)
        except Malformed as problem:
            sent.add(job)
            raise self.retry(problem) from None
        except RequestFailed as problem:
            self._count(problem, divisible)
            if problem.sent:
                sent.add(job)
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

    def retry(self, problem: Malformed, reply: JsonObject | None = None, rest: object = None) -> RetryLater:
        """The retry for a reply without an answer, or with one to all but the `rest` of a job.

        It comes after the other jobs, since they tell whether the model or the question is at fault.
        """
        self.stop.unusable(problem.reason, reply)
        retry = RetryLater(problem.reason, after_others=True, remaining_job=rest)
        if isinstance(problem, CutShort):
            retry.most_attempts = _ATTEMPTS_IF_CUT
        return retry

    def _count(self, problem: RequestFailed | CutShort | None, divisible: bool) -> None:
        """Count questions and answers that did not fit, for the warnings; none that may yet be answered in parts."""
        if divisible:
            return
        with self._lock:
            self._too_long += isinstance(problem, TooLong)
            self._cut_short += isinstance(problem, CutShort)

    @property
    def warnings(self) -> list[str]:
        refused = sorted(self.endpoint.left_out)
        warnings = [f"the model server refuses {field}; it was asked without" for field in refused]
        warnings += self.stop.warnings
        if self.stop.limit_reached and self.usage.requests > self.usage.llm_calls:
            warnings.append(
                f"the limit of {self.stop.max_calls} model calls was reached: {plural(self.usage.requests, 'request')} "
                f"for {plural(self.usage.llm_calls, 'question')}, because repeated ones count. {_AGAIN}"
            )
        if self._too_long:
            warnings.append(
                f"{plural(self._too_long, 'request')} did not fit into the context of the model at "
                f"{self.settings.shown_url}, and no answer to a cut question was taken. {context.LARGER}. {_AGAIN}"
            )
        if self._cut_short:
            warnings.append(
                f"the model server cut {plural(self._cut_short, 'answer')} at its limit on tokens, and none was used. "
                "Raise it (num_predict for Ollama, --n-predict for llama.cpp, or the context), or use a model that "
                f"thinks less. {_AGAIN}"
            )
        return warnings


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0
