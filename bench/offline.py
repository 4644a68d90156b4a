"""The offline judge on one core: work per note, work per pair, and AACR against itself and its negatives."""

from __future__ import annotations

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

from bench.data import AACR, aacr, made_up_notes
from bench.measure import MADE_UP, Result, Row, compared, seconds
from metareview.judges.examples import KnownNotes
from metareview.judges.offline.examples import boards, nearness
from metareview.judges.offline.features import all_features
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.offline.layout import lay_out
from metareview.judges.offline.model import shipped
from metareview.judges.offline.notes import read_notes
from metareview.judges.offline.words import split, stem
from metareview.judges.protocol import Question

COMPARED, FEW = 60, 100
"""Pull requests that the peer is timed on, and how many pairs each has at most: a second of its work."""
EXAMPLES = 100
"""Known comments per pull request: those of a dozen other tools."""


def run() -> Result:
    """Processor time, the best of a few rounds, so that other work on the machine counts little."""
    questions, data = _questions()
    model = shipped()
    texts, layout = lay_out(questions)
    pairs = int(layout.start[-1])

    def note_work() -> None:
        split.cache_clear()
        stem.cache_clear()
        read_notes(texts, model.background)

    notes = read_notes(texts, model.background)
    per_note = seconds(note_work)
    per_pair = seconds(lambda: model.score(all_features(notes, layout)))
    known = _known(questions)
    many, found = boards(texts, known)
    with_known = read_notes(many, model.background)

    def with_examples() -> None:
        features = all_features(with_known, layout)
        near = nearness(features.pairs, np.arange(pairs), known, found)
        model.score_with(model.score(features)[1], near, features.pairs.equal)

    per_known = pairs / seconds(with_examples)
    reasons = seconds(lambda: [list(a.reason) for a in OfflineJudge().judge(questions)])
    rows = [
        Row.above("work per note", len(texts) / per_note, "notes/s", 5_000),
        Row.above("work per pair, rivals included", pairs / per_pair, "pairs/s", 50_000),
        Row.above(f"the same with {EXAMPLES} known comments per pull request", per_known, "pairs/s", 10_000),
        Row.below("the set against itself with negatives, reasons included", reasons, "s", 5),
        *ratios().rows,
    ]
    return Result(f"offline judge: {len(texts):,} notes, {pairs:,} pairs ({data})", rows, data)


def ratios() -> Result:
    """A score for each pair of notes. There is no peer with the same one: rouge-score's is the usual one by words."""
    questions, data = _questions()
    chosen = [question for question in questions if len(question.pairs) <= FEW][:COMPARED]
    scorer = RougeScorer(["rougeL"])

    def ours() -> int:
        split.cache_clear()
        stem.cache_clear()
        return sum(len(answer.score) for answer in OfflineJudge().judge(chosen))

    def theirs() -> int:
        found = [
            scorer.score(question.reference[r], question.generated[g])["rougeL"].recall
            for question in chosen
            for g, r in question.pairs.tolist()
        ]
        return len(found)

    assert ours() == theirs() > 0
    found = compared(ours, theirs, rounds=3)
    row = Row.ratio("a score for each pair of notes", found.ratio, peer="rouge-score", data=data)
    return Result("Offline judge", [row], data)


def _questions() -> tuple[list[Question], str]:
    """Every pull request's references against themselves, and against its rejected comments."""
    if not AACR.exists():
        pulls = made_up_notes()
        return [_question(pull, pull) for pull in pulls], MADE_UP
    positive, negative = aacr("positive"), aacr("negative")
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
