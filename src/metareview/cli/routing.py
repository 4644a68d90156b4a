"""`metareview routing`: replay a history and score routers on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click
from rich.table import Table
from rich.text import Text

from metareview.cli.gates import check_gates, gate_options, parse_gates
from metareview.cli.output import (
    common_options,
    console,
    print_json,
    print_warnings,
    printable,
    rate,
    say,
    span,
)
from metareview.errors import UsageError
from metareview.routing.registry import ROUTERS

if TYPE_CHECKING:
    from metareview.pipelines.routing import RoutingKeywords


def _parse_ks(context: click.Context, option: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in text.split(","))
    except ValueError:
        raise UsageError(f"--k takes whole numbers such as 1,3,5; found {text!r}.") from None


@click.command(epilog="Example: metareview routing events.jsonl --router popularity --truth-window 1d")
@click.argument("history", type=click.Path(path_type=Path))
@click.option("--router", "routers", multiple=True, metavar="NAME",
              help=f"{', '.join(ROUTERS.names())}, or package.module:factory; repeatable."
                   "  [default: all built-in]")  # fmt: skip
@click.option("--predictions", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="A router that already ran, as JSON lines; repeatable.")  # fmt: skip
@click.option("--cutoff", default="created_at", show_default=True, metavar="P",
              help="created_at, created_at+30m (s, m, h, d) or ready_for_review.")  # fmt: skip
@click.option("--truth", default="first_response", show_default=True, metavar="P",
              help="first_response, first_approval or all_reviewers.")  # fmt: skip
@click.option(
    "--truth-window", default="60m", show_default=True, metavar="D", help="How long; none for no end."
)
@click.option("--include-bots", is_flag=True, help="Count bots too.")
@click.option("--include-author", is_flag=True, help="Count the author too.")
@click.option("--k", default="1,3,5", show_default=True, metavar="LIST", callback=_parse_ks,
              help="The cut-offs of hit@k.")  # fmt: skip
@click.option("--merged-within", metavar="D", help="Declarations and merges up to D after the cutoff, too.")
@click.option("--ttfc", is_flag=True, help="Time to first comment too.")
@click.option("--reviews-visible-at", default="event", show_default=True, metavar="event|creation",
              help="creation: a review is known as soon as its pull request is (RevFinder's protocol).")  # fmt: skip
@click.option("--from", "since", metavar="T", help="Only pull requests opened from then on.")
@click.option("--to", "until", metavar="T", help="Only pull requests opened before.")
@click.option("--repo", "repos", multiple=True, metavar="R", help="Only this repository; repeatable.")
@click.option("--pr", "prs", multiple=True, type=int, metavar="N", help="Only this number; repeatable.")
@click.option("--limit", type=int, metavar="N", help="Only the first N by opening.")
@click.option("--codeowners", type=click.Path(path_type=Path), metavar="FILE",
              help="For codeowners; or a folder owner/name/BASE_SHA/CODEOWNERS.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the intervals.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="[default: runs/<time>-<name>]")
@click.option("--overwrite", is_flag=True, help="Replace what is in --out.")
@gate_options
@common_options
def command(
    history: Path,
    out: Path | None,
    overwrite: bool,
    fail_under: tuple[str, ...],
    fail_over: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **options: Unpack[RoutingKeywords],
) -> None:
    """Would these routers have picked the people who really responded? Replays HISTORY, event by event."""
    from metareview.api import evaluate_routing
    from metareview.cli.step_summary import append_step_summary, routing_markdown
    from metareview.routing.measures import rank_measures
    from metareview.runs.files import default_folder

    gates = parse_gates(fail_under, fail_over, [measure.name for measure in rank_measures(options["k"])])
    folder = out or default_folder(history.resolve().stem)
    if not options["routers"] and not options["predictions"]:
        options["routers"] = None  # All built-in; but predictions alone are scored alone.
    run = evaluate_routing(history, out=folder, overwrite=overwrite, **options)
    summary = run.summary
    print_warnings(summary["warnings"], [], quiet)
    append_step_summary(routing_markdown(summary))
    if as_json:
        print_json(summary)
    else:
        screen = console()
        screen.print(_table(summary, screen.width))
        if not quiet:
            screen.print(_declarations(summary["gates"]), markup=False)
            if summary["config"]["merged_within"]:
                screen.print(_merged_within(summary), markup=False)
            say(f"{_cohort(summary)} Each pull request's lists, ranks and times: {folder}")
    check_gates(run.metrics, gates)


def _table(summary: Mapping[str, Any], width: int) -> Table:
    """One row per router, the best MRR first."""
    from metareview.routing.measures import rank_measures

    *hits, mrr = rank_measures(summary["config"]["k"])
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("router", overflow="fold", min_width=8)
    wide = width >= 100
    titles = [*(hit.label for hit in hits), mrr.label, "95 %"] + [
        "where observed",
        "Gini",
        "top share",
    ] * wide
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for name, block in sorted(summary["routers"].items(), key=lambda item: -(item[1]["mrr"] or 0)):
        load = block["load"]
        extra = [rate(block["observed_only"]["mrr"]), rate(load["gini"]), rate(load["top1_share"])] * wide
        table.add_row(
            Text(printable(name)),
            *(rate(block[hit.name]) for hit in hits),
            rate(block["mrr"]),
            span(block["intervals"]["mrr"]),
            *extra,
        )
    return table


def _declarations(rates: Mapping[str, Any]) -> str:
    shown = [f"{name.replace('_', ' ')} {rate(each['missing_rate'])}" for name, each in rates.items()]
    return "Pull requests without: " + ", ".join(shown)


def _merged_within(summary: Mapping[str, Any]) -> str:
    shown = [
        f"{name.replace('_', ' ')} {rate(each['merged_within']['merged_rate_missing'])}"
        f" and {rate(each['merged_within']['merged_rate_present'])}"
        for name, each in summary["gates"].items()
    ]
    return f"Merged within {summary['config']['merged_within']}, without and with: " + ", ".join(shown)


def _cohort(summary: Mapping[str, Any]) -> str:
    truth = summary["truth"]
    return (
        f"{summary['prs']:,} pull requests: {truth['observed']:,} with a truth, {truth['no_response']:,} without,"
        f" {truth['unknown']:,} unknown (misses all the same)."
    )
