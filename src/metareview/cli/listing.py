"""`metareview list`: which judges, routers, formats and metrics there are, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from metareview.cli.options import choice_argument, common_options
from metareview.cli.output import Screen
from metareview.errors import UsageError


@dataclass(frozen=True, slots=True)
class Listed:
    name: str
    """What users type."""
    origin: str
    """The package that brings it, with its version."""
    summary: str


def _plugins(kind: str) -> Iterator[Listed]:
    from metareview.formats.registry import COMMENT_FORMATS, HISTORY_FORMATS
    from metareview.judges.registry import JUDGES
    from metareview.routing.registry import ROUTERS

    registries = {"judges": [JUDGES], "routers": [ROUTERS], "formats": [COMMENT_FORMATS, HISTORY_FORMATS]}
    # Formats of other packages are in both registries.
    plugins = {each.name: (registry, each) for registry in registries[kind] for each in registry.installed.values()}
    for name, (registry, each) in plugins.items():
        try:
            yield Listed(name, each.origin, _summary(registry.load(name)))
        except UsageError as error:  # one broken package must not hide the others
            yield Listed(name, each.origin, str(error))


def _summary(plugin: object) -> str:
    """In its own words; of a factory, the first line of its docstring."""
    from metareview.formats.protocol import CommentFormat, HistoryFormat
    from metareview.judges.registry import JudgePlugin

    if isinstance(plugin, JudgePlugin | CommentFormat | HistoryFormat):
        return plugin.summary
    return (plugin.__doc__ or "").strip().partition("\n")[0]


def _metrics() -> Iterator[Listed]:
    """By short name; the summary has the key in JSON where that is another."""
    from metareview.comments.measures import MEASURES
    from metareview.outcomes.measures import MEASURES as OUTCOMES
    from metareview.plugins import BUILT_IN
    from metareview.report.tables import definition
    from metareview.routing.expertise import expertise_measures
    from metareview.routing.list_measures import SEVERAL, measures_of

    ks = (1, 3, 5)
    for measure in (*MEASURES, *measures_of(ks, SEVERAL), *expertise_measures(ks), *OUTCOMES):
        key = f" In JSON: {measure.name}." if measure.name != measure.short else ""
        yield Listed(measure.short, BUILT_IN, f"{definition(measure)}{key}")


@click.command(epilog="Example: metareview list judges")
@choice_argument("kind", "judges", "routers", "formats", "metrics")
@common_options
def command(kind: str, screen: Screen) -> None:
    """What there is to choose from: names, where each comes from, and a line on each."""
    from metareview.report.tables import Column

    rows = [asdict(item) for item in (_metrics() if kind == "metrics" else _plugins(kind))]
    heads = {"name": "name", "from": "origin", "what it is": "summary"}
    columns = [Column(head, [row[key] for row in rows], text=True) for head, key in heads.items()]
    screen.show({"schema": "metareview.list/1", "kind": kind, "items": rows}, columns)
