"""Whole commands on data as large as a company's: how long one takes by the clock, and how much memory it holds.

BENCH_SCALE=0.01 tries everything at a hundredth of the size; such figures have no targets.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.measure import Ran, Result, Row, compared, metareview, ran, waited
from bench.scale_data import COMMENTS, write_comments, write_events

SCALE = float(os.environ.get("BENCH_SCALE") or 1)
EVENTS, PULL_REQUESTS, REPOSITORIES = round(10_000_000 * SCALE), round(100_000 * SCALE), 2_000
PART = 0.05
"""The share of all that the speed of two workers is measured on, several times."""
ROUNDS = 5
WORKERS = 2
PROMISED = 1.7
"""How many times as fast as one worker two should be, on all events."""


def run() -> Result:
    with _data(1.0) as folder:
        events, comments, location = (ran(_command(folder, what, WORKERS)) for what in ("routing", "offline", "none"))
        alone = ran(_command(folder, "routing", 1))
    assert _figures(alone) == _figures(events), "routing: the figures depend on the number of workers"
    number = f"{PULL_REQUESTS * COMMENTS:,} comments, {PULL_REQUESTS:,} pull requests"
    rows = [
        *_rows(f"{number}, --judge offline", comments, 240, 2),
        *_rows(f"{number}, location only", location, 40, 2),
        *_rows(f"{EVENTS:,} events, {REPOSITORIES:,} repositories, popularity and mentions", events, 180, 4),
    ]
    times = f"{EVENTS:,} events: two workers, times as fast as one", alone.wall / events.wall, "times"
    rows.append(Row(*times) if SCALE != 1 else Row.above(*times, PROMISED))
    rows.append(Row("two bare Python loops at once, times as fast as one after the other", _bare_loops(), "times"))
    return Result(f"Scale: whole commands, {WORKERS} workers", [*rows, *ratios().rows])


def _bare_loops() -> float:
    """What two cores of this machine are worth: the most that two workers can be."""

    def taken(at_once: int) -> float:
        began = time.perf_counter()
        loops = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(at_once)]
        for loop in loops:
            loop.wait()
        return time.perf_counter() - began

    return median(2 * taken(1) / taken(2) for _ in range(ROUNDS))


_LOOP = "for number in range(30_000_000): pass"


def ratios() -> Result:
    """Two workers against one, in turns, on so much less that starting them, and reading twice, weigh more."""
    rows = []
    with _data(PART) as folder:
        for what, told in (
            ("routing", f"{round(EVENTS * PART):,} events"),
            ("offline", f"{round(PULL_REQUESTS * PART) * COMMENTS:,} comments offline"),
        ):
            many, one = (_command(folder, what, workers) for workers in (WORKERS, 1))
            assert _figures(ran(many)) == _figures(ran(one)), f"{what}: the figures depend on the number of workers"
            found = compared(lambda many=many: ran(many), lambda one=one: ran(one), rounds=ROUNDS, clock=waited)
            rows.append(Row.ratio(f"{told}, two workers", found.ratio, peer="one worker"))
    return Result("Scale", rows)


@contextmanager
def _data(share: float) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="metareview-bench-") as name:
        folder = Path(name)
        write_events(folder / "events.jsonl", round(EVENTS * share), repos=REPOSITORIES)
        write_comments(folder, round(PULL_REQUESTS * share))
        yield folder


def _command(folder: Path, what: str, workers: int) -> list[str | Path]:
    if what == "routing":
        parts: list[str | Path] = ["routing", folder / "events.jsonl", "--router", "popularity", "--router", "mentions"]
    else:
        files = folder / "generated.jsonl", "--reference", folder / "reference.jsonl"
        parts = ["comments", *files, "--judge", what]
    return metareview(*parts, "--workers", str(workers), "--out", folder / "run", "--overwrite", "-q", "--json")


def _figures(found: Ran) -> object:
    """Everything that a run says of itself, but for where it is kept."""
    told = json.loads(found.output)
    return {key: value for key, value in told.items() if key != "run"}


def _rows(what: str, found: Ran, seconds: float, gigabytes: float) -> list[Row]:
    figures = (("by the clock", found.wall, "s", seconds), ("memory", found.megabytes / 1024, "GB", gigabytes))
    if SCALE != 1:
        return [Row(f"{what}: {which}", value, unit) for which, value, unit, _ in figures]
    return [Row.below(f"{what}: {which}", value, unit, target) for which, value, unit, target in figures]
