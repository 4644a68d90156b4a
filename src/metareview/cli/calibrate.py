"""`metareview calibrate`: how far does a judge agree with labels?"""

from __future__ import annotations

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
from metareview.cli.output import Screen, settings_lines, warning_lines
from metareview.errors import InputError, Undecided, UsageError
from metareview.model.words import plural
from metareview.temporary import TemporaryFolder

if TYPE_CHECKING:
    from metareview.benchmark.calibrate import Calibration
    from metareview.benchmark.run_labels import RunCalibration
    from metareview.formats.input_file import InputFile
    from metareview.model.build_gates import Gate
    from metareview.report.tables import Table
    from metareview.runs.run import OutcomesRun

_ASKING = ("ask", "cascade", "cascade_low", "cascade_high")


KINDS = ("severity", "category", "context")
"""Those of the labels, said again: what slices them takes its time to import."""


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
@click.option("--by", multiple=True, type=click.Choice(KINDS),
              help="The agreement for each severity, category or context of the reference, where the labels or the run"
              " tell it; repeatable.")  # fmt: skip
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
    by: tuple[str, ...],
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
    from metareview.formats.input_file import InputFile
    from metareview.formats.labels import read_label_set
    from metareview.judges.protocol import ModelJudge
    from metareview.judges.registry import JudgeOptions, open_judge
    from metareview.model.build_gates import parse_gates

    gates = parse_gates({"--fail-under": fail_under}, FIGURES)
    if run is not None:
        _check_run_options(context, labels, run)
        _show_run(run, gates, screen, top if disagreements else 0, by)
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
    with TemporaryFolder() as scratch, screen.progress("pairs") as progress:
        verdicts = cache_file(cache, no_cache, scratch / "verdicts.sqlite")
        file = InputFile(labels)
        _check_labels(file)
        found = read_label_set(file)
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
            if progress:
                for line in settings_lines(opened):
                    progress.note(line)
            result = calibrate(found.labels, opened)
            asked = opened.warnings if isinstance(opened, ModelJudge) else ()
    screen.say(warning_lines((*found.warnings, *asked, *_without_rivals(result))))
    _show(result, result.judge, gates, screen, top if disagreements else 0, by)


def _check_labels(file: InputFile) -> None:
    """InputError where the file holds a judge's verdicts, which other options take."""
    from metareview.formats.labels import EXAMPLE
    from metareview.formats.verdicts import kind_of

    kind = kind_of(file)
    if kind == "martian":
        fix = (
            "Give it to metareview comments, as --verdicts FILE or as --examples FILE. calibrate takes people's labels,"
            f" lines such as {EXAMPLE}."
        )
        raise InputError("a file of evaluations, which are a judge's verdicts", file=file.name, fix=fix)
    if kind == "pairs":
        fix = "For a run with labels of its own: metareview calibrate --run RUN."
        raise InputError("a run's pairs, which have its judge's verdicts", file=file.name, fix=fix)


def _without_rivals(result: Calibration) -> Iterator[str]:
    """A warning where a judge that weighs rivals got pairs without any."""
    from metareview.judges.offline.trust import held_out
    from metareview.model.words import plural

    if not result.ungrouped or result.judge not in ("offline", "cascade"):
        return
    known = held_out()
    alone, among = known.kappa_without_rivals, known.kappa
    instead = "" if alone is None or among is None else f": a kappa of about {alone:.2f} instead of {among:.2f}"
    has = "has no group and is" if result.ungrouped == 1 else "have no group and are"
    yield f"{plural(result.ungrouped, 'label')} {has} judged without rivals; offline then knows less{instead}."


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


def _show_run(run: Path, gates: Sequence[Gate], screen: Screen, top: int, by: Sequence[str]) -> None:
    from metareview.benchmark.run_labels import calibrate_run
    from metareview.report.labels import calibration_parts
    from metareview.runs.run import is_outcomes, load_run

    loaded = load_run(run)
    if is_outcomes(loaded):
        if by:
            raise UsageError(f"--by is about references, which {loaded.label}, a run of outcomes, has none of.")
        _show_outcomes(loaded, gates, screen, top)
        return
    result = calibrate_run(loaded)
    parts = calibration_parts(result, screen.width, top)
    _show(result, result.run.result.judge.name, gates, screen, top, by, parts=parts)


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
    by: Sequence[str],
    *,
    parts: Iterable[str | Table] = (),
) -> None:
    """`top`: how many disagreements are listed; 0: none was asked for."""
    from metareview.model.build_gates import check_gates, gate_results
    from metareview.report.agreement import agreement_lines, reliability_table
    from metareview.report.build_gates import gate_lines
    from metareview.report.disagreements import disagreement_lines

    agreement = result.agreement
    document = result.to_dict()
    lines: list[str | Table] = []
    if agreement.n:
        lone = sum(not each.pr and each.group is None for each in result.judged)
        lines += [*agreement_lines(judge, agreement, lone), reliability_table(agreement, screen.width)]
        lines += _by_kind(result, by)
    if top:
        differing = result.disagreements()
        document |= {"disagreements": [each.to_dict() for each in differing]}
        lines += disagreement_lines(differing, judge, agreement.n, top=top, width=screen.width)
    results = gate_results(gates, {judge: result.figures})
    kinds = [f"--by {kind}" for kind in result.slices if kind not in by]
    remarks = [f"By kind of issue: {', '.join(kinds)}"] if kinds and not by else []
    screen.show(document, *lines, *parts, *gate_lines(results), remarks=remarks)
    if agreement.errors:
        raise Undecided(
            f"{agreement.errors} of {plural(agreement.n, 'pair')} stayed undecided and are left out of the agreement."
        )
    check_gates(results)


def _by_kind(result: Calibration | RunCalibration, by: Sequence[str]) -> Iterator[str | Table]:
    from metareview.report.agreement import MOST_KINDS, kinds_table

    for kind in dict.fromkeys(by):
        if kind not in result.slices:
            yield f"By {kind}: not known, no label's reference has one."
            continue
        yield ""
        yield kinds_table(kind, result.slices[kind])
        more = len(result.slices[kind]) - MOST_KINDS
        if more > 0:
            yield f"{more:,} more with fewer labels; --json has them all."
