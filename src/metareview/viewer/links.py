"""Addresses inside the viewer: what a page shows is all in its URL."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from metareview.report.names import pull_request_name
from metareview.report.page.blocks import name
from metareview.report.page.markup import Html, html
from metareview.viewer.run_view import RunView

_STEPS = (
    '<nav class="steps" aria-label="Pull requests"><span>{}</span><span class="muted">{}</span><span>{}</span></nav>\n'
)


def address_with(path: str, query: Mapping[str, object], fragment: str = "") -> str:
    """The path with whatever of the query is not empty; names from data are encoded.

    >>> address_with("/run/a/pr/3", {"reviewer": "a b", "page": None}, "c0-r2")
    '/run/a/pr/3?reviewer=a+b#c0-r2'
    """
    given = {key: str(value) for key, value in query.items() if value not in (None, "")}
    written = urlencode(given, errors="replace")
    return path + (f"?{written}" if written else "") + (f"#{fragment}" if fragment else "")


def within(target: str, text: object, *, css: str = "", current: bool = False) -> Html:
    """A link to another page of the viewer; `current`: the one that the reader is on."""
    return html(
        '<a href="{}"{}{}>{}</a>',
        target,
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


def number_in(query: Mapping[str, str], key: str, default: int) -> int:
    """A whole number of the query that is not negative, or the default."""
    value = query.get(key, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 9 else default


def steps(run: RunView, pr: str, query: Mapping[str, object]) -> Html:
    """To the pull requests before and after this one, with what the query has."""
    prs = run.prs
    at = prs.index(pr)

    def to(position: int, template: str) -> Html | None:
        if not 0 <= position < len(prs):
            return None
        return within(
            address_with(run.address(prs[position]), query), html(template, name(pull_request_name(prs[position])))
        )

    return html(_STEPS, to(at - 1, "← {}"), f"Pull request {at + 1:,} of {len(prs):,}", to(at + 1, "{} →"))
