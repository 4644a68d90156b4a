"""Comment formats: SARIF of 50,000 results and JSON lines of 50,000 comments, with the plain parser beside them."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.measure import Result, Row, alone, compared

RESULTS, RULES, FILES = 50_000, 200, 2_000
COMPARED = 3
"""Rounds: each takes seconds."""


def run() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        path = _sarif_file(Path(folder))
        size = path.stat().st_size / 1e6
        read, written = alone(_read_sarif, path), alone(_write_sarif, path)
    rows = [
        Row.below(f"SARIF read, a file of {size:.0f} MB: processor time", read.answer, "s", 3),
        Row("the same: peak memory of the process", read.megabytes, "MB"),
        Row("the same, written again", written.answer, "s"),
    ]
    return Result(f"{RESULTS:,} comments of a file, one core", [*rows, *ratios().rows])


def ratios() -> Result:
    """The peer only parses: it checks nothing, and knows nothing of lines, rules and messages."""
    with tempfile.TemporaryDirectory() as folder:
        sarif, lines = _sarif_file(Path(folder)), _lines_file(Path(folder))
        assert _read_sarif_file(sarif) == len(_load(sarif)["runs"][0]["results"]) == RESULTS
        assert _read_lines(lines) == _load_lines(lines) == RESULTS
        rows = [
            _against("SARIF", lambda: _read_sarif_file(sarif), lambda: _load(sarif), "json.load"),
            _against("JSON lines", lambda: _read_lines(lines), lambda: _load_lines(lines), "a loop of json.loads"),
        ]
    return Result("Reading comments", rows)


def _against(what: str, ours: Callable[[], object], theirs: Callable[[], object], peer: str) -> Row:
    return Row.ratio(f"{what}, {RESULTS:,} comments", compared(ours, theirs, rounds=COMPARED).ratio, peer=peer)


def _sarif_file(folder: Path) -> Path:
    path = folder / "octo_shop_7.sarif"
    path.write_text(json.dumps(_log(), indent=2), "utf-8")
    return path


def _lines_file(folder: Path) -> Path:
    """Ten comments on each pull request, in metareview's own format."""
    rng = random.Random(0)
    path = folder / "comments.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for number in range(RESULTS // 10):
            comments = [
                {"path": f"src/file{rng.randrange(FILES)}.py", "side": "right", "from_line": line, "to_line": line + 1,
                 "note": f"The value of name_{line} leaves the function and is not checked before it is used again."}
                for line in rng.sample(range(1, 3000), 10)
            ]  # fmt: skip
            pull = {"pr": f"https://github.com/octo/shop/pull/{number}", "reviewer": "bot", "comments": comments}
            out.write(json.dumps(pull) + "\n")
    return path


def _log() -> dict[str, Any]:
    rng = random.Random(0)
    rules = [
        {
            "id": f"R{number}",
            "defaultConfiguration": {"level": rng.choice(["note", "warning", "error"])},
            "messageStrings": {"default": {"text": "'{0}' is assigned a value but [never](1) used."}},
        }
        for number in range(RULES)
    ]
    return {
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "Scanner", "rules": rules}},
                "originalUriBaseIds": {
                    "PROJECTROOT": {"uri": "file:///build/shop/"},
                    "SRC": {"uri": "src/", "uriBaseId": "PROJECTROOT"},
                },
                "results": [_result(rng) for _ in range(RESULTS)],
            }
        ],
    }


def _result(rng: random.Random) -> dict[str, Any]:
    rule, line = rng.randrange(RULES), rng.randint(1, 3000)
    artifact = {"uri": f"part{rng.randrange(FILES)}/my%20file.py", "uriBaseId": "SRC"}
    region = {"startLine": line, "startColumn": 5, "endLine": line + 1, "endColumn": 9}
    by_id = {"id": "default", "arguments": [f"name_{line}"]}
    own = {"text": f"The value of name_{line} leaves the function and is not checked before it is used again."}
    return {
        "ruleId": f"R{rule}",
        "ruleIndex": rule,
        "message": rng.choice([by_id, own]),
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }


def _load(path: Path) -> Any:
    with path.open(encoding="utf-8") as file:
        return json.load(file)


def _load_lines(path: Path) -> int:
    with path.open(encoding="utf-8") as file:
        return sum(len(json.loads(line)["comments"]) for line in file)


def _read_lines(path: Path) -> int:
    from metareview.formats.comments import jsonl
    from metareview.formats.input_file import InputFile

    return sum(len(review.comments) for review in jsonl.read(InputFile(path)))


def _read_sarif_file(path: Path) -> int:
    from metareview.formats.comments import sarif
    from metareview.formats.input_file import InputFile

    source = InputFile(path)
    read = sum(len(review.comments) for review in sarif.read(source))
    assert source.all_warnings() == []
    return read


def _read_sarif(path: Path) -> float:
    began = time.process_time()
    assert _read_sarif_file(path) == RESULTS
    return time.process_time() - began


def _write_sarif(path: Path) -> float:
    from metareview.formats.comments import sarif
    from metareview.formats.input_file import InputFile

    reviews = list(sarif.read(InputFile(path)))
    began = time.process_time()
    assert len(sarif.write(reviews)) == 1
    return time.process_time() - began
