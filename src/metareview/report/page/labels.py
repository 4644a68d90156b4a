"""What people's labels make of the figures: corrected ones, and those that count what the references lack."""

from __future__ import annotations

from collections.abc import Iterable

from metareview.comments.measures import f1, positive_match_rate, positive_recall_rate
from metareview.comparison.plus_measures import PLUS_MEASURES
from metareview.comparison.unlisted_figures import UnlistedFigures
from metareview.model.measure import Measure
from metareview.report.labels import CORRECTED_REMARK
from metareview.report.names import capital
from metareview.report.numbers import count, interval, rate
from metareview.report.page.blocks import Cells, Section, behind, name, paragraph, table_of
from metareview.report.page.charts import corrected_bar, headed
from metareview.report.page.markup import Html, html, join
from metareview.report.run_labels import RunLabels
from metareview.report.unlisted import KINDS, MOST_POOLS, PLUS_REMARK, is_estimated, left_out_table, plus_lines


def sections(labels: RunLabels) -> list[Section]:
    """Nothing where there are no labels and no unlisted issues."""
    found = []
    if labels.calibration is not None:
        found.append(_corrected(labels))
    if labels.unlisted is not None:
        found.append(_beyond(labels.unlisted))
    return found


def _corrected(labels: RunLabels) -> Section:
    parts: list[Html] = []
    if labels.corrected:
        parts.append(paragraph(f"{CORRECTED_REMARK} The ring is the figure as judged, dot and bar are corrected."))
        parts += [_measure(measure, labels) for measure in (f1, positive_match_rate, positive_recall_rate)]
    parts += [_lines(labels.progress()), html("<h3>Agreement</h3>"), _lines(labels.agreement())]
    return Section("corrected", "Corrected by labels", join(parts))


def _measure(measure: Measure, labels: RunLabels) -> Html:
    figures, key = labels.corrected, measure.name
    label = capital(measure.label)
    bars = [
        corrected_bar(
            f"{reviewer}: {measure.label} as judged {rate(each.judged[key])}, corrected {rate(each.metrics[key])}, "
            f"95 % interval {interval(each.intervals[key])}",
            each.judged[key],
            each.metrics[key],
            each.intervals[key],
        )
        for reviewer, each in figures.items()
    ]
    rows = figures.values()
    return table_of(
        f"{label} as judged and corrected",
        [
            ("Reviewer", "name", map(name, figures)),
            ("As judged", "num", [rate(each.judged[key]) for each in rows]),
            ("Corrected", "num", [rate(each.metrics[key]) for each in rows]),
            ("95 % interval", "num", [interval(each.intervals[key]) for each in rows]),
            (headed(f"{label}: as judged (ring), corrected (dot)"), "wide", bars),
        ],
    )


def _beyond(figures: UnlistedFigures) -> Section:
    parts = [paragraph(PLUS_REMARK), _plus(figures), _lines(plus_lines(figures, spans=False)), _noise(figures)]
    if table := left_out_table(figures):
        columns: list[Cells] = [
            (
                name(column.head),
                "name" if column.text else "num",
                map(name, column.cells) if column.text else column.cells,
            )
            for column in table
        ]
        most = f", the first {MOST_POOLS}" if len(figures.reviewers) > MOST_POOLS else ""
        caption = f"F1+ with each reviewer left out of the pool in turn{most}"
        parts.append(behind("With one reviewer left out of the pool", table_of(caption, columns)))
    return Section("beyond", "Beyond the references", join(parts))


def _plus(figures: UnlistedFigures) -> Html:
    reviewers = figures.reviewers
    known = is_estimated(figures)
    columns: list[Cells] = [("Reviewer", "name", map(name, reviewers))]
    for measure in PLUS_MEASURES:
        key, label = measure.name, measure.label
        ends = [each.intervals[key] if known else each.bounds[key] for each in reviewers.values()]
        bars = []
        for (reviewer, each), of in zip(reviewers.items(), ends, strict=True):
            figure = f"{label} {rate(each.metrics[key])}, 95 % interval" if known else f"{label} between"
            bars.append(corrected_bar(f"{reviewer}: {figure} {interval(of)}", None, each.metrics[key], of))
        if known:
            columns.append((label, "num", [rate(each.metrics[key]) for each in reviewers.values()]))
        columns.append(("95 % interval" if known else f"{label} between", "num", map(interval, ends)))
        columns.append((headed(label), "wide", bars))
    return table_of(
        "Figures that count valid comments beyond the references"
        + ("" if known else "; bounds, whatever the issues without a label are"),
        columns,
    )


def _noise(figures: UnlistedFigures) -> Html:
    rows = [each.noise for each in figures.reviewers.values()]
    columns: list[Cells] = [("Reviewer", "name", map(name, figures.reviewers))]
    columns += [("Unmatched comments", "num", [count(each.unmatched) for each in rows])]
    columns += [(capital(kind), "num", [count(getattr(each, kind)) for each in rows]) for kind in KINDS]
    return table_of("What the noise is, by the labels so far", columns)


def _lines(lines: Iterable[str]) -> Html:
    return html("<ul>{}</ul>\n", [html("<li>{}</li>", name(line)) for line in lines])
