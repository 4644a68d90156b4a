"""What every benchmark is made of: rows, a clock that treats peers alike, and processes that are watched from outside.

A ratio is how many times as fast we are as somebody else on the same work in the same run: 2 is twice as fast, 0.5 half
as fast, and more is better. The machine cancels out of it, so that a ratio recorded elsewhere still means something.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

T = TypeVar("T")
MADE_UP = "made up"
"""What data is called that a benchmark makes by itself."""
ROUNDS = 5
_PAUSE = 0.2
"""Seconds between two looks at the memory of a process."""


@dataclass(frozen=True)
class Row:
    """One figure. `met`: whether it reaches its target; None where there is none."""

    what: str
    value: float | str
    unit: str = ""
    target: str | None = None
    met: bool | None = None
    peer: str | None = None
    """Against whom, if the value is a ratio."""
    data: str | None = None
    """Of which data a ratio is."""

    @property
    def name(self) -> str:
        """Which figure of a benchmark it is."""
        return self.what if self.peer is None else f"{self.what}, against {self.peer}"

    @property
    def told(self) -> str:
        """Its value, as people read it."""
        if isinstance(self.value, str):
            return self.value
        return f"{self.value:,.4g}" if abs(self.value) < 10_000 else f"{self.value:,.0f}"

    @classmethod
    def below(cls, what: str, value: float, unit: str, target: float) -> Row:
        """A figure that should stay under its target."""
        return cls(what, value, unit, f"< {target:,g}", value < target)

    @classmethod
    def above(cls, what: str, value: float, unit: str, target: float) -> Row:
        """A figure that should reach its target."""
        return cls(what, value, unit, f">= {target:,g}", value >= target)

    @classmethod
    def ratio(cls, what: str, value: float, *, peer: str, at_least: float | None = None, data: str = MADE_UP) -> Row:
        """How many times as fast we are as `peer`."""
        if at_least is None:
            return cls(what, value, "x", peer=peer, data=data)
        return cls(what, value, "x", f">= {at_least:,g}", value >= at_least, peer, data)

    @classmethod
    def missing(cls, what: str, peer: str) -> Row:
        """What could not be compared, because the peer is not installed."""
        return cls(what, f"{peer} is not installed")


@dataclass(frozen=True)
class Result:
    """What one benchmark found, and on which data."""

    title: str
    rows: Sequence[Row]
    data: str = MADE_UP

    @property
    def ratios(self) -> list[Row]:
        return [row for row in self.rows if row.peer is not None]


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """Processor seconds, the best of some rounds: other programs on the machine only ever make it slower."""
    return min(_processor_seconds(work) for _ in range(rounds))


@dataclass(frozen=True)
class Compared:
    """Seconds of ours and of a peer's for one unit of work, and how many times as fast we are."""

    ours: float
    theirs: float
    ratio: float


def compared(
    ours: Callable[[], T],
    theirs: Callable[[], T],
    *,
    rounds: int = ROUNDS,
    sizes: tuple[float, float] = (1, 1),
    clock: Callable[[Callable[[], T]], float] | None = None,
) -> Compared:
    """Both in turns, so that what else the machine does slows down both; medians, which no single bad round moves.

    `sizes`: how much work each of them does, where a slow peer gets a part of it. `clock` takes the time of one round:
    processor seconds, unless something is to be timed that waits or that runs elsewhere.
    """
    clock = clock or _processor_seconds
    taken = [(clock(ours) / sizes[0], clock(theirs) / sizes[1]) for _ in range(rounds)]
    return Compared(
        median(our for our, _ in taken),
        median(their for _, their in taken),
        median(their / our for our, their in taken),
    )


def wall_seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _processor_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@dataclass(frozen=True)
class Ran:
    """A command that ran to its end: seconds by the clock and of processors, and the most memory held, in MB."""

    wall: float
    processor: float
    megabytes: float
    output: str


def ran(command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Ran:
    """Runs a command and watches it and all its children from outside.

    Memory is the sum over the processes of what each holds alone plus its part of what they share (PSS), looked at
    several times per second. A single process that held more than that between two looks still counts, by the peak
    that the kernel notes of each.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command], stdout=output, stderr=errors, env={**os.environ, **(env or {})}
        )
        over = threading.Event()
        held: list[float] = [0.0]
        watcher = threading.Thread(target=_watch, args=(process.pid, over, held))
        watcher.start()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        over.set()
        watcher.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            told = errors.read().decode("utf-8", "replace")[-2000:]
            raise RuntimeError(f"{' '.join(map(str, command))} ended with {process.returncode}: {told}")
        most = held[0] or _noted(used)
        return Ran(wall, used.ru_utime + used.ru_stime, most, output.read().decode("utf-8", "replace"))


def waited(work: Callable[[], Ran]) -> float:
    """A clock for `compared`, of commands."""
    return work().wall


def processor_seconds(work: Callable[[], Ran]) -> float:
    """The same of all processors."""
    return work().processor


def metareview(*arguments: str | Path) -> list[str | Path]:
    """The command line of the package that is measured, in this Python."""
    return [sys.executable, "-m", "metareview", *arguments]


def _watch(pid: int, over: threading.Event, held: list[float]) -> None:
    pause = _PAUSE / 10  # The first looks come sooner, for commands that are over soon.
    while not over.wait(pause):
        tree = _tree(pid)
        peaks = [_megabytes(each, "status", "VmHWM:") for each in tree]
        held[0] = max(held[0], sum(_megabytes(each, "smaps_rollup", "Pss:") for each in tree), *peaks, 0.0)
        pause = min(_PAUSE, 2 * pause)


def _tree(pid: int) -> list[int]:
    """A process and all that it started; none where the system has no /proc."""
    try:
        found = [int(each) for task in Path(f"/proc/{pid}/task").iterdir() for each in _words(task / "children")]
    except OSError:
        return []
    return [pid, *(each for child in found for each in _tree(child))]


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:  # It has ended.
        return []


def _megabytes(pid: int | str, file: str, field: str) -> float:
    words = _words(Path(f"/proc/{pid}/{file}"))
    return int(words[words.index(field) + 1]) / 1024 if field in words else 0.0


def _noted(used: resource.struct_rusage) -> float:
    """Where there is no /proc. Not as good: a new process begins with the peak of the one that started it."""
    return used.ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


@dataclass(frozen=True)
class Alone:
    """What a function gave in a process of its own: its answer, its processor seconds, the most memory in MB."""

    answer: Any
    processor: float
    megabytes: float


def alone(work: Callable[..., Any], *arguments: object) -> Alone:
    """Runs a function in a process of its own, so that the memory is its own. It must be at the top of a module."""
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(theirs, work, arguments))
    process.start()
    theirs.close()
    try:
        found: Alone = ours.recv()
    except EOFError:
        raise RuntimeError(f"{work.__qualname__} failed in its process") from None
    finally:
        process.join()
    return found


def _report(pipe: Any, work: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    began = time.process_time()
    answer = work(*arguments)
    taken = time.process_time() - began
    most = _megabytes("self", "status", "VmHWM:") or _noted(resource.getrusage(resource.RUSAGE_SELF))
    pipe.send(Alone(answer, taken, most))
