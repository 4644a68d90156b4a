"""A pool of threads that sends requests: as many at once as the server bears, each until it is done or given up.

A request that fails for a passing reason waits apart, so that its thread can send others meanwhile. How many are under
way at once follows from what becomes of them (`Limit`). When the server names the time at which it wants to hear from
us again, all requests wait for it. When it turns out that no request will be answered, all that are left are given up.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from metareview.judges.remote.limit import Limit

Job = TypeVar("Job")

BACKOFF = 0.5
_ATTEMPTS = 8
_LONGEST_BACKOFF = 20.0
_LONGEST_WAIT = 600.0
_A_WEEK = 7 * 86_400
_GRACE = 2.0
_MOMENT = 0.2


@dataclass(eq=False)
class RequestFailed(Exception):
    """A job's request failed. `sent`: whether it reached the server."""

    reason: str
    sent: bool = field(default=True, kw_only=True)


class GiveUp(RequestFailed):
    """A failure that another attempt would only repeat."""


class TooLong(GiveUp):
    """The question does not fit into the model's context. A part of it may."""


class StopAsking(RequestFailed):
    """A failure that says that no other request will be answered either."""


class NotYet(RequestFailed):
    """No failure: the job cannot be done now, and is looked at again in a moment, however often."""


@dataclass(eq=False, kw_only=True)
class RetryLater(RequestFailed):
    """A passing failure: worth another attempt, after `wait` seconds if the server named them."""

    wait: float | None = None
    all_wait: bool = False  # the wait is for all jobs, not only for this one
    fewer_at_once: bool = False  # the server wants fewer requests at once
    timed_out: bool = False  # there was no answer in time
    costs_nothing: bool = False  # the attempt is not counted: the server has yet to get ready
    most_attempts: int = _ATTEMPTS  # how many of them are worth while
    remaining_job: object = None  # what is left to do, where a part of the job succeeded
    after_others: bool = False  # its next attempt is after what was not attempted yet


@dataclass(slots=True)
class _Pending(Generic[Job]):
    """A job that is not done, how often it has failed, and one of how many it was when it was sent."""

    job: Job
    failures: int = 0
    under_way: int = 0
    after_others: bool = False


@dataclass(slots=True)
class _Run(Generic[Job]):
    """The jobs of one `run`: ready, waiting for their next attempt, and under way."""

    attempt: Callable[[Job], Iterable[Job] | None]
    give_up: Callable[[Job, str], None]
    ready: deque[_Pending[Job]]
    # A heap: when each is due, a number that breaks ties, the job.
    delayed: list[tuple[float, int, _Pending[Job]]] = field(default_factory=list)
    under_way: int = 0
    finished: int = 0
    stopped: bool = False
    hopeless: str = ""  # why nothing more is sent, although jobs are left
    error: BaseException | None = None

    @property
    def going_on(self) -> bool:
        return bool(self.ready or self.delayed or self.under_way) and not self.stopped and self.error is None

    def abandon(self, abandoned: Sequence[_Pending[Job]], reason: str) -> None:
        for pending in abandoned:
            self.give_up(pending.job, reason)
        self.finished += len(abandoned)

    def abandon_all(self, pending: _Pending[Job], reason: str) -> None:
        """Give up this job and all others; those that are under way if they fail."""
        self.hopeless = self.hopeless or reason
        self.abandon([*self.ready, *(entry[2] for entry in self.delayed), pending], self.hopeless)
        self.ready.clear()
        self.delayed.clear()


class RequestPool:
    """Runs jobs over at most `concurrency` threads; a request has `timeout` seconds. What it learned of the server's
    limits outlives a run."""

    def __init__(self, concurrency: int, backoff: float = BACKOFF, timeout: float = math.inf) -> None:
        self.concurrency, self.backoff = concurrency, backoff
        self._limit = Limit(concurrency, timeout)
        self._resume_at = 0.0
        self._order = itertools.count()
        self._changed = threading.Condition()

    @property
    def resumes_in(self) -> float:
        """The seconds for which the server wants to be left alone."""
        return max(0.0, self._resume_at - time.monotonic())

    def run(
        self,
        jobs: Sequence[Job],
        attempt: Callable[[Job], Iterable[Job] | None],
        give_up: Callable[[Job, str], None],
        progress: Callable[[int], None] | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Calls `attempt(job)` in threads until each job is done, or given up with `give_up(job, reason)`.

        An attempt may return further jobs. It raises RetryLater, NotYet or GiveUp for this job, StopAsking to give up
        all that are left, and anything else to end the run: nothing more is sent, what is under way may finish, and the
        error is raised here. An interrupt does the same. `give_up` must be quick. `progress` gets the number of
        finished jobs now and then, in the calling thread, and `meanwhile` is called there several times a second.
        """
        run = _Run(attempt, give_up, deque(map(_Pending, jobs)))
        reported = 0
        going_on = True
        try:
            for _ in range(min(self.concurrency, len(jobs))):
                # Daemons: a request without an answer must not keep an interrupted program alive.
                threading.Thread(target=self._work, args=(run,), daemon=True).start()
            while going_on:
                going_on = self._wait(run, 0.1)
                if meanwhile is not None:
                    meanwhile()
                if progress is not None and run.finished != reported:
                    reported = run.finished
                    progress(reported)
            if run.error is not None:
                raise run.error
        except BaseException:
            self._stop(run)
            raise

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
        """The loop of a thread: take a job, attempt it, record the outcome."""
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
                    self._succeeded(run, pending, further, started)
                elif isinstance(problem, GiveUp):
                    run.abandon([pending], problem.reason)
                elif isinstance(problem, StopAsking) or (run.hopeless and isinstance(problem, RequestFailed)):
                    run.abandon_all(pending, problem.reason)
                elif isinstance(problem, NotYet):
                    heapq.heappush(run.delayed, (time.monotonic() + _MOMENT, next(self._order), pending))
                elif isinstance(problem, RetryLater):
                    self._retry(run, pending, problem, started)
                else:
                    run.error = run.error or problem
                run.under_way -= 1
                if not run.going_on:
                    self._changed.notify_all()

    def _take(self, run: _Run[Job]) -> _Pending[Job] | None:
        """The next job that may be sent now; None when there will be no more."""
        with self._changed:
            while run.going_on:
                now = time.monotonic()
                while run.delayed and run.delayed[0][0] <= now:
                    due = heapq.heappop(run.delayed)[2]
                    (run.ready.append if due.after_others else run.ready.appendleft)(due)
                if run.ready and now >= self._resume_at and run.under_way < self._limit.at_once:
                    run.under_way += 1
                    pending = run.ready.popleft()
                    pending.under_way = run.under_way
                    return pending
                times = [run.delayed[0][0]] if run.delayed else []
                times += [self._resume_at] if run.ready and now < self._resume_at else []
                self._changed.wait(max(0.0, min(times) - now) if times else None)
        return None

    def _succeeded(self, run: _Run[Job], pending: _Pending[Job], further: Sequence[Job], started: float) -> None:
        before = self._limit.at_once
        self._limit.served(started, pending.under_way, time.monotonic())
        run.finished += 1
        run.ready.extendleft(map(_Pending, further))
        if further or self._limit.at_once > before:
            self._changed.notify_all()

    def _retry(self, run: _Run[Job], pending: _Pending[Job], problem: RetryLater, started: float) -> None:
        """Postpones the job, or gives up on it; on all jobs, where the server wants to be left alone for long."""
        now = time.monotonic()
        if problem.fewer_at_once:
            self._limit.refused(started, now)
        if problem.timed_out:
            self._limit.timed_out(started, pending.under_way, now)
        if problem.wait is not None and problem.wait > _LONGEST_WAIT:
            seconds = f"{problem.wait:.0f} s" if problem.wait < _A_WEEK else "more than a week"
            run.abandon_all(pending, f"the server wants to be left alone for {seconds}: {problem.reason}")
            return
        if problem.remaining_job is not None:
            pending.job = problem.remaining_job  # type: ignore[assignment]
        pending.failures += not problem.costs_nothing
        pending.after_others = problem.after_others
        if pending.failures >= problem.most_attempts:
            run.abandon([pending], f"undecided after {pending.failures} attempts: {problem.reason}")
            return
        # Longer with each failure, and never the same for all.
        pause = min(_LONGEST_BACKOFF, self.backoff * 2 ** max(0, pending.failures - 1)) * random.uniform(0.5, 1)  # noqa: S311
        if problem.wait is not None:
            if problem.all_wait:
                self._resume_at = max(self._resume_at, now + problem.wait)
            # The server's time, and a little on top, so that the threads are not all back at the same instant.
            pause = problem.wait + min(pause, max(self.backoff, 0.1 * problem.wait))
        heapq.heappush(run.delayed, (now + pause, next(self._order), pending))
