"""ROUGE-L recall of review notes against rouge-score and rouge, one process, one run; tokenising is included."""

from __future__ import annotations

import random

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

from bench.data import notes
from bench.measure import Compared, Result, Row, compared
from metareview.text.rouge import EncodedTexts
from metareview.text.tokens import tokens
from rouge import Rouge

SAMPLE = 200
"""Pairs that the peers are timed on: about half a second of their work."""
WORDS = 40
"""Of a text that `rouge` reads as everybody else does: it counts a repeated word once, and sentence by sentence."""


class Work:
    """The notes, and the pairs of them that peers get."""

    def __init__(self) -> None:
        self.pull_requests, self.data = notes()
        self.notes = [note for pull_request in self.pull_requests for note in pull_request]
        chance = random.Random(0)
        # The `rouge` package refuses texts without a word between full stops; it is timed on what it takes.
        usable = [i for i, note in enumerate(self.notes) if any(part.split() for part in note.split("."))]
        self.pairs = [(chance.choice(usable), chance.choice(usable)) for _ in range(SAMPLE)]
        self.scorer, self.rouge = RougeScorer(["rougeL"]), Rouge(metrics=["rouge-l"])

    def by_rouge_score(self) -> list[float]:
        return [self.scorer.score(self.notes[a], self.notes[b])["rougeL"].recall for a, b in self.pairs]

    def by_rouge(self) -> list[float]:
        return [self.rouge.get_scores(self.notes[b], self.notes[a])[0]["rouge-l"]["r"] for a, b in self.pairs]

    def all_pairs(self) -> np.ndarray:
        return EncodedTexts(self.notes).recall_matrix()

    def singly(self) -> None:
        for pull_request in self.pull_requests:
            EncodedTexts(pull_request).recall_matrix()

    def difference(self) -> float:
        """The largest one to rouge-score, of notes whose words it reads alike: those in ASCII."""
        matrix = self.all_pairs()
        alike = [tokens(note) == self.scorer._tokenizer.tokenize(note) for note in self.notes]
        pairs = zip(self.pairs, self.by_rouge_score(), strict=True)
        return max(abs(float(matrix[a, b]) - recall) for (a, b), recall in pairs if alike[a] and alike[b])

    def agrees_with_rouge(self) -> bool:
        """Of texts without a repeated word and without a sentence's end."""
        texts = [" ".join(list(dict.fromkeys(tokens(note)))[:WORDS]) for note in self.notes]
        matrix = EncodedTexts(texts).recall_matrix()
        theirs = [self.rouge.get_scores(texts[b], texts[a])[0]["rouge-l"]["r"] for a, b in self.pairs]
        return bool(np.allclose([matrix[pair] for pair in self.pairs], theirs, atol=1e-9))


def _compared(work: Work) -> tuple[Compared, Compared, Compared]:
    assert work.difference() <= 1e-12
    assert work.agrees_with_rouge()
    whole, single = len(work.notes) ** 2, sum(len(pull_request) ** 2 for pull_request in work.pull_requests)
    return (
        compared(work.all_pairs, work.by_rouge_score, sizes=(whole, SAMPLE)),
        compared(work.all_pairs, work.by_rouge, sizes=(whole, SAMPLE)),
        compared(work.singly, work.by_rouge_score, sizes=(single, SAMPLE)),
    )


def ratios() -> Result:
    work = Work()
    return Result("ROUGE-L recall", _ratios(work.data, *_compared(work)), work.data)


def _ratios(data: str, rouge_score: Compared, rouge: Compared, singly: Compared) -> list[Row]:
    return [
        Row.ratio("all pairs of notes", rouge_score.ratio, peer="rouge-score", at_least=1000, data=data),
        Row.ratio("all pairs of notes", rouge.ratio, peer="rouge", at_least=2000, data=data),
        Row.ratio("one pull request at a time", singly.ratio, peer="rouge-score", at_least=200, data=data),
    ]


def run() -> Result:
    work = Work()
    rouge_score, rouge, singly = _compared(work)
    rows = [
        Row("rouge-score, one pair at a time", 1 / rouge_score.theirs, "pairs/s"),
        Row("rouge, one pair at a time", 1 / rouge.theirs, "pairs/s"),
        Row("metareview, all pairs", 1 / rouge_score.ours, "pairs/s"),
        Row("metareview, one pull request at a time", 1 / singly.ours, "pairs/s"),
        *_ratios(work.data, rouge_score, rouge, singly),
        Row("largest difference to rouge-score", work.difference(), "", "<= 1e-12", work.difference() <= 1e-12),
    ]
    number = len(work.notes)
    return Result(f"ROUGE-L recall, {number} x {number} pairs of notes ({work.data})", rows, work.data)
