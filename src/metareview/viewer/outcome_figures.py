"""The overview of a run of outcomes, and what people's labels make of its figures."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.comparison.outcome_corrected import OutcomeCorrection
from metareview.outcomes.measures import ADDRESSED
from metareview.report.numbers import interval, ranked, rate
from metareview.report.outcome_labels import corrected_outcomes_table, outcome_correction_lines, worth_table
from metareview.report.page import outcomes
from metareview.report.page.blocks import Cells, Section, name, paragraph, table_of
from metareview.report.page.charts import barred
from metareview.report.page.evidence import settings_table
from metareview.report.page.markup import Html, html, join
from metareview.viewer.links import within
from metareview.viewer.outcome_labelling import OutcomeLabelling
from metareview.viewer.page import Page
from metareview.viewer.run_page import RUNS, labels_stamp
from metareview.viewer.run_view import RunView

_DRAWN = "outcomes"
_SECTION = '<section class="effect" aria-labelledby="effect"><h2 id="effect">{}</h2>\n{}</section>\n'
_WORTH = "What a changed line is worth: labelled comments by whether their lines changed"


def overview_page(view: RunView) -> Page:
    """The report's figures; drawn once, until the run's files or its labels change."""
    sections = view.kept(_DRAWN, lambda: _sections(OutcomeLabelling(view, None)), labels_stamp(view))
    return Page(view.title, sections, [RUNS])


def _sections(labelling: OutcomeLabelling) -> Html:
    run = labelling.run
    answer, *rest = outcomes.figures(run)
    sections = [
        answer,
        _corrected(labelling),
        *rest,
        outcomes.cannot_tell_section(run.result),
        Section("settings", "Settings", settings_table(run)),
    ]
    shown = [section for section in sections if section]
    links = [html('<li><a href="#{}">{}</a></li>', section.id, section.title) for section in shown]
    contents = html('<nav class="contents" aria-label="On this page"><ul>{}</ul></nav>\n', links)
    comments = within(f"{labelling.view.address()}/comments", "Every comment, and what became of it")
    return join([contents, paragraph(comments), *(section.markup() for section in shown)])


def _corrected(labelling: OutcomeLabelling) -> Section | None:
    """None as long as nobody has labelled anything."""
    correction = labelling.correction
    if correction is None or not correction.labelled.done:
        return None
    parts: list[Html] = []
    if correction.figures:
        caption = "Addressed, by people’s labels of a random sample"
        parts.append(outcomes.plain_table(caption, corrected_outcomes_table(correction)))
    parts += [*_lines(correction), outcomes.plain_table(_WORTH, worth_table(correction))]
    parts.append(paragraph(within(f"{labelling.view.address()}/label", "Label more")))
    return Section("corrected", "By people’s labels", join(parts))


def _lines(correction: OutcomeCorrection) -> Iterator[Html]:
    return (paragraph(line, css="muted") for line in outcome_correction_lines(correction))


def labels_panel(labelling: OutcomeLabelling) -> Html | None:
    """Beside the questions: which share was addressed, as judged and by the labels so far."""
    correction = labelling.correction
    if correction is None:
        return None
    figures = correction.figures
    parts: list[Html] = []
    if figures:
        names = ranked({each: of_one.metrics for each, of_one in figures.items()}, ADDRESSED)
        rows = [figures[each] for each in names]
        columns: list[Cells] = [("Reviewer", "name", map(name, names))]
        judged = any(each.judged[ADDRESSED] is not None for each in rows)
        if judged:
            columns.append(("as judged", "num", [rate(each.judged[ADDRESSED]) for each in rows]))
        bars = [barred(rate(each.metrics[ADDRESSED]), each.metrics[ADDRESSED]) for each in rows]
        columns.append(("corrected" if judged else "by labels", "slice", bars))
        columns.append(("95 % interval", "num", [interval(each.intervals[ADDRESSED]) for each in rows]))
        parts.append(table_of("Addressed, by reviewer", columns))
    parts += _lines(correction)
    if correction.labelled.done:
        parts.append(outcomes.plain_table("By whether their lines changed", worth_table(correction)))
    return html(_SECTION, "What the labels do", parts)
