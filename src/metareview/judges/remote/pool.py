"""Threads that send requests: as many at once as the server bears, each job until it is done or given up.

A job that fails for a passing reason waits apart, so that its thread serves others meanwhile. A 429 halves
the number of requests under way; every success raises it a little, up to what the caller allowed. When a
server names the time at which it wants to hear from us again, everybody waits for it.
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


class Again(Exception):
    """A passing failure: worth another attempt, after `wait` seconds if the server named them."""

    def __init__(
        self,
        reason: str,
        *,
        wait: float | None = None,
        everybody: bool = False,
        slower: bool = False,
        sent: bool = True,
        job: object = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait
        self.everybody = everybody
        """The wait is for all jobs, not only for this one."""
        self.slower = slower
        """The server wants fewer requests at once."""
        self.sent = sent
        """Whether the request reached the server."""
        self.job = job
        """What is left to do, where a part of the job succeeded."""


class GiveUp(Exception):
    """A failure that another attempt would only repeat."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class _Item(Generic[Job]):
    job: Job
    failures: int = 0


@dataclass(slots=True)
class _Batch(Generic[Job]):
    """The jobs of one `run`: ready, waiting for their next attempt, and under way."""

    attempt: Callable[[Job], Iterable[Job] | None]
    give_up: Callable[[Job, str], None]
    ready: deque[_Item[Job]]
    open: int
    delayed: list[tuple[float, int, _Item[Job]]] = field(default_factory=list)
    under_way: int = 0
    done: int = 0
    stopped: bool = False
    error: BaseException | None = None


class Crew(Generic[Job]):
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
        tick: Callable[[int], None] | None = None,
    ) -> None:
        """Calls `attempt(job)` in threads until each job is done, or given up with `give_up(job, reason)`.

        An attempt returns jobs to do as well, or None; it raises Again or GiveUp for this job, and anything
        else to end the run: nothing more is sent, what is under way may finish, and the error is raised here.
        An interrupt does the same. `give_up` must be quick. `tick` gets the number of finished jobs now and
        then, in the calling thread.
        """
        batch = _Batch(attempt, give_up, deque(map(_Item, jobs)), len(jobs))
        ticked = 0
        try:
            for _ in range(min(self.concurrency, len(jobs))):
                # Daemons: a request that hangs must not keep an interrupted program alive.
                threading.Thread(target=self._serve, args=(batch,), daemon=True).start()
            while self._wait(batch, 0.1):
                if tick is not None and batch.done != ticked:
                    ticked = batch.done
                    tick(ticked)
        except BaseException:
            self._stop(batch)
            raise
        if batch.error is not None:
            self._stop(batch)
            raise batch.error
        if tick is not None and batch.done != ticked:
            tick(batch.done)

    def _wait(self, batch: _Batch[Job], seconds: float) -> bool:
        """Waits for the end of the batch; whether it is still going on."""
        with self._changed:
            if batch.open and batch.error is None:
                self._changed.wait(seconds)
            return bool(batch.open) and batch.error is None

    def _stop(self, batch: _Batch[Job]) -> None:
        """Nothing more is sent; a short while for the answers that are already paid for."""
        deadline = time.monotonic() + _GRACE
        with self._changed:
            batch.stopped = True
            self._changed.notify_all()
            while batch.under_way and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)

    def _serve(self, batch: _Batch[Job]) -> None:
        while (item := self._take(batch)) is not None:
            started = time.monotonic()
            more: Sequence[Job] = ()
            problem: BaseException | None = None
            try:
                more = tuple(batch.attempt(item.job) or ())
            except BaseException as error:
                problem = error
            with self._changed:
                given_up = self._settle(batch, item, more, problem, started)
                for job, reason in given_up:
                    batch.give_up(job, reason)
                finished = len(given_up) + (problem is None)
                batch.under_way -= 1
                batch.open -= finished
                batch.done += finished
                if not batch.open or batch.stopped or batch.error is not None:
                    self._changed.notify_all()

    def _take(self, batch: _Batch[Job]) -> _Item[Job] | None:
        """The next job that may be sent now; None when there will be no more."""
        with self._changed:
            while batch.open and not batch.stopped and batch.error is None:
                now = time.monotonic()
                while batch.delayed and batch.delayed[0][0] <= now:
                    batch.ready.appendleft(heapq.heappop(batch.delayed)[2])
                if batch.ready and now >= self._resume_at and batch.under_way < int(self._limit):
                    batch.under_way += 1
                    return batch.ready.popleft()
                times = [batch.delayed[0][0]] if batch.delayed else []
                times += [self._resume_at] if batch.ready and now < self._resume_at else []
                self._changed.wait(max(0.0, min(times) - now) if times else None)
        return None

    def _settle(
        self,
        batch: _Batch[Job],
        item: _Item[Job],
        more: Sequence[Job],
        problem: BaseException | None,
        started: float,
    ) -> list[tuple[Job, str]]:
        """Draws the consequences of an attempt; the jobs that are given up, with their reasons."""
        if problem is None:
            self._succeed()
            batch.ready.extendleft(map(_Item, more))
            batch.open += len(more)
            if more:
                self._changed.notify_all()
            return []
        if isinstance(problem, GiveUp):
            return [(item.job, problem.reason)]
        if not isinstance(problem, Again):
            batch.error = batch.error or problem
            return []
        if problem.slower and started >= self._slowed_at:  # once for all that were under way together
            self._limit = max(1.0, int(self._limit) / 2)
            self._slowed_at = time.monotonic()
        if problem.wait is not None and problem.wait > _LONGEST_WAIT:
            reason = f"the server wants to be left alone for {problem.wait:.0f} s: {problem.reason}"
            waiting = [*batch.ready, *(entry[2] for entry in batch.delayed), item]
            batch.ready.clear()
            batch.delayed.clear()
            return [(other.job, reason) for other in waiting]
        return self._postpone(batch, item, problem)

    def _succeed(self) -> None:
        before = int(self._limit)
        self._limit = min(float(self.concurrency), self._limit + 1 / self._limit)
        if int(self._limit) > before:
            self._changed.notify_all()

    def _postpone(self, batch: _Batch[Job], item: _Item[Job], problem: Again) -> list[tuple[Job, str]]:
        if problem.job is not None:
            item.job = problem.job  # type: ignore[assignment]
        item.failures += 1
        if item.failures >= self.attempts:
            return [(item.job, f"undecided after {item.failures} attempts: {problem.reason}")]
        now = time.monotonic()
        pause = min(_LONGEST_BACKOFF, self.backoff * 2 ** (item.failures - 1)) * random.uniform(0.5, 1)  # noqa: S311
        if problem.wait is not None:
            # The server's time, and a little on top, so that not everybody is back at the same instant.
            pause = problem.wait + min(pause, max(self.backoff, 0.1 * problem.wait))
            if problem.everybody:
                self._resume_at = max(self._resume_at, now + problem.wait)
        heapq.heappush(batch.delayed, (now + pause, next(self._order), item))
        return []
