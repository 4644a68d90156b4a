"""`offline`, the default judge: no key, no network, no download; the same answer every time.

A small model with published weights looks at shared words, at their meaning, and at how far a pair stands out from its
rivals on the same pull request. Its score is the probability that a strong model would call the two notes the same
issue; docs/offline-judge.md has its accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from metareview.judges.examples import Examples
from metareview.judges.offline.batches import batches
from metareview.judges.offline.examples import boards, nearness
from metareview.judges.offline.features import all_features
from metareview.judges.offline.languages import NotesSeen, notes_seen, remarks_on, with_composed_notes
from metareview.judges.offline.layout import Layout, lay_out
from metareview.judges.offline.model import shipped
from metareview.judges.offline.nearest_rivals import distinct_notes, is_crowded, nearest_rivals_features
from metareview.judges.offline.notes import Ints, read_notes
from metareview.judges.offline.reasons import Reasons, Standings
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Judge, Question, check_threshold

BATCH = 200_000
"""All pairs, requested or not, that are in memory at a time."""


class OfflineJudge(Judge):
    """Scores every pair; never undecided.

    `threshold` replaces the learned one; `examples` are known verdicts on the same references.
    """

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
        """Rivals are all notes of a question, requested or not; no answer depends on another question."""
        composed = map(with_composed_notes, questions)
        return [answer for batch in batches(composed, _size, BATCH) for answer in self._answers(batch)]

    def warning_data(self, questions: Sequence[Question], *, ask: bool = True) -> NotesSeen:
        return notes_seen(questions)

    def remarks_of(self, parts: Sequence[NotesSeen], *, ask: bool = True) -> list[str]:
        """A warning if some notes are in languages that the model was not trained on."""
        return remarks_on(parts)

    def __reduce__(self) -> tuple[type[OfflineJudge], tuple[float, Examples | None]]:
        """Sends the settings alone to another process, which has the model too."""
        return OfflineJudge, (self.threshold, self.examples)

    def _answers(self, batch: Sequence[Question]) -> Iterator[Answer]:
        crowded = is_crowded(batch[0])
        if crowded:
            batch = list(map(distinct_notes, batch))
        requested = [np.asarray(question.pairs, np.int64).reshape(-1, 2) for question in batch]
        if crowded and not len(requested[0]):
            yield Answer(np.zeros(0), np.zeros(0, np.int8))
            return
        texts, layout = lay_out(batch)
        known = [self.examples.known(question) if self.examples else None for question in batch]
        texts, found = boards(texts, known)
        notes = read_notes(texts, self._model.background)
        if crowded:
            features, place = nearest_rivals_features(
                notes, layout, requested[0], self._model.weight / self._model.scale
            )
        else:
            features, place = all_features(notes, layout), _places(layout, requested)
        pairs = features.pairs
        fit, score = self._model.score(features)
        del features  # reasons, which are kept, need the pairs alone
        nearest = np.full(len(score), -1, np.int8)
        if self.examples is not None:
            chosen = np.unique(place)
            near = nearness(pairs, chosen, known, found)
            score[chosen], nearest[chosen] = (
                self._model.score_with(score[chosen], near, pairs.equal[chosen]),
                near.nearest,
            )
        standings = Standings(fit, pairs)
        for own in np.split(place, np.cumsum(list(map(len, requested)))[:-1]):
            match = np.where(score[own] >= self.threshold, SAME, DIFFERENT).astype(np.int8)
            yield Answer(score[own], match, Reasons(standings, own, score[own], nearest[own]))


def _places(layout: Layout, requested: Sequence[Ints]) -> Ints:
    """The places of the requested pairs, (comment, reference), among all pairs; question after question."""
    question = np.repeat(np.arange(len(requested)), list(map(len, requested)))
    comment, reference = np.concatenate(requested).T
    return layout.places(layout.left.start[question] + comment, layout.right.start[question] + reference)


def _size(question: Question) -> int:
    """Number of pairs of notes to compare for a question; a crowded one is a batch by itself."""
    return BATCH + 1 if is_crowded(question) else (len(question.generated) + len(question.reference)) ** 2 // 4
