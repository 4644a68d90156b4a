"""What a text says once its escapes are resolved: those of URLs, HTML, JSON and Python."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import unquote

_LAYERS = 3
"""A text may be quoted inside of a text that is quoted inside of a third."""
_CODE = re.compile(r"\\+u([0-9a-fA-F]{4})|(?:\\+|0)x([0-9a-fA-F]{2})|\\+([0-3][0-7]{2})")


def unescaped(text: str) -> Iterator[str]:
    """The text, and then as often as it changes anything, but not for ever, what comes of resolving its escapes.

    >>> list(unescaped("a&quot; %26quot;"))
    ['a&quot; %26quot;', 'a" "']
    """
    yield text
    for _ in range(_LAYERS):
        plain = html.unescape(unquote(_CODE.sub(_character, text)))
        if plain == text:
            return
        yield plain
        text = plain


def _character(code: re.Match[str]) -> str:
    return chr(int(code[3], 8) if code[3] else int(code[1] or code[2], 16))
