"""Comment formats: SARIF of 50,000 results read, with json.load of the same file beside it, and written again."""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RESULTS, RULES, FILES = 50_000, 200, 2_000


def run() -> dict[str, Any]:
    """In a process of its own, so that the peak of memory is its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "octo_shop_7.sarif"
        path.write_text(json.dumps(_log(), indent=2), "utf-8")
        size = path.stat().st_size / 1e6
        answers = [
            subprocess.run(
                [sys.executable, "-m", "bench.formats", what, path], check=True, capture_output=True, text=True
            )
            for what in ("json", "read", "write")
        ]
    (alone, _), (read, megabytes), (written, _) = (map(float, answer.stdout.split()) for answer in answers)
    rows = [
        {"what": f"read, a file of {size:.0f} MB: processor time", "value": read, "unit": "s",
         "target": "< 3", "met": read < 3},
        {"what": "the same: peak memory of the process", "value": megabytes, "unit": "MB"},
        {"what": "the same, by json.load alone", "value": alone, "unit": "s"},
        {"what": "read, against json.load", "value": read / alone, "unit": "times"},
        {"what": "written again", "value": written, "unit": "s"},
    ]  # fmt: skip
    return {"title": f"SARIF of {RESULTS:,} results, one core", "rows": rows}


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


def _measure(what: str, path: Path) -> None:
    from metareview.formats.comments import sarif
    from metareview.formats.source import Source

    began = time.process_time()
    if what == "json":
        with path.open(encoding="utf-8") as file:
            json.load(file)
    else:
        source = Source(path)
        reviews = list(sarif.read(source))
        assert sum(len(review.comments) for review in reviews) == RESULTS
        assert source.all_warnings() == []
        if what == "write":
            began = time.process_time()
            assert len(sarif.write(reviews)) == 1
    print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


if __name__ == "__main__":
    _measure(sys.argv[1], Path(sys.argv[2]))
