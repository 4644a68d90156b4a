"""Whether other settings would change the answer: curves over the line distance and the judge's threshold."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.comments.measures import f1, line_f1
from metareview.comments.summary import CommentsSummary
from metareview.comparison.sensitivity import Curves, Ranking, Sensitivity
from metareview.model.measure import Measure
from metareview.report.names import capital
from metareview.report.numbers import ranked, rate
from metareview.report.page.blocks import Column, Section, behind, name, paragraph, table
from metareview.report.page.charts import SERIES, Curve, curves, legend
from metareview.report.page.markup import Html, html, join


def sensitivity_section(sensitivity: Sensitivity, summary: CommentsSummary) -> Section | None:
    """F1 as a function of the line distance and of the threshold, and whether the order of reviewers survives."""
    order = ranked(summary.metrics, f1.name)
    parts = []
    if sensitivity.line_distance and len(sensitivity.line_distance.values) > 1:
        meaning = "How many lines apart a comment and a reference may be."
        parts.append(_part("line distance", meaning, sensitivity.line_distance, (f1, line_f1), order))
    if sensitivity.threshold and len(sensitivity.threshold.values) > 1:
        meaning = "The score from which the judge calls two notes the same."
        parts.append(_part("judge's threshold", meaning, sensitivity.threshold, (f1,), order))
    if not parts:
        return None
    text = paragraph(
        "The same verdicts, counted again with other settings. Where the lines keep their order, so does the "
        "leaderboard. The dotted upright line is this run's own setting."
    )
    return Section("sensitivity", "Would other settings change the answer?", join([text, *parts]))


def _part(setting: str, meaning: str, of_setting: Curves, measures: Sequence[Measure], order: Sequence[str]) -> Html:
    names = [reviewer for reviewer in order if reviewer in of_setting.reviewers]
    figures, tables = [], []
    for measure in measures:
        lines = [Curve(each, of_setting.reviewers[each][measure.name]) for each in names]
        if all(value is None for line in lines for value in line.values):
            continue
        label = f"{measure.label} as a function of the {setting}; the table has the figures"
        chart = curves(label, setting, measure.label, of_setting.values, lines[:SERIES], of_setting.at)
        caption = html("<figcaption>{label}</figcaption>", label=measure.label)
        figures.append(html("<figure>{caption}{chart}</figure>", caption=caption, chart=chart))
        columns = [Column(capital(setting)), *(Column(name(each), "num") for each in names)]
        rows = [[f"{x:g}", *(rate(line.values[k]) for line in lines)] for k, x in enumerate(of_setting.values)]
        tables.append(table(f"{measure.label} by {setting}", columns, rows))
    left = f" The {SERIES} best of {len(names)} reviewers are drawn; the table has all." if len(names) > SERIES else ""
    return html(
        '<h3>{title}</h3>{text}{legend}<div class="figures">{figures}</div>{data}',
        title=capital(setting),
        text=paragraph(f"{meaning} {_survival(of_setting.ranking, len(of_setting.values), setting)}{left}"),
        legend=legend(names[:SERIES]),
        figures=figures,
        data=behind("The figures of these charts", tables),
    )


def _survival(ranking: Ranking, values: int, setting: str) -> str:
    """Whether anybody overtakes anybody by F1."""
    if len(ranking.order) < 2:
        return ""
    if ranking.stable:
        return f"Nobody overtakes anybody by F1 at any {setting} shown: the ranking does not depend on it."
    changes = ranking.changes
    first = changes[0]
    lower, upper = first.overtakes[0]
    at = ", ".join(f"{change.value:g}" for change in changes[:8]) + (" …" if len(changes) > 8 else "")
    return (
        f"The ranking by F1 changes at {len(changes)} of {values} values ({at}): at {first.value:g}, for example, "
        f"{lower} overtakes {upper}."
    )
