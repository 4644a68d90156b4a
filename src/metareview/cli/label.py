"""`metareview label`: a person's verdicts on a sample of a run, and what they make of its figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from metareview.cli.asking import Asking
from metareview.cli.options import PATH, common_options
from metareview.cli.output import Screen

if TYPE_CHECKING:
    from metareview.runs.run import CommentsRun

_PAIR_KEYS = {"s": "same", "d": "different", "j": "later", "u": "undo", "q": "quit"}


@click.command(epilog="Example: metareview label runs/demo --name anna")
@click.argument("run", type=PATH)
@click.option("--name", metavar="NAME", help="Who labels: two people's labels of the same pairs can be compared.")
@click.option("--budget", type=int, metavar="N",
              help="How many blocks are drawn; a larger one adds to them.  [default: 120]")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw.")
@common_options
def command(run: Path, name: str | None, budget: int | None, seed: int, screen: Screen) -> None:
    """Ask about a random sample of the finished comment run in folder RUN, one block of pairs at a time: do these two
    raise the same issue? Answers go into labels.jsonl of its folder at once; the same command goes on later. At the
    end, the run's figures corrected by them."""
    from metareview.comparison.evidence import comments_run
    from metareview.comparison.frame import open_frame
    from metareview.runs.run import load_run

    stored = comments_run(load_run(run))
    frame = open_frame(stored, budget=budget, seed=seed)
    asking = Asking(screen)
    try:
        _ask_pairs(stored, name, asking)
    except (KeyboardInterrupt, click.Abort):
        click.echo("\\nInterrupted. Every answer is kept; the same command goes on.", err=True)
        raise click.exceptions.Exit(130) from None
    _show_figures(stored, screen)
