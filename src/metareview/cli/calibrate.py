"""`metareview calibrate`: how far does a judge agree with labels?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from metareview.cli.model_options import model_options
from metareview.cli.output import common_options, print_json, progress_bar, rate, say
from metareview.errors import Undecided, UsageError
from metareview.judges.registry import DEFAULT_JUDGE, JUDGES


@click.command(epilog="Example: metareview calibrate labels.jsonl --judge offline")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option(
    "--judge",
    default=DEFAULT_JUDGE,
    show_default=True,
    metavar="NAME",
    help=f"{', '.join(name for name in JUDGES.names() if name != 'none')}, or package.module:factory.",
)
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
        raise UsageError("The judge none goes by place, and labels have none. Choose another --judge.")
    if cache is not None and no_cache:
        raise UsageError("--cache and --no-cache contradict each other. Leave one out.")
    known = read_labels(labels)
    with tempfile.TemporaryDirectory() as scratch, progress_bar("pairs", quiet) as progress:
        options = JudgeOptions(
            threshold=threshold,
            concurrency=concurrency,
            cache=Path(scratch) / "verdicts.sqlite" if no_cache else cache,
            max_llm_calls=max_llm_calls,
        )
        with open_judge(judge, options) as opened:
            if isinstance(opened, ModelJudge):
                opened.progress = progress
            result = calibrate(known, opened)
    if as_json:
        print_json(result)
    else:
        _show(result, quiet)
    if result["errors"]:
        raise Undecided(
            f"{result['errors']} of {result['n']} pairs stayed undecided and are left out of the figures."
        )


def _show(result: dict[str, Any], quiet: bool) -> None:
    names = {
        "kappa": "kappa",
        "accuracy": "accuracy",
        "precision": "precision",
        "recall": "recall",
        "auc": "AUC",
    }
    figures = ", ".join(f"{shown} {rate(result[name])}" for name, shown in names.items())
    click.echo(f"{result['judge']} on {result['n']:,} labels: {figures}")
    own = "its own verdict" if result["threshold"] is None else f"threshold {result['threshold']:.3f}"
    best = result["best_threshold"]
    if best is not None:
        click.echo(
            f"{own}; the best threshold on these labels is {best:.3f}, with kappa {rate(result['best_kappa'])}"
        )
    click.echo("  scores      labels  mean score  matches")
    for part in result["reliability"]:
        bar = "█" * round(20 * part["match_rate"])
        click.echo(
            f"  {part['low']:.1f}–{part['high']:.1f}  {part['n']:>10,}  {part['mean_score']:>10.3f}  "
            f"{part['match_rate']:>7.3f}  {bar}"
        )
    if (
        result["ungrouped"] and not quiet and result["judge"] in ("offline", "cascade")
    ):  # others know no rivals
        say(
            f"{result['ungrouped']:,} labels have no group and are judged without rivals; offline then knows less."
        )
