"""What a step says to GitHub's runner: outputs, annotations, the page of the job."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import click

from metareview.cli.github import inert, on_runner, summary_page
from metareview.cli.output import say
from metareview.report.names import printable

_LARGEST_PAGE = 1_000_000
"""Bytes: a step's part of the page may have 1,048,576, and is not shown at all where it has more."""


def give_outputs(values: Mapping[str, object]) -> None:
    """Outputs of the step. What stands in a value cannot end it: the line that does is drawn by lot."""
    path = os.environ.get("GITHUB_OUTPUT")
    if not path:
        return
    with Path(path).open("a", encoding="utf-8", newline="\n") as file:
        for name, value in values.items():
            end = f"end_{secrets.token_hex(16)}"
            file.write(f"{name}<<{end}\n{value}\n{end}\n")


def annotate(level: str, text: str) -> None:
    """An `error` or a `warning` at the top of the build; elsewhere than on a runner a line on standard error."""
    if on_runner():
        click.echo(f"::{level} title=metareview::{inert(printable(text)).replace('%', '%25')}", err=True)
    else:
        say(f"{level.capitalize()}: {text}")


def append_page(markdown: str) -> None:
    """Adds to the page of the job, if there is one; what would be too long for it is cut at a line."""
    from metareview.action.page import bounded

    page = summary_page()
    if page is None:
        return
    text = bounded(markdown, _LARGEST_PAGE, lambda part: len(part.encode("utf-8", "replace")))
    try:
        with page.open("a", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text.rstrip("\n") + "\n\n")
    except OSError as error:
        annotate("warning", f"cannot write the page of the job: {error.strerror}")
