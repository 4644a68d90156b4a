"""Rankings held against the truth: who of them is eligible, and where the first right person is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from metareview.model.event import Eligibility, PullRequest, fold
from metareview.model.prediction import Prediction
from metareview.routing.measures import MRR, RankMeasure
from metareview.routing.protocol import Ranking
from metareview.routing.ranking import People, Scored
from metareview.routing.records import RouterAnswer

KEPT = 20
"""How many candidates of a list are kept for the record; ranks are counted on all of them."""

RECIPROCAL_RANK = "reciprocal_rank"
Numbers = NDArray[np.int64]


Figures = Mapping[str, float | None]


def rank_worth(measures: Sequence[RankMeasure]) -> Callable[[int], Figures]:
    """What a rank is worth: hits as whole numbers, and the reciprocal rank. One mapping for all that share a rank."""
    hits = [measure for measure in measures if measure.name != MRR.name]

    @cache
    def worth(rank: int) -> Figures:
        return {hit.name: int(hit.of_rank(rank)) for hit in hits} | {RECIPROCAL_RANK: MRR.of_rank(rank) or 0}

    return worth


class AnswerReader:
    """Turns one router's rankings of one repository into answers.

    People are numbers here, so that a list of thousands costs a few array operations.
    """

    def __init__(
        self, eligible: Eligibility, names: Mapping[str, str], *, worth: Callable[[int], Figures], kept: int = KEPT
    ) -> None:
        self._eligible = eligible
        self._names = names
        self._kept = kept
        self._worth = worth
        self._people = People()
        self._numbers: dict[str, int] = {}
        """The number of each login as the router writes it."""
        self._bots = np.zeros(0, dtype=bool)
        self._any_bot = False

    def read(self, ranking: Ranking, pull_request: PullRequest, targets: Sequence[str]) -> RouterAnswer:
        """The answer in a ranking, without the author and bots unless they are included."""
        candidates, risk, evidence, notes = ranking
        remarks = (notes,) if isinstance(notes, str) else tuple(notes)
        if not candidates:
            return RouterAnswer(scores=(), risk=risk, figures=self._worth(0), evidence=evidence, notes=remarks)
        if isinstance(candidates, Scored):
            # Such a router always has the same people, and they are written as the history writes them.
            self._people, numbers, scores = candidates.people, candidates.numbers, candidates.scores
        else:
            numbers = self._number([login for login, _ in candidates])
            scores = np.array([score for _, score in candidates])
        self._meet()
        if self._any_bot:
            people_only = ~self._bots[numbers]
            numbers, scores = numbers[people_only], scores[people_only]
        author = None if self._eligible.include_author else pull_request.author
        if author is not None and (number := self._people.find(author)) is not None:
            others = numbers != number
            numbers, scores = numbers[others], scores[others]
        rank = self._rank(numbers, targets)
        return RouterAnswer(
            tuple(map(self._people.logins.__getitem__, numbers[: self._kept].tolist())),
            tuple(scores[: self._kept].tolist()),
            len(numbers),
            rank,
            risk,
            self._worth(rank),
            evidence,
            remarks,
        )

    def read_prediction(self, prediction: Prediction | None, targets: Sequence[str]) -> RouterAnswer:
        """The answer of a router that already ran, scored as given; without one, a miss."""
        if prediction is None:
            return RouterAnswer(figures=self._worth(0))
        numbers = self._number(prediction.candidates)
        shown, rank = prediction.candidates[: self._kept], self._rank(numbers, targets)
        figures, evidence, notes = self._worth(rank), prediction.evidence, prediction.notes
        return RouterAnswer(shown, None, len(numbers), rank, prediction.risk, figures, evidence, notes)

    def _rank(self, numbers: Numbers, targets: Sequence[str]) -> int:
        """The position of the first target."""
        known = [number for target in targets if (number := self._people.find(target)) is not None]
        positions = [at for number in known for at in (numbers == number).nonzero()[0][:1].tolist()]
        return min(positions) + 1 if positions else 0

    def _number(self, logins: Sequence[str]) -> Numbers:
        """The number of each login, which is one person in any case."""
        for login in logins:
            if login not in self._numbers:
                self._numbers[login] = self._people.number(self._names.get(fold(login), login))
        return np.array([self._numbers[login] for login in logins], dtype=np.int64)

    def _meet(self) -> None:
        """Make room for those who are new."""
        if len(self._people) > len(self._bots):
            unmet = self._people.logins[len(self._bots) :]
            bots = [not self._eligible.include_bots and self._eligible.is_bot(login) for login in unmet]
            self._bots = np.append(self._bots, bots)
            self._any_bot |= any(bots)
