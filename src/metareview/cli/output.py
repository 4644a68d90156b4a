"""What all commands print alike: JSON, tables, warnings, progress. Results go to standard output, all else to error."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

_SHOWN_WARNINGS = 5
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--json` and `-q`, which every command has."""
    command = click.option("-q", "--quiet", is_flag=True, help="No progress, no warnings.")(command)
    return click.option("--json", "as_json", is_flag=True, help="The result as one JSON document.")(command)


def print_json(document: Mapping[str, Any]) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=1)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # an old code page; JSON's own escapes say the same
        text = json.dumps(document, indent=1)
    click.echo(text)


def printable(text: str) -> str:
    """One line without control characters: what a file says must not drive the terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def console(*, err: bool = False) -> Console:
    """The terminal's width where there is one; in a file or a pipe room for every column."""
    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() else 120
    return Console(file=stream, width=width, highlight=False, soft_wrap=False)


def say(message: str) -> None:
    click.echo(printable(message), err=True)


def print_warnings(warnings: Sequence[str], skipped: Sequence[Mapping[str, str]], quiet: bool) -> None:
    if quiet:
        return
    lines = [f"Warning: {warning}" for warning in warnings]
    lines += [f"Skipped: {item['file']}: {item['reason']}" for item in skipped]
    for line in lines[:_SHOWN_WARNINGS]:
        say(line)
    if len(lines) > _SHOWN_WARNINGS:
        say(f"… and {len(lines) - _SHOWN_WARNINGS} more; --json lists them all.")


def rate(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def reviewers_table(summary: Mapping[str, Any], width: int) -> Table:
    """One row a reviewer, the best F1 first; in a narrow terminal the columns that decide."""
    blocks: Mapping[str, Any] = summary["reviewers"]
    ranked = sorted(blocks.items(), key=lambda item: -(item[1]["metrics"]["f1"] or 0))
    columns: list[tuple[str, bool, Callable[[Mapping[str, Any]], str]]] = [
        ("PRs", False, lambda b: str(b["prs"])),
        ("comments", False, lambda b: str(b["total_generated_nums"])),
        ("precision", True, lambda b: rate(b["metrics"]["positive_match_rate"])),
        ("recall", True, lambda b: rate(b["metrics"]["positive_recall_rate"])),
        ("F1", True, lambda b: rate(b["metrics"]["f1"])),
        ("95 %", True, lambda b: span(b["intervals"]["f1"])),
    ]
    if any(b["metrics"]["line_f1"] is not None for b in blocks.values()):
        columns.append(("line F1", False, lambda b: rate(b["metrics"]["line_f1"])))
    columns.append(("noise", True, lambda b: rate(b["metrics"]["unmatched_rate"])))
    if any(b["metrics"]["false_positive_rate"] is not None for b in blocks.values()):
        columns.append(("false pos.", False, lambda b: rate(b["metrics"]["false_positive_rate"])))
    if any(b["judge_error_nums"] for b in blocks.values()):
        columns.append(("undecided", True, lambda b: str(b["judge_error_nums"])))
        columns.append(("F1 bounds", True, lambda b: span(b["bounds"]["f1"])))
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("reviewer", overflow="fold", min_width=8)
    chosen = [column for column in columns if width >= 100 or column[1]]
    for title, _, _ in chosen:
        table.add_column(title, justify="right", no_wrap=True)
    for name, block in ranked:
        # As it is: to rich, the [bot] of a login would be markup.
        table.add_row(Text(printable(name)), *(show(block) for _, _, show in chosen))
    return table


def span(interval: Sequence[float] | None) -> str:
    return "–" if interval is None else f"{interval[0]:.3f}–{interval[1]:.3f}"


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
