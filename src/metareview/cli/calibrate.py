"""`metareview calibrate`: how far does a judge agree with labels?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metareview.cli.options import PATH, ListingOption, common_options, judge_names, model_options
from metareview.cli.output import print_json, progress_bar, say, show
from metareview.errors import Undecided, UsageError

if TYPE_CHECKING:
    from metareview.benchmark.calibrate import Calibration


def _reading_judges() -> list[str]:
    return [name for name in judge_names() if name != "none"]


@click.command(epilog="Example: metareview calibrate labels.jsonl --judge offline")
@click.argument("labels", type=PATH)
@click.option("--judge", cls=ListingOption, names=_reading_judges, default="offline", show_default=True, metavar="NAME",
              help="{names}, or package.module:factory.")  # fmt: skip
@click.option("--threshold", type=float, help="Replaces the judge's own, for judges that score.")
@model_options
@common_options
def command(
    labels: Path,
    judge: str,
    threshold: float | None,
    concurrency: int,
    cache: Path | None,
    no_cache: bool,
    max_llm_calls: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Judge the pairs in LABELS and compare: JSON lines {"a", "b", "match", "group"}, a the reference's note."""
    from metareview.benchmark.calibrate import calibrate
    from metareview.formats.labels import read_labels
    from metareview.judges.protocol import ModelJudge
    from metareview.judges.registry import JudgeOptions, open_judge

    if judge == "none":
        raise UsageError("The judge none goes by location, and labels have none. Choose another --judge.")
    if cache is not None and no_cache:
        raise UsageError("--cache and --no-cache contradict each other. Leave one out.")
    known = read_labels(labels)
    with tempfile.TemporaryDirectory() as scratch, progress_bar("pairs", quiet) as progress:
        verdicts = Path(scratch) / "verdicts.sqlite" if no_cache else cache
        with open_judge(judge, JudgeOptions(threshold, concurrency, verdicts, max_llm_calls)) as opened:
            if isinstance(opened, ModelJudge):
                opened.progress = progress
            result = calibrate(known, opened)
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, quiet)
    agreement = result.agreement
    if agreement.errors:
        raise Undecided(f"{agreement.errors} of {agreement.n} pairs stayed undecided and are left out of the figures.")


def _show(result: Calibration, quiet: bool) -> None:
    from metareview.report.numbers import count, rate

    agreement = result.agreement
    figures = {"kappa": agreement.kappa, "accuracy": agreement.accuracy, "precision": agreement.precision}
    figures |= {"recall": agreement.recall, "AUC": agreement.auc}
    listed = ", ".join(f"{name} {rate(value)}" for name, value in figures.items())
    show(f"{result.judge} on {count(agreement.n)} labels: {listed}")
    own = "its own verdict" if agreement.threshold is None else f"threshold {rate(agreement.threshold)}"
    if agreement.best_threshold is not None:
        show(
            f"{own}; the best threshold on these labels is {rate(agreement.best_threshold)}, "
            f"with kappa {rate(agreement.best_kappa)}"
        )
    show("  scores      labels  mean score  matches")
    for part in agreement.reliability:
        bar = "█" * round(20 * part.match_rate)
        show(
            f"  {part.low:.1f}–{part.high:.1f}  {part.n:>10,}  {part.mean_score:>10.3f}  {part.match_rate:>7.3f}  {bar}"
        )
    # Other judges know no rivals.
    if result.ungrouped and not quiet and result.judge in ("offline", "cascade"):
        say(f"{count(result.ungrouped)} labels have no group and are judged without rivals; offline then knows less.")
