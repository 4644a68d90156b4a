"""How whole commands grow with their data, with one worker and with two: what docs/scale.md shows.

A quarter of an hour, and so by itself: python -m bench growth. BENCH_SCALE=0.01 tries it at a hundredth of the size.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.measure import Result, Row, metareview, ran
from bench.scale_data import COMMENTS, write_comments, write_events

SCALE = float(os.environ.get("BENCH_SCALE") or 1)
SIZES: Mapping[str, tuple[int, ...]] = {
    "events": (100_000, 1_000_000, 10_000_000),
    "comments, offline": (1_000, 10_000, 100_000, 1_000_000),
    "comments, location only": (1_000, 10_000, 100_000, 1_000_000),
}
WORKERS = (1, 2)


def row_name(what: str, size: int, workers: int, figure: str) -> str:
    """Of a row: `figure` is `seconds` or `memory`."""
    return f"{size:,} {what}, {workers} worker{'s' if workers > 1 else ''}: {figure}"


def run() -> Result:
    return Result(
        "How whole commands grow", [row for what in SIZES for size in SIZES[what] for row in _rows(what, size)]
    )


def _rows(what: str, size: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="metareview-bench-") as held:
        folder = Path(held)
        made = max(1, round(size * SCALE))
        if what == "events":
            write_events(folder / "events.jsonl", made, repos=min(2_000, max(1, made // 500)))
            command = ["routing", folder / "events.jsonl", "--router", "popularity", "--router", "mentions"]
        else:
            generated, reference = write_comments(folder, max(1, made // COMMENTS))
            judge = "offline" if what.endswith("offline") else "none"
            command = ["comments", generated, "--reference", reference, "--judge", judge]
        for workers in WORKERS:
            told = "--workers", str(workers), "--out", folder / "run", "--overwrite", "-q", "--json"
            found = ran(metareview(*command, *told))
            yield Row(row_name(what, size, workers, "seconds"), found.wall, "s")
            yield Row(row_name(what, size, workers, "memory"), found.megabytes / 1024, "GB")
