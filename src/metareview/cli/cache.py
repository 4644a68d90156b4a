"""`metareview cache info` and `metareview cache clear`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metareview.cli.options import PATH, choice_argument, common_options
from metareview.cli.output import Screen

if TYPE_CHECKING:
    from metareview.judges.remote.cache import CacheCount


@click.command(epilog="Example: metareview cache info")
@choice_argument("action", "info", "clear")
@click.option("--cache", type=PATH, metavar="FILE", help="The file.  [default: in the user's cache folder]")
@common_options
def command(action: str, cache: Path | None, screen: Screen) -> None:
    """What models have answered so far. info: where it is and what it holds; clear: forget it all."""
    from metareview.judges.remote.cache import VerdictCache

    target = VerdictCache(cache)
    if action == "clear":
        removed = target.clear()
        document = {"schema": "metareview.cache/1", "path": str(target.path), "removed": removed}
        screen.show(document, remarks=[f"{target.path}: {removed:,} answers removed."])
        return
    info = target.info()
    lines = [f"{info.path}: {info.entries:,} answers, {info.bytes:,} bytes"]
    lines += [f"  {each.entries:,} of {each.judge} with {each.model}{_server(each)}" for each in info.by]
    screen.show({"schema": "metareview.cache/1", **asdict(info)}, *lines)


def _server(count: CacheCount) -> str:
    return f" at {count.server}" if count.server else ": of an earlier version, never used; clear removes them"
