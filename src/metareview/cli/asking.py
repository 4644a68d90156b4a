"""Questions that are answered with one key: on a terminal at once, from a pipe a line each."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

import click

from metareview.cli.github import inert
from metareview.cli.output import Screen


class Asking:
    """Prints questions and reads keys. With --json they go to standard error: the result alone is for the other."""

    def __init__(self, screen: Screen) -> None:
        self._err = screen.as_json
        self.width = screen.width

    def show(self, lines: Iterable[str]) -> None:
        from metareview.report.terminal import Heading

        terminal = (sys.stderr if self._err else sys.stdout).isatty()
        for line in lines:
            bold = terminal and isinstance(line, Heading)
            click.echo(click.style(inert(line), bold=True) if bold else inert(line), err=self._err)

    def key(self, question: str, keys: Mapping[str, str]) -> str:
        """One of the keys, with what each means; `q` at the end of the input."""
        listed = ", ".join(f"{key} {meaning}" for key, meaning in keys.items())
        while True:
            click.echo(inert(f"{question} {listed}: "), nl=False, err=self._err)
            typed = self._typed()
            click.echo(typed, err=self._err)
            if typed in keys:
                return typed

    def _typed(self) -> str:
        if sys.stdin.isatty():
            return click.getchar(echo=False)[:1].casefold()
        line = sys.stdin.readline()
        return line.strip()[:1].casefold() if line else "q"
