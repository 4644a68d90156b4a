"""What labels do to the figures of a run, beside the questions of the viewer's queues."""

from __future__ import annotations

from metareview.comments.measures import Rates, f1
from metareview.comparison.plus_measures import PLUS_MEASURES
from metareview.report.headline import order
from metareview.report.labels import correction_lines
from metareview.report.numbers import interval, rate
from metareview.report.page.blocks import Cells, name, paragraph, table_of
from metareview.report.page.charts import barred
from metareview.report.page.markup import Html, html, join
from metareview.report.unlisted import F1_PLUS, PLUS_REMARK, noise_split, plus_lines
from metareview.stats import Interval
from metareview.viewer.labelling import Labelling

_SECTION = '<section class="effect" aria-labelledby="effect"><h2 id="effect">{}</h2>\n{}</section>\n'


def pairs_panel(labelling: Labelling) -> Html | None:
    """F1 as judged, with the labels so far in the place of verdicts, and as the sample corrects it."""
    correction = labelling.correction
    if correction is None:
        return None
    names = order(labelling.run.result).names
    put_in, corrected = labelling.put_in(), labelling.corrected
    judged = labelling.run.metrics
    nothing: Rates = {}  # of whom a filter leaves no pull request
    columns: list[Cells] = [
        ("Reviewer", "name", map(name, names)),
        ("F1 as judged", "num", [rate(judged[each][f1.name]) for each in names]),
        ("with labels so far", "num", [rate(put_in.get(each, nothing).get(f1.name)) for each in names]),
    ]
    if corrected:
        values = {each: of_one.metrics[f1.name] for each, of_one in corrected.items()}
        ends = {each: of_one.intervals[f1.name] for each, of_one in corrected.items()}
        bars = [barred(rate(values.get(each)), values.get(each)) for each in names]
        columns.append(("corrected", "slice", bars))
        columns.append(("95 % interval", "num", [interval(ends.get(each)) for each in names]))
    lines = [paragraph(line, css="muted") for line in correction_lines(correction, corrected)]
    about = paragraph(
        "“With labels so far” replaces the judge’s verdicts on the labelled pairs and no others; the corrected figure "
        "estimates what labels of all pairs would give.",
        css="muted",
    )
    return html(_SECTION, "What the labels do", [table_of("F1 and labels", columns), *lines, about])


def issues_panel(labelling: Labelling) -> Html | None:
    """P+, R+ and F1+, or what they can still become; and what is noise."""
    plus = labelling.plus
    if plus is None:
        return None
    names = [each for each in order(labelling.run.result).names if each in plus.reviewers]
    rows = [plus.reviewers[each] for each in names]
    columns: list[Cells] = [("Reviewer", "name", map(name, names))]
    known = any(each.metrics[F1_PLUS] is not None for each in rows)
    for measure in PLUS_MEASURES:
        key = measure.name
        cells = [_plus_cell(each.metrics[key], each.intervals[key], each.bounds[key]) for each in rows]
        columns.append((measure.label, "num", cells))
    caption = "Estimates, with 95 % intervals" if known else "Between these bounds, whatever the labels will say"
    noise = [paragraph(name(each), ": ", noise_split(row), css="muted") for each, row in zip(names, rows, strict=True)]
    lines = [paragraph(line, css="muted") for line in (*plus_lines(plus), PLUS_REMARK)]
    body = join([table_of(caption, columns), *noise, *lines])
    return html(_SECTION, "What the labels do", body)


def _plus_cell(value: float | None, ends: Interval | None, bounds: Interval | None) -> Html:
    """A figure and its interval, or what it lies between."""
    if value is None:
        return html("{}", interval(bounds))
    return html('{}<br><span class="muted small">{}</span>', rate(value), interval(ends))
