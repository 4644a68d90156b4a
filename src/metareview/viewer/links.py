"""Addresses inside the viewer: what a page shows is all in its URL."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from metareview.report.page.markup import Html, html

_PAGES = (
    '<nav class="steps" aria-label="Pages"><span>{}</span><span class="muted">Page {} of {}</span>'
    "<span>{}</span></nav>\n"
)


def address_with(path: str, query: Mapping[str, object], fragment: str = "") -> str:
    """The path with whatever of the query is not empty; names from data are encoded.

    >>> address_with("/run/a/pr/3", {"reviewer": "a b", "page": None}, "c0-r2")
    '/run/a/pr/3?reviewer=a+b#c0-r2'
    """
    given = {name: str(value) for name, value in query.items() if value not in (None, "")}
    written = urlencode(given, errors="replace")
    return path + (f"?{written}" if written else "") + (f"#{fragment}" if fragment else "")


def within(address: str, text: object, *, css: str = "", current: bool = False) -> Html:
    """A link to another page of the viewer; `current`: the one that the reader is on."""
    return html(
        '<a href="{}"{}{}>{}</a>',
        address,
        html(' class="{}"', css) if css else None,
        html(' aria-current="page"') if current else None,
        text,
    )


def anchor(generated: int | None = None, reference: int | None = None) -> str:
    """Where a pull request's page has a comment, a reference, or the pair of both, by their positions in the run.

    >>> anchor(3), anchor(reference=2), anchor(3, 2)
    ('c3', 'r2', 'c3-r2')
    """
    parts = [f"c{generated}" if generated is not None else "", f"r{reference}" if reference is not None else ""]
    return "-".join(filter(None, parts))


def chosen(query: Mapping[str, str], name: str, known: Mapping[str, object] | list[str], default: str = "") -> str:
    """What the query chooses, if that is one of the known values."""
    value = query.get(name, default)
    return value if value in known else default


def number_in(query: Mapping[str, str], name: str, default: int) -> int:
    """A whole number of the query that is not negative, or the default."""
    value = query.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 9 else default


def page_links(path: str, query: Mapping[str, str], page: int, pages: int, fragment: str = "") -> Html | None:
    """The way to the pages before and after, numbered from 1; None where there is only one."""
    if pages <= 1:
        return None

    def to(number: int, text: str) -> Html:
        return within(address_with(path, {**query, "page": number}, fragment), text)

    return html(
        _PAGES,
        to(page - 1, "← Earlier") if page > 1 else None,
        f"{page:,}",
        f"{pages:,}",
        to(page + 1, "Later →") if page < pages else None,
    )
