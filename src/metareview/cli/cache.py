"""`metareview cache info` and `metareview cache clear`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from metareview.cli.options import common_options
from metareview.cli.output import print_json, say


@click.command(epilog="Example: metareview cache info")
@click.argument("action", type=click.Choice(["info", "clear"]))
@click.option("--cache", type=click.Path(path_type=Path), metavar="FILE", help="[default: the user's own]")
@common_options
def command(action: str, cache: Path | None, as_json: bool, quiet: bool) -> None:
    """What models have answered so far. info: where it is and what it holds; clear: forget it all."""
    from metareview.judges.remote.cache import VerdictCache

    target = VerdictCache(cache)
    if action == "clear":
        removed = target.clear()
        if as_json:
            print_json({"schema": "metareview.cache/1", "path": str(target.path), "removed": removed})
        elif not quiet:
            say(f"{target.path}: {removed:,} answers removed.")
        return
    info = target.info()
    if as_json:
        print_json({"schema": "metareview.cache/1", **asdict(info)})
        return
    click.echo(f"{info.path}: {info.entries:,} answers, {info.bytes:,} bytes")
    for count in info.by:
        click.echo(f"  {count.entries:,} of {count.judge} with {count.model}")
