"""From records to what they add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress

from metareview.model.event import fold
from metareview.routing.list_measures import SEVERAL, Places
from metareview.routing.queue import waits_of
from metareview.routing.records import RouterAnswer, RoutingRecord
from metareview.routing.summary import RoutingConfig
from metareview.routing.sums import (
    Declared,
    Expert,
    Outcomes,
    Pull,
    Ranked,
    Risks,
    RouterSums,
    RoutingSums,
    needs_repositories,
)
from metareview.routing.weeks import week_of

NO_OUTCOMES = Outcomes()


def sum_up(records: Sequence[RoutingRecord], config: RoutingConfig, outcomes: Outcomes = NO_OUTCOMES) -> RoutingSums:
    """The sums of these records, with what the replay counted on their repositories.

    Each thing is looked at in all records before the next one is: counting a sequence costs a fraction of a loop.
    """
    scored = _Scored(records)
    return RoutingSums(
        pulls=scored.pulls(),
        declared=_declared(records),
        targets=Counter(fold(target) for record in records for target in record.truth.targets),
        unknown=Counter(record.repo for record in records if record.truth.state == "unknown"),
        waits={risks: waits_of(each) for risks, each in _by_risks(records, config.routers).items()},
        routers={name: scored.router(name, config) for name in config.routers},
        outcomes=outcomes,
    )


class _Scored:
    """Records, and what is counted of them for every router, in their order."""

    def __init__(self, records: Sequence[RoutingRecord]) -> None:
        self._records = records
        weeks = [week_of(record.cutoff) for record in records]
        apart = needs_repositories(weeks)
        self._places = [(week, record.repo if apart else "") for week, record in zip(weeks, records, strict=True)]
        self._states = [record.truth.state for record in records]
        self._observed = [state == "observed" for state in self._states]
        self._has_files = [record.files > 0 for record in records]

    def pulls(self) -> Counter[Pull]:
        experts = [record.truth_expertise for record in self._records]
        found = Counter(zip(self._places, self._states, self._has_files, experts, strict=True))
        return Counter(
            {Pull(*place, state, has_files, told): number for (place, state, has_files, told), number in found.items()}
        )

    def router(self, name: str, config: RoutingConfig) -> RouterSums:
        answers = [record.answers[name] for record in self._records]
        return RouterSums(
            answered=sum([answer.listed > 0 for answer in answers]),
            ranked=self._all_places(answers) if config.truth == SEVERAL else self._first_places(answers),
            experts=self._experts(answers, config.ks),
            firsts=_firsts(answers),
        )

    def _all_places(self, answers: Iterable[RouterAnswer]) -> Counter[Ranked]:
        places = [
            Places(answer.ranks or ((answer.rank,) if answer.rank else ()), len(record.truth.targets))
            for answer, record in zip(answers, self._records, strict=True)
        ]
        found = Counter(zip(self._places, self._observed, places, strict=True))
        return Counter({Ranked(*at, observed, each): number for (at, observed, each), number in found.items()})

    def _first_places(self, answers: Iterable[RouterAnswer]) -> Counter[Ranked]:
        ranks = [answer.rank for answer in answers]
        found = Counter(zip(self._places, self._observed, ranks, strict=True))
        return Counter(
            {
                Ranked(*place, observed, _one_place(rank, observed)): number
                for (place, observed, rank), number in found.items()
            }
        )

    def _experts(self, answers: Sequence[RouterAnswer], ks: Sequence[int]) -> Counter[Expert]:
        if not any(self._has_files):
            return Counter()
        names = [(k, f"expertise@{k}") for k in ks]
        # Answers share their figures, so that there are far fewer of these than answers.
        shared = {id(answer.figures): answer.figures for answer in compress(answers, self._has_files)}
        first = {key: next((k for k, name in names if figures[name]), 0) for key, figures in shared.items()}
        firsts = [first[id(answer.figures)] for answer in compress(answers, self._has_files)]
        places, observed = compress(self._places, self._has_files), compress(self._observed, self._has_files)
        found = Counter(zip(places, observed, firsts, strict=True))
        return Counter({Expert(*place, seen, first): number for (place, seen, first), number in found.items()})


@lru_cache(maxsize=4096)
def _one_place(rank: int, observed: bool) -> Places:
    """Where one person is right; held once for all weeks and routers."""
    return Places((rank,) if rank else (), int(observed))


def _firsts(answers: Iterable[RouterAnswer]) -> Counter[str]:
    firsts = Counter([answer.candidates[0] for answer in answers if answer.candidates])
    folded: Counter[str] = Counter()
    for login, number in firsts.items():
        folded[fold(login)] += number
    return folded


def _declared(records: Iterable[RoutingRecord]) -> Counter[Declared]:
    found = Counter(
        [
            (each.issue, each.ai_disclosure, each.provenance, record.merged, record.merged_within)
            for record in records
            for each in (record.declarations,)
        ]
    )
    return Counter({Declared(*key): number for key, number in found.items()})


def _by_risks(
    records: Iterable[RoutingRecord], routers: Sequence[str]
) -> dict[Risks, list[tuple[float | None, float | None, int]]]:
    waits: dict[Risks, list[tuple[float | None, float | None, int]]] = {}
    for record in records:
        answers = record.answers
        risks = tuple([answers[name].risk for name in routers])
        waits.setdefault(risks, []).append((record.ttfr_seconds, record.ttfc_seconds, record.cutoff))
    return waits
