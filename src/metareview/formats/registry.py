"""Which formats there are: built in, installed, or `package.module:format`."""

from __future__ import annotations

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


def comment_formats(name: str | None = None) -> dict[str, CommentFormat]:
    """The comment formats by name, in the order of sniffing; or the one of this name or `package.module:format`."""
    return _formats(COMMENT_FORMATS, CommentFormat, name)


def history_formats(name: str | None = None) -> dict[str, HistoryFormat]:
    """The history formats by name, in the order of sniffing; or the one of this name or `package.module:format`."""
    return _formats(HISTORY_FORMATS, HistoryFormat, name)


def _formats(registry: Registry, kind: type[Format], name: str | None) -> dict[str, Format]:
    loaded = {each: registry.load(each) for each in ([name] if name else registry.names())}
    formats = {
        each: plugin if registry.is_built_in(each) else guarded_format(f"{registry.kind} {each}", plugin)
        for each, plugin in loaded.items()
        if isinstance(plugin, kind)
    }
    if name and not formats:
        raise UsageError(f"{name} is no {registry.kind}: it is {type(loaded[name]).__name__}, not {kind.__name__}.")
    return formats
