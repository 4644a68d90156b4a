"""The report as one HTML file: no script, no network, nothing but what is in the file."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files

from metareview import __version__
from metareview.comments.measures import f1
from metareview.comparison.sensitivity import sensitivity
from metareview.report.numbers import ranked
from metareview.report.page import comments, evidence, routing, slices
from metareview.report.page.blocks import Section
from metareview.report.page.markup import Html, html, join
from metareview.report.page.pull_requests import pull_request_section
from metareview.report.page.sensitivity import sensitivity_section
from metareview.runs.run import AnyRun, CommentsRun, is_comments


def as_html(run: AnyRun) -> str:
    """The whole page."""
    if is_comments(run):
        title, sections = "Code review comments: how good are they?", comment_sections(run)
    else:
        title, sections = "Reviewer routing: does it find the right people?", routing.sections(run)
    return _page(run, title, [section for section in sections if section])


def comment_sections(run: CommentsRun) -> list[Section | None]:
    summary = run.result
    return [
        comments.answer(run),
        slices.slice_section(summary),
        comments.precision_recall(summary),
        comments.location_and_meaning(summary),
        sensitivity_section(sensitivity(run), summary),
        evidence.judge_section(run),
        evidence.left_out_section(run),
        pull_request_section(run, ranked(summary.metrics, f1.name)),
    ]


@cache
def _style() -> tuple[Html, str]:
    """The style sheet, which is ours and no data, and its hash for the content security policy."""
    text = files("metareview.report.page").joinpath("style.css").read_text("utf-8")
    return Html(text), b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _page(run: AnyRun, title: str, sections: list[Section]) -> str:
    style, style_hash = _style()
    contents = [html('<li><a href="#{id}">{title}</a></li>', id=s.id, title=s.title) for s in sections]
    return html(
        files("metareview.report.page").joinpath("page.html").read_text("utf-8"),
        style=style,
        style_hash=style_hash,
        version=__version__,
        title=title,
        subtitle=_subtitle(run),
        contents=contents,
        sections=join(section.markup() for section in sections),
        footer=f"Made by metareview {__version__} from the run’s files; no judge was asked again.",
    )


def _subtitle(run: AnyRun) -> Html:
    finished = (run.manifest.finished or "").replace("T", " ").replace("+00:00", " UTC")
    parts = [html("Run <bdi>{folder}</bdi>", folder=str(run.folder)) if run.folder else None, finished]
    return join([part for part in parts if part], " · ")
