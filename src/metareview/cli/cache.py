"""`metareview cache info` and `metareview cache clear`."""

from __future__ import annotations

from pathlib import Path

import click

from metareview.cli.output import common_options, print_json, say


@click.group(epilog="Example: metareview cache info")
def command() -> None:
    """What models have answered so far, so that nobody pays for it twice."""


_file = click.option(
    "--cache", type=click.Path(path_type=Path), metavar="FILE", help="[default: the user's own]"
)


@command.command(epilog="Example: metareview cache info --json")
@_file
@common_options
def info(cache: Path | None, as_json: bool, quiet: bool) -> None:
    """Where the cache is, and how much it holds of whose answers."""
    from metareview.judges.cache import VerdictCache

    found = VerdictCache(cache).info()
    if as_json:
        print_json({"schema": "metareview.cache/1", **found})
        return
    click.echo(f"{found['path']}: {found['entries']:,} answers, {found['bytes']:,} bytes")
    for row in found["by"]:
        click.echo(f"  {row['entries']:,} of {row['judge']} with {row['model']}")


@command.command(epilog="Example: metareview cache clear")
@_file
@common_options
def clear(cache: Path | None, as_json: bool, quiet: bool) -> None:
    """Forget every answer. The next run asks, and pays, again."""
    from metareview.judges.cache import VerdictCache

    target = VerdictCache(cache)
    removed = target.clear()
    if as_json:
        print_json({"schema": "metareview.cache/1", "path": str(target.path), "removed": removed})
    elif not quiet:
        say(f"{target.path}: {removed:,} answers removed.")
