"""`metareview check`: is this benchmark sound?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from metareview.cli.output import common_options, console, print_json, printable, rate
from metareview.errors import InputError

_MARKS = {True: "pass", False: "FAIL", None: "n/a"}


@click.command(
    epilog="Example: metareview check --reference positive_samples.json --negatives negative_samples.json"
)
@click.option("--reference", required=True, multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="The references. May be given several times.")  # fmt: skip
@click.option(
    "--negatives", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="What was rejected."
)
@click.option("--reference-format", metavar="NAME", help="[default: found by content]")
@click.option(
    "--line-distance", type=click.IntRange(min=0), default=1, show_default=True, help="Greatest gap."
)
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

    benchmark, _ = read_reference_set(reference, negatives, format_name=reference_format)
    result = check_benchmark(benchmark, line_distance)
    if as_json:
        print_json(result)
    else:
        _show(result, quiet)
    if not result["sound"]:
        raise InputError(
            "this benchmark is not sound",
            file=", ".join(map(str, reference)),
            fix="Mend what is marked FAIL or error.",
        )


def _show(result: dict[str, Any], quiet: bool) -> None:
    screen = console()
    negatives = f", {result['negatives']} negatives" if result["negatives"] else ""
    screen.print(f"{result['prs']} pull requests, {result['references']} references{negatives}")
    for name, probe in result["probes"].items():
        figures = probe["metrics"]
        shown = (
            f"recall {rate(figures['positive_recall_rate'])}, line recall {rate(figures['positive_line_recall_rate'])}"
            if figures
            else ""
        )
        screen.print(f"{_MARKS[probe['passed']]:4}  {name:15} {shown}  ({probe['expected']})", markup=False)
    for finding in result["findings"]:
        if finding["level"] == "error" or not quiet:
            screen.print(printable(f"{finding['level']}: {finding['message']}"), markup=False)
    if result["sound"]:
        screen.print("Sound.")
