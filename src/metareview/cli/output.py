"""What all commands print alike: JSON, tables, warnings, progress. Results go to standard output, all else to error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from metareview.model.comment import Skipped
    from metareview.report.tables import Table

_SHOWN_WARNINGS = 5


def print_json(document: Mapping[str, object]) -> None:
    from metareview.report import json_text

    click.echo(json_text(document, sys.stdout.encoding or "utf-8"))


def show(text: str) -> None:
    """A line of the result."""
    from metareview.report.names import printable

    print(printable(text))


def say(message: str) -> None:
    """A line about the result."""
    from metareview.report.names import printable

    click.echo(printable(message), err=True)


def show_table(table: Table) -> None:
    from metareview.report.terminal import as_rich

    screen = console()
    with screen.capture() as drawn:
        screen.print(as_rich(table, screen.width))
    for line in drawn.get().splitlines():
        print(line.rstrip())


def show_wrapped(text: str) -> None:
    """Sentences of the result, broken to the terminal's width."""
    from textwrap import wrap

    from metareview.report.names import printable

    print("\n".join(wrap(printable(text), max(20, console().width))))


def console(*, err: bool = False) -> Console:
    """The terminal's width where there is one; in a file or a pipe room for every column."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() else 120
    return Console(file=stream, width=width, highlight=False, soft_wrap=False)


def print_warnings(warnings: Iterable[str], skipped: Iterable[Skipped] = (), *, quiet: bool) -> None:
    if quiet:
        return
    lines = [f"Warning: {warning}" for warning in warnings]
    lines += [f"Skipped: {item.file}: {item.reason}" for item in skipped]
    for line in lines[:_SHOWN_WARNINGS]:
        say(line)
    if len(lines) > _SHOWN_WARNINGS:
        say(f"… and {len(lines) - _SHOWN_WARNINGS} more; --json lists them all.")


def append_step_summary(markdown: str) -> None:
    """Append to the page of a GitHub job, if `$GITHUB_STEP_SUMMARY` names one; a loss of it is only a warning."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8", newline="\n") as page:
            page.write(markdown.rstrip("\n") + "\n\n")
    except OSError as error:
        say(f"Warning: cannot append to $GITHUB_STEP_SUMMARY ({path}): {error.strerror}")


@contextmanager
def progress_bar(what: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal; elsewhere a plain line now and then, and none at all where it is quick."""
    if quiet:
        yield None
        return
    if sys.stderr.isatty():
        from rich.progress import Progress

        with Progress(console=console(err=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    last = time.monotonic()

    def line(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 5:
            last = time.monotonic()
            say(f"{what}: {done} of {total}")

    yield line
