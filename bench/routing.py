"""How fast routing is: the targets, and what this machine needs."""

from __future__ import annotations

import json
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from metareview.formats.history import read_history
from metareview.model.event import Event, History, make_history
from metareview.model.time import show_time
from metareview.pipelines.routing import Inputs, RoutingKeywords, RoutingOptions, evaluate, score
from metareview.routing.measures import MRR, first_ranks, hit_at

ANDROID = Path(__file__).resolve().parents[2] / "shared" / "data" / "routing" / "gerrit-android.jsonl"
PUBLISHED: RoutingKeywords = {
    "routers": ["revfinder"],
    "truth": "all_reviewers",
    "truth_window": "none",
    "reviews_visible_at": "creation",
    "k": (1, 3, 5, 10),
}
QUICK: RoutingKeywords = {"routers": ["mentions", "popularity"]}
START = 1_700_000_000
WORDS = ("the", "change", "adds", "a", "cache", "for", "parsed", "files", "because", "trees", "are", "large")


def synthetic(events: int, *, people: int = 300, repos: int = 5, seed: int = 0) -> list[Event]:
    """A made-up history: ten events per pull request, a few people doing most of the work, over two years."""
    rng = random.Random(seed)
    logins = [f"dev{number}" for number in range(people)]
    shares = [1 / (rank + 1) for rank in range(people)]
    prs = events // 10
    actors = iter(rng.choices(logins, shares, k=events))
    made = []
    for pr in range(1, prs + 1):
        repo = f"org/repo{rng.randrange(repos)}"
        opened = START + pr * 63_072_000 // prs
        body = " ".join(rng.choices(WORDS, k=40)) + f"\n\nFixes #{pr}\ncc @{rng.choice(logins)}"
        made.append(_event(repo, pr, opened, "opened", next(actors), body))
        for step in range(8):
            kind = ("review_submitted", "review_comment", "comment")[rng.randrange(3)]
            made.append(_event(repo, pr, opened + rng.randrange(60, 7_200) + step, kind, next(actors)))
        made.append(_event(repo, pr, opened + 90_000, "merged", next(actors)))
    return made


def _event(repo: str, pr: int, second: int, kind: str, actor: str, body: str | None = None) -> Event:
    return Event(repo, pr, second * 1_000_000_000, kind, actor, "User", body=body)


def write_events(events: list[Event], path: Path) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for event in events:
            row = {key: value for key, value in event._asdict().items() if value not in (None, "")}
            stream.write(json.dumps(row | {"at": show_time(event.at)}) + "\n")


def seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """The best of some runs, in processor time: the work is on one core, and others may use the machine."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def score_history(history: History, keywords: RoutingKeywords) -> None:
    score(Inputs(history), RoutingOptions("in memory", **keywords))


def row(what: str, value: float, unit: str, target: float) -> dict[str, Any]:
    return {"what": what, "value": round(value, 3), "unit": unit, "target": f"< {target:g}", "met": value < target}


def run() -> dict[str, Any]:
    """The routing benchmarks; Android only where the data is there."""
    rows = []
    if ANDROID.exists():
        history = read_history(ANDROID)
        taken = seconds(lambda: score_history(history, PUBLISHED))
        rows.append(row("revfinder, 5,126 Android reviews (plain C++: 172 s)", taken, "s", 10))
    small = make_history(synthetic(20_000), source="synthetic")
    taken = seconds(lambda: score_history(small, QUICK), 3)
    rows.append(row("2,000 pull requests with 20,000 events (the harness of the definitions: 63 s)", taken, "s", 0.5))
    with tempfile.TemporaryDirectory() as folder:
        half, full = Path(folder) / "half.jsonl", Path(folder) / "full.jsonl"
        write_events(synthetic(500_000), half)
        write_events(synthetic(1_000_000), full)
        halved = seconds(lambda: evaluate(RoutingOptions(half, **QUICK)), 3)
        whole = seconds(lambda: evaluate(RoutingOptions(full, **QUICK)), 3)
    rows.append(row("1,000,000 events, read and scored, best of three", whole, "s", 15))
    rows.append(row("the same over 500,000 events: time ratio", whole / halved, "x", 2.3))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows.append(row("peak memory of all the above", peak, "GB", 2))
    rng = np.random.default_rng(0)
    rankings = rng.permuted(np.tile(np.arange(10), (1_000_000, 1)), axis=1)
    truth = rng.integers(0, 14, 1_000_000)

    def measure() -> None:
        ranks = first_ranks(rankings, truth)
        for k in (1, 3, 5):
            hit_at(k).mean(ranks)
        MRR.mean(ranks)

    rows.append(row("hit@1/3/5 and MRR of 1,000,000 rankings (ranx: 16 s)", seconds(measure, 3), "s", 0.3))
    return {"title": "Reviewer routing", "rows": rows}


if __name__ == "__main__":
    for line in run()["rows"]:
        print(line)
