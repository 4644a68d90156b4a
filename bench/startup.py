"""From the command line, start-up included: --help beside pip's, one comment beside the import of what it is scored
with, and the AACR set against itself."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.data import AACR
from bench.measure import Result, Row, compared, metareview, ran, waited

ROUNDS = 5


def run() -> Result:
    rows = [_below("metareview --help", metareview("--help"), 0.3), *ratios().rows]
    rows.insert(1, _below("metareview --version", metareview("--version"), 0.3))
    if not AACR.exists():
        return Result("From the command line, start-up included (best of five)", rows, "none")
    file = AACR / "positive_samples.json"
    with tempfile.TemporaryDirectory() as out:
        options = "--reference", file, "--force", "--judge", "exact", "--out", Path(out) / "run", "--overwrite"
        command = metareview("comments", file, *options)
        rows.append(_below("comments, AACR against itself with exact", command, 2.0))
    return Result("From the command line, start-up included (best of five)", rows, "AACR")


def ratios() -> Result:
    """Both tell what they can do, and leave."""
    ours, theirs = metareview("--help"), [sys.executable, "-m", "pip", "--help"]
    found = compared(lambda: ran(ours), lambda: ran(theirs), clock=waited, rounds=9)
    rows = [Row.ratio("--help", found.ratio, peer="pip --help", data="none")]
    with tempfile.TemporaryDirectory() as name:
        rows.append(_one_comment(Path(name)))
    return Result("Start-up", rows, "none")


def _one_comment(folder: Path) -> Row:
    """The whole command on one comment and one reference. The peer imports what pairs are aligned with, and no more."""
    files = folder / "comments.jsonl", folder / "references.jsonl"
    for file, note in zip(files, ("The handle leaks.", "The handle is never closed."), strict=True):
        file.write_text(json.dumps({"pr": "o/r#1", "reviewer": "bot", "comments": [{"note": note}]}) + "\n")
    options = "--reference", files[1], "--out", folder / "run", "--overwrite", "-q"
    ours, theirs = metareview("comments", files[0], *options), [sys.executable, "-c", "import numpy, scipy.optimize"]
    found = compared(lambda: ran(ours), lambda: ran(theirs), clock=waited, rounds=9)
    peer = "python -c 'import numpy, scipy.optimize'"
    return Row.ratio("comments, one comment", found.ratio, peer=peer, at_least=1 / 1.6)


def _below(what: str, command: Sequence[str | Path], target: float) -> Row:
    return Row.below(what, min(ran(command).wall for _ in range(ROUNDS)), "s", target)
