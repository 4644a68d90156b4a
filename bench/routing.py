"""How fast routing is: the targets, what this machine needs, and a replay in plain Python beside it."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from bench.data import ANDROID
from bench.measure import MADE_UP, Result, Row, alone, compared, seconds
from metareview.formats.history import read_history
from metareview.model.event import Event, History, make_history
from metareview.model.time import show_time
from metareview.pipelines.routing import Inputs, RoutingKeywords, RoutingOptions, evaluate, score

COMPARED = 100_000
"""Events of the history that is also replayed in plain Python."""
RESPONSES = ("review_submitted", "review_comment", "comment")
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


def score_history(history: History, keywords: RoutingKeywords) -> None:
    score(Inputs(history), RoutingOptions("in memory", **keywords))


def ratios() -> Result:
    """A history read and `popularity` replayed, and the same written down in plain Python; the ranks are the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        write_events(synthetic(COMPARED, people=1_000), path)

        def ours() -> dict[tuple[str, int], int]:
            run = evaluate(RoutingOptions(path, routers=["popularity"]))
            return {(record.repo, record.pr): record.answers["popularity"].rank for record in run.read_records()}

        def theirs() -> dict[tuple[str, int], int]:
            return plain_ranks(path)

        assert ours() == theirs()
        found = compared(ours, theirs, rounds=3)
    what = f"popularity over {COMPARED:,} events"
    return Result("Reviewer routing", [Row.ratio(what, found.ratio, peer="plain Python")])


def plain_ranks(path: Path) -> dict[tuple[str, int], int]:
    """The rank of whoever came first within an hour, in a list of who responded most in 180 days; 0 for nobody."""
    by_repo: dict[str, list[dict[str, Any]]] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            event["at"] = datetime.fromisoformat(event["at"]).timestamp()
            by_repo.setdefault(event["repo"], []).append(event)
    ranks = {}
    for repo, events in by_repo.items():
        events.sort(key=itemgetter("at"))
        of_pr: dict[int, list[dict[str, Any]]] = {}
        for event in events:
            of_pr.setdefault(event["pr"], []).append(event)
        responses = [event for event in events if event["kind"] in RESPONSES]
        counts: Counter[str] = Counter()
        latest: dict[str, float] = {}
        first = last = 0
        for opened in (event for event in events if event["kind"] == "opened"):
            cutoff, author = opened["at"], opened["actor"]
            while last < len(responses) and responses[last]["at"] <= cutoff:
                counts[responses[last]["actor"]] += 1
                latest[responses[last]["actor"]] = responses[last]["at"]
                last += 1
            while responses[first]["at"] < cutoff - 180 * 86_400 and first < last:
                counts[responses[first]["actor"]] -= 1
                first += 1
            there = [person for person, number in counts.items() if number and person != author]
            there.sort(key=lambda person: (-counts[person], -latest[person], person.casefold()))
            came = (
                event["actor"]
                for event in of_pr[opened["pr"]]
                if cutoff < event["at"] <= cutoff + 3_600 and event["kind"] in RESPONSES[:2]
                and event["actor"] != author
            )  # fmt: skip
            target = next(came, None)
            ranks[repo, opened["pr"]] = there.index(target) + 1 if target in there else 0
    return ranks


def run() -> Result:
    """The routing benchmarks; Android only where the data is there."""
    rows = []
    data = MADE_UP
    if ANDROID.exists():
        history = read_history(ANDROID)
        taken = seconds(lambda: score_history(history, PUBLISHED), 1)
        rows.append(Row.below("revfinder, 5,126 Android reviews (plain C++: 172 s)", taken, "s", 10))
        data = "Android's reviews, and made up"
    small = make_history(synthetic(20_000), source="synthetic")
    taken = seconds(lambda: score_history(small, QUICK))
    what = "2,000 pull requests with 20,000 events (the harness of the definitions: 63 s)"
    rows.append(Row.below(what, taken, "s", 0.5))
    with tempfile.TemporaryDirectory() as folder:
        half, full = Path(folder) / "half.jsonl", Path(folder) / "full.jsonl"
        write_events(synthetic(500_000), half)
        write_events(synthetic(1_000_000), full)
        halved, whole = alone(_evaluated, half), alone(_evaluated, full)
    rows += [
        Row.below("1,000,000 events, read and scored, best of three", whole.answer, "s", 15),
        Row.below("the same over 500,000 events: time ratio", whole.answer / halved.answer, "", 2.3),
        Row.below("peak memory for 1,000,000 events", whole.megabytes / 1024, "GB", 2),
    ]
    return Result("Reviewer routing", [*rows, *ratios().rows], data)


def _evaluated(path: Path) -> float:
    return seconds(lambda: evaluate(RoutingOptions(path, **QUICK)))
