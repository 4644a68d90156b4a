"""The page of a run that is not finished, live, or broken, with what to do."""

from __future__ import annotations

from metareview.report.numbers import count
from metareview.report.page.blocks import facts, paragraph, tag
from metareview.report.page.markup import Html, html, join
from metareview.viewer.catalogue import BROKEN, RUNNING, Entry
from metareview.viewer.page import Page
from metareview.viewer.runs_page import when

RUNS = ("Runs", "/")


def unfinished_page(entry: Entry) -> Page:
    return Page(entry.place, unfinished_fragment(entry), [RUNS])


def unfinished_fragment(entry: Entry) -> Html:
    """The page's only part, which replaces itself while the run goes on."""
    if entry.status == BROKEN:
        body = [tag("broken", "bad"), paragraph(entry.problem)]
        return html('<div class="problem" id="unfinished">{}</div>', body)
    running = entry.status == RUNNING
    live = html(' data-live="/run/{}/live"', entry.id) if running else None
    said = (
        "This run is still being made. Its figures come when it is finished; this page follows it."
        if running
        else "This run was not finished, and nothing has been written to it for a while. The command that began it, "
        "with the same --out, goes on where it stopped."
    )
    body = [
        tag("running", "warn") if running else tag("not finished"),
        paragraph(said, css="lead"),
        facts(("Records so far", count(entry.records)), ("Kind", entry.kind or "–"), ("Started", when(entry.started))),
    ]
    return html('<div class="problem" id="unfinished" role="status"{}>{}</div>', live, join(body, "\n"))
