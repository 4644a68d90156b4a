"""The leaderboard of the routers of one run, from the sums by unit that the run has when it was just made.

It is the one that `leaderboard` makes of the run's records, of which there may be a million.
"""

from __future__ import annotations

import numpy as np

from metareview.comparison import competitors
from metareview.comparison.standings import MIN_COVERAGE, TIES_AT, Figures, Leaderboard, Standing, unit_warnings
from metareview.model.measure import find_measure
from metareview.runs.run import RoutingRun
from metareview.stats import Array
from metareview.ties import pairwise_tests, tie_letters


def weekly_board(run: RoutingRun) -> Leaderboard | None:
    """Every router that has figures, the best MRR first; None where the run does not have its sums by unit."""
    summary = run.result
    routers = {name: router for name, router in summary.routers.items() if not router.not_applicable}
    units: dict[str, Array] = {}
    for name, router in routers.items():
        if router.by_unit is None:
            return None
        units[name] = np.array(router.by_unit)
    measures = summary.measures
    measure = find_measure(competitors.main_measure(run), measures, "--sort")
    ranked = sorted(routers, key=lambda name: (-(routers[name].metrics[measure.name] or 0.0), name))
    pairs = pairwise_tests({name: units[name] for name in ranked}, measure, alpha=TIES_AT)
    ties = tie_letters(ranked, [pair for pair, test in pairs.items() if test.separated])

    def standing(rank: int, name: str) -> Standing:
        figures = Figures(routers[name].metrics, routers[name].intervals, None)
        folder = competitors.folder_of(run)
        return Standing(rank, name, ties[name], name, folder, run, summary.prs, summary.prs, figures, figures)

    return Leaderboard(
        kind=run.kind.name,
        sort=measure,
        beta=None,
        measures=measures,
        prs=summary.prs,
        min_coverage=MIN_COVERAGE,
        all_prs=False,
        rows=[standing(rank, name) for rank, name in enumerate(ranked, 1)],
        unranked=[],
        pairs=pairs,
        units=summary.units,
        warnings=list(unit_warnings(summary.units)),
    )
