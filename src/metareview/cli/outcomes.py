"""`metareview outcomes`: what became of review comments, without any reference."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from metareview.cli.options import (
    PATH,
    Limits,
    ListingOption,
    Paths,
    cache_file,
    comment_formats,
    common_options,
    gate_options,
    model_options,
    one_of,
    outcome_metric_names,
    run_folder,
    run_options,
    stem_of,
)
from metareview.cli.output import Screen, append_step_summary, say, settings_lines, warning_lines

if TYPE_CHECKING:
    from metareview.pipelines.outcomes.options import OutcomesKeywords
    from metareview.pipelines.outcomes.plan import Plan


@click.command(epilog="Example: metareview outcomes comments.jsonl --reviewer '*[bot]' --by week --out runs/bots")
@click.argument("files", metavar="FILE...", type=PATH, nargs=-1, required=True)
@click.option("--judge", default="none", show_default=True, metavar="none|llm|cascade",
              shell_complete=one_of("none", "llm", "cascade"),
              help="Who says whether a comment was addressed; cascade: the model, where lines changed.")  # fmt: skip
@click.option("--labels", type=PATH, metavar="FILE",
              help="People's verdicts on what was addressed; they override the judge's.")  # fmt: skip
@click.option("--reviewer", multiple=True, metavar="GLOB",
              help="Whose comments: * and ? are wild, ! excludes; repeatable.")  # fmt: skip
@click.option("--since", metavar="T", help="Only comments that were made from then on.")
@click.option("--by", multiple=True, metavar="severity|category|path|week",
              shell_complete=one_of("severity", "category", "path", "week"),
              help="Also the figures of each severity, category, path or week; repeatable.")  # fmt: skip
@click.option("--references-out", type=PATH, metavar="FILE",
              help="Write people's comments that led to a change as references (jsonl) and, beside them, what people"
              " rejected of bots as negatives.")  # fmt: skip
@click.option("--format", cls=ListingOption, names=comment_formats, metavar="NAME",
              help="The format of FILE: {names}.  [default: found by content]")  # fmt: skip
@click.option("--name", help="The reviewer's name where the input has none.  [default: folder or file name]")
@click.option("--pr", metavar="URL", help="The pull request, where files do not say which one they are about.")
@click.option("--strict", is_flag=True, help="A comment field that cannot be read ends the run, not only a warning.")
@run_options
@click.option("--dry-run", is_flag=True, help="Show how many comments a model would be asked about; ask nothing.")
@model_options
@gate_options(outcome_metric_names)
@common_options
def command(
    files: Paths,
    references_out: Path | None,
    out: Path | None,
    overwrite: bool,
    dry_run: bool,
    no_cache: bool,
    limits: Limits,
    screen: Screen,
    **options: Unpack[OutcomesKeywords],
) -> None:
    """What became of the review comments in FILE: were their lines changed, suggestions taken, threads answered and
    resolved? Needs no references: files that `metareview pull comments` writes, or jsonl with commits and threads."""
    from metareview.model.build_gates import check_gates, check_names, gate_results, parse_gates
    from metareview.outcomes.measures import measured
    from metareview.pipelines.outcomes.keep import carry_out
    from metareview.pipelines.outcomes.options import OutcomesOptions
    from metareview.pipelines.outcomes.plan import open_plan
    from metareview.pipelines.outcomes.references import check_target, write_references
    from metareview.report.build_gates import check_undecided, gate_lines
    from metareview.report.markdown import run_section
    from metareview.report.outcomes import headline_of, judged_sentence, outcome_tables
    from metareview.runs.files import VERDICTS
    from metareview.runs.writer import keep_gates

    gates = parse_gates(limits, measured(addressed=options["judge"] != "none" or options["labels"] is not None))
    if references_out is not None:
        check_target(references_out, overwrite=overwrite)
    folder = run_folder(out, options["name"] or stem_of(files[0]), dry_run=dry_run)
    options["cache"] = cache_file(options["cache"], no_cache, folder / VERDICTS)
    with open_plan(OutcomesOptions(files, **options)) as plan:
        check_names(gates, [name for name in plan.inputs.reviewers if name in plan.options.chosen])
        screen.say(settings_lines(plan.judge))
        if dry_run:
            _show_plan(plan, screen)
            return
        what = "pull requests" if plan.judge is None else "asking the model"
        try:
            with screen.progress(what) as progress:
                run = carry_out(plan, out=folder, overwrite=overwrite, progress=progress)
        except KeyboardInterrupt:
            say(f"To go on: the same command with --out {folder}")
            raise
    results = gate_results(gates, run.metrics)
    run = keep_gates(run, results)
    screen.say(warning_lines(run.result.warnings, run.result.skipped))
    section = cache(lambda: run_section(run))
    append_step_summary(section)
    written = [] if references_out is None else write_references(run, references_out)
    if references_out is not None and not references_out.exists() and screen.quiet:
        say(written[0])  # Whoever asked for a file must know that there is none.
    if screen.as_json:
        screen.show(run.summary)
    else:
        remarks = [headline_of(run.result), *judged_sentence(run.result), f"What became of each comment: {folder}"]
        screen.show(run.summary, *outcome_tables(run.result), *gate_lines(results), remarks=[*remarks, *written])
    if run.result.judge is not None:
        check_undecided(run.result.judge, "comment")
    check_gates(results)


def _show_plan(plan: Plan, screen: Screen) -> None:
    from metareview.model.words import plural
    from metareview.runs.outcomes_json import config_to_json

    comments, calls = plan.model_calls()
    names = [name for name in plan.inputs.reviewers if name in plan.options.chosen]
    document = {
        "schema": "metareview.dry-run/1",
        "config": config_to_json(plan.config),
        "reviewers": len(names),
        "prs": plan.pull_requests,
        "comments": comments,
        "llm_calls": calls,
        "warnings": list(plan.inputs.warnings),
        "skipped": [asdict(item) for item in plan.inputs.skipped],
    }
    line = (
        f"{plural(plan.pull_requests, 'pull request')}, {plural(len(names), 'reviewer')},"
        f" {plural(comments, 'comment')}, {plural(calls, 'model call')}."
    )
    screen.show(document, line, remarks=warning_lines(plan.inputs.warnings, plan.inputs.skipped))
