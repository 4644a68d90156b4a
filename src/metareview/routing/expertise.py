"""Whether the people on a list had worked on the files before, beside those who really responded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from metareview.model.measure import Measure
from metareview.routing.measures import mean_of, parts_of
from metareview.routing.sums import Expert, Pull
from metareview.routing.weekly_cells import Cell, WeeklyCells
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


def actual_expertise(pulls: Counter[Pull]) -> ActualExpertise | None:
    """None where no pull request has files."""
    known = sum(number for pull, number in pulls.items() if pull.has_files)
    if not known:
        return None
    measure = expertise_at(1)
    told = WeeklyCells(
        (
            Cell((pull.week, pull.repo), True, (float(pull.truth_expertise),), number)
            for pull, number in pulls.items()
            if pull.has_files and pull.truth_expertise is not None
        ),
        1,
    )
    sums = told.sums()
    ends = intervals(told.rows(), [measure])[measure.name]
    return ActualExpertise(known, pulls.total() - known, int(sums[0]), measure.value(sums), ends)


def router_expertise(experts: Counter[Expert], ks: Sequence[int]) -> RouterExpertise | None:
    """None where no pull request has files."""
    if not experts:
        return None
    measures = expertise_measures(ks)
    cells = WeeklyCells(
        (
            Cell((week, repo), observed, tuple([float(0 < first <= k) for k in ks]), number)
            for (week, repo, observed, first), number in experts.items()
        ),
        len(ks),
    )
    everybody, observed_only = cells.sums(), cells.sums(observed=True)
    return RouterExpertise(
        int(everybody[0]),
        {measure.name: measure.value(everybody) for measure in measures},
        intervals(cells.rows(), measures),
        int(observed_only[0]),
        {measure.name: measure.value(observed_only) for measure in measures},
    )
