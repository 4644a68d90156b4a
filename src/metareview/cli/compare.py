"""`metareview compare`: is one better than the other, or can the data not tell?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from metareview.cli.options import (
    PATH,
    Paths,
    common_options,
    completing,
    metrics_to_choose,
    one_of,
    table_output_option,
    unit_option,
)
from metareview.cli.output import Screen, append_step_summary, warning_lines
from metareview.errors import UsageError

if TYPE_CHECKING:
    from metareview.comparison.verdict import Comparison

KINDS = ("severity", "category", "path", "week")
"""Of comments, for --by."""


@click.command(epilog="Example: metareview compare runs/before runs/after --fail-if-worse f1")
@click.argument("run_a", type=PATH)
@click.argument("run_b", type=PATH, required=False)
@click.option("--reviewer", "reviewers", multiple=True, metavar="NAME",
              help="The reviewer or router to compare: once for both runs, or twice, A's and B's.")  # fmt: skip
@click.option("--fail-if-worse", multiple=True, metavar="METRIC", shell_complete=completing(metrics_to_choose),
              help="Exit 3 where B is worse than A by more than chance explains; repeatable.")  # fmt: skip
@click.option("--no-worse", multiple=True, metavar="METRIC=M",
              help="Exit 3 unless the interval shows that B loses no more than M to A; repeatable.")  # fmt: skip
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Level of significance, after Holm's correction."
)
@unit_option
@click.option("--common", is_flag=True, help="Compare on the pull requests that both have; of outcomes then paired.")
@click.option("--plan", type=float, metavar="D",
              help="Say how many pull requests (or other units) a true difference of D would take.")  # fmt: skip
@click.option("--by", multiple=True, metavar="KIND", shell_complete=one_of(*KINDS),
              help=f"For outcomes: lines changed by {', '.join(KINDS)} of the comments; repeatable.")  # fmt: skip
@click.option("--mixed-examples", is_flag=True,
              help="Go on, with a warning, where the two judges learned from different --examples.")  # fmt: skip
@table_output_option
@common_options
def command(outputs: Paths, screen: Screen, **typed: Any) -> None:
    """Compare RUN_B with RUN_A, or two reviewers of one run, paired by pull request; runs of outcomes on the pull
    requests that each has, as two independent samples."""
    from metareview.report import TABLE_FORMATS, check_path
    from metareview.report.build_gates import check_losses
    from metareview.report.comparison import comparison_lines, comparison_section, comparison_table, slice_tables
    from metareview.report.comparison_files import write_table
    from metareview.report.outcomes import IN_BRACKETS

    targets = [check_path(path, TABLE_FORMATS) for path in outputs]
    result = _compared(typed)
    screen.say(warning_lines(result.warnings))
    append_step_summary(lambda: comparison_section(result))
    slices = [part for title, table in slice_tables(result) for part in ("", title, table)]
    remarks = [IN_BRACKETS] if result.samples else []
    remarks += [f"Wrote {write_table(result, target)}" for target in targets]
    screen.show(result.to_dict(), comparison_table(result), *slices, *comparison_lines(result), remarks=remarks)
    check_losses(result)


def comparison_of(arguments: Sequence[str]) -> Comparison:
    """The comparison that the command shows for these arguments, held to their gates."""
    return _compared(command.make_context("compare", list(arguments)).params)


def _compared(typed: Mapping[str, Any]) -> Comparison:
    from metareview.comparison.paired import CompareKeywords, compare

    options = {name: typed[name] for name in CompareKeywords.__annotations__ if name in typed}
    result = compare(typed["run_a"], typed["run_b"], **options)
    margins: dict[str, float] = {}
    for text in typed["no_worse"]:
        name, margin = _margin(text)
        if name in margins:
            raise UsageError(f"--no-worse names {name} twice. Give one margin for it.")
        margins[name] = margin
    return result.with_gates(typed["fail_if_worse"], margins)


def _margin(text: str) -> tuple[str, float]:
    """The metric and the margin of `METRIC=M`."""
    name, equals, number = text.rpartition("=")
    try:
        margin = float(number)
    except ValueError:
        margin = -1.0
    if not equals or not 0 <= margin <= 1:
        raise UsageError(f"--no-worse takes a metric and a margin from 0 to 1, such as f1=0.03, found {text!r}.")
    return name.strip(), margin
