"""The page of a comment run: the answer, the report's charts, and the way to its pairs and pull requests."""

from __future__ import annotations

from metareview.comparison.evidence import comments_run
from metareview.comparison.sensitivity import sensitivity
from metareview.report.page import comments, evidence, labels, slices
from metareview.report.page.blocks import paragraph
from metareview.report.page.gates import gates_section
from metareview.report.page.markup import Html, html, join
from metareview.report.page.sensitivity import sensitivity_section
from metareview.report.page.trust import trust_section
from metareview.report.run_labels import read_labels
from metareview.report.trust import trust_of
from metareview.runs.labels import FRAME, LABELS, UNLISTED
from metareview.runs.run import CommentsRun
from metareview.viewer.page import Page
from metareview.viewer.run_view import RunView

RUNS = ("Runs", "/")
_ANSWER, _CURVES = "answer", "curves"


def run_page(view: RunView) -> Page:
    """Drawn once; what is in it changes with the run's files alone, and with its labels."""
    run = comments_run(view.run)
    return Page(view.title, view.kept(_ANSWER, lambda: _sections(run), labels_stamp(view)), [RUNS])


def labels_stamp(view: RunView) -> list[tuple[int, int] | None]:
    """What changes when somebody labels."""
    stamps: list[tuple[int, int] | None] = []
    for name in (LABELS, FRAME, UNLISTED):
        try:
            found = (view.folder / name).stat()
            stamps.append((found.st_size, found.st_mtime_ns))
        except OSError:
            stamps.append(None)
    return stamps


def _sections(run: CommentsRun) -> Html:
    summary, known = run.result, read_labels(run)
    sections = [
        comments.answer(run, known.sentence()),
        comments.repeats_section(summary),
        *labels.sections(known),
        trust_section(trust_of(run, known)),
        gates_section(summary.build_gates),
        slices.slice_section(summary),
        comments.precision_recall(summary),
        comments.location_and_meaning(summary),
        evidence.judge_section(run),
    ]
    shown = [section for section in sections if section]
    links = [html('<li><a href="#{}">{}</a></li>', section.id, section.title) for section in shown]
    contents = html('<nav class="contents" aria-label="On this page"><ul>{}</ul></nav>\n', links)
    return join([contents, *(section.markup() for section in shown)])


def sensitivity_page(view: RunView) -> Page:
    """The curves over other settings: every verdict is counted again, which takes its time, so on a page of its own."""
    run = comments_run(view.run)

    def curves() -> Html:
        section = sensitivity_section(sensitivity(run), run.result)
        none = paragraph("This run has no setting of which other values could be tried on its verdicts.")
        return none if section is None else section.markup()

    return Page("Other settings", view.kept(_CURVES, curves), [RUNS, (view.title, view.address())])
