"""A crowd: comments of one reviewer on one line of one file against as many references, all of which may match.

The whole command in a process of its own, as a user would start it: processor time, and the most memory held.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import Result, Row, metareview, ran

SIZE = 1_000
SECONDS, MEGABYTES = 15, 400
_WORDS = """
null pointer check missing before use of the cache key when a retry loop overflows the buffer index race lock thread
config value parse error handler token expires early timeout socket leak close file handle memory grows list copy sort
unit test covers branch docs mention name variable rename method signature public api breaks client version upgrade
"""
WORDS = _WORDS.split()


def run() -> Result:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder, chance = Path(name), random.Random(0)
        for side in ("generated", "reference"):
            (folder / f"{side}.jsonl").write_text(json.dumps(_review(chance)) + "\n", "utf-8")
        for judge in ("none", "offline"):
            found = ran(_command(folder, judge))
            rows += [
                Row.below(f"{judge}: processor time", found.processor, "s", SECONDS),
                Row.below(f"{judge}: most memory", found.megabytes, "MB", MEGABYTES),
            ]
    return Result(f"{SIZE:,} comments on one line against {SIZE:,} references", rows)


def _command(folder: Path, judge: str) -> list[str | Path]:
    files = folder / "generated.jsonl", "--reference", folder / "reference.jsonl"
    return metareview("comments", *files, "--name", "bot", "--judge", judge, "--out", folder / judge, "-q", "--json")


def _review(chance: random.Random) -> dict[str, Any]:
    def note() -> str:
        return f"`item_{chance.randrange(300)}` " + " ".join(chance.choices(WORDS, k=chance.randrange(8, 40)))

    place = {"path": "src/a.py", "side": "right", "from_line": 10, "to_line": 10}
    return {"pr": "https://github.com/acme/app/pull/1", "comments": [{**place, "note": note()} for _ in range(SIZE)]}
