"""`metareview check`: is this benchmark sound?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from metareview.cli.options import PATH, ListingOption, comment_formats, common_options
from metareview.cli.output import print_json, show
from metareview.errors import InputError

if TYPE_CHECKING:
    from metareview.benchmark.check import CheckResult, Probe

_MARKS = {True: "pass", False: "FAIL", None: "n/a"}


@click.command(epilog="Example: metareview check --reference positive_samples.json --negatives negative_samples.json")
@click.option("--reference", required=True, multiple=True, type=PATH, metavar="FILE",
              help="The references. May be given several times.")  # fmt: skip
@click.option("--negatives", multiple=True, type=PATH, metavar="FILE", help="What was rejected.")
@click.option("--reference-format", cls=ListingOption, names=comment_formats, metavar="NAME",
              help="{names}.  [default: found by content]")  # fmt: skip
@click.option("--line-distance", type=click.IntRange(min=0), default=1, show_default=True,
              help="Greatest gap.")  # fmt: skip
@common_options
def command(
    reference: tuple[Path, ...],
    negatives: tuple[Path, ...],
    reference_format: str | None,
    line_distance: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Lint a benchmark, then score known answers on it: oracle, silence, shuffled notes, shifted lines."""
    from metareview.benchmark.check import check_benchmark
    from metareview.formats.registry import read_reference_set

    references, _ = read_reference_set(reference, negatives, format_name=reference_format)
    result = check_benchmark(references, line_distance)
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, quiet)
    if not result.sound:
        raise InputError(
            "this benchmark is not sound",
            file=", ".join(map(str, reference)),
            fix="Correct what is marked FAIL or error.",
        )


def _show(result: CheckResult, quiet: bool) -> None:
    negatives = f", {result.negatives} negatives" if result.negatives else ""
    show(f"{result.prs} pull requests, {result.references} references{negatives}")
    for probe in result.probes:
        show(f"{_MARKS[probe.passed]:4}  {probe.name:15} {_figures(probe)}  ({probe.expected})")
    for finding in result.findings:
        if finding.level == "error" or not quiet:
            show(f"{finding.level}: {finding.message}")
    if result.sound:
        show("Sound.")


def _figures(probe: Probe) -> str:
    from metareview.comments.measures import positive_line_recall_rate, positive_recall_rate
    from metareview.report.numbers import rate

    shown = (positive_recall_rate, positive_line_recall_rate) if probe.metrics else ()
    return ", ".join(f"{measure.label} {rate(probe.metrics[measure.name])}" for measure in shown)
