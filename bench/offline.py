"""The offline judge on one core: work per note, work per pair, and AACR against itself and its negatives."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from metareview.judges.examples import KnownNotes
from metareview.judges.offline.examples import boards, nearness
from metareview.judges.offline.features import extract_from, lay_out
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.offline.model import shipped
from metareview.judges.offline.notes import read_notes
from metareview.judges.offline.words import split, stem
from metareview.judges.protocol import Question

AACR = Path(__file__).parents[2] / "shared" / "data" / "aacr"
ROUNDS = 3
EXAMPLES = 100
"""Known comments per pull request: what a dozen other tools say on one."""


def run() -> dict[str, Any]:
    """Processor time, the best of a few rounds, so that other work on the machine counts little."""
    questions, source = _questions()
    model = shipped()
    texts, grid = lay_out(questions)
    pairs = len(grid.row)

    def note_work() -> None:
        split.cache_clear()
        stem.cache_clear()
        read_notes(texts, model.background)

    notes = read_notes(texts, model.background)
    per_note = _seconds(note_work)
    per_pair = _seconds(lambda: model.score(extract_from(texts, notes, grid)))
    known = _known(questions)
    many, found = boards(texts, grid, known)
    with_known = read_notes(many, model.background)

    def with_examples() -> None:
        features = extract_from(texts, with_known, grid)
        near = nearness(with_known, grid, known, found)
        model.score_with(model.score(features)[1], near, features)

    per_known_pair = _seconds(with_examples)
    reasons = _seconds(lambda: [list(a.reason) for a in OfflineJudge().judge(questions)])
    return {
        "title": f"offline judge: {len(texts):,} notes, {pairs:,} pairs ({source})",
        "rows": [
            _row("work per note", len(texts) / per_note, "notes/s", 5_000),
            _row("work per pair, rivals included", pairs / per_pair, "pairs/s", 50_000),
            _row(
                f"the same with {EXAMPLES} known comments per pull request", pairs / per_known_pair, "pairs/s", 10_000
            ),
            {
                "what": "the set against itself with negatives, reasons included",
                "value": reasons,
                "unit": "s",
                "target": "< 5",
                "met": reasons < 5,
            },
        ],
    }


def _row(what: str, value: float, unit: str, target: int) -> dict[str, Any]:
    return {"what": what, "value": value, "unit": unit, "target": f">= {target:,}", "met": value >= target}


def _seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best


def _questions() -> tuple[list[Question], str]:
    """Every pull request's references against themselves, and against its rejected comments."""
    if not AACR.exists():
        rng = np.random.default_rng(0)
        words = [f"word{i}" for i in range(3000)]
        pulls = [[" ".join(rng.choice(words, 30)) for _ in range(8)] for _ in range(200)]
        return [_question(pull, pull) for pull in pulls], "made up: AACR is not there"
    positive, negative = (
        {
            pull["githubPrUrl"]: [comment["note"] for comment in pull["comments"]]
            for pull in json.loads((AACR / f"{name}_samples.json").read_text("utf-8"))
        }
        for name in ("positive", "negative")
    )
    against = [_question(notes, notes) for notes in positive.values()]
    against += [_question(positive[url], notes) for url, notes in negative.items() if url in positive]
    return against, "AACR"


def _known(questions: list[Question]) -> list[KnownNotes | None]:
    """Known comments in the words of other notes, so that they have what notes have; every tenth raises a reference."""
    rng = np.random.default_rng(0)
    pool = sorted({note for question in questions for note in question.generated})
    known = []
    for question in questions:
        notes = [pool[i] + " once more" for i in rng.choice(len(pool), EXAMPLES, replace=False)]
        match = np.where(rng.random((EXAMPLES, len(question.reference))) < 0.1, 1, 0).astype(np.int8)
        known.append(KnownNotes(notes, match))
    return known


def _question(generated: list[str], reference: list[str]) -> Question:
    return Question(generated, reference, np.argwhere(np.ones((len(generated), len(reference)))))
