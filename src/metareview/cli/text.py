"""`metareview text`: score retrieved text against ground truth."""

from __future__ import annotations

from pathlib import Path

import click

from metareview.cli.output import common_options, print_json, rate, say


@click.command(epilog="Example: metareview text retrieved.jsonl --strategy rouge-sentence --threshold 0.8")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--strategy",
    default="rouge-chunk",
    show_default=True,
    metavar="exact-chunk|exact-sentence|rouge-chunk|rouge-sentence",
    help="What counts as a match.",
)
@click.option(
    "--threshold", type=float, help="A match needs more than this recall.  [default: 0.7 chunk, 0.8 sentence]"
)
@common_options
def command(file: Path, strategy: str, threshold: float | None, as_json: bool, quiet: bool) -> None:
    """Score FILE: JSON lines with retrieved_context and ground_truth_context, both lists of strings."""
    from metareview.formats.text_items import read_text_items
    from metareview.text.score import score_items

    result = score_items(read_text_items(file), strategy, threshold)
    if as_json:
        print_json(result)
        return
    figures = [
        f"{name} {rate(value)}"
        for name, value in (
            ("precision", result["precision"]),
            ("recall", result["recall"]),
            ("f1", result["f1"]),
        )
    ]
    click.echo(f"{result['n']} items: " + "  ".join(figures))
    left_out = {name: count for name, count in result["nulls"].items() if count}
    if left_out and not quiet:
        counts = ", ".join(f"{name} {count}" for name, count in left_out.items())
        say(f"Undefined for some items, left out of the mean: {counts}.")
