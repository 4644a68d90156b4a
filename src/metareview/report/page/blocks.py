"""The pieces that sections of the HTML report are put together from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from metareview.model.comment import Comment
from metareview.report.names import cut_at, location
from metareview.report.numbers import rate
from metareview.report.page.bars import axis, cell_bar
from metareview.report.page.markup import Html, html, join

SHOWN_NOTE, FOLD_BELOW, LONGEST_NOTE = 500, 700, 4_000
"""A note up to FOLD_BELOW characters is shown whole; of a longer one SHOWN_NOTE, and the rest up to LONGEST_NOTE
behind a click."""
_PATH_PARTS = re.compile(r"(?<=/)(?=.)|(?=:\d)")


@dataclass(frozen=True)
class Section:
    """One part of the page; `id` is its anchor."""

    id: str
    title: str
    body: Html

    def markup(self) -> Html:
        return html(
            '<section id="{id}" aria-labelledby="{id}-title"><h2 id="{id}-title">{title}</h2>\n{body}</section>\n',
            id=self.id,
            title=self.title,
            body=self.body,
        )


@dataclass(frozen=True)
class Column:
    """A table's column: `css` is a class of style.css, `head` may be markup."""

    head: object
    css: str = ""


def table(caption: str, columns: Sequence[Column], rows: Iterable[Sequence[object]], css: str = "") -> Html:
    """A table that scrolls inside its own region where it is too wide. The first cell of a row is its header."""
    head = [html('<th scope="col"{css}>{head}</th>', css=_css(c.css), head=c.head) for c in columns]
    body = []
    for first, *rest in rows:
        cells = [
            html("<td{css}>{cell}</td>", css=_css(c.css), cell=cell) for c, cell in zip(columns[1:], rest, strict=True)
        ]
        row = html('<th scope="row"{css}>{first}</th>', css=_css(columns[0].css), first=first)
        body.append(html("<tr>{row}{cells}</tr>\n", row=row, cells=cells))
    return html(
        '<div class="scroll{css}" role="region" tabindex="0" aria-label="Table: {caption}"><table>'
        "<caption><span>{caption}</span></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>\n",
        css=f" {css}" if css else "",
        caption=caption,
        head=head,
        body=body,
    )


def _css(name: str) -> Html | None:
    return html(' class="{name}"', name=name) if name else None


def behind(title: str, body: object) -> Html:
    """Something to open."""
    return html("<details><summary>{title}</summary>{body}</details>\n", title=title, body=body)


def facts(items: Iterable[tuple[str, object]]) -> Html:
    """A row of large figures."""
    shown = [html("<div><dt>{name}</dt><dd>{value}</dd></div>", name=n, value=v) for n, v in items]
    return html('<dl class="facts">{shown}</dl>\n', shown=shown)


def paragraph(*parts: object, css: str = "") -> Html:
    return html("<p{css}>{parts}</p>\n", css=_css(css), parts=join(parts))


def remark(text: str) -> Html:
    """What a reader must not miss."""
    return paragraph(text, css="remark")


def name(text: str) -> Html:
    """A name from data, kept from turning the text around it."""
    return html("<bdi>{text}</bdi>", text=text)


def ranked_name(rank: int, text: str) -> Html:
    """A name with its rank in the table."""
    return html("{rank}.\u00a0{name}", rank=rank, name=name(text))


def headed(title: str, end: float) -> Html:
    """The head of a column of bars: its title over the scale."""
    return html("{title}{axis}", title=title, axis=axis(end))


def barred(value: float | None, end: float = 1.0) -> Html:
    """A rate with a thin bar below it."""
    return html("{text}{bar}", text=rate(value), bar=cell_bar(value, end))


def terms(items: Iterable[tuple[str, str]]) -> Html:
    """Words and what they mean, behind a click."""
    shown = [html("<dt>{term}</dt><dd>{text}</dd>", term=term, text=text) for term, text in items]
    return behind("What the figures mean", html('<dl class="terms">{shown}</dl>', shown=shown))


def where(comment: Comment) -> Html:
    """A comment's location, with breaks between the parts of the path rather than inside them."""
    parts = _PATH_PARTS.split(location(comment))
    return html("<bdi>{parts}</bdi>", parts=join(parts, Html("<wbr>")))


def tag(text: str, css: str = "") -> Html:
    return html('<span class="tag{css}">{text}</span>', css=f" {css}" if css else "", text=text)


def capped(items: Iterable[object], most: int, total: int, what: str) -> Html:
    """A list of at most so many, and how many were left out."""
    shown = [html("<li>{item}</li>", item=item) for item in islice(items, most)]
    rest = total - len(shown)
    left = remark(f"{rest:,} more {what} are left out here; the run has them all.") if rest > 0 else None
    return html("<ul>{shown}</ul>{left}\n", shown=shown, left=left)


def note(text: str) -> Html:
    """A note as it was written: folded where it is long, cut, with a remark, where it is huge."""
    text = text.strip()
    if len(text) <= FOLD_BELOW:
        return html('<p class="note" dir="auto">{text}</p>', text=text)
    cut = cut_at(text, SHOWN_NOTE)
    rest, over = text[cut:LONGEST_NOTE], len(text) - LONGEST_NOTE
    left = f"Shortened: {over:,} more characters; the run has them all." if over > 0 else None
    return html(
        '<p class="note" dir="auto">{start}…</p><details><summary>The rest of this note ({more} characters)</summary>'
        '<p class="note" dir="auto">…{rest}</p>{left}</details>',
        start=text[:cut].rstrip(),
        more=f"{len(text) - cut:,}",
        rest=rest.lstrip(),
        left=remark(left) if left else None,
    )
