"""`metareview leaderboard`: everybody in one table, and who is tied with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from metareview.cli.options import PATH, Paths, common_options, completing, metrics_to_choose
from metareview.cli.output import Screen, append_step_summary, warning_lines

if TYPE_CHECKING:
    from metareview.report.tables import Table


@click.command(epilog="Example: metareview leaderboard runs/* --sort recall")
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("--sort", metavar="METRIC", shell_complete=completing(metrics_to_choose),
              help="What decides the rank and the ties.  [default: f1, or mrr]")  # fmt: skip
@click.option("--beta", type=float, metavar="B", help="Adds f_beta, and sorts by it: above 1 recall counts more.")
@click.option("--min-coverage", type=float, default=0.8, show_default=True, metavar="SHARE",
              help="Rank whoever has at least this share of the pull requests that anybody has.")  # fmt: skip
@click.option("--all-prs", is_flag=True,
              help="Rank everybody on all pull requests; what one has no file for is its silence.")  # fmt: skip
@common_options
def command(
    runs: Paths, sort: str | None, beta: float | None, min_coverage: float, all_prs: bool, screen: Screen
) -> None:
    """Rank the reviewers, or routers, of all RUNS. Whoever shares a letter is tied."""
    from metareview.comparison.leaderboard import leaderboard
    from metareview.report.comparison import TIES, costs_of_standings, leaderboard_section, leaderboard_table
    from metareview.report.tables import costs_table

    result = leaderboard(runs, sort=sort, beta=beta, min_coverage=min_coverage, all_prs=all_prs)
    screen.say(warning_lines(result.warnings))
    append_step_summary(lambda: leaderboard_section(result))
    costs = costs_table(costs_of_standings(result))
    tables: list[str | Table] = [leaderboard_table(result, every_cost=False)]
    if costs:
        tables += ["", costs]
    screen.show(result.to_dict(), *tables, "", result.headline, remarks=[TIES])
