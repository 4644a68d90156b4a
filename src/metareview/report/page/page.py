"""The report as one HTML file: no script, no network, nothing but what is in the file."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from importlib.resources import files

from metareview import __version__
from metareview.comparison.sensitivity import sensitivity
from metareview.report.headline import order
from metareview.report.page import comments, evidence, labels, outcomes, routing, slices
from metareview.report.page.blocks import Section
from metareview.report.page.entries import evidence_section
from metareview.report.page.gates import gates_section
from metareview.report.page.markup import Html, html, join
from metareview.report.page.pull_requests import pull_request_section
from metareview.report.page.sensitivity import sensitivity_section
from metareview.report.page.trust import trust_section
from metareview.report.run_labels import read_labels
from metareview.report.trust import trust_of
from metareview.runs.run import AnyRun, CommentsRun, is_comments, is_outcomes


def as_html(run: AnyRun) -> str:
    if is_comments(run):
        title, sections = "Code review comments: how good are they?", _comment_sections(run)
    elif is_outcomes(run):
        title, sections = "Code review comments: what became of them?", outcomes.sections(run)
    else:
        title, sections = "Reviewer routing: does it find the right people?", routing.sections(run)
    shown = [section for section in sections if section]
    folder = files("metareview.report.page")
    style = (folder / "style.css").read_text("utf-8")
    return html(
        (folder / "page.html").read_text("utf-8"),
        style=Html(style),  # ours and no data; the content security policy names its hash
        style_hash=b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        version=__version__,
        title=title,
        subtitle=_subtitle(run),
        contents=[html('<li><a href="#{}">{}</a></li>', section.id, section.title) for section in shown],
        sections=[section.markup() for section in shown],
        footer=f"Made by metareview {__version__} from the run’s files; no judge was asked again.",
    )


def _subtitle(run: AnyRun) -> Html:
    finished = (run.manifest.finished or "").replace("T", " ").replace("+00:00", " UTC")
    parts = [html("Run <bdi>{}</bdi>", str(run.folder)) if run.folder else None, finished]
    return join([part for part in parts if part], " · ")


def _comment_sections(run: CommentsRun) -> list[Section | None]:
    summary, known = run.result, read_labels(run)
    return [
        comments.answer(run, known.sentence()),
        comments.repeats_section(summary),
        *labels.sections(known),
        trust_section(trust_of(run, known)),
        gates_section(summary.build_gates),
        slices.slice_section(summary),
        comments.precision_recall(summary),
        comments.location_and_meaning(summary),
        evidence_section(run),
        sensitivity_section(sensitivity(run), summary),
        evidence.judge_section(run),
        evidence.left_out_section(run),
        pull_request_section(run, order(summary).names),
    ]
