"""`metareview demo`: three invented reviewers on the sample benchmark that ships with the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import click

from metareview.cli.output import common_options, console, print_json, progress_bar, reviewers_table, say


@click.command(epilog="Example: metareview demo --out runs/demo")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="[default: runs/<time>-demo]")
@click.option("--overwrite", is_flag=True, help="Replace what is in --out.")
@common_options
def command(out: Path | None, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Score three invented reviewers on a dozen invented pull requests: no key, no network."""
    from metareview.pipelines.evaluate import evaluate_comments
    from metareview.runs.folder import default_folder

    folder = out or default_folder("demo")
    with (
        as_file(files("metareview") / "data" / "demo") as sample,
        progress_bar("pull requests", quiet) as progress,
    ):
        run = evaluate_comments(
            sample / "reviews",
            reference=sample / "references.jsonl",
            negatives=sample / "negatives.jsonl",
            out=folder,
            overwrite=overwrite,
            progress=progress,
        )
    if as_json:
        print_json(run.summary)
        return
    screen = console()
    screen.print(reviewers_table(run.summary, screen.width))
    if not quiet:
        say(f"The pairing behind every figure: {folder}")
        say("Next, with your own: metareview comments YOUR_COMMENTS/ --reference YOUR_BENCHMARK.json")
