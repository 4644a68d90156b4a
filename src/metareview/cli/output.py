"""What all commands print alike: JSON, tables, warnings, progress. Results go to standard output, all else to error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from metareview.cli.github import inert, summary_page

if TYPE_CHECKING:
    from rich.console import Console

    from metareview.model.comment import Skipped
    from metareview.report.tables import Table

_SHOWN_WARNINGS = 5


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a command prints, as `--json` and `--quiet` ask."""

    as_json: bool
    quiet: bool

    def show(self, document: Mapping[str, object], *parts: str | Table, remarks: Iterable[str] = ()) -> None:
        """A result: its document as JSON; or else lines and tables, then remarks on standard error unless quiet."""
        from metareview.report import json_text
        from metareview.report.names import printable

        if self.as_json:
            click.echo(json_text(document, sys.stdout.encoding or "utf-8"))
            return
        for part in parts:
            print(inert(printable(part)) if isinstance(part, str) else _drawn(part))
        self.say(remarks)

    def say(self, lines: Iterable[str]) -> None:
        """Lines about the result, unless quiet."""
        for line in () if self.quiet else lines:
            say(line)

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None] | None]:
        """A bar on a terminal; elsewhere a plain line now and then, and none at all where it is quick."""
        if self.quiet:
            yield None
            return
        if sys.stderr.isatty():
            from rich.progress import Progress

            with Progress(console=_console(err=True), transient=True) as bar:
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


def say(line: str) -> None:
    from metareview.report.names import printable

    click.echo(inert(printable(line)), err=True)


def warning_lines(warnings: Iterable[str], skipped: Iterable[Skipped] = ()) -> list[str]:
    """The first few of them, and how many more there are."""
    lines = [f"Warning: {warning}" for warning in warnings]
    lines += [f"Skipped: {item.file}: {item.reason}" for item in skipped]
    more = len(lines) - _SHOWN_WARNINGS
    return lines[:_SHOWN_WARNINGS] + ([f"… and {more} more; --json lists them all."] if more > 0 else [])


def wrapped(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, max(20, _console().width))


def _drawn(table: Table) -> str:
    from metareview.report.terminal import as_rich

    console = _console()
    with console.capture() as drawn:
        console.print(as_rich(table, console.width))
    return "\n".join(inert(line.rstrip()) for line in drawn.get().splitlines())


def _console(*, err: bool = False) -> Console:
    """The terminal's width where there is one; in a file or a pipe room for every column."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else 120, highlight=False, soft_wrap=False)


def append_step_summary(markdown: str) -> None:
    """Append to the page of a GitHub job, if `$GITHUB_STEP_SUMMARY` names one; a loss of it is only a warning."""
    path = summary_page()
    if path is None:
        return
    try:
        with path.open("a", encoding="utf-8", newline="\n") as page:
            page.write(markdown.rstrip("\n") + "\n\n")
    except OSError as error:
        say(f"Warning: cannot append to $GITHUB_STEP_SUMMARY ({path}): {error.strerror}")
