"""`metareview leaderboard`: everybody in one table, and who is tied with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from metareview.cli.options import (
    PATH,
    Paths,
    common_options,
    completing,
    metrics_to_choose,
    table_output_option,
    unit_option,
)
from metareview.cli.output import Screen, append_step_summary, warning_lines

if TYPE_CHECKING:
    from metareview.report.tables import Table


@click.command(epilog="Example: metareview leaderboard runs/* --sort recall")
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("--sort", metavar="METRIC", shell_complete=completing(metrics_to_choose),
              help="What decides the rank and the ties.  [default: f1, mrr, or lines_changed of outcomes]")  # fmt: skip
@click.option("--beta", type=float, metavar="B", help="Adds f_beta, and sorts by it: above 1 recall counts more.")
@click.option("--min-coverage", type=float, default=0.8, show_default=True, metavar="SHARE",
              help="Rank whoever has at least this share of the pull requests that anybody has.")  # fmt: skip
@click.option("--all-prs", is_flag=True,
              help="Rank everybody on all pull requests; what one has no file for is its silence.")  # fmt: skip
@unit_option
@click.option("--mixed-examples", is_flag=True,
              help="Go on, with a warning, where judges learned from different --examples.")  # fmt: skip
@table_output_option
@common_options
def command(
    runs: Paths,
    sort: str | None,
    beta: float | None,
    min_coverage: float,
    all_prs: bool,
    unit: str | None,
    mixed_examples: bool,
    outputs: Paths,
    screen: Screen,
) -> None:
    """Rank the reviewers, or routers, of all RUNS. Whoever shares a letter is tied. Reviewers of outcomes are ranked on
    the pull requests that each has."""
    from metareview.comparison.leaderboard import leaderboard
    from metareview.report import TABLE_FORMATS, check_path
    from metareview.report.comparison import costs_of_standings, leaderboard_section, leaderboard_table, ties_remark
    from metareview.report.comparison_files import write_table
    from metareview.report.outcomes import IN_BRACKETS
    from metareview.report.tables import costs_table

    targets = [check_path(path, TABLE_FORMATS) for path in outputs]
    result = leaderboard(
        runs, sort=sort, beta=beta, min_coverage=min_coverage, all_prs=all_prs, mixed_examples=mixed_examples, unit=unit
    )
    screen.say(warning_lines(result.warnings))
    append_step_summary(lambda: leaderboard_section(result))
    remarks = [ties_remark(result), *([] if result.paired else [IN_BRACKETS])]
    remarks += [f"Wrote {write_table(result, target)}" for target in targets]
    costs = costs_table(costs_of_standings(result))
    tables: list[str | Table] = [leaderboard_table(result, kinds_of_cost=1)]
    if costs:
        tables += ["", costs]
    screen.show(result.to_dict(), *tables, "", result.headline, remarks=remarks)
