"""`metareview list`: which judges, routers, formats and metrics there are, and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from metareview.cli.options import common_options
from metareview.cli.output import print_json, show_table
from metareview.errors import UsageError

if TYPE_CHECKING:
    from metareview.model.measure import Measure
    from metareview.plugins import Registry


@dataclass(frozen=True, slots=True)
class Listed:
    name: str
    """What users type."""
    origin: str
    """The package that brings it, with its version."""
    summary: str


def _plugins(registry: Registry, summary_of: Callable[[object], str | None]) -> Iterator[Listed]:
    """All of a registry; None as the summary leaves one out."""
    for found in registry.installed.values():
        try:
            summary = summary_of(registry.load(found.name))
        except UsageError as error:  # one broken package must not hide the others
            summary = str(error)
        if summary is not None:
            yield Listed(found.name, found.origin, summary)


def _judges() -> Iterator[Listed]:
    from metareview.judges.registry import JUDGES, JudgePlugin

    return _plugins(JUDGES, lambda judge: judge.summary if isinstance(judge, JudgePlugin) else _first_line(judge))


def _routers() -> Iterator[Listed]:
    from metareview.routing.registry import ROUTERS

    return _plugins(ROUTERS, _first_line)


def _formats() -> Iterator[Listed]:
    """Of comments, then of histories; both kinds share a group of entry points, and the type tells them apart."""
    from metareview.formats.protocol import CommentFormat, HistoryFormat
    from metareview.formats.registry import COMMENT_FORMATS, HISTORY_FORMATS

    yield from _plugins(COMMENT_FORMATS, lambda each: each.summary if isinstance(each, CommentFormat) else None)
    yield from _plugins(HISTORY_FORMATS, lambda each: each.summary if isinstance(each, HistoryFormat) else None)


def _metrics() -> Iterator[Listed]:
    """By short name; the summary says the key in JSON where that is another."""
    from metareview.comments.measures import MEASURES
    from metareview.plugins import BUILT_IN
    from metareview.report.names import capital
    from metareview.routing.measures import rank_measures

    measures: Iterable[Measure] = (*MEASURES, *rank_measures((1, 3, 5)))
    for measure in measures:
        lower = " Lower is better." if measure.lower_is_better else ""
        key = f" In JSON: {measure.name}." if measure.name != measure.short else ""
        yield Listed(measure.short, BUILT_IN, f"{capital(measure.definition).rstrip('.')}.{lower}{key}")


def _first_line(plugin: object) -> str:
    return (plugin.__doc__ or "").strip().partition("\n")[0]


_KINDS: Mapping[str, Callable[[], Iterator[Listed]]] = {
    "judges": _judges,
    "routers": _routers,
    "formats": _formats,
    "metrics": _metrics,
}


@click.command(epilog="Example: metareview list judges")
@click.argument("kind", type=click.Choice(list(_KINDS)))
@common_options
def command(kind: str, as_json: bool, quiet: bool) -> None:
    """What there is to choose from: names, where each comes from, and a line on each."""
    from metareview.report.tables import Column, Table

    items = list(_KINDS[kind]())
    if as_json:
        print_json({"schema": "metareview.list/1", "kind": kind, "items": [asdict(item) for item in items]})
        return
    columns = [Column("name", text=True), Column("from", text=True), Column("what it is", text=True)]
    show_table(Table(columns, [(item.name, item.origin, item.summary) for item in items]))
