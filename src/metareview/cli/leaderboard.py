"""`metareview leaderboard`: everybody in one table, and who is tied with whom."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from metareview.cli.output import common_options, console, print_json, print_warnings, rate, say


@click.command(
    epilog="Example: metareview leaderboard runs/* --sort positive_recall_rate",
)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--sort", metavar="METRIC", help="What decides the rank and the ties.  [default: f1, or mrr]")
@click.option(
    "--beta", type=float, metavar="B", help="Adds f_beta, and sorts by it: above 1 recall counts more."
)
@common_options
def command(runs: tuple[Path, ...], sort: str | None, beta: float | None, as_json: bool, quiet: bool) -> None:
    """Rank the reviewers, or routers, of all RUNS. Whoever shares a letter is tied."""
    from metareview.cli.step_summary import append_step_summary, leaderboard_markdown
    from metareview.comparison.leaderboard import leaderboard

    result = leaderboard(runs, sort=sort, beta=beta)
    print_warnings(result["warnings"], [], quiet)
    append_step_summary(leaderboard_markdown(result))
    if as_json:
        print_json(result)
        return
    screen = console()
    screen.print(_table(result, screen.width))
    if not quiet:
        say("A shared letter: this set cannot tell them apart (paired test, Holm over all pairs, 0.05).")


def _table(result: Mapping[str, Any], width: int) -> Any:
    """The sort metric first, with its interval and ties; in a wide terminal the other metrics too."""
    from rich.table import Table
    from rich.text import Text

    from metareview.comparison.competitors import word_for

    chosen = result["sort"]
    others = [
        name
        for name in result["rows"][0]["metrics"]
        if name != chosen and any(row["metrics"][name] is not None for row in result["rows"])
    ]
    room = (width - 60) // 11
    shown = others[: max(0, room)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", justify="right")
    table.add_column("name", overflow="fold", min_width=8)
    if width >= 60:
        table.add_column("PRs", justify="right")
    for title in (_title(chosen, result["beta"]), "95 %"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("ties", no_wrap=True)
    for name in shown:
        table.add_column(word_for(name), justify="right", overflow="fold", max_width=10)
    for row in result["rows"]:
        ends = row["intervals"][chosen]
        table.add_row(
            str(row["rank"]),
            Text("".join(c for c in row["label"] if c.isprintable())),
            *([str(row["prs"])] if width >= 60 else []),
            rate(row["metrics"][chosen]),
            "–" if ends is None else f"{ends[0]:.3f}–{ends[1]:.3f}",
            row["ties"],
            *(rate(row["metrics"][name]) for name in shown),
        )
    return table


def _title(metric: str, beta: float | None) -> str:
    from metareview.comparison.competitors import word_for

    return f"F{beta:g}" if metric == "f_beta" and beta is not None else word_for(metric)
