"""Which data benchmarks use: published sets where they are beside the checkout, and otherwise what is made here.

BENCH_DATA names another folder with the published sets; one that does not exist makes everything use made-up data.
"""

from __future__ import annotations

import json
import os
import random
from itertools import pairwise
from pathlib import Path

from bench.measure import MADE_UP

PUBLISHED = Path(os.environ.get("BENCH_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
AACR = PUBLISHED / "aacr"
ANDROID = PUBLISHED / "routing" / "gerrit-android.jsonl"
MARTIAN = PUBLISHED / "martian"
NOTES, PULL_REQUESTS = 1505, 196
"""As many as AACR has."""


def notes() -> tuple[list[list[str]], str]:
    """The reference notes of each pull request, and where they are from."""
    if not AACR.exists():
        return made_up_notes(), MADE_UP
    return list(aacr("positive").values()), "AACR"


def aacr(kind: str) -> dict[str, list[str]]:
    """The `positive` or the `negative` notes of AACR by pull request."""
    published = json.loads((AACR / f"{kind}_samples.json").read_text("utf-8"))
    return {pull["githubPrUrl"]: [comment["note"] for comment in pull["comments"]] for pull in published}


def made_up_notes() -> list[list[str]]:
    """As many pull requests and notes as AACR has: a skewed vocabulary, lengths as people write."""
    chance = random.Random(0)
    words = [f"w{number}" for number in range(7000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    lengths = [min(240, max(5, round(chance.lognormvariate(3.8, 0.5)))) for _ in range(NOTES)]
    made = [" ".join(chance.choices(words, weights, k=length)) + "." for length in lengths]
    bounds = [0, *sorted(chance.sample(range(1, NOTES), PULL_REQUESTS - 1)), NOTES]
    return [made[start:end] for start, end in pairwise(bounds)]
