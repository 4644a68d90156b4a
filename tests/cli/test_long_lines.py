"""One line of many megabytes: memory stays within ten times its size, or the line is refused before it is parsed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux tells it")
SIZE = 12_000_000
PR = "https://github.com/o/r/pull/1"
NOTE = "The lock is never released when parsing fails."
MEASURED = """
import pathlib, re, sys
from metareview.cli import main
try:
    main(sys.argv[1:])
finally:
    # Not that of resource: it counts what the process was forked from.
    kilobytes = re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]
    sys.stderr.write(f"\\n{kilobytes}000\\n")
"""


def comment(line, note=NOTE):
    return {"path": "src/a.py", "side": "right", "from_line": line, "to_line": line, "note": note}


def review(*comments):
    return json.dumps({"pr": PR, "reviewer": "x", "comments": comments}) + "\n"


def event(kind, minute, **more):
    at = f"2025-01-01T00:{minute:02d}:00Z"
    return json.dumps({"repo": "o/r", "pr": 1, "at": at, "kind": kind, "actor": kind[0], **more}) + "\n"


def metareview(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, arguments), "--out", str(folder / "out"), "--overwrite", "-q"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
    )
    *said, memory = done.stderr.strip().splitlines()
    return done.returncode, "\n".join(said), int(memory)


def score(folder, generated):
    (folder / "wanted.jsonl").write_text(review(comment(3)).replace('"reviewer": "x", ', ""), "utf-8")
    (folder / "said.jsonl").write_text(generated, "utf-8")
    return metareview(folder, "comments", "said.jsonl", "--reference", "wanted.jsonl", "--workers", 1)


def replay(folder, opened):
    (folder / "events.jsonl").write_text(opened + event("review_submitted", 5), "utf-8")
    return metareview(folder, "routing", "events.jsonl", "--router", "popularity", "--workers", 1)


@pytest.mark.parametrize(
    ("use", "small", "large"),
    [
        (score, review(comment(3)), review(comment(3, "word " * (SIZE // 5)))),
        (score, review(comment(3)), review(*(comment(line) for line in range(1, SIZE // 130)))),
        (replay, event("opened", 0), event("opened", 0, body="word " * (SIZE // 5))),
        (replay, event("opened", 0), event("opened", 0, body="word " * (SIZE // 10) + "\U0001f600" * (SIZE // 24))),
    ],
    ids=["a long note", "many comments", "a long body", "a long body beyond ASCII"],
)
def test_memory_stays_within_ten_times_a_lines_size(tmp_path, use, small, large):
    code, said, base = use(tmp_path, small)
    assert (code, said) == (0, said)
    code, said, used = use(tmp_path, large)
    assert code == 0, said
    assert used - base < 10 * len(large.encode())


@pytest.mark.parametrize("value", ["[]", "{}", '{"a":1}', "1"])
def test_a_line_of_countless_values_is_refused_before_it_is_parsed(tmp_path, value):
    values = f"[{','.join([value] * (SIZE // (len(value) + 1)))}]"
    given = f'{{"pr": "{PR}", "reviewer": "x", "comments": [], "meta": {{"a": {values}}}}}\n'
    code, said, used = score(tmp_path, given)
    assert code == 2
    assert "said.jsonl:1: 12 MB of JSON with" in said
    assert "Split it" in said
    assert used < 60e6 + 10 * len(given)
    code, said, _ = replay(
        tmp_path, f'{{"repo": "o/r", "pr": 1, "at": "2025-01-01", "kind": "opened", "files": {values}}}\n'
    )
    assert code == 2
    assert "events.jsonl:1: 12 MB of JSON with" in said
