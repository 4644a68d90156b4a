"""How far to trust the judge: the sentence, what a score means, and the kinds of issue that it gets right or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.judges.offline.published_accuracy import KappaOf
from metareview.model.severity import severity_rank
from metareview.report.agreement import kinds_table
from metareview.report.names import capital
from metareview.report.numbers import count, interval, rate
from metareview.report.page.blocks import Cells, Section, behind, name, paragraph, table_of
from metareview.report.page.charts import chart, frame, legend, line, place, polyline, shape
from metareview.report.page.markup import Html, html, join
from metareview.report.tables import Table
from metareview.report.trust import TITLE, Trust, curve_of
from metareview.stats import Interval, exact_interval

_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_MEANING = (
    "What a score means: of the pairs that score 0.5, half should match, which is where the dashed line is. Where a"
    " curve lies below it, the judge is too sure that notes raise the same issue; above it, not sure enough. Bars are"
    " 95 % intervals, as if each pair stood for itself."
)


@dataclass(frozen=True)
class _Curve:
    title: str
    points: Sequence[tuple[float, float, int, Interval]]
    """Mean score, share of matches, pairs, interval of the share."""


def trust_section(trust: Trust) -> Section:
    """Always there: whoever reads a figure must be able to see what it rests on."""
    parts = [paragraph(capital(trust.text()))]
    parts += [paragraph(each) for each in ([] if trust.measured else trust.more)]
    curves = _curves(trust)
    if curves:
        parts += [paragraph(_MEANING), _drawn(curves)]
    kinds = [_by_kind(kind, kinds_table(kind, values)) for kind, values in (trust.slices or {}).items()]
    if trust.shipped is not None and trust.shipped.by_severity:
        kinds.append(_shipped_kinds(trust.shipped.by_severity))
    parts += [behind("The agreement by kind of issue", kinds)] if kinds else []
    return Section("trust", TITLE, join(parts))


def _curves(trust: Trust) -> list[_Curve]:
    curves = []
    if trust.shipped is not None and (points := curve_of(trust.shipped)):
        known = [(x, y, n, exact_interval(y * n, n)) for x, y, n in points]
        curves.append(_Curve("offline, on pull requests that it had not seen", known))
    if trust.measured is not None:
        own = [(each.mean_score, each.match_rate, each.n, each.interval) for each in trust.measured.reliability]
        curves.append(_Curve("people's labels of this run", own))
    return curves


def _drawn(curves: Sequence[_Curve]) -> Html:
    marks = [polyline("iso", [place(0, 0), place(1, 1)])]
    for number, curve in enumerate(curves):
        css = f"s{number}"
        marks += [line(f"reach {css}", *place(x, low), *place(x, high)) for x, _, _, (low, high) in curve.points]
        marks.append(polyline(f"line {css}", [place(x, y) for x, y, _, _ in curve.points]))
        for x, y, _, _ in curve.points:
            across, up = place(x, y)
            marks.append(shape("circle", f"mark {css}", cx=across, cy=up, r=4))
    label = "The share of pairs that match as a function of the judge's score; the table has the figures"
    drawn = chart(label, [*frame(_TICKS, _TICKS, "score of the judge", "pairs that match"), *marks])
    tables = [
        table_of(
            f"Pairs that match, by score: {curve.title}",
            [
                ("Mean score", "num", [rate(x) for x, _, _, _ in curve.points]),
                ("Pairs that match", "num", [rate(y) for _, y, _, _ in curve.points]),
                ("95 % interval, per pair", "num", [interval(ends) for _, _, _, ends in curve.points]),
                ("Pairs", "num", [count(n) for _, _, n, _ in curve.points]),
            ],
        )
        for curve in curves
    ]
    named = legend(curve.title for curve in curves)
    data = behind("The figures of this chart", tables)
    return html("{}<figure>{}</figure>{}", named, drawn, data)


def _shipped_kinds(parts: Mapping[str, KappaOf]) -> Html:
    names = sorted(parts, key=lambda severity: (severity_rank(severity), severity))
    rows = [parts[each] for each in names]
    return table_of(
        "offline, on pull requests that it had not seen, by severity of the reference",
        [
            ("Severity", "name", map(name, names)),
            ("Pairs", "num", [count(each.pairs) for each in rows]),
            ("Kappa", "num", [rate(each.kappa) for each in rows]),
            ("95 % interval", "num", [interval(each.interval) for each in rows]),
        ],
    )


def _by_kind(kind: str, table: Table) -> Html:
    columns: list[Cells] = []
    for column in table:
        cells = map(name, column.cells) if column.text else column.cells
        columns.append((capital(column.head), "name" if column.text else "num", cells))
    return table_of(f"Agreement with labels by {kind} of the reference", columns)
