"""The viewer on a large run: how long the first page takes, its index built from scratch, and the pages after it."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from bench.measure import Result, Row, compared, wall_seconds
from metareview.api import evaluate_comments
from metareview.comparison.frame import open_frame
from metareview.comparison.outcome_frame import open_outcome_frame
from metareview.model.comment import Comment
from metareview.outcomes.finding import Finding
from metareview.outcomes.records import FINDINGS, CommentOutcome, OutcomeRecord, Reply
from metareview.outcomes.summary import OutcomesConfig, OutcomesSummary, summarise, tally
from metareview.runs.files import to_line
from metareview.runs.outcomes_json import config_to_json, record_to_json, summary_to_json
from metareview.runs.run import Manifest, load_run, now
from metareview.viewer.app import make_app
from metareview.viewer.catalogue import Catalogue
from metareview.viewer.settings import Settings

PAGES = {
    "": "the run",
    "/pairs": "its pairs",
    "/pairs?text=leak&sort=score": "its pairs with a word",
    "/prs": "its pull requests",
    "/pr/7": "one pull request",
    "/label": "the labelling queue",
}
OUTCOME_PAGES = {
    "": "the run",
    "/comments": "its comments",
    "/comments?list=rejected&severity=high": "those turned down",
    "/comments?text=leak&page=40": "those with a word",
    "/pr/7": "one pull request",
    "/label": "the labelling queue",
}
WORDS = ("null", "lock", "slow", "loop", "typo", "leak", "race", "cache", "index", "retry", "token", "buffer", "offset")


def make_run(folder: Path, prs: int, comments: int, references: int) -> None:
    """Made-up notes; locations are not compared, so that every comment meets every reference."""
    rng = np.random.default_rng(0)

    def notes(number: int) -> list[dict[str, str]]:
        return [{"note": " ".join(rng.choice(WORDS, 14))} for _ in range(number)]

    pulls = [f"https://github.com/o/r/pull/{number}" for number in range(prs)]
    given = [{"pr": pr, "comments": notes(references)} for pr in pulls]
    reviews = [{"pr": pr, "reviewer": "x", "comments": notes(comments)} for pr in pulls]
    evaluate_comments(reviews, reference=given, judge="rouge", ignore_location=True, out=folder)


def make_outcomes(folder: Path, prs: int, comments: int) -> None:
    """Made-up notes of one bot; every second comment's lines change later, every tenth has an answer."""
    rng = np.random.default_rng(0)
    code = "\n".join(f"    value_{number} = compute(value_{number - 1}, other)" for number in range(8))
    patch = f"=== commit c200000: src/m.py\n@@ -1,8 +1,8 @@\n-{code}\n+{code}"

    def outcome(at: int) -> CommentOutcome:
        severity = ("high", "medium", "low", None)[at % 4]
        note = " ".join(rng.choice(WORDS, 30))
        comment = Comment(note, "src/m.py", "right", at + 1, at + 1, severity=severity, at="2026-03-02T10:00:00Z")
        changed = at % 2 == 0
        known = {name: Finding(False) for name in FINDINGS} | {"lines_changed": Finding(changed)}
        replies = (Reply("ann", "2026-03-02T11:00:00Z", "Won't fix, by design."),) if at % 10 == 0 else ()
        by = ("c200000",) if changed else ()
        return CommentOutcome(at, comment, **known, changed_by=by, code=code, later_change=patch, replies=replies)

    config = OutcomesConfig()
    records = [
        OutcomeRecord(f"https://github.com/o/r/pull/{number}", "x[bot]", comments=tuple(map(outcome, range(comments))))
        for number in range(prs)
    ]
    summary = OutcomesSummary(config, summarise([tally(record, ()) for record in records], config), {}, prs)
    manifest = Manifest("outcomes", config_to_json(config), {}, now(), "finished", now(), len(records))
    folder.mkdir()
    with (folder / "results.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(to_line(record_to_json(record)) for record in records)
    (folder / "summary.json").write_text(to_line(summary_to_json(summary, folder)), "utf-8")
    (folder / "manifest.json").write_text(to_line(manifest.to_json()), "utf-8")


def visits(root: Path, paths: list[str], rounds: int = 3) -> dict[str, tuple[float, float]]:
    """Seconds for each address in a viewer that was just started, and once more in the same one; the best of some,
    because other programs take their share of this machine."""
    times: dict[str, tuple[float, float]] = {}
    for path in [path for path in paths for _ in range(rounds)]:
        settings = Settings()
        catalogue = Catalogue(root, settings.token)
        app = make_app(catalogue, settings)

        async def visit(app: Any = app, path: str = path, settings: Settings = settings) -> tuple[float, float]:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url=settings.address) as client:
                taken = []
                for _ in range(2):
                    started = time.perf_counter()
                    answer = await client.get(path)
                    taken.append(time.perf_counter() - started)
                    answer.raise_for_status()
                return taken[0], taken[1]

        first, again = asyncio.run(visit())
        best = times.get(path, (first, again))
        times[path] = min(best[0], first), min(best[1], again)
        catalogue.close()
    return times


def ratios() -> Result:
    """The first page of a run, its index built, against only parsing the files that it is about."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_run(root / "big", 500, 20, 10)
        files = root / "big" / "results.jsonl", root / "big" / "pairs.jsonl"
        assert _parsed(files[1]) == 100_000
        # By the clock: the server's work is spread over threads, and a reader waits for it.
        found = compared(
            lambda: _visited(root, "/run/big/pairs"),
            lambda: wall_seconds(lambda: [_parsed(file) for file in files]),
            rounds=3,
            clock=lambda work: work(),
        )
    return Result("The viewer", [Row.ratio("100,000 pairs, first page", found.ratio, peer="a loop of json.loads")])


def _visited(root: Path, path: str) -> float:
    [(first, _)] = visits(root, [path], rounds=1).values()
    return first


def _parsed(file: Path) -> int:
    with file.open(encoding="utf-8") as lines:
        return sum(bool(json.loads(line)) for line in lines)


def run() -> Result:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_run(root / "big", 500, 20, 10)
        open_frame(load_run(root / "big"))
        make_outcomes(root / "outcomes", 10_000, 10)
        open_outcome_frame(load_run(root / "outcomes"))
        told = {f"/run/big{path}": f"100,000 pairs, {page}" for path, page in PAGES.items()}
        told |= {f"/run/outcomes{path}": f"100,000 outcomes, {page}" for path, page in OUTCOME_PAGES.items()}
        for path, (first, again) in visits(root, list(told)).items():
            rows.append(Row.below(f"{told[path]}, first, index built", first, "s", 1))
            rows.append(Row(f"{told[path]}, again", again, "s"))
    return Result("The viewer on a large run", [*rows, *ratios().rows])
