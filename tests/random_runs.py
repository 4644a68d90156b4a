"""Random runs whose counts are known: reviewers' comments, routers' predictions, and what became of comments."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
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


def aligned(comments: Sequence[JsonRecord], references: Sequence[JsonRecord], edge: Edge, alignment: str) -> tuple[int, int]:
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


def count(comments: Sequence[JsonRecord], references: Sequence[JsonRecord], negatives: Sequence[JsonRecord], alignment: str) -> Counts:
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
    seed: int, names: Sequence[str], alignment: str, *, repositories: int = 1, repeat: bool = False, absent: float = 0.0, most: int = 60
) -> RandomReviews:
    """Reviews that are small and uneven, with bursts, silent reviewers, equal rows and pull requests without a
    reference; with `repeat` each reviewer has 1 to 4 runs, which may lack pull requests, and with `absent` reviewers
    lack that share of the pull requests."""
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
    count_of_runs = {name: rng.randint(1, 4) if repeat else 1 for name in names}
    for at in range(size):
        pr = f"https://github.com/org/repo{rng.randrange(repositories)}/pull/{at + 1}"
        references = _references(rng, at)
        negatives = [_comment(at, 5000 + 10 * j, f"rejected {at} {j}") for j in range(rng.randint(0, 2) if hidden else 0)]
        made.references.append({"pr": pr, "comments": references})
        if negatives:
            made.negatives.append({"pr": pr, "comments": negatives})
        first: list[JsonRecord] | None = None
        for name in names:
            if rng.random() < absent and at:
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
    rng: random.Random, at: int, references: Iterable[JsonRecord], negatives: Iterable[JsonRecord], skill: tuple[float, float], wrong: int
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
