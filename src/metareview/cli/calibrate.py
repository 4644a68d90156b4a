"""`metareview calibrate`: how far does a judge agree with labels?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from metareview.cli.options import (
    PATH,
    ListingOption,
    asking_options,
    cache_file,
    common_options,
    judge_names,
    model_options,
    one_of,
)
from metareview.cli.output import Screen, warning_lines
from metareview.errors import Undecided, UsageError

if TYPE_CHECKING:
    from metareview.benchmark.calibrate import Agreement, Calibration
    from metareview.benchmark.run_labels import RunCalibration
    from metareview.model.build_gates import Gate
    from metareview.report.tables import Table
    from metareview.runs.run import OutcomesRun

_ASKING = ("ask", "cascade", "cascade_low", "cascade_high")


@click.command(epilog="Example: metareview calibrate labels.jsonl --judge offline")
@click.argument("labels", type=PATH, required=False)
@click.option("--run", type=PATH, metavar="RUN",
              help="The run's own judge against the labels of its folder, and its figures corrected.")  # fmt: skip
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
@asking_options
@common_options
@click.pass_context
def command(
    context: click.Context,
    labels: Path | None,
    run: Path | None,
    judge: str,
    threshold: float | None,
    disagreements: bool,
    top: int,
    fail_under: tuple[str, ...],
    concurrency: int,
    cache: Path | None,
    no_cache: bool,
    max_llm_calls: int | None,
    ask: str | None,
    cascade: str | None,
    cascade_low: float | None,
    cascade_high: float | None,
    screen: Screen,
) -> None:
    """Judge the pairs in LABELS and compare: JSON lines {"a", "b", "match", "group"}, a the reference's note, or a
    run's labels.jsonl. Or, with --run, compare a run's own verdicts with what people said of them."""
    from metareview.benchmark.calibrate import FIGURES, calibrate
    from metareview.formats.labels import read_label_set
    from metareview.formats.source import Source
    from metareview.judges.protocol import ModelJudge
    from metareview.judges.registry import JudgeOptions, open_judge
    from metareview.model.build_gates import parse_gates

    gates = parse_gates({"--fail-under": fail_under}, FIGURES)
    if run is not None:
        _check_run_options(context, labels, run)
        _show_run(run, gates, screen, top if disagreements else 0)
        return
    if labels is None:
        raise UsageError("Name a file of labels, or --run RUN for a run with labels of its own.")
    if labels.is_dir():
        raise UsageError(
            f"{labels} is a folder. For a run with labels of its own: metareview calibrate --run {quote(str(labels))}."
            " Else name a file of labels."
        )
    if judge == "none":
        raise UsageError("The judge none goes by location, and labels have none. Choose another --judge.")
    with tempfile.TemporaryDirectory() as scratch, screen.progress("pairs") as progress:
        verdicts = cache_file(cache, no_cache, Path(scratch) / "verdicts.sqlite")
        found = read_label_set(Source(labels))
        options = JudgeOptions(
            threshold,
            concurrency,
            verdicts,
            max_llm_calls,
            ask=ask,
            cascade=cascade,
            cascade_low=cascade_low,
            cascade_high=cascade_high,
        )
        with open_judge(judge, options) as opened:
            if isinstance(opened, ModelJudge):
                opened.progress = progress
            result = calibrate(found.labels, opened)
    less = f"{result.ungrouped:,} labels have no group and are judged without rivals; offline then knows less."
    knows_rivals = result.judge in ("offline", "cascade")
    screen.say(warning_lines(found.warnings))
    remarks = [less] if result.ungrouped and knows_rivals else []
    _show(result, result.judge, gates, screen, top if disagreements else 0, remarks=remarks)


def _check_run_options(context: click.Context, labels: Path | None, run: Path) -> None:
    if labels is not None:
        raise UsageError("LABELS and --run contradict each other: a run has labels of its own. Leave one out.")
    explicit = click.core.ParameterSource.COMMANDLINE
    for name in ("judge", "threshold", "concurrency", "cache", "no_cache", "max_llm_calls", *_ASKING):
        if context.get_parameter_source(name) is explicit:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} means nothing beside --run: nobody is asked, the run's own verdicts are taken. To try"
                f" another judge on its labels: metareview calibrate {quote(str(run / 'labels.jsonl'))} --judge NAME"
            )


def _show_run(run: Path, gates: Sequence[Gate], screen: Screen, top: int) -> None:
    from metareview.benchmark.run_labels import calibrate_run
    from metareview.report.labels import calibration_parts
    from metareview.runs.run import is_outcomes, load_run

    loaded = load_run(run)
    if is_outcomes(loaded):
        _show_outcomes(loaded, gates, screen, top)
        return
    result = calibrate_run(loaded)
    parts = calibration_parts(result, screen.width, top)
    _show(result, result.run.result.judge.name, gates, screen, top, parts=parts)


def _show_outcomes(run: OutcomesRun, gates: Sequence[Gate], screen: Screen, top: int) -> None:
    from metareview.benchmark.outcome_labels import calibrate_outcomes
    from metareview.model.build_gates import check_gates, gate_results
    from metareview.report.build_gates import gate_lines
    from metareview.report.outcome_labels import outcome_calibration_parts

    result = calibrate_outcomes(run)
    document = result.to_dict()
    if top:
        document |= {"disagreements": [each.to_dict() for each in result.disagreements()]}
    results = gate_results(gates, {result.judge: result.figures})
    screen.show(document, *outcome_calibration_parts(result, screen.width, top), *gate_lines(results))
    if result.errors:
        raise Undecided(
            f"{result.errors} of {len(result.judged)} labelled comments stayed undecided and are left out of the"
            " agreement."
        )
    check_gates(results)


def _show(
    result: Calibration | RunCalibration,
    judge: str,
    gates: Sequence[Gate],
    screen: Screen,
    top: int,
    *,
    parts: Iterable[str | Table] = (),
    remarks: Sequence[str] = (),
) -> None:
    """`top`: how many disagreements are listed; 0: none was asked for."""
    from metareview.model.build_gates import check_gates, gate_results
    from metareview.report.build_gates import gate_lines
    from metareview.report.disagreements import disagreement_lines

    agreement = result.agreement
    document, lines = result.to_dict(), list(_lines(judge, agreement, screen.width)) if agreement.n else []
    if top:
        differing = result.disagreements()
        document |= {"disagreements": [each.to_dict() for each in differing]}
        lines += disagreement_lines(differing, judge, agreement.n, top=top, width=screen.width)
    results = gate_results(gates, {judge: result.figures})
    screen.show(document, *lines, *parts, *gate_lines(results), remarks=remarks)
    if agreement.errors:
        raise Undecided(
            f"{agreement.errors} of {agreement.n} pairs stayed undecided and are left out of the agreement."
        )
    check_gates(results)


def _lines(judge: str, agreement: Agreement, width: int) -> Iterator[str]:
    from metareview.report.numbers import count, rate

    figures = {"kappa": agreement.kappa, "accuracy": agreement.accuracy, "precision": agreement.precision}
    figures |= {"recall": agreement.recall, "AUC": agreement.auc}
    listed = ", ".join(f"{name} {rate(value)}" for name, value in figures.items())
    yield f"{judge} on {count(agreement.n)} labels: {listed}"
    own = "its own verdict" if agreement.threshold is None else f"threshold {rate(agreement.threshold)}"
    if agreement.best_threshold is not None:
        best = f"{rate(agreement.best_threshold)}, with kappa {rate(agreement.best_kappa)}"
        yield f"{own}; the best threshold on these labels is {best}"
    yield "  scores      labels  mean score  matches"
    for part in agreement.reliability:
        row = f"{part.low:.1f}–{part.high:.1f}  {part.n:>10,}  {part.mean_score:>10.3f}  {part.match_rate:>7.3f}"
        bar = max(0, min(20, width - len(row) - 4))
        yield f"  {row}  {'█' * round(bar * part.match_rate)}"
