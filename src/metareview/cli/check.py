"""`metareview check`: is this benchmark sound?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from metareview.cli.options import InputPath, ListingOption, Paths, comment_formats, common_options
from metareview.cli.output import Screen
from metareview.errors import InputError
from metareview.model.words import plural

if TYPE_CHECKING:
    from metareview.benchmark.check import CheckResult

_MARKS = {True: "pass", False: "FAIL", None: "n/a"}


@click.command(epilog="Example: metareview check --reference positive_samples.json --negatives negative_samples.json")
@click.option("--reference", required=True, multiple=True, type=InputPath("reference"), metavar="FILE",
              help="The references: a file or a data set's name; repeatable.")  # fmt: skip
@click.option("--negatives", multiple=True, type=InputPath("negatives"), metavar="FILE",
              help="Comments that annotators rejected.")  # fmt: skip
@click.option("--reference-format", cls=ListingOption, names=comment_formats, metavar="NAME",
              help="The format of both: {names}.  [default: found by content]")  # fmt: skip
@click.option(
    "--line-distance", type=click.IntRange(min=0), default=1, show_default=True, help="Greatest gap in lines."
)
@common_options
def command(
    reference: Paths, negatives: Paths, reference_format: str | None, line_distance: int, screen: Screen
) -> None:
    """Lint a benchmark, then score known answers on it: oracle, silence, shuffled notes, shifted lines."""
    from metareview.benchmark.check import check_benchmark
    from metareview.formats.reader import read_reference_set
    from metareview.pipelines import datasets
    from metareview.pipelines.comments.doubts import doubts_about_references

    tell = screen.tell_once()
    references, inputs = read_reference_set(
        datasets.references(reference, screen.download, tell),
        datasets.negatives(negatives, screen.download, tell),
        format_name=reference_format,
    )
    result = check_benchmark(references, line_distance, doubts_about_references(references, inputs))
    screen.show(result.to_dict(), *_lines(result, screen.quiet))
    if not result.sound:
        files = ", ".join(map(str, reference))
        raise InputError("this benchmark is not sound", file=files, fix="Correct what is marked FAIL or error.")


def _lines(result: CheckResult, quiet: bool) -> Iterator[str]:
    from metareview.comments.measures import positive_line_recall_rate, positive_recall_rate
    from metareview.report.numbers import rate

    negatives = f", {plural(result.negatives, 'negative')}" if result.negatives else ""
    yield f"{plural(result.prs, 'pull request')}, {plural(result.references, 'reference')}{negatives}"
    for probe in result.probes:
        measures = (positive_recall_rate, positive_line_recall_rate) if probe.metrics else ()
        figures = ", ".join(f"{measure.label} {rate(probe.metrics[measure.name])}" for measure in measures)
        yield f"{_MARKS[probe.passed]:4}  {probe.name:15} {figures}  ({probe.expected})"
    for finding in result.findings:
        if finding.level == "error" or not quiet:
            yield f"{finding.level}: {finding.message}"
    if result.sound:
        yield "Sound."
