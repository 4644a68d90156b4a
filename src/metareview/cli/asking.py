"""Questions that are answered with one key: on a terminal at once, from a pipe a line each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import click

from metareview.cli.github import inert
from metareview.cli.output import Screen


class Asking:
    """Prints questions and reads keys. With --json they go to standard error: the result alone is for the other."""

    def __init__(self, screen: Screen) -> None:
        self._err, self._quiet = screen.as_json, screen.quiet
        self.width = screen.width

    def show(self, lines: Iterable[str]) -> None:
        from metareview.report.terminal import Heading

        terminal = (sys.stderr if self._err else sys.stdout).isatty()
        for line in lines:
            bold = terminal and isinstance(line, Heading)
            click.echo(click.style(inert(line), bold=True) if bold else inert(line), err=self._err)

    def say(self, text: str) -> None:
        """A paragraph, unless quiet."""
        from metareview.report.terminal import wrapped

        if not self._quiet:
            self.show(wrapped(text, self.width))

    def key(self, question: str, keys: Mapping[str, str]) -> str:
        """One of the keys, with what each means; `q` at the end of the input."""
        listed = ", ".join(f"{key} {meaning}" for key, meaning in keys.items())
        while True:
            with _single_keys():
                click.echo(inert(f"{question} {listed}: "), nl=False, err=self._err)
                typed = _typed()
            click.echo(typed if typed.isprintable() else "", err=self._err)
            if typed in keys:
                return typed


@contextmanager
def _single_keys() -> Iterator[None]:
    """While this lasts, a terminal hands over each key at once, and Ctrl-C still interrupts. What was typed before is
    dropped: it answers no question that anybody has read."""
    try:
        import termios
        import tty
    except ImportError:  # not on Windows, where nothing needs to be set
        yield
        return
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin, termios.TCSAFLUSH)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _typed() -> str:
    """The first character of a key or a line, in lower case."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip()[:1].casefold() if line else "q"
    if os.name == "nt":
        return click.getchar()[:1].casefold()
    pressed = os.read(sys.stdin.fileno(), 64).decode("utf-8", "replace")  # an arrow is several bytes, read as one key
    return "q" if pressed[:1] in ("", "\x04") else pressed[:1].casefold()  # Ctrl-D
