"""The options of the judges that call a model, alike in every command that judges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--concurrency`, `--cache`, `--no-cache`, `--max-llm-calls`."""
    for option in (
        click.option("--max-llm-calls", type=click.IntRange(min=0), metavar="N",
                     help="Ask a model about N pairs at the most; the rest stay undecided."),
        click.option("--no-cache", is_flag=True, help="Ask again, whatever was answered before."),
        click.option("--cache", type=click.Path(path_type=Path), metavar="FILE",
                     help="Where a model's verdicts are kept.  [default: the user's cache folder]"),
        click.option("--concurrency", type=click.IntRange(min=1), default=16, show_default=True,
                     help="Requests at once, for judges that call a model."),
    ):  # fmt: skip
        command = option(command)
    return command
