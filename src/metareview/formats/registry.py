"""Which formats there are: built in, installed, or `package.module:format`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from metareview.errors import UsageError
from metareview.formats.protocol import CommentFormat, HistoryFormat
from metareview.formats.user_format import guarded_format
from metareview.plugins import Registry

# Formats of other packages share one group of entry points; the type of what is loaded tells the two kinds apart.
# The order is the order of sniffing.
_GROUP = "metareview.formats"
COMMENT_FORMATS = Registry(
    "format",
    f"{_GROUP}.comments",
    _GROUP,
    ("aacr-text", "aacr", "jsonl", "github", "martian"),
    {"aacr-2": "aacr-standard"},
)
HISTORY_FORMATS = Registry("history format", f"{_GROUP}.histories", _GROUP, ("events", "gerrit", "sqlite", "gharchive"))

Format = TypeVar("Format", CommentFormat, HistoryFormat)


def comment_formats(name: str | None = None) -> Mapping[str, CommentFormat]:
    """The comment formats by name, in the order of sniffing; or the one of this name or `package.module:format`."""
    return _formats(COMMENT_FORMATS, CommentFormat, name)


def history_formats(name: str | None = None) -> Mapping[str, HistoryFormat]:
    """The history formats by name, in the order of sniffing; or the one of this name or `package.module:format`."""
    return _formats(HISTORY_FORMATS, HistoryFormat, name)


class _Formats(Mapping[str, Format]):
    """Formats by name, each imported when it is looked at: most files are recognised by one of the first."""

    def __init__(self, registry: Registry, kind: type[Format], names: Sequence[str]) -> None:
        self._kind: type[Format] = kind
        self._registry, self._names = registry, names

    def __getitem__(self, name: str) -> Format:
        plugin = self._registry.load(name) if name in self._names else None
        if not isinstance(plugin, self._kind):
            raise KeyError(name)
        if self._registry.is_built_in(name):
            return plugin
        return guarded_format(f"{self._registry.kind} {name}", plugin)

    def __iter__(self) -> Iterator[str]:
        for name in self._names:
            if self._registry.is_built_in(name) or isinstance(self._registry.load(name), self._kind):
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _formats(registry: Registry, kind: type[Format], name: str | None) -> Mapping[str, Format]:
    if name and not isinstance(named := registry.load(name), kind):
        raise UsageError(f"{name} is no {registry.kind}: it is {type(named).__name__}, not {kind.__name__}.")
    return _Formats(registry, kind, [name] if name else registry.names())
