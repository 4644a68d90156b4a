"""What all commands print alike: JSON, tables, warnings, progress. Results go to standard output, all else to error."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import click

from metareview.cli.github import inert, inert_json, summary_page

if TYPE_CHECKING:
    from metareview.model.comment import Skipped
    from metareview.report.tables import Table

NOW_AND_THEN = 5.0
"""After how many seconds a plain line says how far something is."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What shows how far something is: called with how much is done and how much there is to do. `note` takes a line
    about it, such as why nothing moves."""

    move: Callable[[int, int], None]
    note: Callable[[str], None]

    def __call__(self, done: int, total: int) -> None:
        self.move(done, total)


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a command prints, as `--json` and `--quiet` ask."""

    as_json: bool
    quiet: bool

    @property
    def width(self) -> int:
        """How wide standard output is."""
        return _width()

    def show(self, document: Mapping[str, object], *parts: str | Table, remarks: Iterable[str] = ()) -> None:
        """A result: its document as JSON; or else lines and tables, then remarks on standard error unless quiet."""
        from metareview.report import json_text
        from metareview.report.terminal import Heading, wrapped

        if self.as_json:
            click.echo(inert_json(json_text(document, sys.stdout.encoding or "utf-8")))
            return
        for part in parts:
            for line in wrapped(part, _width()) if isinstance(part, str) else _drawn(part):
                bold = isinstance(part, Heading) and sys.stdout.isatty()
                print(click.style(inert(line), bold=True) if bold else inert(line))
        self.say(remarks)

    def say(self, lines: Iterable[str]) -> None:
        """Lines about the result, unless quiet."""
        for line in () if self.quiet else lines:
            say(line)

    def tell_once(self) -> Callable[[str], None]:
        """Takes lines, and says each the first time, unless quiet."""
        return cache(lambda line: self.say([line]))

    @contextmanager
    def progress(self, what: str) -> Iterator[Shown | None]:
        """A bar on a terminal; elsewhere a plain line now and then, and none at all where it is quick."""
        if self.quiet:
            yield None
            return
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress
            from rich.text import Text

            with Progress(console=Console(file=sys.stderr), transient=True) as bar:
                task = bar.add_task(what, total=None)
                yield Shown(
                    lambda done, total: bar.update(task, completed=done, total=total),
                    lambda text: bar.console.print(Text(inert(text))),
                )
            return
        last = time.monotonic()

        def line(done: int, total: int) -> None:
            nonlocal last
            if time.monotonic() - last >= NOW_AND_THEN:
                last = time.monotonic()
                say(f"{what}: {done} of {total}")

        yield Shown(line, say)

    @contextmanager
    def status(self) -> Iterator[Callable[[str, bool], None]]:
        """Takes lines on how far something is: one that changes on a terminal; elsewhere one now and then, but each
        that is `pressing`, such as why nothing goes on."""
        if self.quiet:
            yield lambda text, pressing: None
            return
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.text import Text

            with Console(file=sys.stderr).status("") as shown:
                yield lambda text, pressing: shown.update(Text(inert(text)))
            return
        last = time.monotonic()

        def line(text: str, pressing: bool) -> None:
            nonlocal last
            if pressing or time.monotonic() - last >= NOW_AND_THEN:
                last = time.monotonic()
                say(text)

        yield line

    @contextmanager
    def download(self, what: str) -> Iterator[Callable[[int, int], None] | None]:
        """Says that something is fetched from the network, which nobody may expect, and shows how far it is."""
        self.say([f"Fetching {what}"])
        with self.progress("kilobytes") as progress:
            yield progress


def say(line: str) -> None:
    """On a terminal wrapped at words; elsewhere a line stays one, for whoever searches a log."""
    from metareview.report.names import printable
    from metareview.report.terminal import wrapped

    known = sys.stderr.isatty() or "COLUMNS" in os.environ
    for each in wrapped(line, _width(err=True)) if known else [printable(line)]:
        click.echo(inert(each), err=True)


def settings_lines(judge: object) -> list[str]:
    """Which model is asked, and where its settings came from: a file of the working folder may be anybody's."""
    from metareview.judges.protocol import AsksServer

    if not isinstance(judge, AsksServer) or not judge.settings_from:
        return []
    model, server = judge.parameters["model"], judge.parameters["server"]
    return [f"Model: {model} at {server}, settings from {judge.settings_from}"]


def warning_lines(warnings: Iterable[str], skipped: Iterable[Skipped] = ()) -> list[str]:
    """The first few of them, and how many more there are."""
    from metareview.formats.read_warnings import stands_for
    from metareview.report.tables import FIRST_WARNINGS

    lines = [f"Warning: {warning}" for warning in warnings]
    lines += [f"Skipped: {item.file}: {item.reason}" for item in skipped]
    more = sum(map(stands_for, lines[FIRST_WARNINGS:]))
    return lines[:FIRST_WARNINGS] + ([f"… and {more:,} more; --json has them."] if more else [])


def _drawn(table: Table) -> list[str]:
    """The table's lines, and below it which columns there was no room for."""
    from metareview.report.terminal import fitted, wrapped

    width = _width()
    head, body, left_out = fitted(table, width)
    lines = [click.style(line, bold=True) if sys.stdout.isatty() else line for line in head] + body
    if left_out:
        where = f"{'It is' if len(left_out) == 1 else 'They are'} in --json, and shown on a wider terminal."
        lines += wrapped(f"No room for: {', '.join(left_out)}. {where}", width)
    return lines


def _width(*, err: bool = False) -> int:
    """Of the terminal, or as $COLUMNS has it; else, in a file or a pipe, 120."""
    stream = sys.stderr if err else sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() or "COLUMNS" in os.environ else 120


def append_step_summary(markdown: Callable[[], str]) -> None:
    """Append to the page of a GitHub job, if `$GITHUB_STEP_SUMMARY` names one; a loss of it is only a warning."""
    path = summary_page()
    if path is None:
        return
    try:
        with path.open("a", encoding="utf-8", newline="\n") as page:
            page.write(markdown().rstrip("\n") + "\n\n")
    except OSError as error:
        say(f"Warning: cannot append to $GITHUB_STEP_SUMMARY ({path}): {error.strerror}")
