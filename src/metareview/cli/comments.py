"""`metareview comments`: score review comments against references."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from metareview.cli.gates import check_gates, check_undecided, gate_options, parse_gates
from metareview.cli.model_options import model_options
from metareview.cli.output import (
    common_options,
    console,
    print_json,
    print_warnings,
    progress_bar,
    reviewers_table,
    say,
)
from metareview.errors import UsageError
from metareview.judges.registry import DEFAULT_JUDGE, JUDGES


@click.command(
    epilog="Example: metareview comments reviews/ --reference positive_samples.json --fail-under f1=0.4",
)
@click.argument("generated", type=click.Path(path_type=Path))
@click.option(
    "--reference", required=True, multiple=True, type=click.Path(path_type=Path), metavar="FILE",
    help="What reviewers should have said. May be given several times.",
)  # fmt: skip
@click.option(
    "--negatives", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
    help="What annotators rejected; turns on false_positive_rate.",
)  # fmt: skip
@click.option(
    "--judge",
    default=DEFAULT_JUDGE,
    show_default=True,
    metavar="NAME",
    help=f"{', '.join(JUDGES.names())}, or package.module:factory.",
)
@click.option(
    "--line-distance", type=int, default=1, show_default=True, help="Greatest gap; 0: must overlap."
)
@click.option("--alignment", default="optimal", show_default=True, metavar="optimal|coverage|greedy",
              help="One-to-one; many to many; or AACR's order-dependent procedure.")  # fmt: skip
@click.option("--ignore-location", is_flag=True, help="Judge on meaning alone.")
@click.option("--threshold", type=float, help="Replaces the judge's own, for judges that score.")
@click.option("--format", "format_name", metavar="NAME", help="Of GENERATED.  [default: found by content]")
@click.option("--reference-format", metavar="NAME", help="Of the references and negatives.")
@click.option("--language", multiple=True, help="Only pull requests in this language; repeatable.")
@click.option("--pr-category", multiple=True, help="Only pull requests of this category; repeatable.")
@click.option("--comment-category", multiple=True, help="Only references of this category; repeatable.")
@click.option("--context", "contexts", multiple=True, help="Only references of this context; repeatable.")
@click.option("--all-prs", is_flag=True, help="A pull request without a file is silence, not absence.")
@click.option("--name", help="The reviewer's name where the input has none.  [default: folder or file name]")
@click.option("--limit", type=int, metavar="N", help="A sample of pull requests, the same for a seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sample and of the intervals.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="[default: runs/<time>-<name>]")
@click.option("--overwrite", is_flag=True, help="Replace what is in --out.")
@click.option("--dry-run", is_flag=True, help="Say what would be judged; judge nothing.")
@model_options
@gate_options
@common_options
def command(
    generated: Path,
    reference: tuple[Path, ...],
    negatives: tuple[Path, ...],
    judge: str,
    threshold: float | None,
    language: tuple[str, ...],
    pr_category: tuple[str, ...],
    comment_category: tuple[str, ...],
    contexts: tuple[str, ...],
    format_name: str | None,
    name: str | None,
    out: Path | None,
    concurrency: int,
    cache: Path | None,
    no_cache: bool,
    max_llm_calls: int | None,
    overwrite: bool,
    dry_run: bool,
    fail_under: tuple[str, ...],
    fail_over: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Score the review comments in GENERATED, a file or a folder (one subfolder a reviewer)."""
    from metareview.cli.step_summary import append_step_summary, comments_markdown
    from metareview.comments.filters import FilterConfig
    from metareview.comments.measures import MEASURES
    from metareview.judges.protocol import ModelJudge
    from metareview.judges.registry import JudgeOptions, open_judge
    from metareview.pipelines.comments.plan import plan_comments
    from metareview.pipelines.evaluate import carry_out
    from metareview.runs.folder import VERDICTS, default_folder

    gates = parse_gates(fail_under, fail_over, MEASURES)
    if cache is not None and no_cache:
        raise UsageError("--cache and --no-cache contradict each other. Leave one out.")
    folder = out or default_folder(name or generated.resolve().stem)
    judge_options = JudgeOptions(
        threshold=threshold,
        concurrency=concurrency,
        # A run that is killed pays for nothing twice, whatever cache it may use: it has one of its own.
        cache=folder / VERDICTS if no_cache else cache,
        max_llm_calls=max_llm_calls,
        one_to_one=options["alignment"] != "coverage",
    )
    with open_judge(judge, judge_options) as opened:
        plan = plan_comments(
            generated,
            reference=reference,
            negatives=negatives,
            judge=opened,
            format=format_name,
            filters=FilterConfig(pr_category, language, comment_category, contexts),
            name=name,
            **options,
        )
        if dry_run:
            _print_plan(plan, as_json, quiet)
            return
        what = "asking the model" if isinstance(opened, ModelJudge) else "pull requests"
        try:
            with progress_bar(what, quiet) as progress:
                run = carry_out(plan, out=folder, overwrite=overwrite, progress=progress)
        except KeyboardInterrupt:
            say(f"What was done is kept. To go on: the same command with --out {folder}")
            raise
    print_warnings(run.summary["warnings"], run.summary["skipped"], quiet)
    append_step_summary(comments_markdown(run.summary))
    if as_json:
        print_json(run.summary)
    else:
        screen = console()
        screen.print(reviewers_table(run.summary, screen.width))
        if not quiet:
            say(f"{_judged_by(run.summary)} The pairing behind every figure: {folder}")
    check_undecided(run.summary)
    check_gates(run.metrics, gates)


def _judged_by(summary: dict[str, Any]) -> str:
    judge = summary["judge"]
    asked = (
        f" ({judge['llm_calls']:,} model calls, {judge['cached']:,} from the cache)"
        if judge["llm_calls"]
        else ""
    )
    return (
        f"Judged by {judge['name']} over {judge['pairs']:,} pairs{asked}; 95 % intervals over pull requests."
    )


def _print_plan(plan: Any, as_json: bool, quiet: bool) -> None:
    document = {
        "schema": "metareview.dry-run/1",
        "config": plan.config,
        "reviewers": len({case.reviewer for case in plan.cases}),
        "prs": plan.pull_requests,
        "pairs": plan.pairs,
        "negative_pairs": plan.negative_pairs,
        "llm_calls": plan.model_calls(),
        "warnings": plan.warnings,
        "skipped": [{"file": item.file, "reason": item.reason} for item in plan.skipped],
    }
    if as_json:
        print_json(document)
        return
    click.echo(
        f"{document['prs']} pull requests, {document['reviewers']} reviewers, {document['pairs']:,} pairs to judge"
        f" and up to {document['negative_pairs']:,} with negatives, {document['llm_calls']} model calls."
    )
    print_warnings(document["warnings"], document["skipped"], quiet)
