"""What became of 100,000 comments on 10,000 pull requests with 100,000 commits: the whole command, on one core.

The command runs in a process of its own, so that time and memory are its own.
"""

from __future__ import annotations

import difflib
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Ran, Result, Row, compared, metareview, processor_seconds, ran
from metareview.formats.comments import jsonl
from metareview.model.comment import ChangedFile, Comment, Commit, Review

PULL_REQUESTS, COMMITS, COMMENTS = 10_000, 10, 10
COMPARED = 1_000
"""Pull requests that are also read by a plain loop."""
SECONDS, MEGABYTES = 60, 1_000
TEMPLATES = 200
"""Different pull requests; more would only take longer to make."""
BOT = "helper[bot]"
WORDS = [f"{start}{end}" for start in ("cl", "st", "tr", "gr", "pl", "br", "fl", "sp") for end in
         ("ock", "eam", "ace", "ound", "ate", "int", "ush", "ark", "ell", "ip", "aw", "one", "ice", "ank")]  # fmt: skip


def pull_requests(number: int, seed: int = 0) -> Iterator[Review]:
    """Pull requests with ten commits on six files and ten comments on three; some suggest, some are rewritten."""
    chance = random.Random(seed)
    templates = [_pull_request(chance, place) for place in range(min(number, TEMPLATES))]
    for place in range(number):
        commits, comments = templates[place % len(templates)]
        # Texts of their own, as a reader makes them.
        yield Review(
            f"https://github.com/acme/app/pull/{place + 1}",
            tuple(comments),
            BOT,
            author="dev",
            merged_at="2026-02-01T00:00:00Z",
            commits=tuple(commits),
        )


def _pull_request(chance: random.Random, place: int) -> tuple[list[Commit], list[Comment]]:
    paths = [f"src/module_{place % 7}/file_{number}.py" for number in range(6)]
    states = [{path: _lines(chance, chance.randrange(50, 400)) for path in paths}]
    commits: list[Commit] = []
    parent = f"base{place}"
    for number in range(COMMITS):
        now, files = dict(states[-1]), []
        for path in chance.sample(paths, chance.choice([1, 2, 4])):
            now[path] = _edited(chance, now[path])
            files.append(ChangedFile(path, None, "modified", _patch(states[-1][path], now[path])))
        sha = f"{chance.getrandbits(160):040x}"
        amended = number == 5 and place % 10 == 0
        if amended:  # A force push: the commit before is replaced.
            parent = commits[-2].sha
            now = {path: _edited(chance, lines) for path, lines in states[-1].items()}
            files = [ChangedFile(p, None, "modified", _patch(states[-2][p], now[p])) for p in paths]
        commits.append(Commit(sha, f"2026-01-{number + 1:02d}T00:00:00Z", "dev", (parent,), tuple(files)))
        parent = sha
        states.append(now)
    return commits, [_comment(chance, paths[:3], states, commits) for _ in range(COMMENTS)]


def _comment(
    chance: random.Random, paths: list[str], states: list[dict[str, list[str]]], commits: list[Commit]
) -> Comment:
    number, path = chance.randrange(COMMITS - 1), chance.choice(paths)
    lines = states[number + 1][path]
    first = chance.randint(1, len(lines))
    last = min(len(lines), first + chance.choice([0, 0, 0, 2, 9]))
    note = " ".join(chance.choice(WORDS) for _ in range(chance.randint(6, 20)))
    if chance.random() < 0.3:
        note += f"\n```suggestion\n{lines[first - 1]}  # checked\n```"
    return Comment(
        note,
        path,
        "right",
        first,
        last,
        author=BOT,
        at=f"2026-01-{number + 1:02d}T12:00:00Z",
        commit=commits[number].sha,
        is_ai_comment=True,
    )


def _lines(chance: random.Random, size: int) -> list[str]:
    return [f"    value_{chance.randrange(1000)} = compute({chance.randrange(1000)})" for _ in range(size)]


def _edited(chance: random.Random, lines: list[str]) -> list[str]:
    lines = list(lines)
    for _ in range(chance.choice([1, 2, 4])):
        start = chance.randrange(len(lines))
        lines[start : start + chance.choice([0, 1, 3])] = _lines(chance, chance.choice([0, 1, 2, 6]))
    return lines


def _patch(before: list[str], after: list[str]) -> str:
    return "\n".join(list(difflib.unified_diff(before, after, lineterm=""))[2:])


def _write(file: Path, number: int) -> None:
    with file.open("w", encoding="utf-8") as out:
        for review in pull_requests(number):
            out.write(jsonl.write([review])[""])


def ratios() -> Result:
    """The whole command, start-up included, against only parsing the same file."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "comments.jsonl"
        _write(file, COMPARED)
        ours = _command(file, Path(scratch) / "run")
        [figures] = json.loads(ran(ours).output)["reviewers"].values()
        assert figures["comments"] == COMPARED * COMMENTS == _loop(file)

        def theirs() -> Ran:
            began = time.process_time()
            _loop(file)
            return Ran(0, time.process_time() - began, 0, "")

        found = compared(lambda: ran(ours), theirs, rounds=3, clock=processor_seconds)
    what = f"{COMPARED * COMMENTS:,} comments, whole command"
    return Result("Outcomes", [Row.ratio(what, found.ratio, peer="a loop of json.loads")])


def _loop(file: Path) -> int:
    with file.open(encoding="utf-8") as lines:
        return sum(len(json.loads(line)["comments"]) for line in lines)


def _command(file: Path, out: Path) -> list[str | Path]:
    return metareview("outcomes", file, "--out", out, "--overwrite", "--json", "-q")


def run() -> Result:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "comments.jsonl"
        _write(file, PULL_REQUESTS)
        size = file.stat().st_size / 1024**2
        found = ran(_command(file, Path(scratch) / "run"))
        [figures] = json.loads(found.output)["reviewers"].values()
    known = figures["known"]["lines_changed"] / figures["comments"]
    rows = [
        Row.below("processor time", found.processor, "s", SECONDS),
        Row.below("most memory", found.megabytes, "MB", MEGABYTES),
        Row("input", size, "MB"),
        Row("lines changed", figures["metrics"]["lines_changed"], "of what can be told"),
        Row("can be told", known, "of comments"),
    ]
    title = f"Outcomes of {figures['comments']:,} comments with {PULL_REQUESTS * COMMITS:,} commits"
    return Result(title, [*rows, *ratios().rows])
