"""Whether the people on a list had worked on the files before, beside those who really responded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from metareview.model.measure import Measure
from metareview.routing.measures import mean_of, parts_of
from metareview.routing.records import RoutingRecord
from metareview.routing.weeks import by_week, week_of
from metareview.stats import Interval, intervals

Figures = Mapping[str, float | None]


def expertise_at(k: int, column: int = 1) -> Measure:
    """expertise@k: the share of pull requests with known files on which one of the first k had worked before."""
    name = f"expertise@{k}"
    return Measure(
        name=name,
        short=name,
        label=name,
        definition=(
            f"pull requests of which one of the first {k} listed had changed or reviewed a file before the cutoff"
            " / pull requests with known files"
        ),
        formula=mean_of(column),
        parts=parts_of(column),
    )


def expertise_measures(ks: Iterable[int]) -> list[Measure]:
    return [expertise_at(k, column) for column, k in enumerate(ks, 1)]


def expertise_worth(ks: Sequence[int]) -> Callable[[int | None], Figures]:
    """What the place of the first expert is worth: 1 or 0 for each k, null where the files are not known."""

    @cache
    def worth(place: int | None) -> Figures:
        return {f"expertise@{k}": None if place is None else int(0 < place <= k) for k in ks}

    return worth


def first_expert(people: Iterable[str], experts: Collection[str]) -> int:
    """The place, from 1, of the first of these people who is an expert; 0: none is."""
    return next((place for place, person in enumerate(people, 1) if person in experts), 0)


@dataclass(frozen=True, slots=True)
class RouterExpertise:
    """Of a router's lists: `metrics` has expertise@k by name, over `prs` pull requests with known files."""

    prs: int
    metrics: Figures
    intervals: Mapping[str, Interval | None]
    observed_prs: int
    observed_metrics: Figures
    """The same over pull requests with a truth only, as for those who really responded."""


@dataclass(frozen=True, slots=True)
class ActualExpertise:
    """Of those who really responded: the share of `observed_prs` on which one of them had worked on a file before."""

    prs: int
    unknown: int
    """Pull requests whose files are not known, which no figure of expertise counts."""
    observed_prs: int
    expertise: float | None
    interval: Interval | None


def actual_expertise(records: Sequence[RoutingRecord]) -> ActualExpertise | None:
    """None where no pull request has files."""
    known = [record for record in records if record.files]
    if not known:
        return None
    told = [record for record in known if record.truth_expertise is not None]
    measure = expertise_at(1)
    table = np.array([(1.0, bool(record.truth_expertise)) for record in told], np.float64).reshape(-1, 2)
    ends = intervals(by_week(table, [week_of(record.cutoff) for record in told]), [measure])[measure.name]
    return ActualExpertise(len(known), len(records) - len(known), len(told), measure.value(table.sum(axis=0)), ends)


def router_expertise(records: Sequence[RoutingRecord], router: str, ks: Sequence[int]) -> RouterExpertise | None:
    """None where no pull request has files."""
    known = [record for record in records if record.files]
    if not known:
        return None
    measures = expertise_measures(ks)
    table = np.array(
        [(1.0, *(record.answers[router].figures[measure.name] or 0 for measure in measures)) for record in known],
        np.float64,
    )
    observed = np.array([record.truth.state == "observed" for record in known], dtype=bool)
    return RouterExpertise(
        len(known),
        _values(measures, table),
        intervals(by_week(table, [week_of(record.cutoff) for record in known]), measures),
        int(observed.sum()),
        _values(measures, table[observed]),
    )


def _values(measures: Sequence[Measure], table: NDArray[np.float64]) -> dict[str, float | None]:
    sums = table.sum(axis=0)
    return {measure.name: measure.value(sums) for measure in measures}
