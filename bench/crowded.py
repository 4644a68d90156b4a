"""A crowd: comments of one reviewer on one line of one file against as many references, all of which may match.

The whole command in a process of its own, as a user would start it: processor time, and the most memory held.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SIZE = 1_000
SECONDS, MEGABYTES = 15, 400
_WORDS = """
null pointer check missing before use of the cache key when a retry loop overflows the buffer index race lock thread
config value parse error handler token expires early timeout socket leak close file handle memory grows list copy sort
unit test covers branch docs mention name variable rename method signature public api breaks client version upgrade
"""
WORDS = _WORDS.split()


def run() -> dict[str, Any]:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder, chance = Path(name), random.Random(0)
        for side in ("generated", "reference"):
            (folder / f"{side}.jsonl").write_text(json.dumps(_review(chance)) + "\n", "utf-8")
        for judge in ("none", "offline"):
            seconds, megabytes = _measured(folder, judge)
            rows += [
                _row(f"{judge}: processor time", seconds, "s", SECONDS),
                _row(f"{judge}: most memory", megabytes, "MB", MEGABYTES),
            ]
    return {"title": f"{SIZE:,} comments on one line against {SIZE:,} references", "rows": rows}


def _measured(folder: Path, judge: str) -> tuple[float, float]:
    """A process that starts the command and reports on its only child."""
    command = ["comments", folder / "generated.jsonl", "--reference", folder / "reference.jsonl", "--name", "bot"]
    command += ["--judge", judge, "--out", folder / judge, "-q", "--json"]
    watch = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    arguments = [sys.executable, "-c", watch, sys.executable, "-m", "metareview", *map(str, command)]
    seconds, size = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(size) / (1024**2 if sys.platform == "darwin" else 1024)


def _review(chance: random.Random) -> dict[str, Any]:
    def note() -> str:
        return f"`item_{chance.randrange(300)}` " + " ".join(chance.choices(WORDS, k=chance.randrange(8, 40)))

    place = {"path": "src/a.py", "side": "right", "from_line": 10, "to_line": 10}
    return {"pr": "https://github.com/acme/app/pull/1", "comments": [{**place, "note": note()} for _ in range(SIZE)]}


def _row(what: str, value: float, unit: str, most: int) -> dict[str, Any]:
    return {"what": what, "value": value, "unit": unit, "target": f"< {most}", "met": value < most}
