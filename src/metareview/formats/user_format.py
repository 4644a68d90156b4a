"""A format of the user's own, whose errors are reported as its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

from metareview.formats.protocol import CommentFormat, HistoryFormat
from metareview.plugins import user_errors

Format = TypeVar("Format", CommentFormat, HistoryFormat)
_FIX = "Correct the format."


def guarded_format(what: str, plugin: Format) -> Format:
    """A copy of the format; whatever its functions raise, or exit with, is a UsageError that names it."""
    members = {each.name: getattr(plugin, each.name) for each in fields(plugin)}
    calls: dict[str, Any] = {name: _guarded(what, call) for name, call in members.items() if callable(call)}
    return replace(plugin, **calls)


def _guarded(what: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*arguments: Any) -> Any:
        with user_errors(what, _FIX):
            result = call(*arguments)
        return _items(what, result) if isinstance(result, Iterator) else result

    return guarded


def _items(what: str, items: Iterable[Any]) -> Iterator[Any]:
    with user_errors(what, _FIX):
        yield from items
