"""Markup in which everything that comes from data is escaped, because there is no other way to put it there.

`Html` is text that is markup already. Only `html` and `join` make it, from templates that are written in this
package; whatever fills a template is escaped unless it is itself `Html`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from string import Formatter

from metareview.report.names import clean

# A name or a number as host, no user before it, nothing that a browser might read as its end: `\` is `/` to some.
_WEB_ADDRESS = re.compile(r"https?://([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::\d{1,5})?(?:[/?#][!-\[\]-~]*)?", re.IGNORECASE)
_KNOWN_HOSTS = ("github.com", "gitlab.com")
"""Where a pull request's name says well enough where a link leads."""
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


class Html(str):
    """Markup. Never call it on anything that is not a literal of this package; use `html`."""

    __slots__ = ()


def escape(value: object) -> str:
    """Markup stays; lists are put together; None is nothing; all else becomes text, escaped for attributes too."""
    if isinstance(value, Html):
        return value
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value).translate(_ESCAPES)
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Iterable):
        return "".join(map(escape, value))
    raise TypeError(f"{type(value).__name__} is neither markup nor text")


@lru_cache(maxsize=1024)
def _parsed(template: str) -> tuple[tuple[str, str | None], ...]:
    return tuple((literal, name) for literal, name, _, _ in Formatter().parse(template))


def html(template: str, /, *values: object, **named: object) -> Html:
    """The template, a literal of this package, with each `{}` or `{name}` replaced by its value, escaped.

    >>> html('<p title="{title}">{}</p>', "<script>", title='a "b"')
    '<p title="a &quot;b&quot;">&lt;script&gt;</p>'
    """
    parts: list[str] = []
    in_order = iter(values)
    for literal, name in _parsed(template):
        parts.append(literal)
        if name is not None:
            parts.append(escape(named[name] if name else next(in_order)))
    return Html("".join(parts))


def join(parts: Iterable[object], between: str = "") -> Html:
    return Html(escape(between).join(map(escape, parts)))


def link(url: str, text: str) -> Html:
    """A link where the address is plainly one of the web; anything else (`javascript:`, a bare name) is only text.

    The host is said beside it where the text does not name it: nobody should have to guess where a link leads.
    """
    found = _WEB_ADDRESS.fullmatch(url)
    if found is None:
        return html("{}", text)
    host = found[1].lower()
    told = host in _KNOWN_HOSTS or text == url
    return html('<a href="{}" rel="noreferrer">{}</a>{}', url, text, None if told else f" ({host})")
