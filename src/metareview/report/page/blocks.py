"""The pieces that sections of the HTML report are put together from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from metareview.formats.read_warnings import stands_for
from metareview.model.comment import Comment
from metareview.model.words import plural
from metareview.report.names import location
from metareview.report.page.markup import Html, html, join
from metareview.report.tables import FIRST_WARNINGS

MOST_ITEMS = 200
"""Warnings, files or pairs that are listed."""
_PATH_PARTS = re.compile(r"(?<=/)(?=.)|(?=:\d)")
_SECTION = '<section id="{id}" aria-labelledby="{id}-title"><h2 id="{id}-title">{title}</h2>\n{body}</section>\n'
_TABLE = (
    '<div class="scroll{css}" role="region" tabindex="0" aria-label="Table: {caption}"><table>'
    "<caption><span>{caption}</span></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>\n"
)


_ONLY_MISSES = (
    '<input type="checkbox" id="only-misses"><label for="only-misses">{}</label>\n<div class="listed">{}</div>\n'
)


@dataclass(frozen=True)
class Section:
    """One part of the page; `id` is its anchor."""

    id: str
    title: str
    body: Html

    def markup(self) -> Html:
        return html(_SECTION, id=self.id, title=self.title, body=self.body)


Column = tuple[object, str]
"""A table's column: its head, which may be markup, and a class of style.css."""
Cells = tuple[object, str, Iterable[object]]
"""A column with its cells."""


def table(
    caption: str, columns: Sequence[Column], rows: Iterable[Iterable[object]], css: str = "", kinds: Iterable[str] = ()
) -> Html:
    """A table that scrolls inside its own region where it is too wide. The first cell of a row is its header.

    `kinds`: a class of style.css for each row.
    """
    head = [html('<th scope="col"{}>{}</th>', _css(of_head), text) for text, of_head in columns]
    of_first, *of_rest = (_css(of_cells) for _, of_cells in columns)
    body = []
    for (first, *rest), kind in zip(rows, chain(kinds, repeat("")), strict=False):
        cells = [html("<td{}>{}</td>", of_cell, cell) for of_cell, cell in zip(of_rest, rest, strict=True)]
        body.append(html('<tr{}><th scope="row"{}>{}</th>{}</tr>\n', _css(kind), of_first, first, cells))
    return html(_TABLE, css=f" {css}" if css else "", caption=caption, head=head, body=body)


def table_of(caption: str, columns: Sequence[Cells]) -> Html:
    """The same, given by columns."""
    heads, rows = [(head, css) for head, css, _ in columns], zip(*(cells for _, _, cells in columns), strict=True)
    return table(caption, heads, rows)


def numeric(*heads: object) -> list[Column]:
    return [(head, "num") for head in heads]


def _css(name: str) -> Html | None:
    return html(' class="{}"', name) if name else None


def behind(title: str, body: object) -> Html:
    return html("<details><summary>{}</summary>{}</details>\n", title, body)


def only_misses(what: str, body: object) -> Html:
    """The body under a box to tick that hides whatever has the class `found`: no script, only style.css."""
    return html(_ONLY_MISSES, what, body)


def facts(*items: tuple[str, object]) -> Html:
    return html('<dl class="facts">{}</dl>\n', [html("<div><dt>{}</dt><dd>{}</dd></div>", *item) for item in items])


def paragraph(*parts: object, css: str = "") -> Html:
    return html("<p{}>{}</p>\n", _css(css), parts)


def remark(text: object) -> Html:
    """What a reader must not miss."""
    return paragraph(text, css="remark")


def warnings(messages: Sequence[str]) -> Html | None:
    """The warnings of a run, the first ones in sight."""
    first, rest = messages[:FIRST_WARNINGS], messages[FIRST_WARNINGS:]
    shown = [remark(f"Warning: {message}") for message in first]
    more = behind(plural(sum(map(stands_for, rest)), "more warning"), capped(rest, "warning")) if rest else None
    return join([*shown, more]) if shown else None


def name(text: str) -> Html:
    """A name from data, kept from turning the text around it."""
    return html("<bdi>{}</bdi>", text)


def ranked_names(names: Iterable[str]) -> list[Html]:
    return [html("{}.\u00a0{}", rank, name(text)) for rank, text in enumerate(names, 1)]


def terms(items: Iterable[tuple[str, str]]) -> Html:
    """Words and what they mean, behind a click."""
    shown = [html("<dt>{}</dt><dd>{}</dd>", term, text) for term, text in items]
    return behind("What the figures mean", html('<dl class="terms">{}</dl>', shown))


def where(comment: Comment) -> Html:
    """A comment's location, with breaks between the parts of the path rather than inside them."""
    return html("<bdi>{}</bdi>", join(_PATH_PARTS.split(location(comment)), Html("<wbr>")))


def tag(text: str, css: str = "") -> Html:
    return html('<span class="tag{}">{}</span>', f" {css}" if css else "", text)


def capped(items: Sequence[object], what: str) -> Html:
    """A list of at most MOST_ITEMS, and how many were left out."""
    rest = len(items) - MOST_ITEMS
    left = (
        remark(f"{plural(rest, f'more {what} is', f'more {what}s are')} left out here; the run has them all.")
        if rest > 0
        else None
    )
    return html("<ul>{}</ul>{}\n", [html("<li>{}</li>", item) for item in items[:MOST_ITEMS]], left)
