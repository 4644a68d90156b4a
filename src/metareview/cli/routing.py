"""`metareview routing`: replay a history and score routers on it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from metareview.cli.options import (
    PATH,
    InputPath,
    Limits,
    ListingOption,
    Paths,
    common_options,
    engine_options,
    gate_options,
    one_of,
    router_metric_names,
    run_folder,
    run_options,
    stem_of,
)
from metareview.cli.output import Screen, append_step_summary, warning_lines
from metareview.errors import UsageError

if TYPE_CHECKING:
    from metareview.pipelines.routing import RoutingKeywords
    from metareview.report.tables import Table


_ASKED = 5
"""People who were asked most, in the terminal."""


def _parse_ks(context: click.Context, option: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in text.split(","))
    except ValueError:
        raise UsageError(f"--k takes whole numbers such as 1,3,5; found {text!r}.") from None


def _parse_list(context: click.Context, option: click.Parameter, text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",") if each.strip())


def _parse_prs(context: click.Context, option: click.Parameter, texts: Sequence[str]) -> tuple[int | str, ...]:
    return tuple(int(text) if text.isdecimal() and len(text) < 19 else text for text in texts)


def _parse_configs(context: click.Context, option: click.Parameter, texts: Sequence[str]) -> dict[str, Path] | None:
    configs: dict[str, Path] = {}
    for text in texts:
        name, _, file = text.rpartition("=")
        if not name or not file:
            raise UsageError(f"--router-config takes NAME=FILE, such as mine:Router=mine.json; found {text!r}.")
        if name in configs:
            raise UsageError(f"--router-config {name} is given twice. Give one file per router.")
        configs[name] = Path(file)
    return configs or None


def _router_names() -> list[str]:
    from metareview.routing.registry import ROUTERS

    return ROUTERS.names()


@click.command(epilog="Example: metareview routing events.jsonl --router popularity --truth-window 1d")
@click.argument("history", type=InputPath("history"), nargs=-1, required=True)
@click.option("--router", "routers", cls=ListingOption, names=_router_names, multiple=True, metavar="NAME",
              help="{names}, or package.module:factory; repeatable.  [default: all built-in]")  # fmt: skip
@click.option("--router-config", multiple=True, metavar="NAME=FILE", callback=_parse_configs,
              help="A JSON object for that router's factory; repeatable.")  # fmt: skip
@click.option("--predictions", multiple=True, type=PATH, metavar="FILE",
              help="A router that already ran, as JSON lines; repeatable.")  # fmt: skip
@click.option("--cutoff", default="created_at", show_default=True, metavar="P",
              shell_complete=one_of("created_at", "ready_for_review"),
              help="created_at, created_at+30m (s, m, h, d) or ready_for_review.")  # fmt: skip
@click.option("--truth", default="first_response", show_default=True, metavar="P",
              shell_complete=one_of("first_response", "first_approval", "all_reviewers"),
              help="first_response, first_approval or all_reviewers.")  # fmt: skip
@click.option("--truth-window", default="60m", show_default=True, metavar="D",
              help="How long after the cutoff a response counts; none: no end.")  # fmt: skip
@click.option("--truth-sources", default="review_submitted,review_comment", show_default=True, metavar="LIST",
              shell_complete=one_of("review_submitted", "review_comment", "comment"),
              callback=_parse_list, help="What counts as a first response; also comment.")  # fmt: skip
@click.option("--include-bots", is_flag=True, help="Bots may be candidates and truth.")
@click.option("--include-author", is_flag=True, help="The author may be candidate and truth.")
@click.option("--k", default="1,3,5", show_default=True, metavar="LIST", callback=_parse_ks,
              help="The values of k for hit@k and the like.")  # fmt: skip
@click.option("--merged-within", metavar="D", help="Also count merges up to D after the cutoff.")
@click.option("--ttfc", is_flag=True, help="Also report the time to the first comment.")
@click.option("--reviews-visible-at", default="event", show_default=True, metavar="event|creation",
              shell_complete=one_of("event", "creation"),
              help="creation: a review is known as soon as its pull request is (RevFinder's protocol).")  # fmt: skip
@click.option("--from", "since", metavar="T", help="Only pull requests opened from then on.")
@click.option("--to", "until", metavar="T", help="Only pull requests opened before.")
@click.option(
    "--repo", "repos", multiple=True, metavar="R", help="Only this repository, by name or address; repeatable."
)
@click.option("--pr", "prs", multiple=True, metavar="N", callback=_parse_prs,
              help="Only this number, owner/repo#N or address; repeatable.")  # fmt: skip
@click.option("--limit", type=int, metavar="N", help="Only the first N that were opened.")
@click.option("--codeowners", type=PATH, metavar="FILE",
              help="What codeowners needs: a file, or a folder owner/name/BASE_SHA/CODEOWNERS.")  # fmt: skip
@engine_options
@run_options
@gate_options(router_metric_names)
@common_options
def command(
    history: Paths,
    out: Path | None,
    overwrite: bool,
    limits: Limits,
    screen: Screen,
    **options: Unpack[RoutingKeywords],
) -> None:
    """Would these routers have picked the people who really responded? Replays HISTORY, event by event.

    HISTORY is a file, a folder, or several of them: events (JSON lines, Parquet), the routing harness's history.sqlite,
    hours of GH Archive, or Gerrit's changes.
    """
    from metareview.model.build_gates import check_gates, check_names, gate_results, parse_gates
    from metareview.pipelines.routing import RoutingOptions, evaluate
    from metareview.report.build_gates import gate_lines
    from metareview.report.headline import board_of, headline
    from metareview.report.markdown import run_section
    from metareview.report.routing_outcomes import (
        actual_lines,
        expertise_table,
        lists_table,
        load_lines,
        requests_line,
        requests_table,
    )
    from metareview.report.tables import cohort, declarations, queue_table, routers_table
    from metareview.routing.list_measures import SEVERAL, ListMeasure, measures_of
    from metareview.runs.writer import keep_gates

    # Gates that would need another truth are known, to be refused with the fix.
    gates = parse_gates(limits, measures_of(options["k"], SEVERAL))
    for gate in gates:
        if isinstance(gate.measure, ListMeasure) and options["truth"] != SEVERAL:
            raise UsageError(f"{gate.measure.short} is about several right people. Give --truth {SEVERAL} with it.")
    if not options["routers"] and not options["predictions"]:
        options["routers"] = None  # All built-in; but predictions alone are scored alone.
    folder = run_folder(out, stem_of(history[0]))
    chosen = RoutingOptions(history, **options).with_datasets(screen.download, screen.tell_once())
    check = partial(check_names, gates) if any(gate.name for gate in gates) else None
    run = evaluate(chosen, out=folder, overwrite=overwrite, watch=screen.progress, check=check)
    results = gate_results(gates, run.metrics)
    run = keep_gates(run, results)
    warnings = run.result.warnings
    if run.result.truth_warning and not (screen.as_json or screen.quiet):
        screen.show({}, f"{run.result.truth_warning}.")
        warnings = warnings[1:]
    screen.say(warning_lines(warnings))
    board = cache(lambda: board_of(run))
    append_step_summary(lambda: run_section(run, board()))
    if screen.as_json:
        screen.show(run.summary)
        check_gates(results)
        return
    more: list[str | Table] = []
    if not screen.quiet:
        for table in (lists_table(run.result), expertise_table(run.result)):
            more += ["", table] if table else []
        more += actual_lines(run.result)
        waits = queue_table(run.result)
        more += ["", waits, ""] if waits else []
        more += declarations(run.result)
        more += load_lines(run.result)
        asked = requests_table(run.result, _ASKED)
        more += [*requests_line(run.result), *([asked] if asked else [])]
    remark = f"{cohort(run.result)} Each pull request's lists, ranks and times: {folder}"
    screen.show(
        run.summary, routers_table(run.result), *gate_lines(results), *more, remarks=[headline(run, board()), remark]
    )
    check_gates(results)
