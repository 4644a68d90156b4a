"""`metareview compare`: is one better than the other, or can the data not tell?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metareview.cli.options import (
    PATH,
    Paths,
    common_options,
    completing,
    metrics_to_choose,
    one_of,
    table_output_option,
)
from metareview.cli.output import Screen, append_step_summary, warning_lines
from metareview.errors import GateFailed, Undecided

if TYPE_CHECKING:
    from metareview.comparison.verdict import Comparison, MetricDifference

KINDS = ("severity", "category", "path", "week")
"""Of comments, for --by."""


@click.command(epilog="Example: metareview compare runs/before runs/after --fail-if-worse f1")
@click.argument("run_a", type=PATH)
@click.argument("run_b", type=PATH, required=False)
@click.option("--reviewer", "reviewers", multiple=True, metavar="NAME",
              help="The reviewer or router to compare: once for both runs, or twice, A's and B's.")  # fmt: skip
@click.option("--fail-if-worse", multiple=True, metavar="METRIC", shell_complete=completing(metrics_to_choose),
              help="Exit 3 where B is worse than A by more than chance explains; repeatable.")  # fmt: skip
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Level of significance, after Holm's correction."
)
@click.option("--common", is_flag=True, help="Compare on the pull requests that both have; of outcomes then paired.")
@click.option("--plan", type=float, metavar="D",
              help="Say how many pull requests a true difference of D would take, such as 0.05.")  # fmt: skip
@click.option("--by", multiple=True, metavar="KIND", shell_complete=one_of(*KINDS),
              help=f"For outcomes: lines changed by {', '.join(KINDS)} of the comments; repeatable.")  # fmt: skip
@click.option("--mixed-examples", is_flag=True,
              help="Go on, with a warning, where the two judges learned from different --examples.")  # fmt: skip
@table_output_option
@common_options
def command(
    run_a: Path,
    run_b: Path | None,
    reviewers: tuple[str, ...],
    fail_if_worse: tuple[str, ...],
    alpha: float,
    common: bool,
    plan: float | None,
    by: tuple[str, ...],
    mixed_examples: bool,
    outputs: Paths,
    screen: Screen,
) -> None:
    """Compare RUN_B with RUN_A, or two reviewers of one run, paired by pull request; runs of outcomes on the pull
    requests that each has, as two independent samples."""
    from metareview.comparison.paired import compare
    from metareview.model.measure import find_measure
    from metareview.report import TABLE_FORMATS, check_path
    from metareview.report.comparison import comparison_lines, comparison_section, comparison_table, slice_tables
    from metareview.report.comparison_files import write_table
    from metareview.report.outcomes import IN_BRACKETS

    targets = [check_path(path, TABLE_FORMATS) for path in outputs]
    result = compare(
        run_a, run_b, reviewers=reviewers, common=common, alpha=alpha, plan=plan, by=by, mixed_examples=mixed_examples
    )
    measures = [metric.measure for metric in result.metrics.values()]
    names = dict.fromkeys(find_measure(text, measures, "--fail-if-worse").name for text in fail_if_worse)
    screen.say(warning_lines(result.warnings))
    append_step_summary(lambda: comparison_section(result))
    slices = [part for title, table in slice_tables(result) for part in ("", title, table)]
    remarks = [IN_BRACKETS] if result.samples else []
    remarks += [f"Wrote {write_table(result, target)}" for target in targets]
    screen.show(result.to_dict(), comparison_table(result), *slices, *comparison_lines(result), remarks=remarks)
    _check(result, [result.metrics[name] for name in names])


def _check(result: Comparison, watched: Sequence[MetricDifference]) -> None:
    """Exit 3 where B lost on one of these metrics; 4 where undecided pairs leave that open."""
    from metareview.report.numbers import p_value, rate

    undecided = sum(result.undecided.values())
    if result.samples is not None and not any(metric.measure.needs for metric in watched):
        undecided = 0  # no judge was asked about these
    if watched and undecided:
        what = "pairs" if result.samples is None else "comments"
        raise Undecided(
            f"{undecided} {what} are undecided, so no loss can be ruled out. Run the command that made the run again,"
            " with the same --out, to ask for them."
        )
    lost = [
        f"{metric.measure} is {rate(metric.b)}, was {rate(metric.a)} (p {p_value(metric.p_holm)} after Holm)"
        for metric in watched
        if metric.is_loss(result.alpha)
    ]
    if lost:
        raise GateFailed(f"{result.b.label} is worse than {result.a.label}:", lost)
