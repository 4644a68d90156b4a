"""Fuzzes every reader and writer of comments, and the readers of histories and predictions, with atheris, by hand:

    pip install atheris && PYTHONPATH=src python fuzz/readers.py -max_total_time=3600 CORPUS_FOLDER

The first byte chooses the format, the second whether it is strict; the rest is the file. What is valid JSON is mostly
changed as JSON, so that files stay valid and get strange. Anything but InputError and UsageError is a finding.
"""

import json
import os
import random
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["metareview"]):
    from metareview.errors import InputError, UsageError
    from metareview.formats.convert import convert_reviews
    from metareview.formats.predictions import read_predictions
    from metareview.formats.registry import comment_formats, history_formats
    from metareview.formats.source import Source

    FORMATS = comment_formats()
    HISTORIES = history_formats()

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "formats"))
from format_samples import FILE_NAME, SAMPLES, URL

NAMES = [*FORMATS, *HISTORIES, "predictions"]
EVENT = {"repo": "o/r", "pr": 1, "at": "2025-01-01T10:00:00Z", "kind": "opened", "actor": "ann", "actor_type": "User",
         "id": 5, "title": "t", "body": "b", "files": ["a.py"], "draft": False, "base_sha": "a1"}  # fmt: skip
HOUR = {
    "id": "1", "type": "PullRequestEvent", "actor": {"login": "ann"}, "repo": {"name": "o/r"},
    "payload": {"action": "opened", "number": 1, "pull_request": {
        "number": 1, "title": "t", "body": "b", "draft": False, "merged": False, "base": {"sha": "a1"},
        "user": {"login": "ann", "type": "User"}}, "requested_reviewer": {"login": "ben"},
        "review": {"state": "approved", "body": "b", "user": {"login": "ben"}},
        "issue": {"number": 1, "pull_request": {}},
        "comment": {"body": "c", "path": "a.py", "user": {"login": "ben"}}},
    "public": True, "created_at": "2025-01-01T10:00:00Z"}  # fmt: skip
CHANGE = {"changeId": 1, "submit_date": "2025-01-01 10:00:00", "close_date": "2025-01-02", "status": "M",
          "files": ["a.py"], "approve_history": [
              {"userId": 5, "grant_date": "2025-01-01 11:00:00", "approve_value": 2}]}  # fmt: skip
ROUTE = {"repo": "o/r", "pr_number": 1, "router": "x", "risk": "low", "notes": ["n"], "candidates": [
    {"target": {"type": "user", "name": "ann"}, "score": 0.5}]}  # fmt: skip
ANSWER = {"repo": "o/r", "pr": 1, "router": "x", "candidates": ["ann"], "risk": "low", "notes": "n", "evidence": [1]}
EXTRA = {
    "events": EVENT,
    "gharchive": HOUR,
    "gerrit": CHANGE,
    "predictions": ROUTE,
    "answers": ANSWER,
    "github": {"data": {"repository": {"pullRequest": {"url": URL, "author": {"login": "ann"}, "reviewThreads": {
        "pageInfo": {"hasNextPage": False}, "nodes": [{
            "id": "T1", "isResolved": True, "isOutdated": False, "path": "a.py", "line": 3, "startLine": 2,
            "diffSide": "RIGHT", "subjectType": "LINE", "comments": {"nodes": [{
                "databaseId": 7, "body": "Leaks.", "author": {"login": "bot", "__typename": "Bot"},
                "createdAt": "2025-01-01T10:00:00Z", "reactionGroups": [
                    {"content": "THUMBS_UP", "reactors": {"totalCount": 2}}]}]}}]}, "reviews": {"nodes": [{
                        "databaseId": 9, "state": "COMMENTED", "author": {"login": "coderabbitai", "__typename": "Bot"},
                        "body": "**Actionable comments posted: 1**\n<details><summary>Nitpick comments (1)</summary>"
                        "<blockquote>\n<details><summary>a.py (1)</summary><blockquote>\n\n`3-4`: **Close it**\n\n"
                        "Text.\n\n</blockquote></details>\n</blockquote></details>"}]}}}}},
}  # fmt: skip
"""Further files to begin with, by format; `answers` are predictions too."""
WRITERS = [name for name, each in FORMATS.items() if each.write is not None]
STRANGE = [None, True, 0, -1, 1.5, 2**31, 10**30, "", "x", "10-15", "N/A", "\ud800", "file:///C:/a", "../..", "{0}",
           "[a](1)", [], {}, [[]], [None], {"": None}, {"text": 1}, [{}] * 3]  # fmt: skip


def test_one(data):
    if len(data) < 2:
        return
    name = NAMES[data[0] % len(NAMES)]
    if name not in FORMATS:
        test_history(name, data[2:])
        return
    fmt = FORMATS[name]
    source = Source(Path(FILE_NAME), strict=bool(data[1] % 2))
    source.data = data[2:]
    try:
        for each in FORMATS.values():
            each.sniff(source)
        reviews = list(fmt.read(source))
    except (InputError, UsageError):
        return
    "\n".join(source.all_warnings()).encode()
    for name in [WRITERS[data[1] % len(WRITERS)]] if reviews else ():
        try:
            for text in convert_reviews(reviews, name).files.values():
                text.encode()
        except UsageError:
            pass


def test_history(name, data):
    path = Path(tempfile.gettempdir()) / f"fuzz-{os.getpid()}.jsonl"
    path.write_bytes(data)
    try:
        if name == "predictions":
            read_predictions(path)
            return
        source = Source(path)
        for each in HISTORIES.values():
            each.sniff(source)
        HISTORIES[name].read(source)
    except (InputError, UsageError):
        return


def changed(value, rng):
    """The value with one thing in it replaced, dropped, doubled or wrapped."""
    if rng.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return rng.choice([rng.choice(STRANGE), [value], {"text": value}, value])
    if isinstance(value, list):
        at = rng.randrange(len(value))
        action = rng.random()
        middle = [] if action < 0.1 else [value[at]] * 2 if action < 0.2 else [changed(value[at], rng)]
        return [*value[:at], *middle, *value[at + 1 :]]
    key = rng.choice(list(value))
    copy = dict(value)
    if rng.random() < 0.1:
        copy[rng.choice([*value, "x"])] = copy.pop(key)
    else:
        copy[key] = changed(value[key], rng)
    return copy


def mutate(data, max_size, seed):
    rng = random.Random(seed)
    if len(data) > 2 and rng.random() < 0.8:
        try:
            value = json.loads(data[2:])
            for _ in range(rng.randint(1, 4)):
                value = changed(value, rng)
            return (data[:2] + json.dumps(value).encode())[:max_size]
        except (ValueError, RecursionError):
            pass
    return atheris.Mutate(data, max_size)


def main():
    folder = next((Path(each) for each in sys.argv[1:] if not each.startswith("-")), None)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, sample in SAMPLES.items():
            for strict in (0, 1):
                (folder / f"{name}-{strict}").write_bytes(bytes([NAMES.index(name), strict]) + sample.encode())
        for name, value in EXTRA.items():
            place = NAMES.index("predictions" if name == "answers" else name)
            (folder / f"{name}-2").write_bytes(bytes([place, 0]) + json.dumps(value).encode())
    atheris.Setup([*sys.argv, "-max_len=40000", "-timeout=20", "-rss_limit_mb=3000"], test_one, custom_mutator=mutate)
    atheris.Fuzz()


main()
