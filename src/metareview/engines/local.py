"""Worker processes on this machine.

A worker is a fresh interpreter that is sent one function, what that function always needs, and then one chunk of work
after the other over its pipe. It shares nothing with this process, so nothing that happens to it (a kill for lack of
memory, a crash in a library) can harm what was already done: it is replaced, and its chunk is done again.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from metareview.engines.frames import Frames
from metareview.engines.threads import ONE_THREAD
from metareview.errors import UsageError
from metareview.working_folder import found_modules

Context = TypeVar("Context")
Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
Item = TypeVar("Item")
Work = Callable[[Context, Chunk], Result]

TRIES = 3
"""How often a chunk is begun before its worker's death is taken to be the chunk's fault."""
_AHEAD = 2
"""Chunks per worker that are under way or done and not yet taken: what bounds the memory of this process."""


def cores() -> int:
    """Those that this process may use, which in a container or under `taskset` are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sendable(thing: object) -> bool:
    """Whether a worker can be sent this. What a script or a notebook defines itself cannot: a worker is neither."""
    try:
        _SendablePickler(io.BytesIO(), pickle.HIGHEST_PROTOCOL).dump(thing)
    except Exception:  # Whatever an object of the user's raises, it cannot be sent.
        return False
    return True


class _SendablePickler(pickle.Pickler):
    """Refuses functions, classes and objects of the module `__main__`, which is another one in a worker."""

    def reducer_override(self, thing: object) -> Any:
        if getattr(thing, "__module__", None) == "__main__":
            raise pickle.PicklingError(f"{thing!r} is of __main__")
        return NotImplemented


def chunks_by_size(items: Iterable[Item], size: Callable[[Item], int], target: int) -> Iterator[list[Item]]:
    """The items in order, as many together as reach the target size; one that is larger is a chunk of its own.

    >>> list(chunks_by_size([1, 1, 5, 1, 9, 1], lambda number: number, 5))
    [[1, 1], [5], [1], [9], [1]]
    """
    chunk: list[Item] = []
    held = 0
    for item in items:
        its = size(item)
        if chunk and held + its > target:
            yield chunk
            chunk, held = [], 0
        chunk.append(item)
        held += its
    if chunk:
        yield chunk


@dataclass(frozen=True)
class LocalEngine:
    """This process with one worker; that many others with several."""

    workers: int = 1

    def map(self, work: Work[Context, Chunk, Result], context: Context, chunks: Iterable[Chunk]) -> Iterator[Result]:
        """What the work makes of each chunk, in order. Chunks are taken as they are needed, a few ahead."""
        if self.workers <= 1:
            for chunk in chunks:
                yield work(context, chunk)
            return
        with _crew(self.workers, work, context) as submit:
            under_way: deque[Future[Result]] = deque()
            for chunk in chunks:
                under_way.append(submit(chunk))
                if len(under_way) >= _AHEAD * self.workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()

    def map_as_done(
        self, work: Work[Context, Chunk, Result], context: Context, chunks: Sequence[Chunk]
    ) -> Iterator[tuple[int, Result]]:
        """The same with the number of each chunk, as they are done: the largest first keep all workers busy."""
        if self.workers <= 1:
            for number, chunk in enumerate(chunks):
                yield number, work(context, chunk)
            return
        with _crew(self.workers, work, context) as submit:
            left = iter(enumerate(chunks))
            under_way: dict[Future[Result], int] = {}
            while True:
                while len(under_way) < _AHEAD * self.workers and (following := next(left, None)) is not None:
                    under_way[submit(following[1])] = following[0]
                if not under_way:
                    return
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    yield under_way.pop(done), done.result()


@contextmanager
def _crew(
    workers: int, work: Work[Context, Chunk, Result], context: Context
) -> Iterator[Callable[[Chunk], Future[Result]]]:
    """Takes chunks for as long as it is open. Afterwards no worker is left, however it was left."""
    task = pickle.dumps((work, context), pickle.HIGHEST_PROTOCOL)
    beginning = pickle.dumps((found_modules(), task), pickle.HIGHEST_PROTOCOL)
    own = threading.local()
    hired: list[_Worker] = []

    def do(chunk: Chunk) -> Result:
        if not hasattr(own, "worker"):
            own.worker = _Worker(beginning)
            hired.append(own.worker)
        result: Result = own.worker.do(chunk)
        return result

    threads = ThreadPoolExecutor(workers, thread_name_prefix="metareview-worker")
    try:
        yield lambda chunk: threads.submit(do, chunk)
    finally:
        for worker in hired:
            worker.dismiss()
        threads.shutdown(wait=True, cancel_futures=True)
        for worker in hired:
            worker.end()


class _Worker:
    """One process, and the thread's side of its pipe."""

    def __init__(self, beginning: bytes) -> None:
        self._beginning = beginning
        self._dismissed = False
        self._process: subprocess.Popen[bytes] | None = None

    def do(self, chunk: object) -> Any:
        """What the worker makes of the chunk; what it raises is raised here."""
        task = pickle.dumps(chunk, pickle.HIGHEST_PROTOCOL)
        for _ in range(TRIES):
            if self._dismissed:
                break
            try:
                frames = self._frames()
                frames.send(task)
                done, value = pickle.loads(frames.receive())
            except (EOFError, OSError):
                self.end()
                continue
            if done:
                return value
            raise value
        raise UsageError(
            f"A worker process ended {TRIES} times on the same part of the work, most likely for lack of memory. "
            "Pass --workers 1, or use a machine with more memory."
        )

    def _frames(self) -> Frames:
        if self._process is None:
            settings = {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(sys.path)}
            command = [sys.executable, "-P", "-m", "metareview.engines.worker"]
            # Ctrl-C reaches every process of a terminal; what is to be done then, this one knows. That its thread takes
            # none a worker inherits, from its first import on.
            if hasattr(signal, "pthread_sigmask"):  # not on Windows
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=settings)
            assert process.stdin is not None
            assert process.stdout is not None
            self._process, self._connection = process, Frames(process.stdout, process.stdin)
            if self._dismissed:
                raise EOFError
            self._connection.send(self._beginning)
        return self._connection

    def end(self) -> None:
        """From its own thread, or when that has ended."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError):  # What was on its way to it is lost with it.
                process.__exit__(None, None, None)

    def dismiss(self) -> None:
        """From another thread: whatever it is doing is not waited for."""
        self._dismissed = True
        process = self._process
        if process is not None:
            process.kill()
