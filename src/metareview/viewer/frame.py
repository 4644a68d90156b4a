"""The frame around every page of the viewer, and the small pages that say what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import HTMLResponse

from metareview import __version__
from metareview.report.page.markup import Html, html
from metareview.viewer.page import Page

Tab = tuple[str, str]
"""What a page of a run is called, and its address."""
_DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="same-origin">
<title>{title} · metareview</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/report.css">
<link rel="stylesheet" href="/static/pages.css">
<link rel="stylesheet" href="/static/viewer.css">
<link rel="stylesheet" href="/static/queue.css">
<script src="/static/viewer.js" defer></script>
<script src="/static/pages.js" defer></script>
<script src="/static/queue.js" defer></script>
</head>
<body class="viewer">
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<div class="bar"><a class="brand" href="/">metareview</a>{crumbs}</div>
</header>
<main id="main" tabindex="-1">
<h1>{title}</h1>
{tabs}{body}
</main>
<footer class="bottom"><p>metareview {version} · read from this computer, nothing is sent anywhere</p></footer>
</body>
</html>
"""


def document(page: Page, tabs: Sequence[Tab] = (), here: str = "") -> str:
    """A whole document. `tabs`: the pages of the run that it is of, `here` the address of the one that is shown."""
    return html(
        _DOCUMENT,
        title=page.title,
        crumbs=_crumbs(page),
        tabs=_tabs(tabs, here) if tabs else None,
        body=page.body,
        version=__version__,
    )


def page_response(page: Page, tabs: Sequence[Tab] = (), here: str = "", status: int = 200) -> HTMLResponse:
    return HTMLResponse(document(page, tabs, here), status)


def problem_response(status: int, title: str, text: object, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """A small page that says what is wrong and what to do."""
    body = html('<div class="problem"><p>{}</p><p><a href="/">All runs</a></p></div>', text)
    return HTMLResponse(document(Page(title, body)), status, headers=dict(headers or {}))


def _crumbs(page: Page) -> Html | None:
    if not page.crumbs:
        return None
    items = [html('<li><a href="{}"><bdi>{}</bdi></a></li>', address, title) for title, address in page.crumbs]
    return html('<nav class="crumbs" aria-label="The pages above this one"><ol>{}</ol></nav>', items)


def _tabs(tabs: Sequence[Tab], here: str) -> Html:
    items = [
        html(
            '<li><a href="{}"{}>{}</a></li>', address, html(' aria-current="page"') if address == here else None, title
        )
        for title, address in tabs
    ]
    return html('<nav class="run-tabs" aria-label="This run"><ul>{}</ul></nav>', items)
