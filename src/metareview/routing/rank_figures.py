"""One router's figures over the pull requests of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from metareview.routing.list_measures import Places, RoutingMeasure
from metareview.routing.measures import RankMeasure
from metareview.routing.sums import Ranked
from metareview.routing.weekly_cells import Cell, UnitRows, WeeklyCells
from metareview.stats import Interval, intervals


class RankFigures:
    """What the places of the truth in a router's lists are worth under each measure."""

    def __init__(self, ranked: Counter[Ranked], measures: Sequence[RoutingMeasure]) -> None:
        self._measures = measures
        worths = [_worth(measure) for measure in measures]

        @cache
        def worth(places: Places) -> tuple[float, ...]:
            return tuple([of_one(places) for of_one in worths])

        cells = (
            Cell((week, repo), observed, worth(places), prs) for (week, repo, observed, places), prs in ranked.items()
        )
        self.cells = WeeklyCells(cells, len(measures))

    def means(self, *, observed: bool = False) -> dict[str, float | None]:
        """By the name of the measure, over all pull requests or those with a truth. None for none of them."""
        sums = self.cells.sums(observed=observed)
        return {measure.name: measure.value(sums) for measure in self._measures}

    def intervals(self) -> dict[str, Interval | None]:
        """Over the blocks of weeks that the pull requests are of, or what there is instead."""
        return intervals(self.cells.rows(), self._measures)

    def by_unit(self) -> UnitRows | None:
        """What two routers of one run are compared on, which have the same units; None where those are pull requests,
        which sums do not tell apart."""
        rows = self.cells.by_unit()
        return None if rows is None else tuple(map(tuple, rows.tolist()))

    def absent(self) -> dict[str, None]:
        """Of a router that is not applicable."""
        return {measure.name: None for measure in self._measures}


def _worth(measure: RoutingMeasure) -> Callable[[Places], float]:
    if not isinstance(measure, RankMeasure):
        return measure.worth
    of_rank = cache(measure.of_rank)
    return lambda places: of_rank(places.first)
