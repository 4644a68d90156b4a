"""`metareview calibrate`: how far does a judge agree with labels?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metareview.cli.options import PATH, ListingOption, cache_file, common_options, judge_names, model_options, one_of
from metareview.cli.output import Screen, warning_lines
from metareview.errors import Undecided, UsageError

if TYPE_CHECKING:
    from metareview.benchmark.calibrate import Calibration


@click.command(epilog="Example: metareview calibrate labels.jsonl --judge offline")
@click.argument("labels", type=PATH)
@click.option("--judge", cls=ListingOption, names=lambda: [name for name in judge_names() if name != "none"],
              default="offline", show_default=True, metavar="NAME",
              help="{names}, or package.module:factory.")  # fmt: skip
@click.option(
    "--threshold", type=float, help="The score from which two notes are the same.  [default: the judge's own]"
)
@click.option("--disagreements", is_flag=True, help="List where judge and labels differ, worst first.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
              help="How many of them; --json has all.")  # fmt: skip
@click.option("--fail-under", multiple=True, metavar="METRIC=X", shell_complete=one_of("kappa=", "accuracy="),
              help="Exit 3 where the figure is lower, such as kappa=0.6.")  # fmt: skip
@model_options
@common_options
def command(
    labels: Path,
    judge: str,
    threshold: float | None,
    disagreements: bool,
    top: int,
    fail_under: tuple[str, ...],
    concurrency: int,
    cache: Path | None,
    no_cache: bool,
    max_llm_calls: int | None,
    screen: Screen,
) -> None:
    """Judge the pairs in LABELS and compare: JSON lines {"a", "b", "match", "group"}, a the reference's note, or a
    run's labels.jsonl."""
    from metareview.benchmark.calibrate import FIGURES, calibrate
    from metareview.formats.labels import read_label_set
    from metareview.formats.source import Source
    from metareview.judges.protocol import ModelJudge
    from metareview.judges.registry import JudgeOptions, open_judge
    from metareview.model.build_gates import check_gates, gate_results, parse_gates
    from metareview.report.build_gates import gate_lines
    from metareview.report.disagreements import disagreement_lines

    gates = parse_gates({"--fail-under": fail_under}, FIGURES)
    if judge == "none":
        raise UsageError("The judge none goes by location, and labels have none. Choose another --judge.")
    with tempfile.TemporaryDirectory() as scratch, screen.progress("pairs") as progress:
        verdicts = cache_file(cache, no_cache, Path(scratch) / "verdicts.sqlite")
        found = read_label_set(Source(labels))
        options = JudgeOptions(threshold, concurrency, verdicts, max_llm_calls)
        with open_judge(judge, options) as opened:
            if isinstance(opened, ModelJudge):
                opened.progress = progress
            result = calibrate(found.labels, opened)
    agreement = result.agreement
    less = f"{result.ungrouped:,} labels have no group and are judged without rivals; offline then knows less."
    knows_rivals = result.judge in ("offline", "cascade")
    document, lines = result.to_dict(), list(_lines(result))
    if disagreements:
        differing = result.disagreements()
        document |= {"disagreements": [each.to_dict() for each in differing]}
        lines += disagreement_lines(differing, result.judge, agreement.n, top=top, width=screen.width)
    results = gate_results(gates, {result.judge: result.figures})
    screen.say(warning_lines(found.warnings))
    screen.show(document, *lines, *gate_lines(results), remarks=[less] if result.ungrouped and knows_rivals else [])
    if agreement.errors:
        raise Undecided(f"{agreement.errors} of {agreement.n} pairs stayed undecided and are left out of the figures.")
    check_gates(results)


def _lines(result: Calibration) -> Iterator[str]:
    from metareview.report.numbers import count, rate

    agreement = result.agreement
    figures = {"kappa": agreement.kappa, "accuracy": agreement.accuracy, "precision": agreement.precision}
    figures |= {"recall": agreement.recall, "AUC": agreement.auc}
    listed = ", ".join(f"{name} {rate(value)}" for name, value in figures.items())
    yield f"{result.judge} on {count(agreement.n)} labels: {listed}"
    own = "its own verdict" if agreement.threshold is None else f"threshold {rate(agreement.threshold)}"
    if agreement.best_threshold is not None:
        best = f"{rate(agreement.best_threshold)}, with kappa {rate(agreement.best_kappa)}"
        yield f"{own}; the best threshold on these labels is {best}"
    yield "  scores      labels  mean score  matches"
    for part in agreement.reliability:
        row = f"{part.low:.1f}–{part.high:.1f}  {part.n:>10,}  {part.mean_score:>10.3f}  {part.match_rate:>7.3f}"
        yield f"  {row}  {'█' * round(20 * part.match_rate)}"
