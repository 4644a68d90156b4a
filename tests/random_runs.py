"""Random runs whose counts are known: reviewers' comments, routers' predictions, and what became of comments."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Edge = Callable[[dict[str, Any], dict[str, Any]], bool]
JsonRecord = dict[str, Any]


def near(comment: JsonRecord, reference: JsonRecord) -> bool:
    """The line graph at the usual distance: at most 1 line apart (all comments here have one line, in one file)."""
    return abs(comment["from_line"] - reference["from_line"]) <= 1


def same(comment: JsonRecord, reference: JsonRecord) -> bool:
    """The full graph under `exact`."""
    return near(comment, reference) and comment["note"] == reference["note"]


def aligned(
    comments: Sequence[JsonRecord], references: Sequence[JsonRecord], edge: Edge, alignment: str
) -> tuple[int, int]:
    """Comments and references that count: by a matching with the most edges (`optimal`), or all that have an edge."""
    edges = [[at for at, each in enumerate(references) if edge(comment, each)] for comment in comments]
    if alignment == "coverage":
        return sum(map(bool, edges)), len({at for each in edges for at in each})
    partner: dict[int, int] = {}

    def augment(comment: int, seen: set[int]) -> bool:
        for at in edges[comment]:
            if at not in seen:
                seen.add(at)
                if at not in partner or augment(partner[at], seen):
                    partner[at] = comment
                    return True
        return False

    matched = sum(augment(comment, set()) for comment in range(len(comments)))
    return matched, matched


@dataclass(frozen=True)
class Counts:
    """What one reviewer has on one pull request."""

    comments: int
    references: int
    matched: int
    covered: int
    line_matched: int
    line_covered: int
    negative: int


def count(
    comments: Sequence[JsonRecord], references: Sequence[JsonRecord], negatives: Sequence[JsonRecord], alignment: str
) -> Counts:
    matched, covered = aligned(comments, references, same, alignment)
    line_matched, line_covered = aligned(comments, references, near, alignment)
    others = [comment for comment in comments if not any(same(comment, each) for each in references)]
    negative, _ = aligned(others, negatives, same, alignment)
    return Counts(len(comments), len(references), matched, covered, line_matched, line_covered, negative)


@dataclass
class RandomReviews:
    """References, negatives and the reviews of several reviewers, with the counts of each on each pull request."""

    alignment: str
    references: list[JsonRecord] = field(default_factory=list)
    negatives: list[JsonRecord] = field(default_factory=list)
    reviews: list[JsonRecord] = field(default_factory=list)
    counts: dict[str, dict[str, list[Counts]]] = field(default_factory=dict)
    """By reviewer and pull request: one of each run that has it."""
    runs: dict[str, dict[str, dict[str, Counts]]] = field(default_factory=dict)
    """By reviewer, run and pull request."""


def random_reviews(
    seed: int,
    names: Sequence[str],
    alignment: str,
    *,
    repositories: int = 1,
    repeat: bool = False,
    absent: float = 0.0,
    most: int = 60,
) -> RandomReviews:
    """Reviews that are small and uneven, with bursts, silent reviewers, equal rows and pull requests without a
    reference; with `repeat` each reviewer has 1 to 4 runs, which may lack pull requests; with `absent` about half of
    the reviewers lack that share of the pull requests."""
    rng = random.Random(seed)
    made = RandomReviews(alignment)
    size = rng.choice([rng.randint(1, 6), rng.randint(4, 14), rng.randint(10, most)])
    hidden = rng.random() < 0.4
    skill = {name: (rng.choice([0.05, 0.3, 0.5, 0.7, 0.95]), rng.choice([0, 0.5, 1, 3])) for name in names}
    if rng.random() < 0.5:
        skill[names[-1]] = skill[names[0]]
    copies = rng.choice([0.0, 0.0, 0.5, 0.9, 1.0])
    silent = rng.choice(names) if rng.random() < 0.1 else None
    burst = (rng.randrange(size), rng.choice(names)) if rng.random() < 0.3 else None
    lacking = {name: rng.choice([0, absent]) for name in names}
    count_of_runs = {name: rng.randint(1, 4) if repeat else 1 for name in names}
    for at in range(size):
        pr = f"https://github.com/org/repo{rng.randrange(repositories)}/pull/{at + 1}"
        references = _references(rng, at)
        negatives = [
            _comment(at, 5000 + 10 * j, f"rejected {at} {j}") for j in range(rng.randint(0, 2) if hidden else 0)
        ]
        made.references.append({"pr": pr, "comments": references})
        if negatives:
            made.negatives.append({"pr": pr, "comments": negatives})
        first: list[JsonRecord] | None = None
        for name in names:
            if rng.random() < lacking[name] and at:
                continue
            for run in range(count_of_runs[name]):
                if repeat and at and rng.random() < 0.1 and run:
                    continue
                wrong = rng.choice([30, 120]) if burst == (at, name) else 0
                comments = [] if name == silent else _review(rng, at, references, negatives, skill[name], wrong)
                if first is not None and rng.random() < copies and name != silent:
                    comments = first
                first = comments
                record = {"pr": pr, "reviewer": name, "comments": comments}
                made.reviews.append(record | {"run": f"run-{run + 1}"} if repeat else record)
                found = count(comments, references, negatives, alignment)
                made.counts.setdefault(name, {}).setdefault(pr, []).append(found)
                made.runs.setdefault(name, {}).setdefault(f"run-{run + 1}", {})[pr] = found
    return made


def reviews_of(rows: Mapping[str, Sequence[tuple[int, int]]], references: int, alignment: str) -> RandomReviews:
    """Reviews with these (matched, comments) of each reviewer, on pull requests with so many references each."""
    made = RandomReviews(alignment)
    for at in range(len(next(iter(rows.values())))):
        pr = f"https://github.com/org/repo/pull/{at + 1}"
        expected = [_comment(at, 10 * j + 1, f"issue {at} {j}") for j in range(references)]
        made.references.append({"pr": pr, "comments": expected})
        for name, own in rows.items():
            matched, volume = own[at]
            wrong = [_comment(at, 10_000 + 10 * j, f"wrong {at} {j}") for j in range(volume - matched)]
            made.reviews.append({"pr": pr, "reviewer": name, "comments": expected[:matched] + wrong})
            made.counts.setdefault(name, {})[pr] = [count(expected[:matched] + wrong, expected, [], alignment)]
    return made


def _comment(at: int, line: int, note: str) -> JsonRecord:
    return {"path": f"{at}.py", "from_line": line, "note": note}


def _references(rng: random.Random, at: int) -> list[JsonRecord]:
    """Now and then twins: two references with one note, next to each other, which one comment may cover."""
    found = []
    for j in range(0 if at and rng.random() < 0.15 else rng.choice([1, 2, 3, 5, 9])):
        found.append(_comment(at, 10 * j + 1, f"issue {at} {j}"))
        if rng.random() < 0.15:
            found.append(_comment(at, 10 * j + 2, f"issue {at} {j}"))
    return found


def _review(
    rng: random.Random,
    at: int,
    references: Iterable[JsonRecord],
    negatives: Iterable[JsonRecord],
    skill: tuple[float, float],
    wrong: int,
) -> list[JsonRecord]:
    found = []
    for each in references:
        if rng.random() < skill[0]:
            found.append(each)
        if rng.random() < 0.1:
            found.append(each)
        if rng.random() < 0.15:
            found.append(each | {"note": f"another thing {rng.randrange(1000)}"})
    found += [each for each in negatives if rng.random() < 0.3]
    volume = wrong + (rng.randint(0, round(2 * skill[1])) if skill[1] else 0)
    found += [_comment(at, 10_000 + 10 * j, f"wrong {at} {j}") for j in range(volume)]
    return found


@dataclass
class RandomHistory:
    """Events, predictions of several routers, and of each pull request what is true of it."""

    events: list[JsonRecord] = field(default_factory=list)
    predictions: list[JsonRecord] = field(default_factory=list)
    opened: dict[tuple[str, int], datetime] = field(default_factory=dict)
    ranks: dict[str, dict[tuple[str, int], int | None]] = field(default_factory=dict)
    """By router: where the first response stands in its list; None where it does not, or there is no truth."""
    risks: dict[str, dict[tuple[str, int], str]] = field(default_factory=dict)
    waits: dict[tuple[str, int], int | None] = field(default_factory=dict)
    """Seconds to the first eligible review, without a window."""
    end: datetime = datetime(2024, 1, 1, tzinfo=UTC)


def random_history(seed: int, routers: Sequence[str]) -> RandomHistory:
    """Pull requests over 1 to 120 weeks, of 1 to 14 repositories, in bursts, with weeks and months without any."""
    rng = random.Random(seed)
    made = RandomHistory()
    weeks = rng.choice([rng.randint(1, 19), rng.randint(20, 40), rng.randint(20, 120)])
    repositories = rng.choice([1, 3, 14])
    skill = {router: rng.choice([0.2, 0.5, 0.8]) for router in routers}
    start = datetime(2023, 12, 27, tzinfo=UTC)
    size = rng.choice([4, 25, 120, 250])
    busy = sorted(rng.sample(range(weeks * 7), min(weeks * 7, rng.choice([3, 15, 80]))))
    for number in range(1, size + 1):
        opened = start + timedelta(days=rng.choice(busy), seconds=rng.randrange(86_400))
        repo = f"org/repo{rng.randrange(repositories)}"
        key = repo, number
        made.opened[key] = opened
        made.events.append(_event(key, opened, "opened", "author"))
        reviewer = f"rev{rng.randrange(9)}"
        wait = rng.choice([None, None, *(60 * rng.choice([5, 10, 20, 59, 60, 61, 90, 1440, 99_999]) for _ in range(3))])
        made.waits[key] = wait
        if rng.random() < 0.3:
            made.events.append(
                _event(key, opened + timedelta(seconds=30), "review_submitted", rng.choice(["author", "helper[bot]"]))
            )
        if wait is not None:
            made.events.append(_event(key, opened + timedelta(seconds=wait), "review_submitted", reviewer))
        for router in routers:
            _predict(rng, made, router, key, reviewer if wait is not None and wait <= 3600 else None, skill[router])
    made.end = max(datetime.fromisoformat(event["at"]) for event in made.events)
    return made


def _event(key: tuple[str, int], at: datetime, kind: str, actor: str) -> JsonRecord:
    return {"repo": key[0], "pr": key[1], "at": at.isoformat(), "kind": kind, "actor": actor}


def _predict(
    rng: random.Random, made: RandomHistory, router: str, key: tuple[str, int], truth: str | None, skill: float
) -> None:
    candidates = [f"other{j}" for j in range(rng.randint(0, 6))]
    rank = None
    if truth and rng.random() < skill:
        rank = rng.randint(1, len(candidates) + 1)
        candidates.insert(rank - 1, truth)
    risk = rng.choice(["low", "low", "high"])
    made.ranks.setdefault(router, {})[key] = rank
    made.risks.setdefault(router, {})[key] = risk
    line = {"repo": key[0], "pr": key[1], "router": router, "candidates": candidates, "risk": risk}
    made.predictions.append(line)


NOTES = (
    "Index",
    "Close it",
    "Rename",
    "Test?",
    "Typo",
    "Log this",
    "Too long",
    "Unused",
    "Copy",
    "Race",
    "Overflow",
    "Lock",
)


@dataclass
class RandomOutcomes:
    """Records of a bot's comments, and of each pull request (comments whose lines were changed, comments)."""

    records: list[JsonRecord] = field(default_factory=list)
    rows: dict[int, tuple[int, int]] = field(default_factory=dict)
    first_comment: dict[int, datetime] = field(default_factory=dict)


def random_outcomes(rng: random.Random, numbers: Sequence[int], days: Sequence[int]) -> RandomOutcomes:
    """One comment a line of a file, of which a later commit changes the first few; on one of these days each."""
    made = RandomOutcomes()
    heeded = rng.choice([0.2, 0.5, 0.8])
    for number in numbers:
        comments = rng.choice([1, 2, 3, 6, 12])
        changed = sum(rng.random() < heeded for _ in range(comments))
        day = datetime(2024, 1, 3, 9, tzinfo=UTC) + timedelta(days=rng.choice(days))
        made.rows[number] = changed, comments
        made.first_comment[number] = day
        made.records.append(outcomes_record(number, changed, comments, day))
    return made


def outcomes_record(number: int, changed: int, comments: int, day: datetime) -> JsonRecord:
    new = "".join(f"\n+line {at}" for at in range(comments))
    fixed = "".join(f"\n-line {at}\n+fixed {at}" for at in range(changed))
    patches = [("a", day - timedelta(hours=1), f"@@ -0,0 +1,{comments} @@{new}")]
    if changed:
        patches.append(("b", day + timedelta(hours=1), f"@@ -1,{changed} +1,{changed} @@{fixed}"))
    commits = [
        {
            "sha": f"{name}{number}",
            "at": at.isoformat(),
            "author": "ann",
            "files": [{"path": "a.py", "status": "modified", "patch": patch}],
        }
        for name, at, patch in patches
    ]
    said = [
        {
            "id": f"{number}.{at}",
            "path": "a.py",
            "from_line": at + 1,
            "note": NOTES[at],
            "at": day.isoformat(),
            "commit": f"a{number}",
        }
        for at in range(comments)
    ]
    pr = f"https://github.com/acme/shop/pull/{number}"
    closed = (day + timedelta(hours=9)).isoformat()
    return {"pr": pr, "reviewer": "bot", "author": "ann", "merged_at": closed, "commits": commits, "comments": said}
