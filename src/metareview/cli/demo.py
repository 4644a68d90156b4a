"""`metareview demo`: three invented reviewers on the sample benchmark that ships with the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import click

from metareview.cli.options import common_options, run_folder, run_options
from metareview.cli.output import Screen


@click.command(epilog="Example: metareview demo --out runs/demo")
@run_options
@common_options
def command(out: Path | None, overwrite: bool, screen: Screen) -> None:
    """Score three invented reviewers on a dozen invented pull requests: no key, no network."""
    from metareview.pipelines.comments import evaluate
    from metareview.pipelines.comments.options import CommentsOptions
    from metareview.report.headline import headline
    from metareview.report.tables import reviewers_table

    folder = run_folder(out, "demo")
    with as_file(files("metareview") / "data" / "demo") as sample, screen.progress("pull requests") as progress:
        options = CommentsOptions(sample / "reviews", sample / "references.jsonl", negatives=sample / "negatives.jsonl")
        run = evaluate(options, out=folder, overwrite=overwrite, progress=progress)
    next_step = "Next, with your own: metareview comments YOUR_COMMENTS/ --reference YOUR_BENCHMARK.json"
    remarks = [headline(run), f"The pairing behind every figure: {folder}", next_step]
    screen.show(run.summary, reviewers_table(run.result), remarks=remarks)
