"""`offline`, the default judge: no key, no network, no download; the same answer every time.

A small model with published weights over words, word order and word meaning, and over how far a pair stands out from
its rivals on the same pull request. Its score is the probability that a strong model would call the two notes the same
issue; docs/offline-judge.md says how far to trust it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from metareview.errors import UsageError
from metareview.judges.offline_features import Features, extract
from metareview.judges.offline_model import Model, shipped
from metareview.judges.offline_notes import Floats, Ints
from metareview.judges.protocol import DIFFERENT, SAME, Answer, JudgeInfo, Question, Usage

BATCH = 200_000
"""Pairs, asked or not, whose features are held at a time."""
CLEAR = 1.0
"""By how much a fit must exceed every rival's for the reason to say that it stands out."""


class OfflineJudge:
    """Scores every pair; never undecided. `threshold` replaces the one that was learned."""

    name = "offline"

    def __init__(self, threshold: float | None = None) -> None:
        self._model = shipped()
        self.threshold = self._model.threshold if threshold is None else threshold
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"threshold must be in 0..1, found {threshold}")
        self.usage = Usage()

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        """Rivals are all notes of a question, asked about or not; an answer does not depend on other questions."""
        answers: list[Answer] = []
        for batch in _batches(questions):
            features = extract(batch, self._model.background)
            fit, score = self._model.score(features)
            answers.extend(self._answer(q, i, features, fit, score) for i, q in enumerate(batch))
        return answers

    def _answer(
        self, question: Question, number: int, features: Features, fit: Floats, score: Floats
    ) -> Answer:
        pairs = np.asarray(question.pairs, np.int64).reshape(-1, 2)
        start, end = features.grid.start[number], features.grid.start[number + 1]
        shape = (len(question.generated), len(question.reference))
        asked = score[start:end].reshape(shape)[pairs[:, 0], pairs[:, 1]]
        self.usage.pairs += len(pairs)
        return Answer(
            score=asked,
            match=np.where(asked >= self.threshold, SAME, DIFFERENT).astype(np.int8),
            reason=Reasons(self._model, features, number, pairs, fit[start:end].reshape(shape), asked),
        )


def info() -> JudgeInfo:
    """What there is to know of it without judging anything."""
    model = shipped()
    return JudgeInfo(
        name="offline",
        summary="words, word order and word meaning, and how far a pair stands out from its rivals; the default",
        scores=True,
        threshold=model.threshold,
        parameters={"weights": f"offline-{model.version}"},
    )


def _batches(questions: Sequence[Question]) -> Iterator[list[Question]]:
    batch: list[Question] = []
    size = 0
    for question in questions:
        pairs = len(question.generated) * len(question.reference)
        if batch and size + pairs > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(question)
        size += pairs
    if batch:
        yield batch


class Reasons(Sequence[str]):
    """A sentence a pair, made when it is read: most never are."""

    def __init__(
        self, model: Model, features: Features, number: int, pairs: Ints, fit: Floats, score: Floats
    ) -> None:
        self._model, self._features, self._number = model, features, number
        self._pairs, self._fit, self._score = pairs, fit, score

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i, j = self._pairs[index]
        return f"p {self._score[index]:.2f}: {self._shared(i, j)}; {self._standing(i, j)}"

    def _shared(self, i: int, j: int) -> str:
        """The rarest things that both notes name, and how many words they share."""
        features = self._features
        notes, grid, q = features.notes, features.grid, self._number
        if features.equal[grid.start[q] + i * self._fit.shape[1] + j]:
            return "equal notes"
        a, b = (set(notes.terms[[n]].indices) for n in (grid.generated[q][i], grid.reference[q][j]))
        common = sorted(a & b, key=lambda term: (-notes.rarity[term], notes.term_name[term]))
        names = [f"`{notes.shown[term]}`" for term in common if notes.term_name[term][0] == "="][:2]
        words = [term for term in common if notes.term_name[term][0] != "="]
        told = names + [notes.shown[term] for term in words[: 3 - len(names)]]
        if not told:
            return "shares no word"
        return f"shares {', '.join(told)}" + (f" ({len(words)} words)" if len(words) > 1 else "")

    def _standing(self, i: int, j: int) -> str:
        """Whether a rival fits better."""
        fit, own = self._fit, self._fit[i, j]
        comment = max((fit[k, j] for k in range(len(fit)) if k != i), default=-np.inf)
        reference = max((fit[i, k] for k in range(fit.shape[1]) if k != j), default=-np.inf)
        if comment > own or reference > own:
            better = [n for n, s in (("comment", comment), ("reference", reference)) if s > own]
            return f"another {' and another '.join(better)} fit{'s' * (len(better) == 1)} better"
        if comment == reference == -np.inf:
            return "has no rivals"
        return (
            "stands out from rivals" if own - max(comment, reference) >= CLEAR else "rivals fit about as well"
        )
