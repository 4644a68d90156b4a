"""ROUGE-L recall of real review notes against rouge-score and rouge, one process, one run."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from rouge_score.rouge_scorer import RougeScorer

from metareview.text.rouge import EncodedTexts
from metareview.text.tokens import tokens
from rouge import Rouge

AACR = Path(__file__).parents[2] / "shared" / "data" / "aacr" / "positive_samples.json"
SAMPLE = 600
"""Pairs that the peers are timed on: about two seconds of their work."""
ROUNDS = 5


def run() -> dict[str, Any]:
    """All pairs at once, and one pull request at a time; tokenising is included in both."""
    pull_requests, source = _pull_requests()
    notes = [note for pull_request in pull_requests for note in pull_request]
    chosen = random.Random(0)
    # The `rouge` package refuses texts without a word between full stops; it is timed on what it takes.
    usable = [i for i, note in enumerate(notes) if any(part.split() for part in note.split("."))]
    pairs = [(chosen.choice(usable), chosen.choice(usable)) for _ in range(SAMPLE)]

    scorer, peer = RougeScorer(["rougeL"]), Rouge(metrics=["rouge-l"])
    begun = time.perf_counter()
    theirs = [scorer.score(notes[a], notes[b])["rougeL"].recall for a, b in pairs]
    rouge_score = SAMPLE / (time.perf_counter() - begun)
    begun = time.perf_counter()
    for a, b in pairs:
        peer.get_scores(notes[b], notes[a])
    rouge = SAMPLE / (time.perf_counter() - begun)

    whole = len(notes) ** 2 / _seconds(lambda: EncodedTexts(notes).recall_matrix())
    matrix = EncodedTexts(notes).recall_matrix()
    # Words beyond ASCII, which rouge-score cuts up or leaves out, are in five of AACR's notes.
    alike = [tokens(note) == scorer._tokenizer.tokenize(note) for note in notes]
    difference = max(
        abs(float(matrix[a, b]) - recall) for (a, b), recall in zip(pairs, theirs, strict=True) if alike[a] and alike[b]
    )

    def one_at_a_time() -> None:
        for pull_request in pull_requests:
            EncodedTexts(pull_request).recall_matrix()

    singly = sum(len(pull_request) ** 2 for pull_request in pull_requests) / _seconds(one_at_a_time)
    return {
        "title": f"ROUGE-L recall, {len(notes)} x {len(notes)} pairs of {source}",
        "rows": [
            _row("rouge-score, one pair at a time", rouge_score, "pairs/s"),
            _row("rouge, one pair at a time", rouge, "pairs/s"),
            _row("metareview, all pairs", whole, "pairs/s"),
            _row("metareview, one pull request at a time", singly, "pairs/s"),
            _row("all pairs against rouge-score", whole / rouge_score, "x", at_least=1000),
            _row("all pairs against rouge", whole / rouge, "x", at_least=2000),
            _row("one pull request at a time against rouge-score", singly / rouge_score, "x", at_least=200),
            _row(f"largest difference to rouge-score in {SAMPLE} pairs of ASCII words", difference, "", at_most=1e-12),
        ],
    }


def _seconds(work: Callable[[], object]) -> float:
    """The median of a few rounds: the best would flatter us beside peers that are timed once."""
    taken = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return median(taken)


def _row(
    what: str, value: float, unit: str, *, at_least: float | None = None, at_most: float | None = None
) -> dict[str, Any]:
    target, met = None, None
    if at_least is not None:
        target, met = f">= {at_least:g}", value >= at_least
    if at_most is not None:
        target, met = f"<= {at_most:g}", value <= at_most
    return {"what": what, "value": value, "unit": unit, "target": target, "met": met}


def _pull_requests() -> tuple[list[list[str]], str]:
    """The notes of each pull request, and where they are from."""
    if AACR.exists():
        published = json.loads(AACR.read_text(encoding="utf-8"))
        return [[comment["note"] for comment in one["comments"]] for one in published], "AACR notes"
    return _generated(), "generated notes (../shared/data/aacr is not here)"


def _generated() -> list[list[str]]:
    """196 pull requests with 1505 notes: a skewed vocabulary, lengths as people write."""
    chance = random.Random(0)
    words = [f"w{number}" for number in range(7000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    lengths = [min(240, max(5, round(chance.lognormvariate(3.8, 0.5)))) for _ in range(1505)]
    notes = [" ".join(chance.choices(words, weights, k=length)) + "." for length in lengths]
    bounds = [0, *sorted(chance.sample(range(1, 1505), 195)), 1505]
    return [notes[start:end] for start, end in pairwise(bounds)]


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
