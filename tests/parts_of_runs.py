"""A run written as a cluster would: the same lines in Parquet parts."""

import shutil
from pathlib import Path

from metareview.runs.part_columns import COMMENT_COLUMNS, PAIR_COLUMNS, ROUTING_COLUMNS
from metareview.runs.parts import parts_of, write_part
from metareview.runs.run import load_run
from sealed_runs import seal_again


def copy_as_parts(folder: Path, target: Path, sizes=(1, 0, 2)) -> Path:
    """The finished run in `folder`, in `target` as parts of so many lines, and one with the rest."""
    shutil.copytree(folder, target)
    of_results = ROUTING_COLUMNS if load_run(folder).kind.name == "routing" else COMMENT_COLUMNS
    for name, columns in (("results.jsonl", of_results), ("pairs.jsonl", PAIR_COLUMNS)):
        file = target / name
        if not file.exists():
            continue
        lines = iter(file.read_bytes().splitlines(keepends=True))
        for number, size in enumerate((*sizes, 10**9)):
            write_part(parts_of(file), number, [line for _, line in zip(range(size), lines, strict=False)], columns)
        file.unlink()
    seal_again(target)
    return target
