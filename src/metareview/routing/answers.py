"""Rankings held against the truth: who of them is eligible, and where the first right person is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from metareview.model.event import Eligibility, PullRequest, fold
from metareview.model.prediction import Prediction
from metareview.routing.protocol import Ranking
from metareview.routing.ranking import People, Scored
from metareview.routing.records import RouterAnswer

KEPT = 20
"""How many candidates of a list are kept for the record; ranks are counted on all of them."""

Numbers = NDArray[np.int64]


class AnswerReader:
    """Turns one router's rankings of one repository into answers, and keeps whom it ever recommended.

    People are numbers here, so that a list of thousands costs a few array operations.
    """

    def __init__(self, eligible: Eligibility, names: Mapping[str, str], *, kept: int = KEPT) -> None:
        self._eligible = eligible
        self._names = names
        self._kept = kept
        self._people = People()
        self._numbers: dict[str, int] = {}
        """The number of each login as the router writes it."""
        self._bots = self._ever = np.zeros(0, dtype=bool)
        self._any_bot = False

    def recommended(self) -> set[str]:
        """Everybody who was on a list, folded."""
        return {fold(self._people.logins[number]) for number in np.flatnonzero(self._ever).tolist()}

    def read(self, ranking: Ranking, pull_request: PullRequest, targets: Sequence[str]) -> RouterAnswer:
        """The answer in a ranking, without the author and bots unless they are included."""
        candidates, risk = ranking
        if not candidates:
            return RouterAnswer(scores=(), risk=risk)
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
        return RouterAnswer(
            tuple(map(self._people.logins.__getitem__, numbers[: self._kept].tolist())),
            tuple(scores[: self._kept].tolist()),
            len(numbers),
            self._rank(numbers, targets),
            risk,
        )

    def read_prediction(self, prediction: Prediction | None, targets: Sequence[str]) -> RouterAnswer:
        """The answer of a router that already ran, scored as given; without one, a miss."""
        if prediction is None:
            return RouterAnswer()
        numbers = self._number(prediction.candidates)
        self._meet()
        shown = prediction.candidates[: self._kept]
        return RouterAnswer(shown, None, len(numbers), self._rank(numbers, targets), prediction.risk)

    def _rank(self, numbers: Numbers, targets: Sequence[str]) -> int:
        """The position of the first target; and these people have been recommended."""
        self._ever[numbers] = True
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
            self._ever = np.append(self._ever, np.zeros(len(unmet), dtype=bool))
