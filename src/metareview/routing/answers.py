"""What a router said about a pull request, checked and held against the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metareview.errors import UsageError
from metareview.model.event import RISKS, Eligibility, PullRequest, fold
from metareview.model.prediction import Prediction
from metareview.routing.protocol import People, Ranking, Scored

KEPT = 20
"""How many candidates of a list are kept for the record; ranks are counted on all of them."""


class Answer(NamedTuple):
    """A router's list for one pull request."""

    candidates: tuple[str, ...] = ()
    """The first ones, best first, without those who are not eligible."""
    scores: tuple[float, ...] | None = None
    listed: int = 0
    """How many the whole list has."""
    rank: int = 0
    """Position of the first truth target; 0: none."""
    risk: str = "unknown"

    def as_json(self) -> dict[str, Any]:
        return {
            "candidates": list(self.candidates),
            "scores": None if self.scores is None else list(self.scores),
            "listed": self.listed,
            "rank": self.rank or None,
            "risk": self.risk,
        }


class Reader:
    """Turns one router's rankings of one repository into answers, and keeps whom it ever recommended."""

    def __init__(
        self,
        router: str,
        eligible: Eligibility,
        names: Mapping[str, str],
        *,
        trusted: bool = False,
        kept: int = KEPT,
    ) -> None:
        self._router = router
        self._eligible = eligible
        self._names = names
        self._trusted = trusted
        self._kept = kept
        self._recommended: set[str] = set()
        self._people: People | None = None
        self._bots: NDArray[np.bool_] = np.zeros(0, dtype=bool)
        self._any_bot = False
        self._ever: NDArray[np.bool_] = np.zeros(0, dtype=bool)

    def recommended(self) -> set[str]:
        """Everybody who was on a list, folded."""
        people = [] if self._people is None else self._people.logins
        return self._recommended.union(fold(people[number]) for number in np.flatnonzero(self._ever).tolist())

    def read(self, ranking: object, pull_request: PullRequest, targets: Sequence[str]) -> Answer:
        """The answer; UsageError where a ranking is none."""
        if not (self._trusted and isinstance(ranking, Ranking)):
            ranking = check_ranking(ranking, self._router, pull_request)
        candidates, risk = ranking
        if isinstance(candidates, Scored):
            return self._read_arrays(candidates, risk, pull_request, targets)
        listed = [
            (self._names.get(fold(login), login), score)
            for login, score in candidates
            if self._eligible(login, pull_request.author)
        ]
        wanted = {fold(target) for target in targets}
        keys = [fold(login) for login, _ in listed]
        self._recommended.update(keys)
        return Answer(
            tuple(login for login, _ in listed[: self._kept]),
            tuple(score for _, score in listed[: self._kept]),
            len(listed),
            next((position for position, key in enumerate(keys, 1) if key in wanted), 0),
            risk,
        )

    def _read_arrays(
        self, scored: Scored, risk: str, pull_request: PullRequest, targets: Sequence[str]
    ) -> Answer:
        """The same on arrays: what our own routers return needs no check, and may be long."""
        people = self._meet(scored.people)
        numbers, scores = scored.numbers, scored.scores
        if self._any_bot:
            people_only = ~self._bots[numbers]
            numbers, scores = numbers[people_only], scores[people_only]
        author = None if pull_request.author is None else people.find(pull_request.author)
        if author is not None and not self._eligible.include_author:
            others = numbers != author
            numbers, scores = numbers[others], scores[others]
        self._ever[numbers] = True
        places = [
            int(found[0])
            for target in targets
            if (number := people.find(target)) is not None and len(found := (numbers == number).nonzero()[0])
        ]
        return Answer(
            tuple(map(people.logins.__getitem__, numbers[: self._kept].tolist())),
            tuple(scores[: self._kept].tolist()),
            len(numbers),
            min(places) + 1 if places else 0,
            risk,
        )

    def _meet(self, people: People) -> People:
        self._people = people
        known = len(self._bots)
        if len(people) > known:
            fresh = people.logins[known:]
            barred = [not self._eligible.include_bots and self._eligible.is_bot(login) for login in fresh]
            self._bots = np.concatenate((self._bots, np.array(barred, dtype=bool)))
            self._any_bot = bool(self._bots.any())
            self._ever = np.concatenate((self._ever, np.zeros(len(fresh), dtype=bool)))
        return people

    def predicted(self, prediction: Prediction | None, targets: Sequence[str]) -> Answer:
        """The answer of a router that already ran, scored as given; without one, a miss."""
        if prediction is None:
            return Answer()
        wanted = {fold(target) for target in targets}
        keys = [fold(login) for login in prediction.candidates]
        self._recommended.update(keys)
        return Answer(
            prediction.candidates[: self._kept],
            None,
            len(keys),
            next((position for position, key in enumerate(keys, 1) if key in wanted), 0),
            prediction.risk,
        )


def check_ranking(ranking: object, router: str, pull_request: PullRequest) -> Ranking:
    """The ranking in a Ranking, in `(candidates, risk)` or in a bare list; UsageError otherwise."""
    risk: object = "unknown"
    candidates: object = ranking
    if isinstance(ranking, tuple) and len(ranking) == 2 and not isinstance(ranking[1], (tuple, list)):
        candidates, risk = ranking

    def refuse(what: str) -> UsageError:
        return UsageError(
            f"router {router}, {pull_request.repo}#{pull_request.pr}: {what}. "
            "Return Ranking([(login, score), ...], risk), best first."
        )

    if risk not in RISKS:
        raise refuse(f"risk {risk!r} is none of {', '.join(RISKS)}")
    if not isinstance(candidates, Sequence) or isinstance(candidates, (str, bytes)):
        raise refuse(f"rank returned {type(candidates).__name__}, not a list of (login, score)")
    checked: list[tuple[str, float]] = []
    seen: set[str] = set()
    for candidate in candidates:
        match candidate:
            case (str(login), score) if login and isinstance(score, (int, float, np.number)):
                value = float(score)
            case _:
                raise refuse(f"candidate {_short(candidate)} is not (login, score)")
        if not math.isfinite(value):
            raise refuse(f"the score of {login} is {value}")
        if checked and value > checked[-1][1]:
            raise refuse(f"{login} comes after {checked[-1][0]} but has the higher score")
        key = fold(login)
        if key in seen:
            raise refuse(f"{login} is listed twice")
        seen.add(key)
        checked.append((login, value))
    return Ranking(checked, str(risk))


def _short(thing: object) -> str:
    text = repr(thing)
    return text if len(text) <= 60 else text[:57] + "..."
