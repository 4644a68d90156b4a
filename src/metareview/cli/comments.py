"""`metareview comments`: score review comments against references."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from metareview.cli.options import (
    PATH,
    InputPath,
    Limits,
    ListingOption,
    asking_options,
    cache_file,
    comment_formats,
    comment_metric_names,
    common_options,
    completing,
    engine_options,
    filter_options,
    gate_options,
    judge_names,
    model_options,
    one_of,
    run_folder,
    run_options,
    stem_of,
)
from metareview.cli.output import Screen, append_step_summary, say, settings_lines, warning_lines
from metareview.errors import UsageError

if TYPE_CHECKING:
    from metareview.comparison.standings import Leaderboard
    from metareview.judges.protocol import Planned
    from metareview.pipelines.comments.options import CommentsKeywords
    from metareview.pipelines.comments.plan import Plan
    from metareview.report.tables import Table
    from metareview.runs.run import CommentsRun


@click.command(epilog="Example: metareview comments reviews/ --reference positive_samples.json --fail-under f1=0.4")
@click.argument("generated", type=InputPath("candidates"))
@click.option("--reference", required=True, multiple=True, type=InputPath("reference"), metavar="FILE",
              help="What reviewers should have said: a file or a data set's name; repeatable.")  # fmt: skip
@click.option("--negatives", multiple=True, type=InputPath("negatives"), metavar="FILE",
              help="Comments that annotators rejected; needed for false positives.")  # fmt: skip
@click.option("--judge", cls=ListingOption, names=judge_names, default="offline", show_default=True, metavar="NAME",
              help="{names}, or package.module:factory.")  # fmt: skip
@click.option("--verdicts", type=PATH, metavar="FILE",
              help="Stored verdicts as the judge: a run's pairs.jsonl, labels, evaluations.json.")  # fmt: skip
@click.option("--labels", type=PATH, metavar="FILE", help="People's verdicts, which override the judge's.")
@click.option("--examples", multiple=True, type=PATH, metavar="FILE",
              help="Known verdicts on the same references, for offline and cascade to learn from: files as for"
              " --verdicts; repeatable. Those on a reviewer's own comments are not used for it.")  # fmt: skip
@click.option(
    "--line-distance",
    type=int,
    default=1,
    show_default=True,
    help="Greatest gap in lines between a comment and a reference; 0: they must overlap.",
)
@click.option("--alignment", default="optimal", show_default=True, metavar="optimal|coverage|greedy",
              shell_complete=one_of("optimal", "coverage", "greedy"),
              help="One-to-one, many-to-many, or one-to-one in input order, as AACR-Bench does.")  # fmt: skip
@click.option("--ignore-location", is_flag=True, help="Judge by meaning alone.")
@click.option(
    "--threshold", type=float, help="The score from which two notes are the same.  [default: the judge's own]"
)
@click.option("--format", cls=ListingOption, names=comment_formats, metavar="NAME",
              help="The format of GENERATED: {names}.  [default: found by content]")  # fmt: skip
@click.option("--reference-format", metavar="NAME", shell_complete=completing(comment_formats),
              help="The format of the references and negatives.")  # fmt: skip
@filter_options
@click.option("--all-prs", is_flag=True, help="A pull request that a reviewer has no file for counts as silence.")
@click.option("--unit", type=click.Choice(["pr", "repository"]), default="pr", show_default=True,
              help="What intervals and tests are over.")  # fmt: skip
@click.option("--repeat", is_flag=True,
              help="Runs of one reviewer (subfolders run-1, run-2 …, or run in records) are one.")  # fmt: skip
@click.option("--reviewer", multiple=True, metavar="GLOB",
              help="Who is scored, where files name several: * and ? are wild, ! excludes; repeatable.")  # fmt: skip
@click.option("--reference-reviewer", multiple=True, metavar="GLOB",
              help="Whose comments are the references; as --reviewer.")  # fmt: skip
@click.option("--force", is_flag=True, help="Go on, with a warning, where the input looks like a mistake.")
@click.option("--strict", is_flag=True, help="A comment field that cannot be read ends the run, not only a warning.")
@click.option("--name", help="The reviewer's name where the input has none.  [default: folder or file name]")
@click.option("--pr", metavar="URL", help="The pull request, where files do not say which one they are about.")
@click.option("--limit", type=int, metavar="N", help="Score a sample of N pull requests, always the same for a seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample.")
@run_options
@click.option("--dry-run", is_flag=True, help="Show what would be judged; judge nothing.")
@engine_options
@model_options
@asking_options
@gate_options(comment_metric_names)
@common_options
def command(
    generated: Path,
    reference: tuple[Path, ...],
    out: Path | None,
    overwrite: bool,
    dry_run: bool,
    no_cache: bool,
    limits: Limits,
    screen: Screen,
    **options: Unpack[CommentsKeywords],
) -> None:
    """Score the review comments in GENERATED, a file or a folder (one subfolder per reviewer)."""
    from metareview.comments.measures import MEASURES
    from metareview.judges.protocol import ModelJudge
    from metareview.judges.registry import VERDICTS as VERDICT_JUDGE
    from metareview.model.build_gates import check_gates, check_names, gate_results, parse_gates
    from metareview.pipelines.comments.keep import carry_out
    from metareview.pipelines.comments.options import CommentsOptions
    from metareview.pipelines.comments.plan import open_plan
    from metareview.report.build_gates import check_undecided, gate_lines
    from metareview.report.headline import board_of, headline
    from metareview.report.repeats import repeat_lines
    from metareview.report.run_labels import read_labels
    from metareview.report.tables import costs_of_reviewers, costs_table, judged_by, reviewers_table
    from metareview.report.trust import trust_of
    from metareview.runs.files import VERDICTS
    from metareview.runs.writer import keep_gates

    gates = parse_gates(limits, MEASURES)
    folder = run_folder(out, options["name"] or stem_of(generated), dry_run=dry_run)
    options["cache"] = cache_file(options["cache"], no_cache, folder / VERDICTS)
    source = click.get_current_context().get_parameter_source("judge")
    if options["verdicts"] and source is click.core.ParameterSource.COMMANDLINE and options["judge"] != VERDICT_JUDGE:
        raise UsageError("--verdicts takes the place of a judge. Leave out --judge, or --verdicts.")
    chosen = CommentsOptions(generated, reference, **options).with_datasets(screen.download, screen.tell_once())
    with open_plan(chosen) as plan:
        check_names(gates, dict.fromkeys(plan.reviewers))
        screen.say(settings_lines(plan.judge))
        if dry_run:
            _show_plan(plan, screen)
            return
        what = "asking the model" if isinstance(plan.judge, ModelJudge) else "pull requests"
        try:
            with screen.progress(what) as progress:
                run = carry_out(plan, out=folder, overwrite=overwrite, progress=progress)
        except KeyboardInterrupt:
            say(f"To go on: the same command with --out {folder}")
            raise
    results = gate_results(gates, run.metrics)
    run = keep_gates(run, results)
    screen.say(warning_lines(run.result.warnings, run.result.skipped))
    board = cache(lambda: board_of(run))
    append_step_summary(lambda: _section(run, board()))
    judged = f"{judged_by(run.result)} The pairing behind every figure: {folder}"
    if screen.as_json:
        screen.show(run.summary)
    else:
        trust = trust_of(run, read_labels(run))
        remarks = [headline(run, board()), *repeat_lines(run.result, list(run.result.reviewers))]
        remarks += [judged] if trust.by_rule else [trust.line(str(folder)), judged]
        costs = costs_table(costs_of_reviewers(run.result))
        tables: list[str | Table] = [reviewers_table(run.result, board(), kinds_of_cost=1)]
        if costs:
            tables += ["", costs]
        screen.show(run.summary, *tables, *gate_lines(results), remarks=remarks)
    check_undecided(run.result.judge)
    check_gates(results)


def _section(run: CommentsRun, board: Leaderboard | None) -> str:
    from metareview.report.markdown import run_section

    return run_section(run, board)


def _show_plan(plan: Plan, screen: Screen) -> None:
    from metareview.model.words import plural
    from metareview.runs.comments_json import config_to_json

    reviewers, planned, pairs = len(plan.reviewers), plan.planned(), plan.pairs
    calls = 0 if planned is None else planned.calls
    warnings, skipped = (*plan.inputs.warnings, *plan.remarks(ask=False)), plan.inputs.skipped
    labelled = plan.labelled_pairs
    document = {
        "schema": "metareview.dry-run/1",
        "config": config_to_json(plan.config),
        "reviewers": reviewers,
        "prs": plan.pull_requests,
        "pairs": pairs.with_references,
        "negative_pairs": pairs.with_negatives,
        **({} if labelled is None else {"labelled_pairs": labelled}),
        "llm_calls": calls,
        **({} if planned is None else _prompts(planned)),
        "warnings": list(warnings),
        "skipped": [asdict(item) for item in skipped],
    }
    of_people = "" if labelled is None else f" ({labelled:,} decided by labels)"
    negatives = f" and up to {pairs.with_negatives:,} with negatives" if pairs.with_negatives else ""
    line = (
        f"{plural(plan.pull_requests, 'pull request')}, {plural(reviewers, 'reviewer')},"
        f" {plural(pairs.with_references, 'pair')} to judge{of_people}{negatives},"
        f" {plural(calls, 'model call')}{_about_tokens(planned)}."
    )
    screen.show(document, line, remarks=warning_lines(warnings, skipped))


def _prompts(planned: Planned) -> dict[str, int | None]:
    return {"prompt_characters": planned.prompt_characters, "prompt_tokens": planned.prompt_tokens}


def _about_tokens(planned: Planned | None) -> str:
    """Two digits of an estimate are enough."""
    if planned is None or not planned.prompt_tokens:
        return ""
    return f", about {float(f'{planned.prompt_tokens:.2g}'):,.0f} tokens of prompts (estimated)"
