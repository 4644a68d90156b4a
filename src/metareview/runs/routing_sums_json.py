"""What the records of a routing run add up to, as cells that anybody can add up.

A cell is a JSON text and a whole number, and sums are nothing else: cells of many parts, with the numbers of equal
texts added up, are the cells of all parts together. So whoever can group by a text and add whole numbers can merge.

What is read must be what was written: a ValueError otherwise.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from typing import Any

import msgspec
import numpy as np

from metareview.model.event import RISKS
from metareview.routing.list_measures import Places
from metareview.routing.multiset import multiset
from metareview.routing.queue import Waits
from metareview.routing.responses import Request
from metareview.routing.sums import (
    Declared,
    Expert,
    Missing,
    Outcomes,
    Pull,
    Ranked,
    Risks,
    RouterSums,
    RoutingSums,
    merged,
)
from metareview.routing.turnover import FilesAtRisk, RecommendedRisk

_MOST = 10**12
"""No cell counts more, so that no sum of millions of them leaves 64 bits."""
_FARTHEST = 2**63

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def cells(sums: RoutingSums) -> Iterator[tuple[str, int]]:
    """Each number of the sums under a text that says what it counts. The text is ASCII, and alone of its kind."""
    return ((_encode(key), number) for key, number in _written(sums))


def from_cells(parts: Iterable[tuple[str, int]]) -> RoutingSums:
    """The sums that these cells are of; cells of several parts need not have been added up."""
    return _read((_parsed(text), number) for text, number in parts)


def _written(sums: RoutingSums) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Everything that is counted, under a key that begins with its kind. What is there though nothing was counted has a
    cell of 0."""
    outcomes = sums.outcomes
    counters: dict[str, Mapping[Any, int]] = {
        "pull": sums.pulls,
        "declared": sums.declared,
        "request": outcomes.requests,
        "missing": outcomes.missing,
    }
    by_name = {"target": sums.targets, "unknown": sums.unknown, "active": outcomes.active}
    yield from (((kind, *key), number) for kind, held in counters.items() for key, number in held.items())
    yield from (((kind, name), number) for kind, held in by_name.items() for name, number in held.items())
    yield ("late",), outcomes.late
    if outcomes.files_at_risk is not None:
        yield from ((("files", at), number) for at, number in enumerate(astuple(outcomes.files_at_risk)))
    for name, risk in outcomes.recommended.items():
        yield from ((("recommended", name, at), number) for at, number in enumerate(astuple(risk)))
    for risks, waits in sums.waits.items():
        for kind, times in zip(_WAITS, (waits.reviewed, waits.unreviewed, waits.commented), strict=True):
            yield from (((kind, risks, value), number) for value, number in times.items())
    for name, router in sums.routers.items():
        yield ("answered", name), router.answered
        for (week, repo, observed, places), number in router.ranked.items():
            yield ("ranked", name, week, repo, observed, places.targets, places.ranks), number
        yield from ((("expert", name, *expert), number) for expert, number in router.experts.items())
        yield from ((("first", name, login), number) for login, number in router.firsts.items())


_WAITS = ("reviewed", "unreviewed", "commented")
_OPEN = (bool, type(None))
_TYPES: dict[str, set[tuple[type, ...]]] = {
    "pull": {(int, str, str, bool, each) for each in _OPEN},
    "declared": {(bool, bool, bool, bool, each) for each in _OPEN},
    "request": {(str, str)},
    "missing": {(str, str)},
    "target": {(str,)},
    "unknown": {(str,)},
    "active": {(str,)},
    "late": {()},
    "files": {(int,)},
    "recommended": {(str, int)},
    "reviewed": {(list, float)},
    "unreviewed": {(list, int)},
    "commented": {(list, float)},
    "answered": {(str,)},
    "ranked": {(str, int, str, bool, int, list)},
    "expert": {(str, int, str, bool, int)},
    "first": {(str, str)},
}
"""Of what stands in a key after its kind."""
_PLACE_OF_LIST = dict.fromkeys(_WAITS, 0) | {"ranked": 5}


def _parsed(text: str) -> Any:
    try:
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError):  # half a surrogate pair, which a login may hold
            return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _read(parts: Iterable[tuple[Any, Any]]) -> RoutingSums:
    """The keys are those of `_written`; tuples are lists."""
    found: dict[str, dict[Any, int]] = {kind: {} for kind in _TYPES}
    for key, number in parts:
        kind, *rest = key if type(key) is list and key else (None,)
        if type(kind) is not str or tuple(map(type, rest)) not in _TYPES.get(kind, ()):
            raise ValueError(f"not a cell of routing sums: {str(key)[:40]!r}")
        if type(number) is not int or not 0 <= number <= _MOST:
            raise ValueError(f"not a count: {str(number)[:40]!r}")
        if (place := _PLACE_OF_LIST.get(kind)) is not None:
            rest[place] = tuple(rest[place])
        of_kind, held = found[kind], tuple(rest)
        try:
            of_kind[held] = of_kind.get(held, 0) + number
        except TypeError:  # a list within a list
            raise ValueError(f"not a cell of routing sums: {str(key)[:40]!r}") from None
    return _built(found)


def _built(found: Mapping[str, Mapping[Any, int]]) -> RoutingSums:
    routers = {name: RouterSums(number) for (name,), number in found["answered"].items()}
    try:
        for (name, week, repo, observed, targets, ranks), number in found["ranked"].items():
            if not all(type(rank) is int and rank > 0 for rank in ranks):
                raise ValueError(f"not ranks: {str(ranks)[:40]!r}")
            routers[name].ranked[Ranked(week, repo, observed, Places(ranks, targets))] = number
        for (name, *expert), number in found["expert"].items():
            routers[name].experts[Expert(*expert)] = number
        for (name, login), number in found["first"].items():
            routers[name].firsts[login] = number
        risk = FilesAtRisk(*_numbers(found["files"])) if found["files"] else None
        names = dict.fromkeys(name for name, _ in found["recommended"])
        recommended = {
            name: RecommendedRisk(*_numbers({(at,): n for (one, at), n in found["recommended"].items() if one == name}))
            for name in names
        }
    except (KeyError, TypeError) as error:
        raise ValueError(f"routing sums lack a cell: {error}") from None
    outcomes = Outcomes(
        risk,
        recommended,
        Counter({Request(*key): number for key, number in found["request"].items()}),
        Counter({Missing(*key): number for key, number in found["missing"].items()}),
        _by_name(found["active"]),
        sum(found["late"].values()),
    )
    sums = RoutingSums(
        Counter({Pull(*key): number for key, number in found["pull"].items()}),
        Counter({Declared(*key): number for key, number in found["declared"].items()}),
        _by_name(found["target"]),
        _by_name(found["unknown"]),
        _waits(found, len(routers)),
        routers,
        outcomes,
    )
    return merged([sums])  # cells of several parts may tell repositories apart that all of them together need not


def _by_name(found: Mapping[tuple[str], int]) -> Counter[str]:
    return Counter({name: number for (name,), number in found.items()})


def _numbers(found: Mapping[tuple[int], int]) -> list[int]:
    """Those of the places 0, 1, 2."""
    return [found[at,] for at in range(len(found))]


def _waits(found: Mapping[str, Mapping[tuple[Risks, float], int]], routers: int) -> dict[Risks, Waits]:
    columns: dict[Risks, list[tuple[list[float], list[int]]]] = {}
    for place, kind in enumerate(_WAITS):
        for (risks, value), number in found[kind].items():
            values, numbers = columns.setdefault(risks, [([], []) for _ in _WAITS])[place]
            values.append(value)
            numbers.append(number)
    for risks, (reviewed, unreviewed, commented) in columns.items():
        if len(risks) != routers or not all(risk in RISKS for risk in risks):
            raise ValueError(f"not the risks of {routers} routers: {str(risks)[:40]!r}")
        if not all(0 <= value < math.inf for value in (*reviewed[0], *commented[0])):
            raise ValueError("a wait is neither 0 nor more seconds")
        if not all(abs(value) < _FARTHEST for value in unreviewed[0]):
            raise ValueError("a cutoff is no instant")
    kinds = (np.float64, np.int64, np.float64)
    return {
        risks: Waits(*(multiset(values, kind, numbers) for kind, (values, numbers) in zip(kinds, held, strict=True)))
        for risks, held in columns.items()
    }
