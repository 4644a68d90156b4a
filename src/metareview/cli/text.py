"""`metareview text`: score retrieved text against ground truth."""

from __future__ import annotations

from pathlib import Path

import click

from metareview.cli.options import PATH, common_options
from metareview.cli.output import Screen
from metareview.model.words import plural


@click.command(epilog="Example: metareview text retrieved.jsonl --strategy rouge-sentence --threshold 0.8")
@click.argument("file", type=PATH)
@click.option("--strategy", default="rouge-chunk", show_default=True, help="What counts as a match.",
              metavar="exact-chunk|exact-sentence|rouge-chunk|rouge-sentence")  # fmt: skip
@click.option("--threshold", type=float,
              help="A match needs more than this recall.  [default: 0.7 chunk, 0.8 sentence]")  # fmt: skip
@common_options
def command(file: Path, strategy: str, threshold: float | None, screen: Screen) -> None:
    """Score FILE: JSON lines with retrieved_context and ground_truth_context, both lists of strings."""
    from metareview.formats.text_items import read_text_items
    from metareview.report.numbers import rate
    from metareview.text.score import score_items

    result = score_items(read_text_items(file), strategy, threshold)
    figures = "  ".join(f"{name} {rate(result[name])}" for name in ("precision", "recall", "f1"))
    left_out = ", ".join(f"{name} {count}" for name, count in result["nulls"].items() if count)
    remarks = [f"Undefined for some items, left out of the mean: {left_out}."] if left_out else []
    screen.show(result, f"{plural(result['n'], 'item')}: {figures}", remarks=remarks)
