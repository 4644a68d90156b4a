"""Whether other settings would change the answer: curves over the line distance and the judge's threshold."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.comments.measures import f1, line_f1
from metareview.comments.summary import CommentsSummary
from metareview.comparison.sensitivity import Curves, Ranking, Sensitivity
from metareview.model.measure import Measure
from metareview.report.headline import order
from metareview.report.names import capital
from metareview.report.numbers import rate
from metareview.report.page.blocks import Cells, Section, behind, name, paragraph, table_of
from metareview.report.page.charts import SERIES, curves, legend, scale_end
from metareview.report.page.markup import Html, html, join


def sensitivity_section(sensitivity: Sensitivity, summary: CommentsSummary) -> Section | None:
    """F1 as a function of the line distance and of the threshold, and whether the order of reviewers survives."""
    lines_apart = "How many lines apart a comment and a reference may be."
    same_from = "The score from which the judge calls two notes the same."
    names = order(summary).names
    parts = [
        _part(setting, meaning, of_setting, measures, names)
        for setting, meaning, of_setting, measures in (
            ("line distance", lines_apart, sensitivity.line_distance, (f1, line_f1)),
            ("judge's threshold", same_from, sensitivity.threshold, (f1,)),
        )
        if of_setting and len(of_setting.values) > 1
    ]
    if not parts:
        return None
    text = paragraph(
        "The same verdicts, counted again with other settings. Where the lines keep their order, so does the "
        "leaderboard. The dotted upright line is this run's own setting."
    )
    return Section("sensitivity", "Would other settings change the answer?", join([text, *parts]))


def _part(setting: str, meaning: str, of_setting: Curves, measures: Sequence[Measure], in_order: Sequence[str]) -> Html:
    names = [reviewer for reviewer in in_order if reviewer in of_setting.reviewers]
    figures, tables = [], []
    by_measure = {measure: {each: of_setting.reviewers[each][measure.name] for each in names} for measure in measures}
    top = scale_end(y for lines in by_measure.values() for each in names[:SERIES] for y in lines[each])
    for measure, lines in by_measure.items():
        if all(value is None for values in lines.values() for value in values):
            continue
        drawn = {each: lines[each] for each in names[:SERIES]}
        label = f"{measure.label} as a function of the {setting}; the table has the figures"
        chart = curves(label, setting, measure.label, of_setting.values, drawn, chosen=of_setting.at, top=top)
        figures.append(html("<figure><figcaption>{}</figcaption>{}</figure>", measure.label, chart))
        columns: list[Cells] = [(capital(setting), "", [f"{x:g}" for x in of_setting.values])]
        columns += [(name(each), "num", map(rate, values)) for each, values in lines.items()]
        tables.append(table_of(f"{measure.label} by {setting}", columns))
    left = f" The {SERIES} best of {len(names)} reviewers are drawn; the table has all." if len(names) > SERIES else ""
    survival = _survival(of_setting.ranking, len(of_setting.values), setting)
    parts = [html("<h3>{}</h3>", capital(setting)), paragraph(f"{meaning} {survival}{left}"), legend(names)]
    data = behind("The figures of these charts", tables)
    return join([*parts, html('<div class="figures">{}</div>', figures), data])


def _survival(ranking: Ranking, values: int, setting: str) -> str:
    if len(ranking.order) < 2:
        return ""
    if ranking.stable:
        return f"Nobody overtakes anybody by F1 at any {setting} shown: the ranking does not depend on it."
    first, changes = ranking.changes[0], ranking.changes
    lower, upper = first.overtakes[0]
    at = ", ".join(f"{change.value:g}" for change in changes[:8]) + (" …" if len(changes) > 8 else "")
    return (
        f"The ranking by F1 changes at {len(changes)} of {values} values ({at}): at {first.value:g}, for example, "
        f"{lower} overtakes {upper}."
    )
