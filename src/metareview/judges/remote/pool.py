"""A pool of threads that sends requests: as many at once as the server bears, each until it is done or given up.

A request that fails for a passing reason waits apart, so that its thread can send others meanwhile. When the server
asks for less (429), the number of requests under way is halved; every success raises it a little, up to what the
caller allowed. When the server names the time at which it wants to hear from us again, all requests wait for it.
"""

from __future__ import annotations

import heapq
import itertools
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Job = TypeVar("Job")

ATTEMPTS = 8
BACKOFF = 0.5
_LONGEST_BACKOFF = 20.0
_LONGEST_WAIT = 600.0
_GRACE = 2.0


class RequestFailed(Exception):
    """A job's request failed. `sent`: whether it reached the server."""

    def __init__(self, reason: str, *, sent: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent


class GiveUp(RequestFailed):
    """A failure that another attempt would only repeat."""


class RetryLater(RequestFailed):
    """A passing failure: worth another attempt, after `wait` seconds if the server named them."""

    def __init__(
        self,
        reason: str,
        *,
        sent: bool = True,
        wait: float | None = None,
        all_wait: bool = False,
        fewer_at_once: bool = False,
        remaining_job: object = None,
    ) -> None:
        super().__init__(reason, sent=sent)
        self.wait = wait
        self.all_wait = all_wait
        """The wait is for all jobs, not only for this one."""
        self.fewer_at_once = fewer_at_once
        """The server wants fewer requests at once."""
        self.remaining_job = remaining_job
        """What is left to do, where a part of the job succeeded."""


@dataclass(slots=True)
class _Pending(Generic[Job]):
    """A job that is not done, and how often it has failed."""

    job: Job
    failures: int = 0


@dataclass(slots=True)
class _Run(Generic[Job]):
    """The jobs of one `run`: ready, waiting for their next attempt, and under way."""

    attempt: Callable[[Job], Iterable[Job] | None]
    give_up: Callable[[Job, str], None]
    ready: deque[_Pending[Job]]
    unfinished: int
    delayed: list[tuple[float, int, _Pending[Job]]] = field(default_factory=list)
    """A heap: when each is due, a number that breaks ties, the job."""
    under_way: int = 0
    finished: int = 0
    stopped: bool = False
    error: BaseException | None = None

    @property
    def going_on(self) -> bool:
        return self.unfinished > 0 and not self.stopped and self.error is None


class RequestPool(Generic[Job]):
    """Runs jobs over at most `concurrency` threads. What it learned of the server's limits outlives a run."""

    def __init__(self, concurrency: int, *, attempts: int = ATTEMPTS, backoff: float = BACKOFF) -> None:
        self.concurrency = concurrency
        self.attempts = attempts
        self.backoff = backoff
        self._limit = float(concurrency)
        self._slowed_at = 0.0
        self._resume_at = 0.0
        self._order = itertools.count()
        self._changed = threading.Condition()

    def run(
        self,
        jobs: Sequence[Job],
        attempt: Callable[[Job], Iterable[Job] | None],
        give_up: Callable[[Job, str], None],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Calls `attempt(job)` in threads until each job is done, or given up with `give_up(job, reason)`.

        An attempt may return further jobs. It raises RetryLater or GiveUp for this job, and anything else to end
        the run: nothing more is sent, what is under way may finish, and the error is raised here. An interrupt
        does the same. `give_up` must be quick. `progress` gets the number of finished jobs now and then, in the
        calling thread.
        """
        run = _Run(attempt, give_up, deque(map(_Pending, jobs)), len(jobs))
        reported = 0
        try:
            for _ in range(min(self.concurrency, len(jobs))):
                # Daemons: a request without an answer must not keep an interrupted program alive.
                threading.Thread(target=self._work, args=(run,), daemon=True).start()
            while self._wait(run, 0.1):
                if progress is not None and run.finished != reported:
                    reported = run.finished
                    progress(reported)
        except BaseException:
            self._stop(run)
            raise
        if run.error is not None:
            self._stop(run)
            raise run.error
        if progress is not None and run.finished != reported:
            progress(run.finished)

    def _wait(self, run: _Run[Job], seconds: float) -> bool:
        """Waits for the end of the run; whether it is still going on."""
        with self._changed:
            if run.going_on:
                self._changed.wait(seconds)
            return run.going_on

    def _stop(self, run: _Run[Job]) -> None:
        """Nothing more is sent; a short while for the answers that are already paid for."""
        deadline = time.monotonic() + _GRACE
        with self._changed:
            run.stopped = True
            self._changed.notify_all()
            while run.under_way and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)

    def _work(self, run: _Run[Job]) -> None:
        """What each thread does: take a job, attempt it, note the outcome, until there is none left."""
        while (pending := self._take(run)) is not None:
            started = time.monotonic()
            further: Sequence[Job] = ()
            problem: BaseException | None = None
            try:
                further = tuple(run.attempt(pending.job) or ())
            except BaseException as error:
                problem = error
            with self._changed:
                if problem is None:
                    self._succeeded(run, further)
                    finished = 1
                else:
                    given_up = self._failed(run, pending, problem, started)
                    for job, reason in given_up:
                        run.give_up(job, reason)
                    finished = len(given_up)
                run.under_way -= 1
                run.unfinished -= finished
                run.finished += finished
                if not run.going_on:
                    self._changed.notify_all()

    def _take(self, run: _Run[Job]) -> _Pending[Job] | None:
        """The next job that may be sent now; None when there will be no more."""
        with self._changed:
            while run.going_on:
                now = time.monotonic()
                while run.delayed and run.delayed[0][0] <= now:
                    run.ready.appendleft(heapq.heappop(run.delayed)[2])
                if run.ready and now >= self._resume_at and run.under_way < int(self._limit):
                    run.under_way += 1
                    return run.ready.popleft()
                times = [run.delayed[0][0]] if run.delayed else []
                times += [self._resume_at] if run.ready and now < self._resume_at else []
                self._changed.wait(max(0.0, min(times) - now) if times else None)
        return None

    def _succeeded(self, run: _Run[Job], further: Sequence[Job]) -> None:
        before = int(self._limit)
        self._limit = min(float(self.concurrency), self._limit + 1 / self._limit)
        run.ready.extendleft(map(_Pending, further))
        run.unfinished += len(further)
        if further or int(self._limit) > before:
            self._changed.notify_all()

    def _failed(
        self, run: _Run[Job], pending: _Pending[Job], problem: BaseException, started: float
    ) -> list[tuple[Job, str]]:
        """Postpones the job, or gives up; the jobs that are given up, with their reasons."""
        if isinstance(problem, GiveUp):
            return [(pending.job, problem.reason)]
        if not isinstance(problem, RetryLater):
            run.error = run.error or problem
            return []
        if problem.fewer_at_once and started >= self._slowed_at:  # once for all that were under way together
            self._limit = max(1.0, int(self._limit) / 2)
            self._slowed_at = time.monotonic()
        if problem.wait is not None and problem.wait > _LONGEST_WAIT:
            reason = f"the server wants to be left alone for {problem.wait:.0f} s: {problem.reason}"
            waiting = [*run.ready, *(entry[2] for entry in run.delayed), pending]
            run.ready.clear()
            run.delayed.clear()
            return [(other.job, reason) for other in waiting]
        if problem.remaining_job is not None:
            pending.job = problem.remaining_job  # type: ignore[assignment]
        pending.failures += 1
        if pending.failures >= self.attempts:
            return [(pending.job, f"undecided after {pending.failures} attempts: {problem.reason}")]
        now = time.monotonic()
        if problem.wait is not None and problem.all_wait:
            self._resume_at = max(self._resume_at, now + problem.wait)
        due = now + self._pause(pending.failures, problem.wait)
        heapq.heappush(run.delayed, (due, next(self._order), pending))
        return []

    def _pause(self, failures: int, wait: float | None) -> float:
        """Seconds until the next attempt: longer with each failure, and never the same for all."""
        pause: float = min(_LONGEST_BACKOFF, self.backoff * 2 ** (failures - 1))
        pause *= random.uniform(0.5, 1)  # noqa: S311
        if wait is None:
            return pause
        # The server's time, and a little on top, so that not everybody is back at the same instant.
        return wait + min(pause, max(self.backoff, 0.1 * wait))
