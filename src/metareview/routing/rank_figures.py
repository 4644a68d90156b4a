"""One router's figures over the records of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metareview.routing.list_measures import RoutingMeasure
from metareview.routing.measures import RankMeasure
from metareview.routing.records import RoutingRecord
from metareview.routing.weeks import by_week
from metareview.stats import Interval, intervals


class RankFigures:
    """What a router's ranks are worth under each measure, one value per pull request."""

    def __init__(self, records: Sequence[RoutingRecord], router: str, measures: Sequence[RoutingMeasure]) -> None:
        answers = [record.answers[router] for record in records]
        ranks = np.fromiter((answer.rank for answer in answers), np.int64, len(answers))
        self._measures = measures
        self._columns: list[NDArray[np.float64]] = [
            measure.worth(ranks)
            if isinstance(measure, RankMeasure)
            else np.array([answer.figures.get(measure.figure) or 0.0 for answer in answers], np.float64)
            for measure in measures
        ]

    def means(self, chosen: NDArray[np.bool_] | None = None) -> dict[str, float | None]:
        """By the name of the measure, over all pull requests or the chosen ones. None for none of them."""
        return {
            measure.name: float(values.mean()) if len(values) else None
            for measure, column in zip(self._measures, self._columns, strict=True)
            for values in [column if chosen is None else column[chosen]]
        }

    def intervals(self, weeks: Sequence[int]) -> dict[str, Interval | None]:
        """Over the weeks that the pull requests are of."""
        table = np.column_stack([np.ones(len(weeks)), *self._columns])
        return intervals(by_week(table, weeks), self._measures)

    def absent(self) -> dict[str, None]:
        """Of a router that is not applicable."""
        return {measure.name: None for measure in self._measures}
