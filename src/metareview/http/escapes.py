"""Resolving the escapes of URLs, HTML, JSON and Python in a text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import unquote

_LAYERS = 3
"""A text may be quoted inside of a text that is quoted inside of a third."""
_BACKSLASHES = re.compile(r"\\{2,}")
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})|[\\0]x([0-9a-fA-F]{2})|\\([0-3][0-7]{2})")
_ZEROS = re.compile(r"(&#[xX]?)0+(?=[0-9a-fA-F])")
_ENDLESS = re.compile(r"&#(?=[0-9]{12}|[xX][0-9a-fA-F]{12})")


def unescaped(text: str) -> Iterator[str]:
    """The text, then with its escapes resolved once, twice and three times, as long as that changes anything.

    >>> list(unescaped("a&quot; %26quot;"))
    ['a&quot; %26quot;', 'a" "']
    """
    yield text
    for _ in range(_LAYERS):
        plain = _CODE.sub(_character, _BACKSLASHES.sub(r"\\", text))
        # A number of so many digits is no character's, and Python refuses to read one of thousands.
        plain = html.unescape(_ENDLESS.sub("&", _ZEROS.sub(r"\1", unquote(plain))))
        if plain == text:
            return
        yield plain
        text = plain


def _character(code: re.Match[str]) -> str:
    return chr(int(code[3], 8) if code[3] else int(code[1] or code[2], 16))
