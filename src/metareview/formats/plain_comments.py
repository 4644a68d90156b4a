"""Comments that need no care: every field known and of its own type, lines in range and in order.

Of a million comments nearly all are so. They are made without a `Record`, in a tenth of the time; whatever is out of
the ordinary is left to it, and to its messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metareview.model.comment import MAX_LINE, Comment, checked_comment

_ABSENT = type(None)
_Types = frozenset[type]
_TEXT: _Types = frozenset({str, _ABSENT})
_LINE: _Types = frozenset({int, _ABSENT})
_FLAG: _Types = frozenset({bool, _ABSENT})
_KEPT: _Types = frozenset({dict, _ABSENT})
_IDENTIFIERS = ("id", "in_reply_to")
_TYPES: Mapping[str, _Types] = {
    **dict.fromkeys(("note", "path", "side", "category", "context", "severity"), _TEXT),
    **dict.fromkeys(("author", "at", "commit", "producer", "source_model"), _TEXT),
    **dict.fromkeys(("from_line", "to_line"), _LINE),
    **dict.fromkeys(_IDENTIFIERS, _TEXT | _LINE),
    **dict.fromkeys(("resolved", "outdated", "neutral", "is_ai_comment"), _FLAG),
    **dict.fromkeys(("reactions", "meta"), _KEPT),
}
_UNKNOWN: _Types = frozenset()
_FLAT: _Types = frozenset({str, int, bool, _ABSENT})


def is_plain(value: Any) -> bool:
    """Whether it is a comment of metareview's own that can be taken as it is. Half a character is not looked for:
    the value is one that orjson gave."""
    if type(value) is not dict:
        return False
    for name, each in value.items():
        if type(each) not in _TYPES.get(name, _UNKNOWN):
            return False
    first, last = value.get("from_line"), value.get("to_line")
    if first is not None and not 1 <= first <= MAX_LINE:
        return False
    if last is not None and (not 1 <= last <= MAX_LINE or (first is not None and first > last)):
        return False
    return not ("meta" in value or "reactions" in value) or _keeps_plainly(value)


def _keeps_plainly(value: Mapping[str, Any]) -> bool:
    """Whether what else it keeps is far from too deep, and holds nothing that two parsers may read differently."""
    reactions = value.get("reactions") or {}
    return _is_simple(value.get("meta")) and all(type(count) is int and count >= 0 for count in reactions.values())


def _is_simple(value: Any, levels: int = 5) -> bool:
    """A whole number beyond 64 bits is a float to orjson."""
    if type(value) is float:
        return -(2.0**63) < value < 2.0**63
    if type(value) is dict or type(value) is list:
        items = value.values() if type(value) is dict else value
        return levels > 0 and all(_is_simple(item, levels - 1) for item in items)
    return type(value) in _FLAT


def plain_comment(value: Mapping[str, Any]) -> Comment:
    """The comment of a value that is plain."""
    if type(value.get("id")) is int or type(value.get("in_reply_to")) is int:
        value = {**value, **{name: str(value[name]) for name in _IDENTIFIERS if type(value.get(name)) is int}}
    return checked_comment(value)
