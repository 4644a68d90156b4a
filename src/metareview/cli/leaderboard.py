"""`metareview leaderboard`: everybody in one table, and who is tied with whom."""

from __future__ import annotations

from pathlib import Path

import click

from metareview.cli.options import PATH, common_options
from metareview.cli.output import Screen, append_step_summary


@click.command(epilog="Example: metareview leaderboard runs/* --sort recall")
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("--sort", metavar="METRIC", help="What decides the rank and the ties.  [default: f1, or mrr]")
@click.option("--beta", type=float, metavar="B", help="Adds f_beta, and sorts by it: above 1 recall counts more.")
@common_options
def command(runs: tuple[Path, ...], sort: str | None, beta: float | None, screen: Screen) -> None:
    """Rank the reviewers, or routers, of all RUNS. Whoever shares a letter is tied."""
    from metareview.comparison.leaderboard import leaderboard
    from metareview.report.comparison import TIES, leaderboard_section, leaderboard_table

    result = leaderboard(runs, sort=sort, beta=beta)
    screen.warn(result.warnings)
    append_step_summary(leaderboard_section(result))
    screen.show(result.to_dict(), leaderboard_table(result), remarks=[TIES])
