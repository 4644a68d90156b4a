"""The report as one HTML file: no script, no network, nothing but what is in the file."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from metareview import __version__
from metareview.report.numbers import ranked
from metareview.report.page import comments, evidence, routing, slices
from metareview.report.page.blocks import Section
from metareview.report.page.markup import Html, html, join
from metareview.report.page.pull_requests import pull_request_section
from metareview.report.source import Run


def as_html(run: Run) -> str:
    """The whole page."""
    if run.kind == "routing":
        title, sections = "Reviewer routing: does it find the right people?", routing.sections(run)
    else:
        title, sections = "Code review comments: how good are they?", comment_sections(run)
    return _page(run, title, [section for section in sections if section])


def comment_sections(run: Run) -> list[Section | None]:
    return [
        comments.answer(run),
        slices.slice_section(run),
        comments.precision_recall(run),
        comments.place_and_meaning(run),
        evidence.sensitivity_section(evidence.stored_sensitivity(run), run),
        evidence.judge_section(run),
        evidence.left_out_section(run),
        pull_request_section(run, ranked(run.summary["reviewers"])),
    ]


@cache
def _style() -> tuple[Html, str]:
    """The style sheet, which is ours and no data, and its hash for the content security policy."""
    text = files("metareview.report.page").joinpath("style.css").read_text("utf-8")
    return Html(text), b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _page(run: Run, title: str, sections: list[Section]) -> str:
    style, style_hash = _style()
    contents = [html('<li><a href="#{id}">{title}</a></li>', id=s.id, title=s.title) for s in sections]
    return html(
        files("metareview.report.page").joinpath("page.html").read_text("utf-8"),
        style=style,
        style_hash=style_hash,
        version=__version__,
        title=title,
        subtitle=_subtitle(run.summary, run.manifest),
        contents=contents,
        sections=join(section.markup() for section in sections),
        footer=f"Made by metareview {__version__} from the run’s files; no judge was asked again.",
    )


def _subtitle(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Html:
    finished = str(manifest.get("finished") or "").replace("T", " ").replace("+00:00", " UTC")
    folder = summary.get("run")
    parts = [html("Run <bdi>{folder}</bdi>", folder=folder) if folder else None, finished or None]
    return join([part for part in parts if part], " · ")
