"""Rankings held against the truth: who of them is eligible, and where the first right person is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from metareview.model.event import Eligibility, PullRequest, fold
from metareview.model.prediction import Prediction
from metareview.routing.counted import Asked, Counted, find_together
from metareview.routing.expertise import expertise_worth
from metareview.routing.list_measures import MAP, ListMeasure, Places, RoutingMeasure
from metareview.routing.measures import MRR, RankMeasure
from metareview.routing.protocol import Candidates, Ranking
from metareview.routing.ranking import Numbered, People
from metareview.routing.records import RouterAnswer, Truth

KEPT = 20
"""How many candidates of a list are kept for the record; ranks are counted on all of them."""

_BLOCK = 2**16
"""How many people in all, each counted once for each ranking, are looked at together: half a megabyte of them."""

RECIPROCAL_RANK = "reciprocal_rank"
_OF_K = ("hit@", "ndcg@", "recall@", "expertise@")
_Read = tuple[tuple[str, ...], tuple[float, ...] | None, int, tuple[int, ...]]
"""The first logins, their scores, how many there are in all, and the ranks of the targets, rising."""


Figures = Mapping[str, float | None]


def rank_worth(measures: Sequence[RankMeasure]) -> Callable[[int], Figures]:
    """What a rank is worth: hits as whole numbers, and the reciprocal rank. One mapping for all that share a rank."""
    hits = [measure for measure in measures if measure.name != MRR.name]

    @cache
    def worth(rank: int) -> Figures:
        return {hit.name: int(hit.of_rank(rank)) for hit in hits} | {RECIPROCAL_RANK: MRR.of_rank(rank) or 0}

    return worth


def is_figure(key: str) -> bool:
    """Whether this key of a stored answer is one of its figures."""
    return key.startswith(_OF_K) or key in (RECIPROCAL_RANK, MAP.figure)


Worth = Callable[[Places, int | None], Figures]
"""What the places of all targets are worth, and that of the first expert; None: who is one is not known."""


def places_worth(measures: Sequence[RoutingMeasure], ks: Sequence[int]) -> Worth:
    """The figures of an answer. One mapping for all that share their places."""
    of_lists = [measure for measure in measures if isinstance(measure, ListMeasure)]
    of_rank = rank_worth([measure for measure in measures if isinstance(measure, RankMeasure)])

    of_expert = expertise_worth(ks)

    @cache
    def of_first(rank: int, expert: int | None) -> Figures:
        return {**of_rank(rank), **of_expert(expert)}

    @cache
    def of_all(places: Places, expert: int | None) -> Figures:
        of_each = {measure.figure: measure.worth(places) for measure in of_lists}
        return {**of_rank(places.first), **of_each, **of_expert(expert)}

    return of_all if of_lists else lambda places, expert: of_first(places.first, expert)


class AnswerReader:
    """Turns one router's rankings of one repository into answers.

    A router that has thousands of people gives them as numbers, so that a list costs a few array operations.
    """

    def __init__(self, eligible: Eligibility, names: Mapping[str, str], *, worth: Worth, kept: int = KEPT) -> None:
        self._eligible = eligible
        self._names = names
        self._kept = kept
        self._worth = worth
        self._shown: dict[str, str] = {}
        """By login as the router writes it, the login as the history does."""
        self._is_bot: dict[str, bool] = {}
        self._bots = np.zeros(0, dtype=bool)
        self._any_bot = False

    def read_all(
        self, rankings: Iterable[Ranking], pull_requests: Iterable[PullRequest], truths: Iterable[Truth]
    ) -> Iterator[RouterAnswer]:
        """The answer in each ranking, in order, without the author and bots unless they are included."""
        block: list[tuple[Ranking, Asked]] = []
        for ranking, pull_request, truth in zip(rankings, pull_requests, truths, strict=True):
            author = None if self._eligible.include_author else pull_request.author
            candidates = ranking.candidates
            if type(candidates) is Counted:
                block.append((ranking, Asked(candidates, author, truth.targets)))
                if len(block) * len(candidates.people) < _BLOCK:
                    continue
            yield from self._read_block(block)
            block = []
            if type(candidates) is not Counted:
                yield self._answer(ranking, self._read_one(candidates, author, truth.targets), truth.targets)
        yield from self._read_block(block)

    def _read_block(self, block: Sequence[tuple[Ranking, Asked]]) -> Iterator[RouterAnswer]:
        if block:
            people = block[0][1].candidates.people
            self._meet(people)
            together = find_together([asked for _, asked in block], self._bots, self._kept)
            for (ranking, asked), found in zip(block, together, strict=True):
                if found is None:
                    yield self._answer(ranking, self._read_one(*asked), asked.targets)
                else:
                    logins = tuple(map(people.logins.__getitem__, found.numbers))
                    read = logins, tuple(found.scores), found.listed, found.ranks
                    yield self._answer(ranking, read, asked.targets)

    def _answer(self, ranking: Ranking, read: _Read, targets: Sequence[str]) -> RouterAnswer:
        _, risk, evidence, notes = ranking
        logins, scores, listed, ranks = read
        remarks = (notes,) if isinstance(notes, str) else tuple(notes)
        figures, rank = self._worth(Places(ranks, len(targets)), None), ranks[0] if ranks else 0
        kept = ranks if MAP.figure in figures else ()
        return RouterAnswer(logins, scores, listed, rank, risk, figures, evidence, remarks, kept)

    def _read_one(self, candidates: Candidates, author: str | None, targets: Sequence[str]) -> _Read:
        if type(candidates) is list or not isinstance(candidates, Numbered):
            return self._read_pairs(candidates, author, targets)
        return self._read_numbers(candidates, author, targets)

    def _read_pairs(self, candidates: Candidates, author: str | None, targets: Sequence[str]) -> _Read:
        pairs = [
            (name, score)
            for login, score in candidates
            if (name := self._name(login)) != author and not self._leaves_out(name)
        ]
        ranks = tuple([at for at, (name, _) in enumerate(pairs, 1) if name in targets])
        shown = pairs[: self._kept]
        return tuple(name for name, _ in shown), tuple(score for _, score in shown), len(pairs), ranks

    def _read_numbers(self, candidates: Numbered, author: str | None, targets: Sequence[str]) -> _Read:
        """Such a router always has the same people, and they are written as the history writes them."""
        people = candidates.people
        self._meet(people)
        if self._any_bot:
            candidates = candidates.without(self._bots)
        shown, scores = candidates.first(self._kept + 1)

        def place(login: str) -> int:
            number = people.find(login)
            if number is None:
                return -1
            return shown.index(number) if number in shown else candidates.place(number)

        without = -1 if author is None else place(author)
        found = [place(target) for target in targets]
        ranks = [at + 1 - (0 <= without < at) for at in found if at >= 0 and at != without]
        if 0 <= without < len(shown):
            del shown[without], scores[without]
        listed, logins = len(candidates) - (without >= 0), people.logins
        first = tuple([logins[number] for number in shown[: self._kept]])
        return first, tuple(scores[: self._kept]), listed, tuple(sorted(ranks))

    def read_prediction(self, prediction: Prediction | None, targets: Sequence[str]) -> RouterAnswer:
        """The answer of a router that already ran, scored as given; without one, a miss."""
        if prediction is None:
            return RouterAnswer(figures=self._worth(Places((), len(targets)), None))
        logins = prediction.candidates
        ranks = tuple([at for at, login in enumerate(logins, 1) if self._name(login) in targets])
        given = Ranking((), prediction.risk, prediction.evidence, prediction.notes)
        read = logins[: self._kept], None, len(logins), ranks
        return self._answer(given, read, targets)

    def _name(self, login: str) -> str:
        """The login of a person, who is one in any case."""
        name = self._shown.get(login)
        if name is None:
            name = self._shown[login] = self._names.get(fold(login), login)
        return name

    def _leaves_out(self, name: str) -> bool:
        is_bot = self._is_bot.get(name)
        if is_bot is None:
            is_bot = self._is_bot[name] = not self._eligible.include_bots and self._eligible.is_bot(name)
        return is_bot

    def _meet(self, people: People) -> None:
        """Make room for those who are new."""
        if len(people) > len(self._bots):
            bots = [self._leaves_out(login) for login in people.logins[len(self._bots) :]]
            self._bots = np.append(self._bots, bots)
            self._any_bot |= any(bots)
