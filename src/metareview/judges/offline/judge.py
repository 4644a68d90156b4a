"""`offline`, the default judge: no key, no network, no download; the same answer every time.

A small model with published weights looks at shared words, at their meaning, and at how far a pair stands out from its
rivals on the same pull request. Its score is the probability that a strong model would call the two notes the same
issue; docs/offline-judge.md says how far to trust it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from metareview.judges.examples import Examples
from metareview.judges.offline.batches import batches
from metareview.judges.offline.crowded import answer_crowded, distinct_notes, is_crowded
from metareview.judges.offline.examples import boards, nearness
from metareview.judges.offline.features import extract_from, lay_out
from metareview.judges.offline.languages import NotesSeen, language_remarks, notes_seen, remarks_on, with_composed_notes
from metareview.judges.offline.model import shipped
from metareview.judges.offline.notes import read_notes
from metareview.judges.offline.reasons import Reasons, Standings
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Judge, Question, check_threshold

BATCH = 200_000
"""How many pairs, asked about or not, are in memory at a time."""


class OfflineJudge(Judge):
    """Scores every pair; never undecided. `threshold` replaces the one that was learned; `examples` are known verdicts
    on the same references."""

    name = "offline"
    threshold: float

    def __init__(self, threshold: float | None = None, examples: Examples | None = None) -> None:
        self._model = shipped()
        given = check_threshold(threshold)
        self.threshold = self._model.threshold if given is None else given
        self.examples = examples
        self.parameters = {"weights": f"offline-{self._model.version}"}
        if examples is not None:
            self.parameters["examples"] = examples.digest

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        """Rivals are all notes of a question, asked about or not; no answer depends on another question."""
        composed = map(with_composed_notes, questions)
        return [answer for batch in batches(composed, _pairs, BATCH) for answer in self._answers(batch)]

    def remarks(self, questions: Sequence[Question], *, ask: bool = True) -> list[str]:
        """How many notes are in languages that it has not learned."""
        return language_remarks(questions)

    def warning_data(self, questions: Sequence[Question], *, ask: bool = True) -> NotesSeen:
        return notes_seen(questions)

    def remarks_of(self, parts: Sequence[NotesSeen], *, ask: bool = True) -> list[str]:
        return remarks_on(parts)

    def __reduce__(self) -> tuple[type[OfflineJudge], tuple[float, Examples | None]]:
        """How it is sent to another process: that one has the model, too."""
        return OfflineJudge, (self.threshold, self.examples)

    def _answers(self, batch: Sequence[Question]) -> Iterator[Answer]:
        if any(map(is_crowded, batch)):
            # Whatever else is in the batch is answered in parts around it: no answer depends on another question.
            for question in batch:
                yield self._answer_crowded(question) if is_crowded(question) else next(self._answers([question]))
            return
        texts, grid = lay_out(batch)
        known = [self.examples.known(question) if self.examples else None for question in batch]
        all_texts, found = boards(texts, grid, known)
        notes = read_notes(all_texts, self._model.background)
        features = extract_from(texts, notes, grid)
        fit, score = self._model.score(features)
        nearest = None
        if self.examples is not None:
            near = nearness(notes, grid, known, found)
            score, nearest = self._model.score_with(score, near, features.equal), near.nearest
        standings = Standings(fit, grid.row, grid.column, len(grid.note), len(grid.reference_note))
        match = np.where(score >= self.threshold, SAME, DIFFERENT).astype(np.int8)
        note, reference = grid.note[grid.row], grid.reference_note[grid.column]
        for number, question in enumerate(batch):
            pairs = np.asarray(question.pairs, np.int64).reshape(-1, 2)
            places = pairs[:, 0] * len(question.reference) + pairs[:, 1] + grid.start[number]
            scores = score[places]
            reasons = Reasons(
                notes=features.notes,
                standings=standings,
                pairs=places,
                generated=note[places],
                reference=reference[places],
                score=scores,
                equal=features.equal[places],
                nearest=None if nearest is None else nearest[places],
            )
            yield Answer(scores, match[places], reasons)

    def _answer_crowded(self, question: Question) -> Answer:
        question = distinct_notes(question)
        known = self.examples.known(question) if self.examples else None
        return answer_crowded(question, self._model, self.threshold, known)


def _pairs(question: Question) -> int:
    return len(question.generated) * len(question.reference)
